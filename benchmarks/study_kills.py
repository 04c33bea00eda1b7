"""Does a study that is killed again and again end as one that is left alone? SIGKILL at random moments.

    python benchmarks/study_kills.py [--kills 20] [--seed 0] [--study first-look] [--out FOLDER]

The smoke form of a study is run once to its end. Then it is started in another folder and killed with its
workers (SIGKILL to the driver; the workers die with it) at a random moment, started again and killed again
until it ends by itself, and then the same in a fresh folder, until there were `--kills` kills; the last
folder is left to finish. Every record of every folder must agree with the one left alone: status, counts and
weights, to the bit. Results go to results/study-kills.json.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evenhand.study.store import Store

RESULTS = Path(__file__).with_name("results") / "study-kills.json"


def command(study: str, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "evenhand.cli", "study", "run", study, "--smoke", "--out", str(folder),
        "--no-report", "--quiet", "--checkpoint-every", "0.5", "--device", "cpu",
    ]  # fmt: skip


def left_alone(study: str, folder: Path) -> float:
    began = time.monotonic()
    subprocess.run(command(study, folder), check=True)
    return time.monotonic() - began


def killed(study: str, root: Path, kills: int, rng: random.Random) -> tuple[list[Path], list[str]]:
    """Start and kill, in one folder after the other; the folders, and a line about each kill."""
    folders, lines = [root / "killed-0"], list[str]()
    while len(lines) < kills:
        moment, folder = rng.uniform(1.0, 12.0), folders[-1]
        process = subprocess.Popen(command(study, folder))
        try:
            process.wait(timeout=moment)
            folders.append(root / f"killed-{len(folders)}")  # it had ended before it could be killed
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            lines.append(f"{folder.name}: after {moment:.1f} s, {len(digests(folder))} records")
            print(f"kill {len(lines)}, {lines[-1]}", flush=True)
    subprocess.run(command(study, folders[-1]), check=True)
    return folders, lines


def digests(folder: Path) -> dict[str, str]:
    if not (folder / "study.sqlite").exists():
        return {}
    with Store.open(folder, readonly=True) as store:
        return store.digests()


def compare(one: Path, others: list[Path]) -> dict[str, object]:
    mine = digests(one)
    found = [digests(folder) for folder in others]
    return {
        "folders": len(others),
        "records_in_each": len(mine),
        "equal": [sum(mine[run] == theirs.get(run) for run in mine) for theirs in found],
        "only_in_one": sum(len(set(mine) ^ set(theirs)) for theirs in found),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--study", default="first-look")
    parser.add_argument("--out", type=Path, help="where the two folders go; a temporary one unless named")
    options = parser.parse_args()
    root = options.out or Path(tempfile.mkdtemp())
    seconds = left_alone(options.study, root / "alone")
    print(f"left alone: {seconds:.1f} s", flush=True)
    folders, lines = killed(options.study, root, options.kills, random.Random(options.seed))
    result: dict[str, Any] = {"study": options.study, "kills": options.kills, "seed": options.seed,
              "seconds_left_alone": round(seconds, 1), "moments": lines,
              **compare(root / "alone", folders)}  # fmt: skip
    print(json.dumps(result, indent=1))
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    if options.out is None:
        shutil.rmtree(root)
    whole = all(equal == result["records_in_each"] for equal in result["equal"])
    return 0 if whole and not result["only_in_one"] else 1


if __name__ == "__main__":
    raise SystemExit(main())

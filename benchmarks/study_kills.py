"""Does a study that is killed again and again end as one that is left alone? SIGKILL at random moments.

    python benchmarks/study_kills.py [--kills 20] [--seed 0] [--study first-look] [--out FOLDER]

The smoke form of a study is run once to its end. Then it is started in another folder and killed with its
workers (SIGKILL to the driver; the workers die with it) at a random moment, `--kills` times, and at last left
to finish. Every record of the two stores must agree: status, counts and weights, to the bit. Results go to
results/study-kills.json.
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

from evenhand.study.store import Store

RESULTS = Path(__file__).with_name("results") / "study-kills.json"


def command(study: str, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "evenhand.cli", "study", "run", study, "--smoke", "--out", str(folder),
        "--no-report", "--quiet", "--checkpoint-every", "0.2", "--device", "cpu",
    ]  # fmt: skip


def left_alone(study: str, folder: Path) -> float:
    began = time.monotonic()
    subprocess.run(command(study, folder), check=True)
    return time.monotonic() - began


def killed(study: str, folder: Path, kills: int, longest: float, rng: random.Random) -> dict[str, object]:
    """Start and kill; how many records there were after each kill."""
    done, moments = list[int](), list[float]()
    for number in range(kills):
        # later kills come later, so that there is something left to be killed in
        moment = rng.uniform(0.5, 1.5 * longest / kills + 6)
        process = subprocess.Popen(command(study, folder))
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        found = digests(folder)
        done.append(len(found))
        moments.append(round(moment, 2))
        print(f"kill {number + 1}: after {moment:.1f} s, {len(found)} records", flush=True)
    subprocess.run(command(study, folder), check=True)
    return {"moments_s": moments, "records_after_each": done}


def digests(folder: Path) -> dict[str, str]:
    if not (folder / "study.sqlite").exists():
        return {}
    with Store.open(folder, readonly=True) as store:
        return store.digests()


def compare(one: Path, other: Path) -> dict[str, object]:
    mine, theirs = digests(one), digests(other)
    return {
        "records": len(mine),
        "equal": sum(mine[run] == theirs.get(run) for run in mine),
        "only_in_one": len(set(mine) ^ set(theirs)),
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
    found = killed(options.study, root / "killed", options.kills, seconds, random.Random(options.seed))
    result = {"study": options.study, "kills": options.kills, "seed": options.seed,
              "seconds_left_alone": round(seconds, 1), **found,
              **compare(root / "alone", root / "killed")}  # fmt: skip
    print(json.dumps(result, indent=1))
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    if options.out is None:
        shutil.rmtree(root)
    return 0 if result["equal"] == result["records"] and not result["only_in_one"] else 1


if __name__ == "__main__":
    raise SystemExit(main())

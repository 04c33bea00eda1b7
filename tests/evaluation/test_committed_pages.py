"""The committed pages of several studies are, to the byte, what the committed studies say."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from evenhand.evaluation.compression.__main__ import main as compression
from evenhand.evaluation.fixed_seed.__main__ import main as fixed_seed
from evenhand.evaluation.many_attributes.__main__ import main as many_attributes

ROOT = Path(__file__).parents[2]
PAGES = {
    "many-attributes": (many_attributes, "studies/results"),
    "fixed-seed": (fixed_seed, "studies/results/fixed-seed"),
    "compression": (compression, "studies/results"),
}
BENCHMARK = ROOT / "benchmarks" / "results" / "deterministic-mode-cuda.json"
ALSO = {"fixed-seed": ["--benchmark", str(BENCHMARK)]}


@pytest.mark.parametrize("name", PAGES)
def test_a_committed_page_is_what_its_committed_studies_say(name, tmp_path):
    write, out = PAGES[name]
    page, results = Path("docs") / "studies" / f"{name}.md", Path(out)
    text = (ROOT / page).read_text(encoding="utf-8")
    told = re.findall(r"^### (\S+)$", text, flags=re.MULTILINE)
    studies = [ROOT / results / one for one in told if (ROOT / results / one / "study.json").is_file()]
    assert studies
    for path in (page, Path("docs") / "claims.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    claims = tmp_path / "docs" / "claims.csv"
    asked = ["--page", tmp_path / page, "--out", tmp_path / results, "--claims", claims]
    assert write([str(one) for one in [*studies, *asked, *ALSO.get(name, [])]]) == 0
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 15
    assert [str(path) for path in files if (tmp_path / path).read_bytes() != (ROOT / path).read_bytes()] == []


def test_one_of_a_thing_is_told_as_one():
    pages = (ROOT / "docs" / "studies").glob("*.md")
    said = re.compile(r"(?<![\w.,])1 (parts|trainings|runs|seeds|claims|studies)\b")
    assert {page.name: found for page in pages if (found := said.findall(page.read_text("utf-8")))} == {}


def test_what_is_said_of_deterministic_mode():
    text = " ".join((ROOT / "docs" / "studies" / "fixed-seed.md").read_text(encoding="utf-8").split())
    body = json.loads(BENCHMARK.read_text(encoding="utf-8"))
    costs = [100 * row["overhead"] for row in body["overhead"]]
    assert f"in float32 it costs {min(costs):.0f} to {max(costs):.0f} percent" in text
    rounds = [
        100 * share for row in body["overhead"] if row["net"] == "densenet121" for share in row["shares"]
    ]
    assert f"its rounds say from {min(rounds):.0f} to {max(rounds):.0f} percent" in text
    outside = [row for row in body["modes"] if not row["deterministic"]]
    assert all(row["equal"] for row in body["modes"] if row["deterministic"])
    assert len(body["modes"]) - len(outside) == 9
    assert [row["equal"] for row in outside if row["precision"] != "bfloat16"] == [False] * 12
    assert [row["equal"] for row in outside if row["precision"] == "bfloat16"] == [True] * 6
    speeds = {row["name"]: row["images"] for row in body["modes"]}
    lost = [
        round(100 * (1 - speeds[f"{name}, deterministic, evenhand"] / speeds[f"{name}, evenhand"]))
        for name in ("float32", "tf32", "bfloat16")
    ]
    assert lost[2] == 0
    assert f"takes {lost[0]} percent of the speed in float32, {lost[1]} in tf32 and none in bfloat16" in text
    raising = sum(row["raises"] for row in body["exceptions"])
    assert f"{raising} of {len(body['exceptions'])} operations that were tried still refuse it" in text


def test_what_is_said_of_where_variation_comes_from():
    """The order of rows alone, the initial weights alone, and seeds, which change both."""
    text = " ".join((ROOT / "docs" / "studies" / "fixed-seed.md").read_text(encoding="utf-8").split())
    folder = ROOT / "studies" / "results" / "fixed-seed"
    sets = [
        json.loads((folder / f"fixed-seed-mnist10s{name}" / "study.json").read_text("utf-8"))["study"][
            "sets"
        ][0]
        for name in ("", "-order", "-init")
    ]
    seeds, order, weights = (
        {(r["technique"], r["metric"]): r["stdev"] for r in one["variance"]} for one in sets
    )
    ratios = [
        np.array([one[key] / seeds[key] for key in seeds if key[1] == "di"]) for one in (order, weights)
    ]
    times = [f"{np.median(ratio):.2f} times" for ratio in ratios]
    assert f"the deviation of DI̅ is {times[0]} theirs for the order and {times[1]} for the weights" in text
    ends = [f"from {ratio.min():.2f} to {ratio.max():.2f}" for ratio in ratios]
    assert f"medians over techniques; {ends[0]}, and {ends[1]}" in text
    together = [
        np.median(
            [(order[key] ** 2 + weights[key] ** 2) / seeds[key] ** 2 for key in seeds if key[1] == metric]
        )
        for metric in ("di", "eotp")
    ]
    assert (
        f"come to {together[0]:.1f} times that over seeds for DI̅ and {together[1]:.1f} times for EOTP" in text
    )
    directions = [
        {(r["technique"], r["metric"]): (r["direction"], r["holm"]) for r in one["tests"]} for one in sets
    ]
    assert directions[0] == directions[1] == directions[2]
    assert sum(found == ("-", "-") for found in directions[0].values()) == 35
    assert sum(found == ("+", "+") for found in directions[0].values()) == 28

"""What the page of S1's studies says in words, against the tables that its program wrote."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "studies" / "results"
PAGE = " ".join((ROOT / "docs" / "studies" / "many-attributes.md").read_text(encoding="utf-8").split())


def table(study, name):
    text = (RESULTS / f"many-attributes-{study}" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def mean_over_structures(method):
    (row,) = [
        row
        for row in table("faces", "figure-2-multi.csv")
        if row["method"] == method and row["panel"].startswith("(a)")
    ]
    return float(row["mean"])


def test_reweighted_map_of_weighting_and_erm():
    weighted, plain = mean_over_structures("W-ERM"), mean_over_structures("U-ERM")
    assert f"reweighted mAP {weighted:.3f} against ERM's {plain:.3f}" in PAGE


def test_group_dro_beside_weighting():
    (row,) = [row for row in table("faces", "claims.csv") if "S1.5" in row.values()]
    low, high = row["Interval"].split(" to ")
    assert f"mAP {float(row['Effect']):+.3f} over W-ERM, {low} to {high}" in PAGE


def test_what_explains_the_variation():
    rows = [row for study in ("faces", "fairface", "adult") for row in table(study, "explained.csv")]
    assert len(rows) == 15
    assert all(float(row["R² by ERM's own"]) > float(row["R² by attributes"]) for row in rows)
    intervals = [row["95 % interval"] for row in rows if row["95 % interval"] != "–"]
    above = [interval for interval in intervals if interval.startswith("+")]
    assert (len(above), len(intervals)) == (4, 6)
    assert "leaves 0 out in 4 of 6" in PAGE

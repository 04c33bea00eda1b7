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


# -- scarce and plentiful group labels ---------------------------------------------------------------------
def added(study, task, pair, metric):
    rows = list(csv.DictReader((RESULTS / f"{study}-labels" / "added.csv").read_text("utf-8").splitlines()))
    (row,) = [
        row
        for row in rows
        if (row["task"], row["structures"], row["pair"]) == (task, "all", pair) and metric in row["metric"]
    ]
    return float(row["effect"]), float(row["95 % low"]), float(row["95 % high"])


def test_what_pretraining_adds():
    for method, words in (
        ("W-ERM", "W-ERM loses {:.3f} of reweighted accuracy and {:.3f} of mAP"),
        ("Ind", "Ind {:.3f} and {:.3f}: S1.18 holds"),
    ):
        pair = f"pre-trained {method} less not"
        single, multi = (
            added("scarce", task, pair, f"reweighted {name}")[0]
            for task, name in (("single", "accuracy"), ("multi", "mAP"))
        )
        assert words.format(single, multi) in PAGE


def test_what_distillation_and_decomposition_add():
    def both(pair, metric):
        return [added(study, "multi", pair, metric) for study in ("scarce", "plentiful")]

    (scarce, *_), (plentiful, *_) = both("Ind + KD less Ind", "mAP")
    told = f"adds {scarce:.3f} to Ind's mAP where labels are scarce and {plentiful:.3f} where all are known"
    assert told in PAGE
    (scarce, _, high), (plentiful, _, other) = both("Ind + KD less Ind", "amplification")
    assert f"falls by {-scarce:.3f} and {-plentiful:.3f}, of which the second could be chance" in PAGE
    assert high < 0 < other
    (scarce, *_), (plentiful, *_) = both("Ind + AD less Ind", "mAP")
    assert f"Ind + AD adds {scarce:.3f} and {plentiful:.3f}." in PAGE
    (scarce, *_), (plentiful, *_) = both("W-ERM + AD less W-ERM", "amplification")
    assert f"lowers bias amplification a little ({-scarce:.3f} and {-plentiful:.3f})" in PAGE
    lost = added("plentiful", "multi", "W-ERM + AD less W-ERM", "mAP")[0]
    assert f"where all are known, mAP by {-lost:.3f}." in PAGE


def test_only_distilled_ind_is_above_erm_where_labels_are_scarce():
    text = (RESULTS / "scarce-labels" / "tables-2-3-and-7-multi.csv").read_text("utf-8")
    rows = {row["Method"]: row["reweighted mAP"] for row in csv.DictReader(text.splitlines())}
    means = {name: float(cell.split()[0]) for name, cell in rows.items()}
    above = {name for name, mean in means.items() if mean > means["U-ERM"]}
    assert above == {"pre-trained Ind + KD"}
    plain, distilled = means["U-ERM"], means["pre-trained Ind + KD"]
    assert f"in mAP ({plain:.3f}) except distilled Ind ({distilled:.3f})" in PAGE


def test_who_has_lower_bias_amplification_than_both_together():
    text = (RESULTS / "scarce-labels" / "claims.csv").read_text("utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["Claim"] == "S1.21"]
    lower = [row for row in rows if row["Verdict"] == "does not"]
    assert [row["Part"].split(" less ")[1] for row in lower] == ["W-ERM", "W-ERM + AD"]
    first, second = (float(row["Effect"]) for row in lower)
    assert f"W-ERM and W-ERM + AD have lower, by {first:.3f} and {second:.3f}." in PAGE


def test_plain_training_first_gives_weighting_back_its_precision():
    text = (RESULTS / "plentiful-labels" / "tables-2-3-and-7-multi.csv").read_text("utf-8")
    rows = {row["Method"]: row for row in csv.DictReader(text.splitlines())}

    def cell(method, column):
        return rows[method][column].split()[0]

    without, first, erm = (cell(name, "reweighted mAP") for name in ("W-ERM", "pre-trained W-ERM", "U-ERM"))
    assert f"has mAP {without} without (20 epochs) and {first} with (10 more, before)" in PAGE
    assert f"ERM (30 epochs) has {erm}." in PAGE
    own, plain = (cell(name, "bias amplification") for name in ("pre-trained W-ERM", "U-ERM"))
    assert f"is then {own} against ERM's {plain}." in PAGE

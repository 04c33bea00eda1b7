"""What the page of S1's studies says in words, against the tables that its program wrote."""

import csv
import importlib.util
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


def test_where_weighting_ties_or_beats_all():
    rows = [row for row in table("faces", "claims.csv") if row["Claim"] == "S1.2"]
    won = {row["Part"].split(" in ")[1]: round(float(row["Effect"]) * 27) for row in rows}
    one, many = won["reweighted accuracy (single-label)"], won["reweighted mAP (multi-label)"]
    assert f"in performance on {one} of 27 structures with one label and on {many} of 27 with many" in PAGE
    amplified, apart = (
        won[f"{name} (single-label)"] for name in ("bias amplification", "intersectional bias")
    )
    assert f"in bias amplification on {amplified} and in intersectional bias on {apart}" in PAGE


def test_just_train_twice_by_rank():
    rows = [row for row in table("faces", "ranks.csv") if row["Tasks"] == "all tasks"]
    orders = [
        [one.rsplit(" ", 1) for one in row["Mean ranks, best first"].split(" (")[0].split("; ")]
        for row in rows
    ]
    assert [order[0][0] for order in orders] == ["UWA-JTT", "UWA-JTT", "W-ERM"]
    assert f"({orders[2][1][1]} and {orders[2][0][1]})" in PAGE
    assert orders[2][1][0] == "UWA-JTT"


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
    for study in ("label-noise", "scarce-labels", "plentiful-labels"):
        text = (RESULTS / study / "explained.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        more = sum(float(row["R² by ERM's own"]) > float(row["R² by attributes"]) for row in rows)
        assert f"{more} of {len(rows)} of `{study}`" in PAGE


# -- a larger network, wrong group labels, the printed tables ----------------------------------------------
def means(study, task):
    """The means in the methods' table of a study: performance, bias amplification, intersectional bias."""
    text = (RESULTS / study / "methods.csv").read_text("utf-8")
    rows = [row for row in csv.reader(text.splitlines()) if row[0] == task]
    return {row[1]: [cell.split(" ")[0] for cell in row[2:5]] for row in rows}


def test_a_larger_network_keeps_the_order():
    many, one = (means("many-attributes-resnet", f"{task}, resnet18") for task in ("multi", "single"))
    told = [many[name][0] for name in ("U-ERM", "WA-GDRO", "Ind", "UWA-JTT", "W-ERM")]
    assert (
        "mAP {} with ERM, {} with Group DRO, {} with Ind, {} with Just Train Twice and {} with W-ERM".format(
            *told
        )
        in PAGE
    )
    small = means("many-attributes-resnet", "multi, convnet")
    rows = [row for row in table("faces", "figure-3-multi.csv")
            if row["method"] == "U-ERM" and row["panel"].startswith("(a)")]  # fmt: skip
    same = [float(row["mean"]) for row in rows if row["of"].endswith(" 3")]
    assert len(same) == 4
    assert f"(mAP of ERM {small['U-ERM'][0]}) than at 32 ({sum(same) / 4:.3f} on the same four)" in PAGE
    assert min(small, key=lambda name: float(small[name][0])) == "W-ERM"
    assert f"the lowest there too ({small['W-ERM'][0]})" in PAGE
    ordered = sorted(float(cells[0]) for cells in one.values())
    assert f"({ordered[0]:.3f} to {ordered[-1]:.3f}), W-ERM the lowest" in PAGE
    assert float(one["W-ERM"][0]) == ordered[0]
    assert min(one, key=lambda name: float(one[name][2])) == "W-ERM"
    assert f"({one['W-ERM'][2]} against ERM's {one['U-ERM'][2]})" in PAGE


def test_wrong_group_labels():
    wrong, right = means("label-noise", "multi"), means("label-noise", "multi, clean")
    told = f"W-ERM has mAP {wrong['W-ERM'][0]}, on the same faces with right ones {right['W-ERM'][0]}"
    assert f"{told}; ERM has {wrong['U-ERM'][0]} on both." in PAGE
    assert wrong["U-ERM"][0] == right["U-ERM"][0]
    wrong, right = means("label-noise", "single"), means("label-noise", "single, clean")
    assert f"One label: {wrong['W-ERM'][0]} against {right['W-ERM'][0]}, which could be chance" in PAGE
    text = (RESULTS / "label-noise" / "claims.csv").read_text("utf-8")
    row = next(csv.DictReader(text.splitlines()))
    assert f"cannot be told ({row['Effect']}, {row['Interval']})" in PAGE


def test_the_printed_tables_on_drawn_faces():
    four = means("replications-faces", "table 4, convnet")
    told = f"({four['U-SD'][2]} and {four['W-ERM'][2]}, ERM {four['U-ERM'][2]})"
    assert told in PAGE
    assert f"is close to ERM ({four['WA-GDRO'][2]})" in PAGE
    for net in ("convnet", "resnet18"):
        five = means("replications-faces", f"table 5, {net}")
        for place in (1, 2):
            values = {name: float(cells[place].replace("−", "-")) for name, cells in five.items()}
            assert min(values, key=values.get) == "UWA-JTT"
    six = means("replications-faces", "table 6, convnet")
    ind, weighted, plain = six["Ind"], six["W-ERM"], six["U-ERM"]
    assert f"({ind[1]} and {weighted[1]})" in PAGE
    told = f"(ERM {plain[2]}, printed 1.179; W-ERM {weighted[2]} and 0.774; Ind {ind[2]} and 0.854)"
    assert told in PAGE
    text = (RESULTS / "replications-faces" / "table-6-table-6-convnet.csv").read_text("utf-8")
    (cens,) = [row for row in csv.reader(text.splitlines()) if row[0] == "A-Cens"]
    assert f"(mAP {cens[1].split()[0]}, S1 {cens[2].split()[0]})" in PAGE
    assert six["Ind"][1:] == six["ind-sum-prob"][1:]


def test_what_is_too_easy():
    swapped = [means("replications-faces", f"table 5 swapped, {net}") for net in ("convnet", "resnet18")]
    read = [float(cells[0]) for one in swapped for cells in one.values()]
    assert f"in {min(read):.3f} to {max(read):.3f} of the faces" in PAGE
    files = sorted((RESULTS / "replications-faces").glob("table-?-of-s4-*.csv"))
    tables = [list(csv.DictReader(path.read_text("utf-8").splitlines())) for path in files]
    assert len(tables) == 4
    others = [row for rows in tables for row in rows if row["Method"] != "cuma"]
    accuracies = [float(row["accuracy"].split()[0]) for row in others]
    assert f"Attractive in {min(accuracies):.3f} to {max(accuracies):.3f}" in PAGE
    gaps = [float(row["ΔEO"].split()[0]) for row in others if row["Method"] == "U-ERM"]
    assert f"is {min(gaps):.3f} to {max(gaps):.3f} where S4 prints 0.43 and 0.44" in PAGE
    told = []
    for rows in tables:
        own = {row["Method"]: row for row in rows}
        for column in ("ΔEO", "ΔEO, gaussian 0.08", "ΔEO, impulse 0.03"):
            larger, plain = (float(own[name][column].split()[0]) for name in ("cuma", "U-ERM"))
            assert larger > plain
        told.append([own[name]["accuracy"] for name in ("cuma", "U-ERM")])
    (one, of_one), (large, of_large), (two, of_two), (again, of_again) = (
        [cell.split(" ± ") for cell in cells] for cells in told
    )
    assert (large[0], of_large[0], of_one[0]) == (again[0], of_again[0], of_two[0])
    assert f"{large[0]} against {of_large[0]} with a ResNet-18" in PAGE
    assert f"{one[0]} and {two[0]} against {of_one[0]}, and seeds differ (± {one[1]} and ± {two[1]})" in PAGE


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
    rows = [
        row for row in table("faces", "added.csv") if row["task"] == "multi" and row["structures"] == "all"
    ]
    faces = {row["pair"]: float(row["effect"]) for row in rows if "mAP" in row["metric"]}
    helped, cost = faces["Ind + AD less Ind"], faces["W-ERM + AD less W-ERM"]
    assert f"all known, Ind + AD adds {helped:.3f} and W-ERM + AD takes {-cost:.3f}." in PAGE
    more, low, high = added("plentiful", "single", "Ind + KD less Ind", "amplification")
    assert f"*more* bias amplification ({more:+.3f}, {low:+.3f} to {high:+.3f})" in PAGE
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


# -- the study of 54 tasks, executed twice ------------------------------------------------------------------
def test_the_same_study_executed_twice():
    spec = importlib.util.spec_from_file_location("run_twice", ROOT / "tools" / "run_twice.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    first, second = (
        tool.read(RESULTS / "many-attributes-faces" / f"{name}.parquet") for name in ("runs", "again")
    )
    tables = {metric: tool.compared(first, second, metric) for metric in tool.METRICS}
    kept = [f"{tool.order_kept(rows):.3f}" for rows in tables.values()]
    assert (
        f"rank correlation {kept[0]} in reweighted accuracy, {kept[1]} in bias amplification, "
        f"{kept[2]} in intersectional bias" in PAGE
    )
    moved = {
        row["method"]: row["second"] - row["first"] for row in tables[tool.METRICS[0]].iter_rows(named=True)
    }
    assert sum(abs(by) <= 0.0025 for by in moved.values()) == 10
    assert f"decoupling is {moved['sd']:.3f} higher" in PAGE
    assert f"W-ERM + AD {-moved['w-erm-ad']:.3f} lower, A-Cens {moved['a-cens']:.3f} higher" in PAGE
    (weighted,) = tables["eps"].filter(method="w-erm").iter_rows(named=True)
    assert (
        f"W-ERM has a deviation of {weighted['same seed']:.3f}, with another one {weighted['seeds']:.3f}"
        in PAGE
    )


def test_claims_of_the_second_execution():
    first = {(row["Claim"], row["Part"]): row["Verdict"] for row in table("faces", "claims.csv")}
    second = {(row["Claim"], row["Part"]): row["Verdict"] for row in table("faces", "again-claims.csv")}
    assert set(second) == {key for key in first if "(single" in key[1]}
    other = {key: {first[key], verdict} for key, verdict in second.items() if first[key] != verdict}
    assert f"Of the {len(second)} parts" in PAGE
    assert f"answers {len(other)} otherwise" in PAGE
    assert all("cannot tell" in verdicts for verdicts in other.values())
    (part,) = [key for key in other if key[0] == "S1.7"]
    assert (first[part], second[part]) == ("holds", "cannot tell")

"""Studies in S0's shape: tables from counts, tests beside references, what varies, claims by their rules."""

import runpy
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InputError
from evenhand.evaluation.fixed_seed import Trained, answers, compute, read_trained, together
from evenhand.evaluation.fixed_seed.benchmark import equality_verdict, exceptions_verdict, overhead_verdict
from evenhand.evaluation.fixed_seed.best import best_rows, best_verdict
from evenhand.evaluation.fixed_seed.changes import change_rows
from evenhand.evaluation.fixed_seed.printed import from_table4
from evenhand.evaluation.fixed_seed.ratio import ratio_of
from evenhand.evaluation.replay.published import METRICS, read_published
from evenhand.evaluation.values import plain
from evenhand.report.fixed_seed_overview import overview_table
from evenhand.study.frame import Frame

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fixed_seed_world.py"))))
PRINTED = from_table4()
FEW = {name: world.WORLD[name] for name in ("S-Base", "S-DD1", "S-DI2")}


def computed(**values):
    return compute(world.study(**values), printed=PRINTED)


@pytest.fixture(scope="module")
def study():
    return computed()


@pytest.fixture(scope="module")
def one(study):
    return study["sets"][0]


def row_of(rows, **wanted):
    return next(row for row in rows if wanted.items() <= row.items())


# -- tables ------------------------------------------------------------------------------------------------
def test_the_spread_is_that_of_the_counts_run_by_run(one):
    """DP by hand from the counts: the mean over classes of the distance of two rates of prediction."""
    store = world.study()
    tables = [store.tables["test"][row["id"]] for row in store.rows if row["method"] == "S-UC"]
    rates = np.stack([t.sum(axis=1) / t.sum(axis=(1, 2))[:, None] for t in tables])  # [run, group, class]
    by_class = np.abs(rates[:, 0] - rates[:, 1])
    row, runs = row_of(one["variance"], technique="S-UC", metric="dp"), by_class.mean(axis=1)
    assert (row["mean"], row["min"], row["max"]) == pytest.approx((runs.mean(), runs.min(), runs.max()))
    assert (row["max_diff"], row["stdev"]) == pytest.approx((np.ptp(runs), runs.std()))
    widest = np.ptp(by_class, axis=0).argmax()
    assert (row["class"], row["runs"]) == (world.CLASSES[widest], 16)
    assert row["class_max_diff"] == pytest.approx(np.ptp(by_class[:, widest]))
    assert row["class_stdev"] == pytest.approx(by_class[:, widest].std())


def test_values_are_those_of_the_published_convention(one):
    """FPSF weighted by negatives: a third of the rows are of a class, so two thirds of EOFP's half."""
    for name in world.WORLD:
        fpsf, eofp = (np.array(one["values"][name][key]) for key in ("fpsf", "eofp"))
        assert fpsf == pytest.approx(eofp / 2 * 2 / 3)
    assert one["convention"] == "artifact"


def test_printed_numbers_stand_beside_and_only_where_there_are_some(one):
    row = row_of(one["variance"], technique="S-UC", metric="di")
    assert row["printed_max_diff"] == pytest.approx(0.051)
    assert row["printed_class_stdev"] == pytest.approx(0.046)
    assert row_of(one["variance"], technique="S-UC", metric="dp")["printed_max_diff"] is None


def test_every_technique_and_metric_has_a_row(study, one):
    assert len(one["variance"]) == len(world.WORLD) * 7
    assert len(one["tests"]) == (len(world.WORLD) - 1) * 7
    assert [row["technique"] for row in one["performance"]] == list(world.WORLD)
    assert (study["runs_differ_by"], study["devices"]) == ("identical", ["cuda (NVIDIA H200)"])


# -- tests -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("metric", "method"), [("di", "exact"), ("eotp", "asymptotic")])
def test_both_kinds_of_tests_are_scipys(one, metric, method):
    base, other = (np.array(one["values"][name][metric]) for name in ("S-Base", "S-DD1"))
    assert (len({*base, *other}) == 32) == (method == "exact")  # with ties nothing is exact
    row = row_of(one["tests"], technique="S-DD1", metric=metric)
    side = "less" if base.mean() < other.mean() else "greater"
    assert row["p"] == pytest.approx(
        stats.mannwhitneyu(base, other, alternative=side, method="asymptotic").pvalue
    )
    assert row["two_sided_p"] == pytest.approx(stats.mannwhitneyu(base, other, method=method).pvalue)
    relative = stats.levene(base / base.mean(), other / other.mean(), center="median").pvalue
    assert row["levene_p"] == pytest.approx(relative)
    pooled = np.sqrt((base.var(ddof=1) + other.var(ddof=1)) / 2)
    assert row["d"] == pytest.approx((base.mean() - other.mean()) / pooled)


def test_holm_is_over_all_comparisons_of_the_set(one):
    p = np.array([row["two_sided_p"] for row in one["tests"]])
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    assert np.array([row["holm_p"] for row in one["tests"]])[order] == pytest.approx(np.minimum(steps, 1))
    assert {row["holm"] for row in one["tests"] if row["technique"] == "S-UC"} == {"+"}
    assert {row["holm"] for row in one["tests"] if row["technique"] == "S-DI2"} == {"-"}
    assert {row["band"] for row in one["tests"] if row["technique"] == "S-DI2"} == {"huge"}


def test_what_falls_and_what_it_costs(one):
    cost = {row["technique"]: row for row in one["cost"]}
    assert cost["S-UC"]["accuracy"] == "-"
    assert cost["S-UC"]["cross"]  # it lowers nothing
    assert (cost["S-DI2"]["accuracy"], cost["S-DI2"]["reduces"].split()) == ("+", list(METRICS))
    assert "official_variance" not in cost["S-UC"]
    venn = {row["region"]: row["pairs"] for row in one["venn"]}
    assert venn["all pairs"] == sum(row["direction"] == "-" for row in one["tests"])
    assert venn["any"] + venn["free"] == venn["all pairs"]


# -- nothing varies, or too little is there ----------------------------------------------------------------
def test_runs_that_are_all_equal_are_not_tested():
    one = computed(world=FEW, still=list(FEW), vary=())["sets"][0]
    assert one["kind"] == "control"
    assert all(row["max_diff"] == row["stdev"] == 0 for row in one["variance"])
    assert {row["note"] for row in one["tests"]} == {"all runs are equal on both sides"}
    assert {row["direction"] for row in one["tests"]} == {"not tested"}
    assert {row["p"] for row in one["tests"]} == {None}
    assert {row["weights"] for row in one["varying"]} == {1}
    assert one["best_verdict"] == "cannot tell"


def test_a_constant_base_is_tested_for_its_level_alone():
    one = computed(world=FEW, still=["S-Base"])["sets"][0]
    row = row_of(one["tests"], technique="S-DI2", metric="dp")
    assert (row["note"], row["direction"]) == ("", "-")
    assert row_of(one["varying"], technique="S-Base")["outcomes"] == 1


def test_fewer_runs_than_sixteen_are_told_and_single_ones_left_out():
    store = world.study(world=FEW, runs=5)
    for row in store.rows:
        if row["method"] == "S-DD1" and row["spec"]["repeat"] > 0:
            row["status"] = "planned"
    one = compute(store, printed=PRINTED)["sets"][0]
    assert one["short"] == {"S-Base": 5, "S-DI2": 5}
    assert one["left_out"] == {"S-DD1": 1}
    assert one["techniques"] == ["S-Base", "S-DI2"]


def test_a_technique_without_its_baseline_is_compared_with_nothing():
    body = computed(world={"S-DI2": FEW["S-DI2"], "S-DD1": FEW["S-DD1"]})
    one = body["sets"][0]
    assert (one["tests"], one["cost"]) == ([], [])
    assert one["without_base"] == ["S-DD1", "S-DI2"]
    moved = {row[0]: row[6] for row in overview_table(together([body])).rows}
    assert moved["S-DD1"] == moved["S-DI2"] == "no baseline"


def test_studies_without_techniques_or_runs_are_refused():
    store = world.study(world=FEW)
    for row in store.rows:
        row["status"] = "planned"
    with pytest.raises(InputError, match="2 finished runs"):
        compute(store, printed=PRINTED)
    for row in store.rows:
        row["method"] = "erm"
    with pytest.raises(InputError, match="S-Base"):
        compute(store, printed=PRINTED)


def test_a_technique_on_two_tasks_is_shown_on_each():
    first, second = world.study(world=FEW), world.study(world=FEW, task="other", seed=3)
    for row in second.rows:
        row["id"] += "b"
    second.tables["test"] = {f"{name}b": table for name, table in second.tables["test"].items()}
    first.rows += second.rows
    first.tables["test"] |= second.tables["test"]
    found = read_trained(Frame(first))
    assert [one.name for one in found] == ["noise / sex", "other / sex"]
    assert all(len(one.rows["S-Base"]) == 16 for one in found)


def test_a_family_on_tasks_of_its_own_stays_together():
    """C-R1 has other training rows, and so another task, than C-Base; no technique occurs twice."""
    store = world.study(world={"C-Base": FEW["S-Base"], "C-R1": FEW["S-DI2"], "S-Base": FEW["S-Base"]})
    for row in store.rows:
        row["task"] = {"C-R1": "noise 1 to 1"}.get(row["method"], "noise")
    (one,) = compute(store, printed=PRINTED)["sets"]
    assert (one["name"], one["techniques"]) == ("", ["S-Base", "C-Base", "C-R1"])
    assert {row["technique"] for row in one["tests"]} == {"C-R1"}


def test_a_variant_of_a_technique_stands_beside_it():
    named = {"S-Base": FEW["S-Base"], "S-UC": FEW["S-DI2"], "S-UC as published": FEW["S-DD1"]}
    study = computed(world=named, runs=3)
    one = study["sets"][0]
    assert (one["techniques"], study["others"]) == (list(named), [])
    rows = [row_of(one["variance"], technique=name, metric="di") for name in ("S-UC", "S-UC as published")]
    assert [row["printed_max_diff"] for row in rows] == pytest.approx([0.051, 0.051])
    assert len(one["tests"]) == 14


def test_a_technique_with_several_settings_is_refused():
    store = world.study(world=FEW)
    for row in store.rows:
        row["setting"] = {"lam": row["spec"]["repeat"] % 2}
    with pytest.raises(InputError, match="S-Base has several settings"):
        compute(store, printed=PRINTED)


# -- what varies -------------------------------------------------------------------------------------------
def test_networks_that_techniques_share_are_seen_by_their_digests(one):
    rows = {row["technique"]: row for row in one["varying"]}
    assert rows["S-DD1"]["shares"] == ["S-DD2"]
    assert rows["S-Base"]["shares"] == []
    assert {row["weights"] for row in rows.values()} == {16}


@pytest.mark.parametrize(
    ("values", "kind"),
    [({"vary": ("kernels",)}, "identical"), ({"vary": ()}, "control"), ({"repeat": False}, "seeds"),
     ({"vary": ("reduction", "order")}, "varied")],
)  # fmt: skip
def test_what_sets_runs_apart(values, kind):
    assert computed(world=FEW, runs=2, **values)["runs_differ_by"] == kind


def test_the_ratio_of_deviations_covers_the_true_one():
    rng = np.random.default_rng(1)
    ends = [ratio_of(rng.normal(0, 1, 16), rng.normal(0, 4, 16))[1:] for _ in range(1000)]
    assert np.mean([low <= 0.25 <= high for low, high in ends]) == pytest.approx(0.95, abs=0.02)


def test_one_seed_is_set_beside_several_on_the_same_data_only(study):
    seeds = computed(name="seeds", repeat=False, seed=1, recipe={"epochs": 9})
    body = together([study, seeds])
    row = row_of(body["ratios"], technique="S-UC", metric="di")
    mine, theirs = (np.array(s["sets"][0]["values"]["S-UC"]["di"]) for s in (study, seeds))
    assert row["ratio"] == pytest.approx(mine.std() / theirs.std())
    assert row["low"] < row["ratio"] < row["high"]
    assert row["recipes"] == ["epochs"]
    middle = row_of(body["median_ratios"], metric="di")
    ratios = [r["ratio"] for r in body["ratios"] if r["metric"] == "di"]
    assert middle["median"] == pytest.approx(np.median(ratios))
    elsewhere = computed(name="elsewhere", repeat=False, data="mnist10s")
    assert together([study, elsewhere])["ratios"] == []


def test_runs_of_one_seed_that_are_equal_have_a_ratio_of_exactly_nothing():
    assert ratio_of(np.ones(4), np.arange(4.0))[0] == 0
    assert np.isnan(ratio_of(np.arange(4.0), np.ones(4))[0])


def test_the_same_study_twice_is_refused(study):
    with pytest.raises(InputError, match="given twice"):
        together([study, study])


# -- the authors' runs through the same code -----------------------------------------------------------------
@pytest.fixture(scope="module")
def published():
    try:
        found = read_published()
    except InputError:
        pytest.skip("EVENHAND_DATA does not lead to the published runs")
    nothing = dict.fromkeys(found.techniques, ())
    return Trained(found.techniques, found.bias, found.performance, "", nothing, nothing, {}, {},
                   "identical", (), {}, "artifact")  # fmt: skip


def test_the_published_runs_give_the_published_outcomes(published):
    """103 falls, 47 rises, 4 neither; variation: 53 rise, 13 fall, and 14 of these 66 stay with Holm."""
    rows = change_rows(published)
    moved, varied = (Counter(row[key] for row in rows) for key in ("direction", "variance_direction"))
    assert moved == {"-": 103, "+": 47, "NS": 4}
    assert varied == {"+": 53, "-": 13, "NS": 88}
    assert sum(row["variance_holm"] != "NS" for row in rows) == 14
    kept = sum(row["holm"] == row["direction"] != "NS" for row in rows)
    assert 145 <= kept <= 150  # 149 by the normal approximation


def test_di2_is_best_in_the_published_runs(published):
    rows = best_rows(published)
    assert best_verdict(rows) == "holds"
    assert {row["shown"] for row in rows} == {9}


# -- findings ----------------------------------------------------------------------------------------------
def test_di2_is_best_where_it_is_lowest_by_everything(one):
    assert one["best_verdict"] == "holds"
    assert all(row["lowest"] == "S-DI2" and row["shown"] == row["of"] == 5 for row in one["best"])


def test_di2_is_not_best_where_another_is_lower():
    one = computed(world={**FEW, "S-DD1": (0.0, 0.002, 0.7)})["sets"][0]
    assert one["best_verdict"] == "does not"
    assert row_of(one["best"], metric="eotp")["beaten"] == ["S-DD1"]
    assert best_verdict([]) == "cannot tell"


def test_the_nearest_other_is_one_whose_bias_is_defined():
    (trained,) = read_trained(Frame(world.study(world=FEW)))
    bias = {key: value * np.nan if key[0] == "S-Base" else value for key, value in trained.bias.items()}
    for row in best_rows(replace(trained, bias=bias)):
        assert (row["nearest"], row["lowest"], row["shown"], row["of"]) == ("S-DD1", "S-DI2", 1, 2)


def test_claim_12_counts_the_techniques_that_vary(study):
    found = answers(together([study]))["S0.12"]
    assert found["verdict"] == "holds"
    assert found["effect"].startswith("6 of 6 techniques vary; widest MaxDiff 0.09")
    assert found["runs"] == "64"  # two networks are each read in two ways
    assert "NVIDIA H200" in found["note"]


def test_claim_12_is_about_gpus_identical_runs_and_cifar10s():
    for values in ({"device": "cpu (x86)"}, {"repeat": False}, {"vary": ()}, {"data": "mnist10s"}):
        assert "S0.12" not in answers(together([computed(world=FEW, **values)])), values
    still = computed(world=FEW, still=list(FEW))
    assert answers(together([still]))["S0.12"]["verdict"] == "does not"
    partly = computed(world=FEW, still=["S-Base", "S-DD1"])
    assert answers(together([partly]))["S0.12"]["verdict"] == "cannot tell"


def test_claims_13_to_15_follow_the_benchmark(study):
    found = answers(together([study], world.BENCH))
    assert {name: found[name]["verdict"] for name in ("S0.13", "S0.14", "S0.15")} == {
        "S0.13": "holds", "S0.14": "holds", "S0.15": "holds",
    }  # fmt: skip
    assert found["S0.14"]["effect"] == "cifar-resnet18 18.0 %; resnet101 15.0 %; densenet121 20.0 %"
    assert found["S0.15"]["effect"] == "1 of 2 operations raise"


def test_a_deterministic_study_speaks_to_claim_13_as_well(study):
    control = computed(name="control", still=list(world.WORLD), vary=())
    found = answers(together([study, control]))["S0.13"]
    assert found["verdict"] == "holds"
    assert found["effect"] == "equal to the bit: 4 of 4 in deterministic mode, 0 of 4 outside of it"
    broken = computed(name="broken", vary=())
    assert answers(together([study, broken]))["S0.13"]["verdict"] == "does not"


def changed(part, place, **values):
    rows = [{**row, **(values if number == place else {})} for number, row in enumerate(world.BENCH[part])]
    return {**world.BENCH, part: rows}


def test_the_benchmark_may_say_otherwise():
    assert overhead_verdict(changed("overhead", 1, low=0.01, high=0.05)) == "does not"
    assert overhead_verdict(changed("overhead", 1, low=-0.05)) == "cannot tell"
    assert overhead_verdict({**world.BENCH, "overhead": world.BENCH["overhead"][:2]}) == "cannot tell"
    assert equality_verdict([True, False], [False]) == "does not"
    assert equality_verdict([], [False]) == "cannot tell"
    assert exceptions_verdict(changed("exceptions", 0, raises=False)) == "cannot tell"  # two are too few
    many = [{"operation": str(n), "raises": False, "why": ""} for n in range(30)]
    assert exceptions_verdict({**world.BENCH, "exceptions": many}) == "does not"
    on_cpu = {**world.BENCH, "machine": {**world.BENCH["machine"], "device": "cpu"}}
    assert {overhead_verdict(on_cpu), exceptions_verdict(on_cpu)} == {"cannot tell"}


def test_everything_is_plain(study):
    assert plain(study) == study

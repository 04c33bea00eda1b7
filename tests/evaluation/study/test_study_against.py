"""Against the base: tests, corrections and verdicts; what mitigation cost; levelling down; ranks."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from evenhand.evaluation.study.against import against_base
from evenhand.evaluation.study.cost import costs
from evenhand.evaluation.study.leaders import leaders
from evenhand.evaluation.study.levelling import levelling
from evenhand.evaluation.study.pairing import difference
from evenhand.evaluation.study.ranks import rank_tables
from evenhand.evaluation.study.setup import Setup
from evenhand.evaluation.study.summary import summarise
from evenhand.statistics.corrections import benjamini_hochberg, holm
from evenhand.statistics.tests import mann_whitney
from evenhand.study.frame import Frame
from evenhand.study.spec import ReportSpec

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "study" / "fake_store.py")))
SHAKE = (0.0, 0.01, -0.01, 0.02, -0.02, 0.004, -0.006, 0.014)  # by seed


def setup_of(rates, tasks=("adult",), seeds=8, **report):
    """Methods by name: true and false positive rates of groups a and b; the former vary with the seed."""

    def table_of(task, method, setting, seed, part):
        tpr, fpr = rates[method](task) if callable(rates[method]) else rates[method]
        shaken = [value + SHAKE[seed] for value in tpr]
        return fake.rates_table(shaken, fpr, n=2000)

    store = fake.store_of({name: [{}] for name in rates}, table_of, tasks, seeds, report=ReportSpec(**report))
    return Setup.of(Frame.open(store), 0)


def level(rates, **report):
    made = setup_of(rates, **report)
    base, other = made.arms
    return levelling(made, other, base)


# -- tests -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("correction", "adjust"), [("holm", holm), ("benjamini-hochberg", benjamini_hochberg)]
)
def test_p_values_are_scipys_and_corrected_over_everything(correction, adjust):
    store = fake.sample_store(failures=False)
    store._study["report"]["correction"] = correction
    made = Setup.of(Frame.open(store), 0)
    found = against_base(made)
    assert len(found) == 9  # three methods on three problems
    places = [(place, key) for place, entry in found.items() for key in entry]
    expected = []
    for place, key in places:
        base, arm = made.base_of(place[0]).values[key], made._by_place[place].values[key]
        expected.append(mann_whitney(base, arm, method="auto").p)
        if len({*base, *arm}) == 16:  # without ties SciPy has an exact one too
            assert expected[-1] == pytest.approx(stats.mannwhitneyu(base, arm, method="exact").pvalue)
    np.testing.assert_allclose([found[place][key]["p"] for place, key in places], expected)
    np.testing.assert_allclose([found[place][key]["p_adjusted"] for place, key in places], adjust(expected))


def test_wilcoxon_is_paired_on_the_seeds_that_both_have():
    store = fake.sample_store(tasks=("adult",), failures=False)
    store._study["report"]["test"] = "wilcoxon"
    for row in store.rows:
        if row["method"] == "gap" and row["seed"] == 3:
            row.update(status="failed")
    made = Setup.of(Frame.open(store), 0)
    moved = against_base(made)[0, "gap"]["tpr.gap"]
    base, arm = made.base_of(0), made._by_place[0, "gap"]
    kept = [place for place, seed in enumerate(base.seeds) if seed != 3]
    assert arm.seeds == (0, 1, 2, 4, 5, 6, 7)
    both = arm.values["tpr.gap"], base.values["tpr.gap"][kept]
    assert moved["p"] == pytest.approx(stats.wilcoxon(*both).pvalue)
    assert moved["difference"] == pytest.approx(float(np.mean(both[0] - both[1])))
    assert moved["paired"]
    assert moved["n"] == [7, 7]


def test_three_seeds_cannot_tell():
    made = setup_of({"erm": ((0.9, 0.5), (0.1, 0.1)), "gap": ((0.7, 0.7), (0.1, 0.1))}, seeds=3)
    moved = against_base(made)[0, "gap"]
    assert moved["acc"]["verdict"] == "not enough runs to tell"


def test_the_family_of_the_correction_is_stated():
    body = summarise(fake.sample_store(failures=False), replicates=0)
    family = sum(line["p"] is not None for problem in body["problems"] for entry in problem["methods"]
                 for line in (entry["against"] or {}).values())  # fmt: skip
    assert family == 3 * 3 * 5  # methods, problems, metrics with accuracy
    assert "by Holm over all 45 comparisons with erm" in body["tests"]["words"]
    assert "acc among them" in body["tests"]["words"]
    store = fake.sample_store(failures=False)
    store._study["report"]["correction"] = "none"
    assert "the 45 p-values are not corrected" in summarise(store, replicates=0)["tests"]["words"]


def test_eight_seeds_tell():
    made = setup_of({"erm": ((0.9, 0.5), (0.1, 0.1)), "gap": ((0.7, 0.6), (0.1, 0.1))})
    moved = against_base(made)[0, "gap"]
    assert moved["tpr.gap"]["verdict"] == "lower"
    assert moved["tpr.gap"]["difference"] == pytest.approx(-0.3)
    assert moved["tpr.gap"]["effect"] > 2.0
    assert moved["tpr.gap"]["band"] == "huge"
    assert moved["fpr.gap"]["verdict"] == "no difference shown"  # 0 in every run of both
    assert moved["acc"]["difference"] == pytest.approx(-0.025)
    assert moved["acc"]["paired"]


# -- levelling down ----------------------------------------------------------------------------------------
ERM = ((0.9, 0.5), (0.1, 0.1))


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ((0.9, 0.7), "worst gained"),
        ((0.7, 0.7), "worst gained"),
        ((0.6, 0.5), "levelled down"),
        ((0.6, 0.45), "both lost"),
        ((0.95, 0.6), "both gained"),
        ((0.9, 0.5), "no change shown"),
        ((0.9, 0.4), "worst lost"),
        ((0.95, 0.4), "worst lost"),
        ((0.95, 0.5), "best gained"),
    ],
)
def test_who_gained_and_who_lost(after, verdict):
    found = level({"erm": ERM, "gap": (after, (0.1, 0.1))})
    assert (found["worst"], found["best"], found["rate"]) == ("b", "a", "tpr")
    assert found["verdict"] == verdict
    assert found["worst_change"] == pytest.approx(after[1] - 0.5)
    assert found["best_change"] == pytest.approx(after[0] - 0.9)


def test_a_change_that_the_seeds_could_have_made_is_not_shown():
    def table_of(task, method, setting, seed, part):
        shift = 0.0 if method == "erm" else (0.1, -0.08, 0.06, -0.07)[seed]
        return fake.rates_table((0.8, 0.5 + shift), (0.1, 0.1))

    made = Setup.of(Frame.open(fake.store_of({"erm": [{}], "gap": [{}]}, table_of)), 0)
    found = levelling(made, made.arms[1], made.arms[0])
    assert found["worst_low"] < 0 < found["worst_high"]
    assert found["verdict"] == "no change shown"


def test_of_a_rate_where_less_is_better_a_fall_is_a_gain():
    found = level(
        {"erm": ((0.8, 0.8), (0.1, 0.4)), "gap": ((0.8, 0.8), (0.1, 0.2))}, metrics=("fpr.gap", "tpr.gap")
    )
    assert (found["rate"], found["worst"], found["best"]) == ("fpr", "b", "a")
    assert found["worst_change"] == pytest.approx(-0.2)
    assert found["verdict"] == "worst gained"


def test_one_seed_tells_nothing_of_levelling():
    made = setup_of({"erm": ERM, "gap": ((0.6, 0.5), (0.1, 0.1))}, seeds=1)
    found = levelling(made, made.arms[1], made.arms[0])
    assert found["verdict"] == "no change shown"
    assert "cannot be told" in found["words"]


# -- the cost of mitigation (S0, Figure 3) -----------------------------------------------------------------
def cost_store(**report):
    """erm is steady; "shaky" loses accuracy, is less steady and closes the gap; "idle" changes nothing."""
    rng = np.random.default_rng(3)

    around = {"erm": ((0.9, 0.6), 0.01), "shaky": ((0.65, 0.62), 0.06), "idle": ((0.9, 0.6), 0.01)}

    def table_of(task, method, setting, seed, part):
        middle, scale = around[method]
        return fake.rates_table(np.array(middle) + scale * rng.normal(size=2), (0.1, 0.1), n=4000)

    return fake.store_of(
        {"erm": [{}], "shaky": [{}], "idle": [{}]}, table_of, seeds=16,
        report=ReportSpec(metrics=("tpr.gap",), **report),
    )  # fmt: skip


@pytest.mark.parametrize("convention", ["strict", "artifact"])
def test_a_method_that_pays_and_one_that_does_nothing(convention):
    made = Setup.of(Frame.open(cost_store(convention=convention)), 0)
    shaky, idle = costs(made, against_base(made))
    assert (shaky["method"], shaky["accuracy"], shaky["variance"]) == ("shaky", "-", "+")
    assert (shaky["reduces"], shaky["cross"]) == (["tpr.gap"], False)
    assert (idle["accuracy"], idle["variance"], idle["reduces"], idle["cross"]) == ("NS", "NS", [], True)


def test_the_published_convention_is_one_sided_and_uncorrected():
    made = Setup.of(Frame.open(cost_store(convention="artifact")), 0)
    shaky = costs(made, against_base(made))[0]
    base, arm = made.arms[0].values["acc"], made.arms[1].values["acc"]
    expected = stats.mannwhitneyu(base, arm, alternative="greater", method="asymptotic").pvalue
    assert shaky["accuracy_p"] == pytest.approx(expected)
    relative = stats.levene(base / base.mean(), arm / arm.mean(), center="median").pvalue
    assert shaky["variance_p"] == pytest.approx(relative)


def test_tests_of_variances_are_corrected_among_themselves():
    made = Setup.of(Frame.open(cost_store()), 0)
    base = made.arms[0].values["acc"]
    raw = [
        stats.levene(base / base.mean(), arm.values["acc"] / arm.values["acc"].mean(), center="median").pvalue
        for arm in made.arms[1:]
    ]
    found = [line["variance_p"] for line in costs(made, against_base(made))]
    np.testing.assert_allclose(found, holm(raw))


def test_too_few_runs_to_show_anything_are_no_cross():
    rates = {"erm": ((0.9, 0.5), (0.1, 0.1)), "gap": ((0.7, 0.68), (0.1, 0.1))}
    few, many = (setup_of(rates, seeds=seeds, metrics=("tpr.gap",)) for seeds in (3, 8))
    assert costs(few, against_base(few))[0]["cross"] is None
    assert costs(many, against_base(many))[0]["cross"] is False


def test_by_the_published_convention_too_a_metric_may_be_better_nearer_to_its_ideal():
    def ratio(middle):
        return lambda task: ((0.6, 0.6 * middle), (0.1, 0.1))

    made = setup_of({"erm": ratio(1.4), "gap": ratio(1.02), "off": ratio(0.5)},
                    metrics=("s3.tpr.ratio",), convention="artifact")  # fmt: skip
    near, off = costs(made, against_base(made))
    assert (near["reduces"], near["cross"]) == (["s3.tpr.ratio"], False)
    assert (off["reduces"], off["cross"]) == ([], True)  # as significantly lower, and farther from 1


# -- over problems -----------------------------------------------------------------------------------------
def test_ranks_of_a_known_table():
    gaps = {"t0": (1, 2, 3), "t1": (1, 2, 3), "t2": (1, 3, 2), "t3": (1, 2, 3)}

    def at(place):
        return lambda task: ((0.8, 0.8 - gaps[task][place] / 10), (0.1, 0.1))

    made = setup_of({"erm": at(0), "gap": at(1), "sd": at(2)}, tasks=tuple(gaps), metrics=("tpr.gap",))
    found = rank_tables(made)["tpr.gap"]
    assert found["methods"] == ["erm", "gap", "sd"]
    assert found["mean_ranks"] == [1.0, 2.25, 2.75]
    assert found["problems"] == 4
    assert found["friedman"]["statistic"] == pytest.approx(6.5)
    expected = stats.friedmanchisquare(*[[gaps[task][place] for task in gaps] for place in range(3)])
    assert found["friedman"]["p"] == pytest.approx(expected.pvalue)
    assert found["critical_difference"] == pytest.approx(2.343 * (12 / 24) ** 0.5, rel=1e-3)  # Demsar's q


def test_too_few_problems_or_methods_are_said():
    found = rank_tables(setup_of({"erm": ERM, "gap": ((0.7, 0.7), (0.1, 0.1))}))["tpr.gap"]
    assert found["critical_difference"] is None
    assert found["words"].startswith("cannot tell")


def test_a_method_that_is_missing_on_most_problems_is_left_out_of_the_ranks():
    store = fake.sample_store(failures=False)
    for row in store.rows:
        if row["method"] == "sd" and row["task"] != "adult":
            row.update(status="failed", reason="diverged")
    body = summarise(store, replicates=0)
    assert body["ranks"]["odds.max"]["methods"] == ["gap", "group-dro", "erm"]
    assert (
        "left out for want of finished runs on half of the problems: sd" in body["ranks"]["odds.max"]["words"]
    )
    missing = next(entry for entry in body["leaders"] if entry["method"] == "sd")
    assert missing["numbers"]["odds.max"]["mean_rank"] is None


def test_wins_and_losses_against_the_base():
    body = summarise(fake.sample_store(failures=False), replicates=0)
    gap = next(entry for entry in body["leaders"] if entry["method"] == "gap")["numbers"]
    assert (gap["tpr.gap"]["wins"], gap["tpr.gap"]["losses"], gap["tpr.gap"]["ties"]) == (3, 0, 0)
    assert gap["tpr.gap"]["verdict"] == "not enough problems to tell"  # three of them
    base = next(entry for entry in body["leaders"] if entry["method"] == "erm")["numbers"]
    assert base["tpr.gap"]["verdict"] is None
    worse = setup_of({"erm": ERM, "gap": ((0.9, 0.3), (0.1, 0.1))}, metrics=("tpr.gap",))
    lost = leaders(worse, against_base(worse))[1]["numbers"]
    assert (lost["tpr.gap"]["wins"], lost["tpr.gap"]["losses"], lost["tpr.gap"]["ties"]) == (0, 1, 0)


def test_a_difference_of_unshared_seeds_has_the_errors_of_both():
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.6, 0.8])
    found = difference([0, 1, 2], a, [5, 6, 7], b, 0.95)
    assert (found.mean, found.paired) == (pytest.approx(0.4), False)
    reach = 4.302653 * np.hypot(0.1, 0.2) / 3**0.5
    assert found.high - found.mean == pytest.approx(reach, rel=1e-6)


def test_verdicts_over_problems_are_corrected_over_the_table():
    tasks = tuple(f"t{place}" for place in range(7))

    def gaining(much):  # by another amount on each problem
        return lambda task: ((0.9, 0.5 + much + 0.01 * int(task[1:])), (0.1, 0.1))

    def verdict_of_gap(rates):
        made = setup_of({"erm": ERM, **rates}, tasks=tasks, metrics=("tpr.gap",))
        found = leaders(made, against_base(made))
        return next(entry for entry in found if entry["method"] == "gap")["numbers"]["tpr.gap"]["verdict"]

    one = {"gap": gaining(0.1)}
    assert verdict_of_gap(one) == "lower"  # 2 / 2^7, among two: accuracy and the gap
    more = {"sd": gaining(0.05), "dro": gaining(0.02)}
    assert verdict_of_gap(one | more) == "not enough problems to tell"  # among six

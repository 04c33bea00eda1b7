"""`evenhand.audit` from end to end: its fields, its outputs, and every choice a caller has."""

import io
import json
import math
import re

import numpy as np
import pytest
from rich.console import Console

import evenhand
from evenhand.metrics.catalogue import CATALOGUE

S0 = {"DP": "dp", "DI_bar": "di", "SPSF": "spsf", "FPSF": "fpsf", "EOFP": "eofp", "EOTP": "eotp", "BA": "ba"}
CASES = [
    "binary_balanced_a",
    "binary_skewed_a",
    "tenclass_balanced_a",
    "tenclass_skewed_never_predicted_a",
    "fourclass_group1_never_predicted_a",
    "multilabel_21",
]


def sample(n=240, groups=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    g = rng.integers(0, groups, n)
    p = np.where(rng.random(n) < np.linspace(0.9, 0.6, groups)[g], y, 1 - y)
    return y, p, np.array(["a", "b", "c", "d"])[g]


@pytest.fixture(scope="module")
def found():
    """One audit with scores, weights, two attributes, unknown rows and a group under the minimum count."""
    y, p, g = sample()
    rng = np.random.default_rng(1)
    g = g.astype(object)
    g[:6], g[6:9] = None, "tiny"
    return evenhand.audit(
        y,
        p,
        {"region": g, "old": rng.random(len(y)) < 0.5},
        scores=np.clip(0.3 * p + 0.7 * rng.random(len(y)), 0, 1),
        weights=rng.integers(1, 4, len(y)),
        min_count=5,
        replicates=60,
        name="a model",
    )


# -- the record -------------------------------------------------------------------------------------------
def test_a_hand_counted_audit():
    y, p = [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0, 0, 0]
    found = evenhand.audit(y, p, ["a"] * 4 + ["b"] * 4)
    tpr, dp = found.metrics["tpr.gap"], found.metrics["dp"]
    assert (found.n, found.unknown, len(found.groups)) == (8, 0, 2)
    assert (tpr.value, tpr.decided_by, tpr.undefined) == (0.5, ("a", "b"), ())
    assert (dp.value, dp.per_class) == (0.5, (0.5, 0.5))
    assert tpr.low <= 0.5 <= tpr.high
    assert found.metrics["fpr.gap"].value == 0.5
    assert found.metrics["odds.max"].value == 0.5
    assert found.metrics["acc"].value == 0.75
    first = found.groups[0]
    assert (first.name, first.n, first.share, first.rates["tpr"]) == ("a", 4, 0.5, 1.0)
    assert first.confusion == ((1, 1), (0, 2))
    assert float(tpr) == 0.5


def test_json_has_the_promised_shape(found):
    body = json.loads(found.to_json())
    assert {"n", "unknown", "groups", "metrics", "warnings"} <= set(body)
    assert {"name", "n", "share", "rates"} <= set(body["groups"][0])
    for key, entry in body["metrics"].items():
        assert {"value", "low", "high", "per_class", "decided_by", "undefined"} <= set(entry), key
        assert "key" not in entry
    assert (body["n"], body["weighted"], body["name"]) == (240, True, "a model")
    assert body["grouping"] == ["region", "old"]
    assert set(body["attributes"]) == {"region", "old"}
    assert body["task"] == "binary"
    assert body["positive"] == "1"
    assert body["method"]["scores"] == "exact"


def test_json_knows_neither_nan_nor_infinity():
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    y, g = [1, 1, 0, 0], ["a", "a", "b", "b"]
    found = evenhand.audit(y, y, g, smoothing=0, replicates=20)
    assert math.isnan(found.metrics["tpr.gap"].value)
    assert math.isinf(found.metrics["eps"].value)
    body = json.loads(found.to_json(), parse_constant=refuse)
    assert body["metrics"]["tpr.gap"]["value"] is None
    assert body["groups"][0]["rates"]["fpr"] is None


def test_json_is_in_reading_order_and_can_be_compact(found):
    assert found.to_json(indent=None).count("\n") == 0
    assert json.loads(found.to_json(indent=None)) == json.loads(found.to_json())


def test_a_polars_frame_has_a_row_for_each_metric(found):
    frame = found.to_polars()
    assert frame["metric"].to_list() == list(found.metrics)
    row = next(row for row in frame.iter_rows(named=True) if row["metric"] == "tpr.gap")
    assert row["value"] == found.metrics["tpr.gap"].value
    assert tuple(row["decided_by"]) == found.metrics["tpr.gap"].decided_by


def test_every_way_to_show_it(found):
    page, card, note = found.to_html(), found.to_markdown(), found._repr_html_()
    assert page.startswith("<!")
    assert "tpr.gap" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "tiny" in card
    assert "<" in note
    screen = io.StringIO()
    Console(file=screen, width=100).print(found)
    assert "240 rows" in screen.getvalue()
    assert repr(found).startswith("Audit(n=240, groups=8, unknown=6, selection.gap=")


def test_showing_an_audit_of_undefined_values():
    found = evenhand.audit([1, 1], [1, 1], ["a", "a"], replicates=5)
    assert "nan" in repr(found)
    for text in (found.to_html(), found.to_markdown(), found._repr_html_()):
        shown = re.sub(r"(?s)<(script|style).*?</\1>", "", text)
        assert not re.search(r"(?i)\b(nan|null|inf)\b", re.sub(r"<[^>]*>", " ", shown))


# -- which metrics there are ------------------------------------------------------------------------------
def needing(*kinds):
    return {key for key, row in CATALOGUE.items() if row.needs in kinds}


SHIFT = {"cev", "sde", "cev_norm", "sde_norm"}


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "runs"])
def test_every_catalogue_key_that_counts_can_give(kind):
    rng = np.random.default_rng(2)
    y = {"binary": rng.integers(0, 2, 90), "multiclass": rng.integers(0, 4, 90)}.get(kind)
    if kind == "multilabel":
        y = rng.integers(0, 2, (90, 3))
    y = rng.integers(0, 2, 90) if y is None else y
    p = np.stack([y, 1 - y]) if kind == "runs" else y
    found = evenhand.audit(y, p, rng.integers(0, 2, 90), replicates=10)
    assert set(found.to_dict()["metrics"]) == needing("counts") | SHIFT
    assert found.to_dict()["task"] == ("binary" if kind == "runs" else kind)


def test_scores_add_every_key_that_scores_can_give():
    rng = np.random.default_rng(3)
    y, g = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    many = evenhand.audit(y, y, g, scores=rng.dirichlet([1, 1, 1], 90), replicates=10)
    assert set(many.metrics) == needing("counts", "scores") | SHIFT
    two = evenhand.audit(y > 0, y > 0, g, scores=rng.random(90), replicates=10)
    ranked = {key for key in CATALOGUE if key.startswith("topk.")}
    assert set(two.metrics) == needing("counts", "scores") - ranked | SHIFT
    assert "cie" not in many.metrics


def test_only_the_metrics_asked_for():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, metrics=["tpr", "dp"], replicates=10)
    assert set(found.metrics) == {key for key in CATALOGUE if key.startswith("tpr.")} | {"dp"}
    one = evenhand.audit(y, p, g, metrics=("dp",), replicates=10)
    full = evenhand.audit(y, p, g, replicates=10)
    assert one.metrics["dp"].value == full.metrics["dp"].value


def test_a_metric_of_a_trained_model_is_not_passed_over_in_silence():
    y, p, g = [0, 1, 0, 1], [0, 1, 1, 0], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"evenhand\.equalized_robustness"):
        evenhand.audit(y, p, g, metrics=["delta_er"])
    assert "delta_er" not in evenhand.audit(y, p, g, replicates=0).metrics  # unless it is asked for


@pytest.mark.parametrize(("key", "reason"), [("auc.gap", "scores"), ("cie", "several runs")])
def test_a_metric_that_was_asked_for_and_cannot_be_had_is_told(key, reason):
    found = evenhand.audit(
        [0, 1, 0, 1], [0, 1, 1, 0], ["a", "a", "b", "b"], metrics=[key, "acc"], replicates=0
    )
    assert any(note.startswith(f"{key}: ") and reason in note for note in found.warnings)
    assert not any(
        "needs" in note for note in evenhand.audit([0, 1], [0, 1], ["a", "b"], replicates=0).warnings
    )


# -- small groups, unknown rows ---------------------------------------------------------------------------
def test_a_group_under_the_minimum_count_is_shown_and_left_out():
    y = np.array([1, 1, 1, 1] * 10 + [1, 1])
    p = np.array([1, 1, 1, 0] * 5 + [1, 1, 0, 0] * 5 + [0, 0])
    g = ["a"] * 20 + ["b"] * 20 + ["tiny"] * 2
    found = evenhand.audit(y, p, g, min_count=3, replicates=20)
    gap = found.metrics["tpr.gap"]
    assert (gap.value, gap.with_small, gap.decided_by) == (0.25, 0.75, ("a", "b"))
    tiny = found.groups[2]
    assert (tiny.name, tiny.n, tiny.excluded, tiny.small) == ("tiny", 2, True, True)
    assert tiny.rates["tpr"] == 0
    assert not found.groups[0].excluded
    assert any("tiny has fewer than 3 rows" in warning for warning in found.warnings)
    whole = evenhand.audit(y, p, g, replicates=20).metrics["tpr.gap"]
    assert (whole.value, whole.with_small, whole.decided_by) == (0.75, None, ("a", "tiny"))


def test_no_group_large_enough():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, min_count=1000, replicates=20)
    assert all(
        math.isnan(found.metrics[key].value) and found.metrics[key].undefined for key in ("dp", "tpr.gap")
    )
    assert all(group.excluded for group in found.groups)
    assert found.overall.rates["accuracy"] == np.mean(y == p)


def test_unknown_rows_are_counted_shown_and_in_no_gap():
    y, p, g = sample()
    some = g.astype(object)
    some[:40] = None
    found, known = (
        evenhand.audit(y, p, some, replicates=0),
        evenhand.audit(y[40:], p[40:], g[40:], replicates=0),
    )
    assert (found.n, found.unknown, known.unknown) == (240, 40, 0)
    assert sum(group.n for group in found.groups) == 200
    assert found.metrics["tpr.gap"].value == known.metrics["tpr.gap"].value
    assert found.metrics["acc"].value == pytest.approx(np.mean(y == p))
    assert any("40 rows (16.7%) have no known group" in warning for warning in found.warnings)
    assert known.metrics["tpr.gap"].bounds is None


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "weighted"])
def test_bounds_hold_what_comes_out_when_the_unknown_groups_are_revealed(kind):
    rng = np.random.default_rng(4)
    checked = 0
    for _ in range(15):
        n = 40
        y = rng.integers(0, 3 if kind == "multiclass" else 2, (n, 2) if kind == "multilabel" else n)
        p = np.where(rng.random(y.shape) < 0.7, y, rng.integers(0, 2, y.shape))
        g = rng.integers(0, 2, n)
        hidden = np.where(rng.random(n) < 0.2, -1, g)
        weights = rng.integers(1, 4, n) if kind == "weighted" else None
        guess, truth = (evenhand.audit(y, p, by, weights=weights, replicates=0) for by in (hidden, g))
        for key, value in guess.metrics.items():
            if value.bounds is not None and not math.isnan(truth.metrics[key].value):
                low, high = value.bounds
                assert low - 1e-9 <= truth.metrics[key].value <= high + 1e-9, key
                checked += 1
    assert checked > 300


# -- classes ----------------------------------------------------------------------------------------------
def test_the_positive_class():
    y, p = ["yes", "no", "yes", "no"], ["yes", "no", "no", "no"]
    last, named = (evenhand.audit(y, p, [0, 0, 1, 1], positive=name, replicates=0) for name in (None, "no"))
    assert last.to_dict()["positive"] == "yes"
    assert named.to_dict()["positive"] == "no"
    assert named.to_dict()["classes"] == ["yes", "no"]
    assert (last.metrics["tpr.gap"].value, named.metrics["tpr.gap"].value) == (1.0, 0.0)
    assert named.metrics["fpr.gap"].value == 1.0
    assert last.metrics["dp"].value == named.metrics["dp"].value
    with pytest.raises(ValueError, match=r"positive class 'maybe' does not occur; the classes are no, yes"):
        evenhand.audit(y, p, [0, 0, 1, 1], positive="maybe")


@pytest.mark.parametrize("positive", [1, 1.0, np.int64(1), np.float32(1), "1"])
def test_the_positive_class_is_named_as_it_prints(positive):
    assert evenhand.audit([0, 1], [0, 1], [0, 1], positive=positive, replicates=0).subject.classes == (
        "0",
        "1",
    )


def test_a_class_given_but_never_seen_is_skipped_and_counted():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, classes=[0, 1, 2], replicates=0)
    assert found.to_dict()["classes"] == ["0", "1", "2"]
    assert found.to_dict()["task"] == "multiclass"
    gap = found.metrics["tpr.gap"]
    assert math.isnan(gap.per_class[2])
    assert gap.skipped_classes == 1
    assert gap.value == pytest.approx(np.nanmean(gap.per_class))
    with pytest.raises(ValueError, match="holds '1', which is not among"):
        evenhand.audit(y, p, g, classes=[0, 2])


def test_a_class_is_given_once():
    y, p, g = sample()
    with pytest.raises(ValueError, match="1"):
        evenhand.audit(y, p, g, classes=[0, 1, 1], replicates=0)


def test_class_order_follows_the_classes_given():
    y, p, g = sample()
    words = np.array(["good", "bad"])
    found = evenhand.audit(words[y], words[p], g, classes=["good", "bad"], replicates=0)
    assert found.to_dict()["positive"] == "bad"
    assert found.metrics["tpr.gap"].value == evenhand.audit(y, p, g, replicates=0).metrics["tpr.gap"].value


# -- weights ----------------------------------------------------------------------------------------------
def test_whole_weights_are_repeated_rows():
    y, p, g = sample()
    rng = np.random.default_rng(5)
    w, s = rng.integers(0, 4, len(y)), rng.random(len(y))
    again = np.repeat(np.arange(len(y)), w)
    heavy = evenhand.audit(y, p, g, scores=s, weights=w, replicates=0)
    long = evenhand.audit(y[again], p[again], g[again], scores=s[again], replicates=0)
    assert (heavy.n, long.n) == (len(y), w.sum())
    for key, value in heavy.metrics.items():
        assert value.value == pytest.approx(long.metrics[key].value, nan_ok=True), key
    assert heavy.groups[0].weight == pytest.approx(long.groups[0].n)


def test_equal_weights_change_nothing_and_scale_does_not_matter():
    y, p, g = sample()
    plain = evenhand.audit(y, p, g, replicates=0)
    for weight in (1.0, 0.25, 1e6):
        heavy = evenhand.audit(y, p, g, weights=np.full(len(y), weight), replicates=0)
        for key in ("tpr.gap", "dp", "acc", "f1.ratio", "mcc.gap", "ba"):
            assert heavy.metrics[key].value == pytest.approx(plain.metrics[key].value), key


# -- conventions ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_conventions_reach_the_golden_numbers_through_an_audit(golden, assert_close, name):
    case = next(c for c in golden("06_seven_bias_metrics_artifact")["cases"] if c["name"] == name)
    given, paper = case["inputs"], dict(case["expected"]["independent_paper"])
    paper["FPSF"] = paper["FPSF_group_weight"]
    y = np.array(given["y_true"])
    classes = None if y.ndim == 2 else list(range(case["parameters"]["n_classes"]))
    arguments = (given["y_true"], given["y_pred"], given["group"])
    for convention, expected in (("artifact", case["expected"]["artifact"]), ("paper", paper)):
        found = evenhand.audit(*arguments, classes=classes, convention=convention, replicates=0).metrics
        for theirs, ours in S0.items():
            assert_close(found[ours].per_class, expected[theirs]["per_class"], case["tolerance"])
            assert_close(found[ours].value, expected[theirs]["overall"], case["tolerance"])
    strict = evenhand.audit(*arguments, classes=classes, replicates=0).metrics
    for theirs, ours in S0.items():
        defined = ~np.isnan(strict[ours].per_class)
        assert_close(
            np.array(strict[ours].per_class)[defined], np.array(paper[theirs]["per_class"])[defined], 1e-9
        )


def test_the_convention_that_is_for_two_groups_says_so():
    y, p, g = sample()
    with pytest.raises(ValueError, match="'artifact' convention is defined for two groups, not 3"):
        evenhand.audit(y, p, g, convention="artifact")


def test_the_privileged_group():
    y, p, g = sample()
    for name in "abc":
        found = evenhand.audit(y, p, g, privileged=name, replicates=0).metrics
        inside = g == name
        assert found["acc_p"].value == pytest.approx(np.mean(y[inside] == p[inside]))
        assert found["acc_up"].value == pytest.approx(np.mean(y[~inside] == p[~inside]))
    first = evenhand.audit(y, p, g, replicates=0).metrics["acc_p"].value
    assert first == pytest.approx(np.mean((y == p)[g == "a"]))
    with pytest.raises(ValueError, match=r"no group 'z' to be the privileged one: a, b, c"):
        evenhand.audit(y, p, g, privileged="z")


def test_a_privileged_group_may_be_a_number():
    y, p, g = sample()
    codes = (g == "b").astype(int)
    named, number = (evenhand.audit(y, p, codes, privileged=one, replicates=0) for one in ("1", 1))
    assert named.metrics["acc_p"].value == number.metrics["acc_p"].value


def test_a_privileged_group_without_enough_rows():
    y, p, g = sample()
    g[:2] = "d"
    found = evenhand.audit(y, p, np.where(np.arange(240) < 2, "d", g), privileged="d", min_count=5)
    assert math.isnan(found.metrics["acc_p"].value)
    assert found.metrics["acc_p"].undefined == ("the privileged group has too few rows",)
    assert not math.isnan(found.metrics["tpr.gap"].value)


def test_legacy_definitions_are_behind_a_flag():
    y, p, g = sample(groups=2)
    plain, legacy = (evenhand.audit(y, p, g, legacy=flag, replicates=0).metrics for flag in (False, True))
    moved = {key for key in plain if plain[key].value != pytest.approx(legacy[key].value, nan_ok=True)}
    assert moved
    assert all(key.startswith("s3.") or CATALOGUE[key].family == "S3" for key in moved)


# -- chance -----------------------------------------------------------------------------------------------
def test_the_same_seed_gives_the_same_audit_and_another_one_other_intervals():
    y, p, g = sample()
    one, two, other = (evenhand.audit(y, p, g, seed=seed, replicates=80) for seed in (1, 1, 2))
    assert one.metrics == two.metrics
    assert one.metrics["tpr.gap"].value == other.metrics["tpr.gap"].value
    assert one.metrics["tpr.gap"].high != other.metrics["tpr.gap"].high


def test_no_replicates_no_intervals():
    y, p, g = sample()
    found = evenhand.audit(y, p, g, scores=np.full(len(y), 0.5), replicates=0)
    assert all(math.isnan(value.low) and math.isnan(value.high) for value in found.metrics.values())
    assert all(value.chance is None for value in found.metrics.values())
    assert found.groups[0].intervals["tpr"][0] < found.groups[0].rates["tpr"]


@pytest.mark.parametrize("resampling", ["stratified", "whole"])
def test_an_interval_holds_its_value_and_stays_in_range(resampling):
    y, p, g = sample()
    found = evenhand.audit(y, p, g, resampling=resampling, replicates=100)
    for key, value in found.metrics.items():
        if not math.isnan(value.low):
            assert value.low <= value.value <= value.high, key
            assert value.low >= CATALOGUE[key].low - 1e-12, key
            assert value.high <= CATALOGUE[key].high + 1e-12, key
    assert sum(not math.isnan(value.low) for value in found.metrics.values()) > 100


def test_more_confidence_and_fewer_rows_make_an_interval_wider():
    y, p, g = sample(n=800)

    def width(rows, confidence):
        gap = evenhand.audit(y[:rows], p[:rows], g[:rows], confidence=confidence, replicates=400).metrics
        return gap["tpr.gap"].high - gap["tpr.gap"].low

    assert width(800, 0.5) < width(800, 0.95) < width(200, 0.95)


def test_chance_tells_a_real_gap_from_a_dealt_one():
    rng = np.random.default_rng(6)
    y, g = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    none = np.where(rng.random(600) < 0.8, y, 1 - y)
    real = np.where(rng.random(600) < np.where(g == 0, 0.9, 0.6), y, 1 - y)
    for p, low, high in ((none, 0.05, 1.0), (real, 0.0, 0.01)):
        gap = evenhand.audit(y, p, g, replicates=300).metrics["accuracy.gap"]
        assert low <= gap.chance_p <= high
        assert (gap.value > gap.chance) == (p is real)


# -- several attributes -----------------------------------------------------------------------------------
def test_the_intersection_and_each_attribute_alone():
    y, p, g = sample()
    old = np.random.default_rng(8).random(len(y)) < 0.5
    both = evenhand.audit(y, p, {"region": g, "old": old}, replicates=20)
    alone = evenhand.audit(y, p, {"region": g}, replicates=20)
    assert [group.name for group in both.groups][:2] == ["region=a · old=False", "region=a · old=True"]
    assert both.groups[0].levels == {"region": "a", "old": "False"}
    assert both.attributes["region"].metrics["tpr.gap"] == alone.metrics["tpr.gap"]
    assert alone.attributes == {}
    assert sum(group.n for group in both.groups) == len(y)


def test_a_privileged_intersection_is_no_group_of_an_attribute():
    y, p, g = sample()
    old = np.random.default_rng(8).random(len(y)) < 0.5
    found = evenhand.audit(y, p, {"region": g, "old": old}, privileged="region=b · old=True", replicates=0)
    inside = (g == "b") & old
    assert found.metrics["acc_p"].value == pytest.approx(np.mean(y[inside] == p[inside]))
    assert found.attributes["region"].metrics["acc_p"].value == pytest.approx(np.mean((y == p)[g == "a"]))


def test_relabelling_and_shuffling_rows_change_no_value():
    y, p, g = sample()
    order = np.random.default_rng(9).permutation(len(y))
    names = {"a": "z", "b": "y", "c": "x"}
    first = evenhand.audit(y, p, g, replicates=0).metrics
    second = evenhand.audit(y[order], p[order], [names[one] for one in g[order]], replicates=0).metrics
    for key, value in first.items():
        if not CATALOGUE[key].needs_privileged:
            assert value.value == pytest.approx(second[key].value, nan_ok=True), key
    assert second["tpr.gap"].decided_by == tuple(names[one] for one in first["tpr.gap"].decided_by)


# -- the traps that others fall into ----------------------------------------------------------------------
def test_a_group_without_negatives_has_no_false_positive_rate():
    y, p, g = [1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0], ["x", "x", "y", "y", "z", "z"]
    found = evenhand.audit(y, p, g, replicates=20)
    gap = found.metrics["fpr.gap"]
    assert math.isnan(found.groups[0].rates["fpr"])
    assert (gap.value, gap.decided_by, gap.skipped_groups) == (0.5, ("y", "z"), 1)
    assert gap.undefined == ("false positive rate of x for class 1: no negatives",)


def test_a_group_that_does_not_occur_shifts_no_other():
    sex = evenhand.Attribute.from_values(["f", "m", "f", "m"], "sex", levels=["d", "f", "m"])
    found = evenhand.audit([1, 1, 1, 0], [1, 0, 1, 0], sex, replicates=20)
    assert [(group.name, group.n) for group in found.groups] == [("d", 0), ("f", 2), ("m", 2)]
    assert found.metrics["tpr.gap"].decided_by == ("f", "m")
    assert any("group d has no rows" in warning for warning in found.warnings)


def test_a_class_never_predicted_and_more_classes_than_two():
    y, p, g = [0, 1, 2, 0, 1, 2], [0, 1, 0, 0, 0, 0], ["a"] * 3 + ["b"] * 3
    found = evenhand.audit(y, p, g, replicates=20)
    gap = found.metrics["tpr.gap"]
    assert gap.per_class == (0.0, 1.0, 0.0)
    assert gap.value == pytest.approx(1 / 3)
    assert gap.decided_in == "1"
    ppv = found.metrics["ppv.gap"]
    assert math.isnan(ppv.per_class[2])
    assert any("class 2: no positive predictions" in reason for reason in ppv.undefined)


def test_missing_labels_are_left_out_and_told():
    found = evenhand.audit([1, None, 0, 1], [1, 1, 0, float("nan")], ["a", "a", "b", "b"], replicates=0)
    assert found.n == 2
    assert found.to_dict()["missing"] == 2
    assert "2 rows without a label or a prediction were left out" in found.warnings

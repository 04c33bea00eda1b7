"""`evenhand.compare` from end to end: S2's hand numbers, matrices, changes by class and group, outputs."""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

import evenhand
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import all_to_group
from evenhand.report.verdict_comparison import comparison_sentences

BASE = np.array([[8, 1, 1], [2, 7, 1], [0, 2, 8]])
OTHER = np.array([[6, 3, 1], [1, 9, 0], [1, 3, 6]])


def predictions(table):
    """Predicted classes of rows in the order of their true class."""
    return np.concatenate([np.repeat(np.arange(len(row)), row) for row in table])


def labels(table):
    return np.repeat(np.arange(len(table)), table.sum(axis=1))


@pytest.fixture(scope="module")
def hand():
    """S2's hand check 2, confusions of A4.1."""
    return evenhand.compare(
        labels(BASE), {"big": predictions(BASE), "small": predictions(OTHER)}, replicates=200
    )


def pair(n=400, agree=0.9, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, classes, n), rng.choice(["a", "b"], n)
    base = np.where(rng.random(n) < 0.8, y, rng.integers(0, classes, n))
    return y, base, np.where(rng.random(n) < agree, base, rng.integers(0, classes, n)), g


# -- S2 ---------------------------------------------------------------------------------------------------
def test_hand_check_two(hand):
    assert hand.cev["small"] == pytest.approx(1.006173, abs=1e-6)
    assert hand.sde["small"] == pytest.approx(1.388889, abs=1e-6)
    assert hand.cev_norm["small"] == pytest.approx(1.006173 / 0.548697, abs=1e-5)
    assert math.isnan(hand.sde_norm["small"])
    assert "SDE below" in hand.sde_norm["small"].reason
    assert hand.cev["small"].low <= hand.cev["small"].value <= hand.cev["small"].high
    swapped = evenhand.compare(
        labels(BASE), {"big": predictions(BASE), "small": predictions(OTHER)}, base="small", replicates=0
    )
    assert swapped.cev["big"] == pytest.approx(1.7778, abs=1e-4)


def test_cev_and_sde_by_their_definition():
    """S2's hand check 1 has rates that no table of rows can have, so the rates are worked out here."""
    rng = np.random.default_rng(0)
    y, p, q = (rng.integers(0, 3, 90) for _ in range(3))
    found = evenhand.compare(y, {"p": p, "q": q}, replicates=0)
    changes = []
    for k in range(3):
        fpr, fnr = ([np.mean((m == k)[y != k]), np.mean((m != k)[y == k])] for m in (p, q))
        changes.append([(after - before) / before for before, after in zip(fpr, fnr, strict=True)])
    changes = np.array(changes)
    assert found.cev["q"] == pytest.approx(changes.var(axis=0).sum())
    assert found.sde["q"] == pytest.approx(np.abs(changes[:, 1] - changes[:, 0]).mean())
    rows = found.per_class["q"]
    assert [row["fpr_change"] for row in rows] == pytest.approx(changes[:, 0])
    assert [row["fnr_change"] for row in rows] == pytest.approx(changes[:, 1])


def test_matrices_have_the_base_in_the_row_and_the_alternative_in_the_column(hand):
    assert hand.models == ("big", "small")
    assert hand.matrices["cev"] == pytest.approx(np.array([[0, 1.006173], [1.777778, 0]]), abs=1e-5)
    assert hand.matrices["accuracy_change"] == pytest.approx(
        np.array([[0, 21 / 30 - 23 / 30], [23 / 30 - 21 / 30, 0]])
    )
    assert np.diag(hand.matrices["sde"]).tolist() == [0, 0]
    assert hand.accuracy == pytest.approx({"big": 23 / 30, "small": 0.7})


def test_the_matrix_holds_the_values_against_the_base():
    y, p, q, _ = pair(classes=3)
    r = np.roll(q, 1)
    found = evenhand.compare(y, {"p": p, "q": q, "r": r}, base="q", replicates=0)
    assert found.models == ("q", "p", "r")
    for key in ("cev", "sde", "cev_norm", "sde_norm"):
        for column, name in enumerate(found.models[1:], start=1):
            assert found.matrices[key][0, column] == pytest.approx(getattr(found, key)[name])


def test_two_classes_make_cev_half_of_sde_squared():
    y, p, q, _ = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, replicates=0)
    assert found.cev["q"] == pytest.approx(found.sde["q"] ** 2 / 2)
    assert found.cev_norm["q"] == pytest.approx(found.sde_norm["q"] ** 2)
    assert any("CEV is SDE squared over 2" in note for note in found.warnings)


def test_a_class_without_base_errors_is_skipped_and_told():
    y = np.array([0, 0, 1, 1, 2, 2] * 5)
    p = np.where(np.arange(30) % 6 == 2, 2, y)  # class 0 is never missed and never mistaken
    found = evenhand.compare(y, {"p": p, "q": np.roll(p, 6)}, replicates=20)
    assert found.cev["q"].skipped == 3
    assert math.isnan(found.cev["q"])
    assert found.cev["q"].reason
    assert any("classes have a base error rate of 0" in note for note in found.warnings)


def test_changes_of_each_class(hand):
    first = hand.per_class["small"][0]
    assert (first["class"], first["n"]) == ("0", 10)
    assert (first["base_fnr"], first["fnr"], first["fnr_change"]) == pytest.approx((0.2, 0.4, 1.0))
    assert (first["base_fpr"], first["fpr"], first["fpr_change"]) == pytest.approx((0.1, 0.1, 0.0))
    assert first["recall_change"] == pytest.approx(-0.2)


def test_groups_are_each_model_on_all_rows_against_one_group():
    y, p, q, g = pair(classes=3)
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=0)
    for name, guess in (("p", p), ("q", q)):
        expected = all_to_group(Counts.from_predictions(y, guess, (g == "b").astype(int)))
        for k, row in enumerate(found.groups[name]):
            assert (row["name"], row["n"]) == ("ab"[k], (g == "ab"[k]).sum())
            assert row["accuracy"] == pytest.approx(np.mean((y == guess)[g == "ab"[k]]))
            for key in ("cev", "sde", "cev_norm", "sde_norm", "fpr_change", "fnr_change"):
                assert row[key] == pytest.approx(expected[key][k], nan_ok=True), key
    assert evenhand.compare(y, {"p": p, "q": q}, replicates=0).groups is None


def test_unknown_rows_take_part_in_everything_but_groups():
    y, p, q, g = pair()
    some = g.astype(object)
    some[:50] = None
    whole, found = (evenhand.compare(y, {"p": p, "q": q}, groups=by, replicates=0) for by in (g, some))
    assert found.cev["q"] == whole.cev["q"]
    assert found.accuracy == whole.accuracy
    known = evenhand.compare(y[50:], {"p": p[50:], "q": q[50:]}, groups=g[50:], replicates=0)
    gap = "tpr.gap"
    assert found.differences["q"][gap].difference == pytest.approx(known.differences["q"][gap].difference)
    assert any("50 rows have no known group" in note for note in found.warnings)


# -- agreement --------------------------------------------------------------------------------------------
def test_a_model_against_its_copy_has_not_moved():
    """That rows are answered alike does not say that all others would be: intervals have width."""
    y, p, _, g = pair(classes=3)
    found = evenhand.compare(y, {"p": p, "copy": p.copy()}, groups=g, replicates=100)
    assert (found.cev["copy"], found.sde["copy"], found.disagreement["copy"]) == (0, 0, 0)
    for key, difference in found.differences["copy"].items():
        if not math.isnan(difference.base):
            assert (difference.difference, difference.p) == (0, 1), key
            assert difference.low <= 0 <= difference.high, key
    accuracy = found.differences["copy"]["acc"]
    assert 1 / len(y) < accuracy.high == -accuracy.low < 4 / len(y)  # a row of either kind, not more


def test_disagreement_is_the_share_of_rows():
    found = evenhand.compare([0, 1, 1, 0], {"p": [0, 1, 1, 0], "q": [0, 1, 0, 1]}, replicates=0)
    assert found.disagreement == {"q": 0.5}
    heavy = evenhand.compare([0, 1, 1, 0], {"p": [0, 1, 1, 0], "q": [0, 1, 0, 1]}, weights=[1, 1, 3, 3])
    assert heavy.disagreement == {"q": 0.75}


def test_whole_weights_are_repeated_rows():
    y, p, q, g = pair()
    w = np.random.default_rng(5).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), w)
    heavy = evenhand.compare(y, {"p": p, "q": q}, groups=g, weights=w, replicates=0)
    long = evenhand.compare(y[again], {"p": p[again], "q": q[again]}, groups=g[again], replicates=0)
    assert heavy.cev["q"] == pytest.approx(long.cev["q"])
    assert heavy.accuracy == pytest.approx(long.accuracy)
    assert heavy.disagreement == pytest.approx(long.disagreement)
    for key, value in heavy.differences["q"].items():
        assert value.difference == pytest.approx(long.differences["q"][key].difference, nan_ok=True), key


# -- runs -------------------------------------------------------------------------------------------------
def test_exemplars_are_rows_whose_usual_label_changed():
    y = [0, 1, 2, 0]
    big = [[0, 1, 2, 0], [0, 1, 2, 0], [1, 1, 0, 0]]
    small = [[0, 2, 2, 0], [0, 2, 1, 0], [0, 1, 2, 1]]
    found = evenhand.compare(y, {"big": big, "small": small}, replicates=10)
    assert (found.cie["small"].count, found.cie["small"].share) == (1, 0.25)
    assert found.cie["small"].indices.tolist() == [1]
    assert found.to_dict()["cie"] == {"small": {"count": 1, "share": 0.25, "rows": [1]}}
    assert found.disagreement == {"small": 0.25}
    assert evenhand.compare(y, {"big": big[0], "small": small[0]}, replicates=0).cie is None


def test_accuracy_of_runs_is_their_mean():
    y, p, q, _ = pair()
    found = evenhand.compare(y, {"p": np.stack([p, q]), "q": q}, replicates=10)
    assert found.accuracy["p"] == pytest.approx((np.mean(p == y) + np.mean(q == y)) / 2)


@pytest.mark.parametrize("base", ["p", "q"])
def test_one_run_against_several_is_compared_with_every_one_of_them(base):
    y, p, q, g = pair(classes=3)
    models = {"p": p, "q": np.stack([p, q, q])}  # the first of the runs is the other model itself
    found = evenhand.compare(y, models, {"g": g}, base=base, replicates=200)
    other = "q" if base == "p" else "p"
    told = found.differences[other]["acc"]
    assert (told.base, told.value) == pytest.approx((found.accuracy[base], found.accuracy[other]))
    assert told.low < told.difference < told.high
    alone = evenhand.compare(y, {"p": p, "q": q}, {"g": g}, base=base, replicates=0)
    for one, each in zip(found.paid[other].groups, alone.paid[other].groups, strict=True):
        assert one.pairs["cev"] == pytest.approx(2 / 3 * each.pairs["cev"])  # 0 for the run that is the same


# -- names, outputs, refusals -----------------------------------------------------------------------------
def test_the_first_model_is_the_base_unless_named():
    y, p, q, _ = pair()
    assert evenhand.compare(y, {"p": p, "q": q}, replicates=0).base == "p"
    assert evenhand.compare(y, {"p": p, "q": q}, base="q", replicates=0).base == "q"


def test_json_has_the_promised_shape(hand):
    body = json.loads(hand.to_json())
    assert {"n", "classes", "models", "base", "accuracy", "disagreement", "cev", "sde", "cev_norm"} <= set(
        body
    )
    assert {"sde_norm", "matrices", "per_class", "groups", "differences", "cie", "warnings", "method"} <= set(
        body
    )
    assert body["kind"] == "comparison"
    assert {"value", "low", "high", "skipped"} <= set(body["cev"]["small"])
    assert body["sde_norm"]["small"]["value"] is None
    assert {"base", "value", "difference", "low", "high", "p"} <= set(body["differences"]["small"]["acc"])


def test_every_way_to_show_it(hand):
    screen = io.StringIO()
    Console(file=screen, width=100).print(hand)
    assert "small" in screen.getvalue()
    assert hand.to_html().startswith("<!")
    assert "<" in hand._repr_html_()
    assert repr(hand).startswith("Comparison(n=30, base='big', small: cev=1.0062 sde=1.3889")


def test_metrics_asked_for():
    y, p, q, g = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, metrics=["tpr.gap", "dp"], replicates=10)
    assert list(found.differences["q"]) == ["tpr.gap", "dp"]
    without = evenhand.compare(y, {"p": p, "q": q}, replicates=10)
    assert set(without.differences["q"]) == {"acc", "acc_u.label_attr", "min_acc.label_attr"}


def test_a_privileged_group_and_conventions_count_in_a_comparison_too():
    y, p, q, g = pair()
    for option, key in (
        ({"privileged": "b"}, "acc_p"),
        ({"convention": "artifact"}, "fpsf"),
        ({"legacy": True}, "s3.cv"),
    ):
        found = evenhand.compare(y, {"p": p, "q": q}, groups=g, metrics=[key], replicates=0, **option)
        alone = evenhand.audit(y, q, g, metrics=[key], replicates=0, **option).metrics[key].value
        assert found.differences["q"][key].value == pytest.approx(alone, nan_ok=True), key
    with pytest.raises(ValueError, match="no group 'z' to be the privileged one"):
        evenhand.compare(y, {"p": p, "q": q}, groups=g, metrics=["acc_p"], privileged="z")


REFUSED = {
    "unknown base": (lambda y, p: evenhand.compare(y, {"p": p, "q": p}, base="r"), "no model 'r' .*: p, q"),
    "one model": (lambda y, p: evenhand.compare(y, {"p": p}), "at least two models"),
    "no model": (lambda y, p: evenhand.compare(y, {}), "at least two models"),
    "lengths": (lambda y, p: evenhand.compare(y, {"p": p, "q": p[1:]}), r"model 'q' .*\(399,\) for 400"),
    "multi-label": (lambda y, p: evenhand.compare(np.stack([y, y], 1), {"p": p, "q": p}), "one label a row"),
    "group lengths": (lambda y, p: evenhand.compare(y, {"p": p, "q": p}, groups=y[1:]), "399 group values"),
    "scores": (lambda y, p: evenhand.compare(y, {"p": p, "q": p * 0.5}), "not whole numbers"),
    "no rows": (lambda y, p: evenhand.compare([], {"p": [], "q": []}), "no rows"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared(call, words):
    y, p, _, _ = pair()
    with pytest.raises(ValueError, match=words):
        call(y, p)


def test_groups_too_small_to_compare():
    y, p, q, g = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, min_count=1000, replicates=20)
    assert math.isnan(found.differences["q"]["tpr.gap"].difference)
    assert found.accuracy["p"] == pytest.approx(np.mean(y == p))
    assert any("fewer than 1000 rows: a, b" in note for note in found.warnings)


def test_of_several_runs_nobody_says_how_often_predictions_differ():
    """A tenth of the predictions are wrong by each run's own chance: the usual ones hardly differ."""
    draw, y = np.random.default_rng(0), np.arange(600) % 3
    big, small = (np.where(draw.random((3, 600)) < 0.1, (y + 1) % 3, y) for _ in range(2))
    found = evenhand.compare(y, {"big": big, "small": small}, replicates=20)
    assert found.disagreement["small"] < 0.06 < 0.15 < np.mean(big != small)
    assert found.to_dict()["runs"] == {"big": 3, "small": 3}
    told = comparison_sentences(found.to_dict())
    assert told[0].startswith("The accuracy of small, the mean over runs, is ")
    assert not any("of the predictions" in sentence for sentence in told)
    assert "the class that most of them predict" in found.to_html()
    assert "usual differs in" in found._repr_html_()
    alone = evenhand.compare(y, {"big": big[0], "small": small[0]}, replicates=20)
    assert comparison_sentences(alone.to_dict())[0].startswith("small differs from big in 1")
    assert "the class that most of them predict" not in alone.to_html()
    several = evenhand.compare(y, {"big": big, "small": small, "other": small[::-1]}, replicates=20)
    assert "most often, in" not in comparison_sentences(several.to_dict())[0]


def test_groups_and_classes_that_would_fill_the_memory_are_refused():
    y = np.arange(1200) % 600
    with pytest.raises(ValueError, match="600 groups with 600 classes are too many to be compared together"):
        evenhand.compare(y, {"p": y, "q": y}, groups=[f"g{label}" for label in y])


@pytest.mark.parametrize(
    ("base", "other", "told"), [(2, 3, True), (3, 2, True), (1, 3, False), (3, 3, False)]
)
def test_runs_that_have_no_partner_are_told(base, other, told):
    draw, y = np.random.default_rng(0), np.arange(60) % 3
    big, small = (np.where(draw.random((n, 60)) < 0.2, (y + 1) % 3, y) for n in (base, other))
    found = evenhand.compare(y, {"big": big, "small": small}, replicates=20)
    assert any("1 of 3 is in no pair" in warning for warning in found.warnings) == told
    assert found.accuracy["small"] == pytest.approx((small == y).mean())  # of all runs

import numpy as np
import pytest

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation import gate_comparison
from evenhand.evaluation.gate import against, check, parse, summary

Y = [1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0]
P = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0]
G = ["a"] * 6 + ["b"] * 6 + [None, None]


@pytest.fixture(scope="module")
def audit():
    return evenhand.audit(Y, P, groups=G, replicates=100).to_dict()


def judged(text, audit):
    (found,) = check([parse(text)], audit)
    return found


@pytest.mark.parametrize(
    ("text", "key", "field", "sign", "limit"),
    [
        ("tpr.gap>0.1", "tpr.gap", "value", ">", 0.1),
        (" tpr.gap.high >= 1e-3 ", "tpr.gap", "high", ">=", 0.001),
        ("acc_u.label_attr.low<.5", "acc_u.label_attr", "low", "<", 0.5),
        ("acc_u<=0.5", "acc_u", "value", "<=", 0.5),
        ("tpr.worst.worst_bound<-1", "tpr.worst", "worst_bound", "<", -1.0),
    ],
)
def test_conditions_are_read(text, key, field, sign, limit):
    found = parse(text)
    assert (found.key, found.field, found.sign, found.limit) == (key, field, sign, limit)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tpr.gap", "shell takes >"),
        ("tpr.gap=0.1", "cannot be read"),
        ("tpr.gap>0.1>0.2", "cannot be read"),
        ("", "cannot be read"),
        (">0.1", "cannot be read"),
        ("tpr.gap>nan", "not a number"),
        ("tpr.gap>10%", "not a number"),
        ("tpr.gapp>1", "did you mean tpr.gap"),
        ("tpr>1", "did you mean tpr."),
        ("tpr.gap.hihg>1", "value, low, high"),
    ],
)
def test_what_cannot_be_read_is_explained(text, words):
    with pytest.raises(InputError, match=words.replace(".", r"\.")):
        parse(text)


def test_fields_are_those_of_the_metric(audit):
    metric = audit["metrics"]["tpr.gap"]
    for field in ("value", "low", "high", "chance", "chance_p"):
        assert judged(f"tpr.gap.{field}>5", audit).value == metric[field]
    low, high = metric["bounds"]
    assert judged("tpr.gap.lower_bound>5", audit).value == low
    assert (
        judged("tpr.gap.upper_bound>5", audit).value == judged("tpr.gap.worst_bound>5", audit).value == high
    )
    assert low < metric["value"] < high


def test_the_worst_bound_of_a_ratio_is_the_low_one(audit):
    metric = audit["metrics"]["selection.ratio"]
    assert judged("selection.ratio.worst_bound<0", audit).value == min(metric["bounds"])


def test_without_unknown_or_small_groups_bounds_and_with_small_are_the_value():
    audit = evenhand.audit(Y[:12], P[:12], groups=G[:12], replicates=0).to_dict()
    value = audit["metrics"]["tpr.gap"]["value"]
    for field in ("upper_bound", "lower_bound", "worst_bound", "with_small"):
        assert judged(f"tpr.gap.{field}>5", audit).value == value


def test_what_is_undefined_fails_and_says_why(audit):
    assert "no interval" in judged("dp.high>5", changed(audit, "dp", high=None)).reason
    none = evenhand.audit([1, 1, 1, 0], [1, 0, 1, 0], groups=["a", "a", "b", "b"], replicates=0).to_dict()
    found = judged("fpr.gap>5", none)
    assert found.failed
    assert found.value is None
    assert "no negatives" in found.reason
    assert "chance level" in judged("tpr.gap.chance_p>5", none).reason


def test_small_groups_whose_part_was_not_measured_fail(audit):
    small = {**audit["groups"][0], "excluded": True}
    found = judged("tpr.gap.with_small>5", {**changed(audit, "tpr.gap", with_small=None), "groups": [small]})
    assert found.failed
    assert "several runs" in found.reason
    assert judged("tpr.gap.with_small>5", changed(audit, "tpr.gap", with_small=0.25)).value == 0.25


@pytest.mark.parametrize(("key", "words"), [("auc.gap", "needs scores"), ("cie", "evenhand compare")])
def test_what_was_not_measured_is_an_error(audit, key, words):
    with pytest.raises(InputError, match=words):
        judged(f"{key}>0.1", audit)


def test_signs_at_the_limit(audit):
    value = audit["metrics"]["tpr.gap"]["value"]
    failed = {sign: judged(f"tpr.gap{sign}{value!r}", audit).failed for sign in (">", ">=", "<", "<=")}
    assert failed == {">": False, ">=": True, "<": False, "<=": True}
    gate = summary(check([parse("tpr.gap>0"), parse("tpr.gap>5")], audit))
    assert gate["failed"]
    assert [entry["condition"] for entry in gate["conditions"]] == ["tpr.gap>0", "tpr.gap>5"]


def changed(audit, key, **fields):
    """The same audit with one metric changed."""
    metrics = {**audit["metrics"], key: {**audit["metrics"][key], **fields}}
    return {**audit, "metrics": metrics}


def regressions(old, new, *arguments):
    return [change.key for change in against(old, new, *arguments) if change.regressed]


def test_the_same_audit_has_no_regression(audit):
    assert regressions(audit, audit) == []


def test_a_regression_is_worse_and_outside_the_interval(audit):
    worse = changed(audit, "tpr.gap", value=0.9, low=0.8, high=1.0)
    assert regressions(audit, worse) == ["tpr.gap"]
    assert regressions(worse, audit) == [], "a gap that shrank is none"
    assert regressions(audit, changed(audit, "tpr.gap", value=0.9, low=0.1, high=1.0)) == []
    assert regressions(audit, changed(audit, "tpr.gap", value=0.9, low=None, high=None)) == ["tpr.gap"]


def test_the_direction_is_that_of_the_metric(audit):
    assert regressions(audit, changed(audit, "accuracy.worst", value=0.1, low=0.0, high=0.2)) == [
        "accuracy.worst"
    ]
    assert regressions(audit, changed(audit, "accuracy.worst", value=0.99, low=0.98, high=1.0)) == []


def test_tolerance_and_further_metrics(audit):
    worse = changed(audit, "dp", value=0.9, low=0.8, high=1.0)
    assert regressions(audit, worse) == [], "not a headline metric"
    assert regressions(audit, worse, 0.0, ["dp"]) == ["dp"]
    assert regressions(audit, worse, 0.95, ["dp"]) == []
    with pytest.raises(InputError, match="tolerance"):
        against(audit, audit, -1.0)


def test_a_value_that_was_lost_is_a_regression_and_one_that_was_won_is_none(audit):
    lost = changed(audit, "tpr.gap", value=None, undefined=["nobody"])
    (change,) = [change for change in against(audit, lost) if change.key == "tpr.gap"]
    assert change.regressed
    assert "nobody" in change.reason
    assert regressions(lost, audit) == []


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"kind": "comparison"}, "does not hold an audit"),
        ({"classes": ["no", "yes"]}, "the classes: then no, yes, now 0, 1"),
        ({"positive": "0"}, "the positive class"),
        ({"grouping": ["sex"]}, "the group columns"),
        ({"task": "multiclass"}, "the kind of task"),
        ({"weighted": True}, "weights"),
        ({"method": {"convention": "paper"}}, "convention 'paper'"),
    ],
)
def test_audits_of_something_else_are_refused(audit, other, words):
    with pytest.raises(InputError, match=words):
        against({**audit, **other}, audit)


def test_other_groups_are_named(audit):
    fewer = {**audit, "groups": audit["groups"][:1]}
    with pytest.raises(InputError, match="b only in this one"):
        against(fewer, audit)
    with pytest.raises(InputError, match="b only in the earlier audit"):
        against(audit, fewer)


@pytest.fixture(scope="module")
def comparison():
    models = {"big": Y, "small: v2": P, "tiny": [1] * 14}
    return evenhand.compare(Y, models, groups=G, replicates=50).to_dict()


def test_conditions_on_a_comparison(comparison):
    names = ["small: v2", "tiny"]
    found = {}
    for text in (
        "tpr.gap.difference>5",
        "tpr.gap.difference.high>5",
        "accuracy.difference<-5",
        "tiny:accuracy.gap>5",
    ):
        for entry in gate_comparison.check(gate_comparison.parse(text, names), comparison):
            found[entry.condition] = entry.value
    moved = comparison["differences"]
    assert found["tiny: tpr.gap.difference>5"] == moved["tiny"]["tpr.gap"]["difference"]
    assert found["small: v2: tpr.gap.difference.high>5"] == moved["small: v2"]["tpr.gap"]["high"]
    assert found["tiny: accuracy.difference<-5"] == pytest.approx(comparison["accuracy"]["tiny"] - 1)
    assert found["tiny:accuracy.gap>5"] == moved["tiny"]["accuracy.gap"]["value"]
    assert "small: v2: accuracy.gap>5" not in found


def test_a_base_without_errors_leaves_cev_undefined_which_fails(comparison):
    found = gate_comparison.check(gate_comparison.parse("tiny:cev>5", ["tiny"]), comparison)
    assert [entry.failed for entry in found] == [True]
    assert "undefined" in found[0].reason


@pytest.fixture(scope="module")
def payers():
    """Of 60 rows of class 1 (30 of each sex) `small` loses 16, all of women; `spared` is the base."""
    y = [1] * 60 + [0] * 60
    groups = {"sex": (["f"] * 30 + ["m"] * 30) * 2}
    small = [0] * 16 + y[16:]
    models = {"big": y, "small": small, "spared": y}
    return {
        name: evenhand.compare(y, models, groups=given, replicates=50, min_count=least).to_dict()
        for name, given, least in (("groups", groups, 1), ("none", None, 1), ("tiny", groups, 100))
    }


@pytest.mark.parametrize(
    ("text", "values", "failed"),
    [
        ("small:paid.classes>0", [1], [True]),
        ("paid.groups>0", [1, 0], [True, False]),
        ("paid.cells>=1", [1, 0], [True, False]),
        ("paid.worst>0.53", [16 / 30, 0.0], [True, False]),  # of the women of class 1
        ("paid.worst>0.54", [16 / 30, 0.0], [False, False]),
    ],
)
def test_how_many_paid_and_the_largest_loss(payers, text, values, failed):
    found = gate_comparison.check(gate_comparison.parse(text, ["small", "spared"]), payers["groups"])
    assert [entry.value for entry in found] == pytest.approx(values)
    assert [entry.failed for entry in found] == failed


@pytest.mark.parametrize(
    ("kind", "key", "words"),
    [
        ("none", "paid.groups", "no groups"),
        ("none", "paid.cells", "no groups"),
        ("tiny", "paid.groups", "none of the groups has enough rows"),
    ],
)
def test_where_nobody_could_be_tested_the_gate_fails(payers, kind, key, words):
    (found,) = gate_comparison.check(gate_comparison.parse(f"spared:{key}>0", ["spared"]), payers[kind])
    assert (found.value, found.failed) == (None, True)
    assert words in found.reason


def test_classes_are_tested_without_groups_and_paid_alone_is_no_number(payers):
    (found,) = gate_comparison.check(gate_comparison.parse("small:paid.worst>0", ["small"]), payers["none"])
    assert found.value == pytest.approx(16 / 60)
    with pytest.raises(InputError, match=r"did you mean paid\."):
        gate_comparison.parse("paid>0", ["small"])


def test_more_cells_than_are_tested_fail_the_gate():
    y = np.arange(21 * 20) % 21
    found = evenhand.compare(y, {"a": y, "b": y}, groups=np.arange(len(y)) // 21, replicates=5).to_dict()
    (check,) = gate_comparison.check(gate_comparison.parse("paid.cells>0", ["b"]), found)
    assert check.failed
    assert "too many classes within groups" in check.reason


def test_names_with_colons_and_unknown_ones():
    (one,) = gate_comparison.parse("small:2:dp>0.1", ["small", "small:2"])
    assert one.model == "small:2"
    with pytest.raises(InputError, match="no alternative 'x'"):
        gate_comparison.parse("x:dp>0.1", ["small"])

import re

import numpy as np

import evenhand
from evenhand.report.comparison_paid import paid_rows, paid_sentence
from evenhand.report.headline import beyond_chance
from evenhand.report.verdict import audit_sentences
from evenhand.report.verdict_comparison import comparison_sentences


def group(name, n=100, **rates):
    return {"name": name, "n": n, "small": False, "excluded": False, "rates": rates}


def audit(gap=None, *, groups=None, **more):
    metric = {
        "value": 0.31,
        "low": 0.22,
        "high": 0.4,
        "decided_by": ["female", "male"],
        "decided_in": None,
        "undefined": [],
        "bounds": None,
        "with_small": None,
        "chance": None,
        "chance_p": None,
    }
    groups = groups or [group("female", tpr=0.9), group("male", tpr=0.59)]
    return {
        "n": 200,
        "unknown": 0,
        "task": "binary",
        "groups": groups,
        "metrics": {"tpr.gap": {**metric, **(gap or {})}},
        **more,
    }


def test_gap_with_interval_and_groups():
    first = audit_sentences(audit())[0]
    expected = "The true positive rate differs by 0.310 (95% interval 0.220 to 0.400) between"
    assert first == f"{expected} female (highest) and male (lowest)."


def test_confidence_is_the_one_that_was_used():
    assert "90% interval" in audit_sentences(audit(method={"confidence": 0.9}))[0]


def test_gap_beyond_chance_and_within():
    assert "more than chance alone explains" in audit_sentences(audit({"chance": 0.1, "chance_p": 0.0001}))[0]
    assert "p < 0.001" in audit_sentences(audit({"chance": 0.1, "chance_p": 0.0001}))[0]
    assert "can come from chance alone" in audit_sentences(audit({"chance": 0.5, "chance_p": 0.4}))[0]


def test_class_that_decided_is_named():
    assert (
        "cat" not in audit_sentences(audit({"decided_in": "cat"}))[0]
    )  # one class alone is the positive one
    first = audit_sentences(audit({"decided_in": "cat"}, task="multiclass"))[0]
    assert "by 0.310 on average over the classes (95%" in first
    assert "most in “cat” between female (highest)" in first


def test_gaps_are_ranked_by_size():
    sample = audit()
    sample["metrics"]["fpr.gap"] = {**sample["metrics"]["tpr.gap"], "value": 0.5}
    first, second = audit_sentences(sample)[:2]
    assert first.startswith("The false positive rate differs by 0.500")
    assert first.endswith("the largest of the headline gaps.")
    assert second.startswith("The true positive rate differs by 0.310 (0.220 to 0.400; female against male)")


def test_left_out_groups_and_what_they_would_change():
    tiny = {**group("tiny", n=3, tpr=1.0), "small": True, "excluded": True}
    said = audit_sentences(
        audit({"with_small": 0.41}, groups=[group("female", tpr=0.9), group("male", tpr=0.59), tiny])
    )
    expected = "The group tiny (n = 3) is left out of the comparisons (with it the true positive rate gap"
    assert f"{expected} would be 0.410)." in said


def test_empty_groups_are_counted_and_not_listed():
    groups = [group("a", tpr=0.9), group("b", tpr=0.5), {**group("none", n=0, tpr=None), "small": True}]
    said = audit_sentences(audit(groups=groups))
    assert "1 group has no rows at all." in said
    assert not any("undefined for none" in sentence for sentence in said)


def test_ratio_is_beyond_chance_when_it_is_lower():
    assert beyond_chance("tpr.ratio", {"value": 0.5, "chance": 0.8}) is True
    assert beyond_chance("tpr.gap", {"value": 0.5, "chance": 0.8}) is False
    assert beyond_chance("tpr.gap", {"value": 0.5, "chance": None}) is None


def test_unknown_rows_with_bounds():
    said = audit_sentences(audit({"bounds": [0.28, 0.35]}, unknown=10))
    expected = "10 rows have no known group (5.0% of all); whichever groups they belong to,"
    assert f"{expected} the true positive rate gap lies within 0.280 to 0.350." in said


def test_undefined_rates_name_their_groups():
    said = audit_sentences(audit(groups=[group("a", tpr=0.9), group("b", tpr=None), group("c", tpr=0.1)]))
    assert any(s.startswith("The true positive rate is undefined for b:") for s in said)


def test_nothing_to_compare():
    assert "one group" in audit_sentences(audit(groups=[group("a", tpr=0.9)]))[0]
    none = audit({"value": None, "low": None, "high": None})
    assert audit_sentences(none)[0].startswith("No gap between groups could be computed")
    assert "is the same in all groups" in audit_sentences(audit({"value": 0.0}))[0]


def test_two_to_five_sentences_without_judgement(binary, multiclass, several_runs, comparison):
    for said in (
        *map(audit_sentences, (binary, multiclass, several_runs, audit())),
        comparison_sentences(comparison),
    ):
        assert 2 <= len(said) <= 5
        assert not re.search(r"\b(un)?(fair|biased|debiased|nan|None)\b", " ".join(said))
        assert all(sentence.endswith(".") for sentence in said)


def test_right_to_left_names_are_isolated():
    said = audit_sentences(audit({"decided_by": ["أنثى", "ذكر"]}))[0]
    assert "\u2068أنثى\u2069 (highest)" in said


def test_two_models_in_words(comparison):
    base, other = comparison["models"][:2]
    pair = {**comparison, "models": [base, other]}
    for key in ("cev", "cev_norm", "per_class", "differences", "cie"):
        pair[key] = {other: comparison[key][other]}
    said = comparison_sentences(pair)
    assert said[0].startswith("pruned differs from full network in ")
    assert "lower" in said[0]
    assert said[1].startswith("Errors moved between classes in pruned (normalised combined error variance")


def test_a_model_that_equals_its_base_moved_no_errors(comparison):
    base, other = comparison["models"][:2]
    same = {"value": 0.0, "low": 0.0, "high": 0.0, "skipped": 0}
    pair = {**comparison, "models": [base, other], "cev": {other: same}, "cev_norm": {other: same}}
    (told,) = [one for one in comparison_sentences(pair) if "error rates" in one]
    assert told == "The error rates of all classes moved alike, or not at all."


def test_a_random_predictor_that_moves_less_is_no_yardstick(comparison):
    base, other = comparison["models"][:2]
    pair = {**comparison, "models": [base, other], "per_class": {}}
    pair |= {"cev": {other: {"value": 0.006}}, "cev_norm": {other: {"value": 53.6}}}
    (told,) = [one for one in comparison_sentences(pair) if one.startswith("Errors moved")]
    assert "(combined error variance 0.0060)" in told


def test_paired_differences_count_headline_metrics_only(comparison):
    for metrics in comparison["differences"].values():
        metrics.update(
            {key: {**found, "difference": 0.0, "low": -0.1, "high": 0.1} for key, found in metrics.items()}
        )
    comparison["differences"]["pruned"]["fpr.gap"].update(difference=-0.25, low=-0.3, high=-0.2, p=0.01)
    comparison["differences"]["pruned"]["npv.gap"].update(difference=0.9, low=0.8, high=1.0)
    said = next(sentence for sentence in comparison_sentences(comparison) if "paired" in sentence)
    assert said.startswith(
        "1 of 32 paired differences in headline metrics can be told from zero, by interval and p;"
    )
    assert said.endswith("the false positive rate gap in pruned, −0.250 (−0.300 to −0.200).")


def test_what_no_p_can_show_is_not_counted_by_its_interval():
    """Four of five rows change, all alike: p is at least 1/8, whatever the draws of five rows say."""
    found = evenhand.compare([1, 0, 1, 1, 0], {"a": [1, 0, 1, 1, 0], "b": [0, 1, 0, 0, 1]})
    body = found.to_dict()
    assert all(one["low"] * one["high"] > 0 for one in body["differences"]["b"].values())
    none = "None of the 3 paired differences in headline metrics can be told from zero, by interval and p."
    assert none in comparison_sentences(body)
    assert none in re.sub("<[^>]*>", "", found.to_html())
    assert none in re.sub("<[^>]*>", "", found._repr_html_())


def test_skipped_classes_are_told(comparison):
    comparison["cev"]["pruned"]["skipped"] = 2
    assert any("were skipped (pruned: up to 2)" in sentence for sentence in comparison_sentences(comparison))


def test_nobody_alone_lost_is_not_that_nobody_lost():
    """Fifty classes of forty rows lose a tenth each: no class can show it, all rows together do."""
    y = np.repeat(np.arange(50), 40)
    worse = np.where(np.arange(len(y)) % 10 == 0, (y + 1) % 50, y)
    found = evenhand.compare(y, {"whole": y, "small": worse}, replicates=200).to_dict()
    assert not any(one["verdict"] == "paid" for one in found["paid"]["small"]["classes"])
    (told,) = [one for one in comparison_sentences(found) if "to have lost" in one]
    assert told.startswith(
        "No class or group alone is shown to have lost by an alternative. But accuracy over "
    )
    assert "fell by 0.100 (0.0" in told
    same = evenhand.compare(y, {"whole": worse, "small": worse}, replicates=200).to_dict()
    assert "No class or group is shown to have lost by an alternative." in comparison_sentences(same)


def test_who_paid_is_told_of_every_alternative():
    def one(name, difference, verdict="paid"):
        return {"name": name, "difference": difference, "verdict": verdict}

    paid = {
        "small": {"classes": [one("cat", -0.1)], "groups": [one("f", -0.05)]},
        "tiny": {"classes": [one("cat", -0.4), one("dog", -0.2)], "cells": [one("cat · f", -0.6)]},
        "spared": {"classes": [one("cat", -0.01, "not shown")]},
    }
    assert paid_sentence({"paid": paid}) == (
        "Paid for tiny: class “cat” (−0.400), class “dog” (−0.200). For small 2 are shown to have, most "
        "“cat” (−0.100). For spared nobody is shown to have."
    )
    rows = [(row["name"], row["model"]) for row in paid_rows({"paid": paid})]
    assert rows == [
        ("cat", "tiny"), ("dog", "tiny"), ("cat", "small"), ("f", "small"), ("cat · f", "tiny"),
        ("cat", "spared"),
    ]  # fmt: skip


def test_errors_that_are_not_shown_to_have_moved_are_not_said_to_have():
    models = {"models": ["a", "b"], "base": "a", "accuracy": {"a": 0.9, "b": 0.9}, "classes": ["x", "y"]}
    found = {"cev": {"b": {"value": 0.01, "low": 0.0, "high": 0.03}}}
    (said,) = [one for one in comparison_sentences(models | found) if "rrors moved" in one]
    assert said == (
        "That errors moved between classes is not shown: in b by combined error variance 0.0100, interval "
        "0.0000 to 0.0300."
    )

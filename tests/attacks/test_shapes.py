"""Columns of the wrong length, shape or kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import evenhand


def test_different_lengths(rows, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y, p[1:], g), "60 labels", "(59,)")
    assert_refused(lambda: evenhand.audit(y, p, g[1:]), "59 group values for 60 rows")
    assert_refused(lambda: evenhand.audit(y, p, g, weights=np.ones(59)), "59 weights for 60 rows")
    assert_refused(lambda: evenhand.audit(y, p, g, scores=np.ones(59)), "59", "for 60 rows")
    assert_refused(lambda: evenhand.audit(y, p, {"g": g, "h": g[1:]}), "different lengths")
    assert_refused(
        lambda: evenhand.audit(y, p, evenhand.Groups.from_any(g[1:])), "59 group values for 60 rows"
    )
    assert_refused(
        lambda: evenhand.compare(y, {"a": p, "b": p}, weights=np.ones(59)), "59 weights for 60 rows"
    )


def test_a_length_is_checked_before_rows_are_left_out(rows, assert_refused):
    y, p, g = rows
    some = y.astype(float)
    some[0] = np.nan
    assert_refused(lambda: evenhand.audit(some, p, g, weights=np.ones(59)), "59 weights for 60 rows")
    assert_refused(lambda: evenhand.audit(some, p, g[1:]), "59 group values for 60 rows")


def test_runs_the_wrong_way_round(rows, assert_refused):
    y, p, g = rows
    runs = np.stack([p, p, y])
    assert_refused(lambda: evenhand.audit(y, runs.T, g), "60 labels", "(60, 3)")
    assert_refused(lambda: evenhand.compare(y, {"a": runs.T, "b": p}), "'a'", "(60, 3)")
    assert evenhand.audit(y, runs, g, replicates=0).subject.run_names == ("run 1", "run 2", "run 3")


def test_no_runs_at_all(rows, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y, np.zeros((0, 60), dtype=int), g), "(0, 60)")
    assert_refused(lambda: evenhand.compare(y, {"a": p, "b": np.zeros((0, 60), dtype=int)}), "'b'", "(0, 60)")


def test_a_single_run_is_a_run(rows):
    y, p, g = rows
    found = evenhand.audit(y, p[None], g, replicates=0)
    assert found.metrics["dp"].runs.n == 1
    assert found.metrics["dp"].runs.maxdiff == 0


NOT_COLUMNS = {
    "none": None,
    "a number": 1,
    "a text": "abc",
    "a set": {0, 1},
    "a dict": {0: 1, 1: 0},
    "a function": len,
    "a sparse matrix": scipy.sparse.csr_matrix(np.eye(2)),
    "three axes": np.zeros((60, 2, 2)),
}


@pytest.mark.parametrize("thing", NOT_COLUMNS.values(), ids=NOT_COLUMNS)
@pytest.mark.parametrize("place", ["labels", "predictions", "groups", "weights", "scores", "model"])
def test_what_is_no_column_at_all(rows, assert_refused, thing, place):
    y, p, g = rows
    if thing is None and place in ("weights", "scores"):
        return
    calls = {
        "labels": lambda: evenhand.audit(thing, p, g),
        "predictions": lambda: evenhand.audit(y, thing, g),
        "groups": lambda: evenhand.audit(y, p, thing),
        "weights": lambda: evenhand.audit(y, p, g, weights=thing),
        "scores": lambda: evenhand.audit(y, p, g, scores=thing),
        "model": lambda: evenhand.compare(y, {"a": p, "b": thing}),
    }
    assert_refused(calls[place])


def test_a_refusal_comes_from_us_and_not_from_numpy(rows):
    """The sentence says which argument was wrong; 'tuple index out of range' does not."""
    y, p, g = rows
    for call, word in (
        (lambda: evenhand.audit(None, p, g), "label"),
        (lambda: evenhand.audit(1, 1, g), "label"),
        (lambda: evenhand.audit({0, 1}, p, g), "label"),
        (lambda: evenhand.audit(y, p, g, weights=["x"] * 60), "weight"),
        (lambda: evenhand.audit(y, p, g, scores=["x"] * 60), "score"),
        (lambda: evenhand.audit(y, p, g, scores=0.5), "score"),
        (lambda: evenhand.compare(y, [p, p]), "name"),
    ):
        with pytest.raises(ValueError, match=word):
            call()


def test_a_generator_is_read_once_or_refused(rows, assert_refused):
    y, p, g = rows
    found = evenhand.audit(y, p, (name for name in g), replicates=0)
    assert found.metrics["dp"].value == evenhand.audit(y, p, g, replicates=0).metrics["dp"].value
    for make in (lambda: evenhand.audit(iter(y), p, g), lambda: evenhand.audit(y, iter(p), g)):
        try:
            assert make().metrics["dp"].value == found.metrics["dp"].value
        except ValueError as error:
            assert "list" in str(error) or "array" in str(error) or "column" in str(error)  # noqa: PT017


def test_columns_that_hold_containers(rows, assert_refused):
    y, p, g = rows
    boxes = np.empty(60, dtype=object)
    boxes[:] = [{} for _ in range(60)]
    assert_refused(lambda: evenhand.audit(boxes, p, g), "dict")
    assert_refused(lambda: evenhand.audit(y, p, boxes), "dict")
    assert_refused(lambda: evenhand.audit([[1], [1, 2]] * 30, p, g), "different lengths")


def test_groups_that_are_no_columns(rows, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y, p, "sex"), "'sex'", "one value a row")
    assert_refused(lambda: evenhand.audit(y, p, {}), "at least one")
    assert_refused(lambda: evenhand.audit(y, p, {"sex": "abc"}), "'sex'", "one value a row")
    assert_refused(lambda: evenhand.audit(y, p, {"sex": {"f": g}}), "'sex'", "one value a row")
    assert_refused(lambda: evenhand.audit(y, p, {"sex": dict(enumerate(g))}), "'sex'", "one value a row")
    assert_refused(lambda: evenhand.audit(y, p, np.stack([g, g])), "2 group values for 60 rows")


def test_two_attributes_of_one_name(rows, assert_refused):
    y, p, g = rows
    twice = pd.DataFrame(np.stack([g, g], axis=1), columns=["sex", "sex"])
    assert_refused(lambda: evenhand.audit(y, p, twice), "'sex'")
    assert_refused(lambda: evenhand.audit(y, p, {1: g, "1": g}), "'1'")
    sex = evenhand.Attribute.from_values(g, "sex")
    assert_refused(lambda: evenhand.audit(y, p, [sex, sex]), "'sex'")


def test_a_lazy_frame_of_groups_is_collected_or_refused(rows):
    y, p, g = rows
    try:
        found = evenhand.audit(y, p, pl.LazyFrame({"sex": g}), replicates=0)
        assert [group.name for group in found.groups] == ["a", "b"]
    except ValueError as error:
        assert "collect" in str(error)  # noqa: PT017


def test_column_vectors_are_told_apart_from_columns(rows, assert_refused):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y[:, None], p, g), "(60,)")
    assert_refused(lambda: evenhand.audit(y[None], p, g))
    both = evenhand.audit(y[:, None], p[:, None], g, replicates=0)
    assert both.metrics["tpr.gap"].value == evenhand.audit(y, p, g, replicates=0).metrics["tpr.gap"].value


SCORES = {
    "three columns for two classes": (lambda y: np.full((60, 3), 1 / 3), "3", "2"),
    "one column for two classes": (lambda y: np.full((60, 1), 0.5), "1", "2"),
    "four columns for three classes": (lambda y: np.full((60, 4), 0.25), "4", "3"),
    "two columns for three classes": (lambda y: np.full((60, 2), 0.5), "2", "3"),
    "one score for three classes": (lambda y: np.full(60, 0.5), "3"),
}


@pytest.mark.parametrize(("make", "words"), [(v[0], v[1:]) for v in SCORES.values()], ids=SCORES)
def test_scores_need_a_column_for_each_class(rows, assert_refused, make, words):
    y, _, g = rows
    y = y + (np.arange(60) % 2) * y if "3" in words[-1] else y
    assert_refused(lambda: evenhand.audit(y, y, g, scores=make(y)), "score", "class", *words)


OPTIONS = {
    "a misspelt option": ({"replicate": 3}, "replicate"),
    "a metric as a text": ({"metrics": "dpp"}, "dpp"),
    "a metric that is none": ({"metrics": ["tprr"]}, "did you mean tpr"),
    "a negative seed": ({"seed": -1}, "seed"),
    "half a replicate": ({"replicates": 10.5}, "replicates"),
    "no number": ({"min_count": "5"}, "min_count"),
    "percent": ({"confidence": 95}, "between 0 and 1"),
    "no confidence": ({"confidence": float("nan")}, "confidence"),
    "boundless smoothing": ({"smoothing": float("inf")}, "smoothing"),
    "undefined smoothing": ({"smoothing": float("nan")}, "smoothing"),
    "no convention": ({"convention": "loose"}, "'loose'"),
    "no resampling": ({"resampling": "some"}, "'some'"),
    "no such group": ({"privileged": "z"}, "'z'"),
}


@pytest.mark.parametrize(("options", "word"), OPTIONS.values(), ids=OPTIONS)
def test_options_that_make_no_sense(rows, assert_refused, options, word):
    y, p, g = rows
    assert_refused(lambda: evenhand.audit(y, p, g, **options), word)


def test_a_single_metric_may_be_given_as_a_text(rows):
    y, p, g = rows
    assert set(evenhand.audit(y, p, g, metrics="dp", replicates=0).metrics) == {"dp"}


def test_models_by_number_and_in_a_frame(rows, assert_refused):
    y, p, _ = rows
    expected = evenhand.compare(y, {"a": p, "b": y}, replicates=0).accuracy
    for frame in (pd.DataFrame({"a": p, "b": y}), pl.DataFrame({"a": p, "b": y})):
        assert evenhand.compare(y, frame, replicates=0).accuracy == expected
    numbered = evenhand.compare(y, {1: p, 2: y}, replicates=0)
    assert numbered.to_dict()["base"] in (1, "1")
    assert_refused(lambda: evenhand.compare(y, {1: p, 2: y}, base=3), "no model", "3")

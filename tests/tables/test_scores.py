"""Scores: row by row or as a histogram, and predictions made from them."""

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.metrics.score_rows import bin_index
from evenhand.tables import Columns, RowScores, ScoreBins, read_cells

from .conftest import write

ENDINGS = [".csv", ".csv.gz", ".parquet"]


def scored_table(n=400):
    rng = np.random.default_rng(1)
    score = rng.random(n)
    score[:4] = [0.0, 1.0, 0.5, 1 / 3]
    scores = [None if k % 17 == 16 else float(value) for k, value in enumerate(score)]
    return pl.DataFrame(
        {
            "y": [None if k % 23 == 22 else int(value) for k, value in enumerate(rng.integers(0, 2, n))],
            "p": rng.integers(0, 2, n),
            "s": scores,
            "g": rng.integers(-1, 3, n),
            "w": rng.random(n),
        }
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_with_scores(tmp_path, ending):
    frame = scored_table()
    cells = read_cells([write(frame, tmp_path, ending)], Columns("y", "p", ("g",), score=("s",), weight="w"))
    kept = frame.filter(pl.col("y").is_not_null())
    expected = kept.filter(pl.col("s").is_not_null())
    scores = cells.scores
    assert isinstance(scores, RowScores)
    np.testing.assert_array_equal(scores.score, expected["s"])
    np.testing.assert_array_equal(scores.truth, expected["y"])
    np.testing.assert_array_equal(scores.attributes[0].codes, expected["g"])
    np.testing.assert_array_equal(scores.weight, expected["w"])
    assert scores.missing == kept.height - expected.height > 0
    assert cells.count.sum() == kept.height
    assert cells.missing == frame.height - kept.height


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("prediction", [None, "p"])
def test_the_histogram_is_that_of_the_rows(tmp_path, ending, weight, prediction):
    file = write(scored_table(), tmp_path, ending)
    columns = Columns("y", prediction, ("g",), score=("s",), weight=weight)
    exact, binned = read_cells([file], columns), read_cells([file], columns, exact_rows=10)
    assert exact.classes == binned.classes
    for name in ("run", "truth", "prediction", "count", "weight", "square", "total", "missing"):
        np.testing.assert_allclose(getattr(exact, name), getattr(binned, name), rtol=1e-12)
    rows, bins = exact.scores, binned.scores
    assert isinstance(bins, ScoreBins)
    place = bin_index(rows.score)
    w = rows.weight if weight else np.ones(len(rows.score))
    for m in range(len(bins.count)):
        here = (rows.truth == bins.truth[m]) & (place == bins.bin[m])
        here &= rows.attributes[0].codes == bins.attributes[0].codes[m]
        expected = [here.sum(), w[here].sum(), (w[here] ** 2).sum()]
        expected += [(w * rows.score)[here].sum(), (w * rows.score**2)[here].sum()]
        got = [kind[m] for kind in (bins.count, bins.weight, bins.square, bins.sum_score, bins.sum_square)]
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert (bins.count.sum(), bins.missing) == (len(rows.score), rows.missing)


@pytest.mark.parametrize("exact_rows", [10, 1000])
def test_a_prediction_is_a_score_at_or_above_the_threshold(tmp_path, exact_rows):
    frame = pl.DataFrame({"y": ["no", "yes", "no"], "s": [0.25, 0.75, None], "g": ["a", "a", "a"]})
    frame = pl.concat([frame] * 20)
    columns = Columns("y", None, ("g",), score=("s",))
    file = write(frame, tmp_path, ".parquet")

    def predicted(**options):
        cells = read_cells([file], columns, exact_rows=exact_rows, **options)
        assert cells.missing == 20
        return {
            (cells.classes[t], cells.classes[p]) for t, p in zip(cells.truth, cells.prediction, strict=True)
        }

    assert predicted() == {("no", "no"), ("yes", "yes")}
    assert predicted(threshold=0.25) == {("no", "yes"), ("yes", "yes")}
    assert predicted(positive="no") == {("no", "yes"), ("yes", "no")}


@pytest.mark.parametrize("wrong", [-0.1, 1.0001, float("nan"), float("inf")])
def test_a_score_outside_of_a_large_table_is_found(tmp_path, wrong):
    frame = pl.DataFrame({"y": [0, 1] * 50, "s": [0.5] * 99 + [wrong], "g": ["a"] * 100})
    with pytest.raises(InputError, match=rf"'s' of preds\.parquet holds {wrong} in row 100"):
        read_cells(
            [write(frame, tmp_path, ".parquet")], Columns("y", None, ("g",), score=("s",)), exact_rows=10
        )


def test_a_score_for_each_class(tmp_path):
    frame = pl.DataFrame(
        {
            "y": ["a", "b", "c", "a"],
            "a": [0.5, 0.25, 0.25, None],
            "b": [0.5, 0.5, 0.0, 1.0],
            "c": [0.0, 0.25, 0.75, 0.0],
            "g": [1, 1, 2, 2],
        }
    )
    cells = read_cells([write(frame, tmp_path, ".csv")], Columns("y", None, ("g",), score=("a", "b", "c")))
    assert cells.scores.score.shape == (3, 3)
    assert cells.prediction.tolist() == cells.truth.tolist() == [0, 1, 2]  # of equals the first
    assert (cells.missing, cells.scores.missing) == (1, 0)
    given = read_cells([write(frame, tmp_path, ".csv")], Columns("y", "y", ("g",), score=("a", "b", "c")))
    assert (given.missing, given.scores.missing) == (0, 1)

"""Published runs read without a database give the numbers that were published."""

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.study.frame import Frame
from evenhand.study.published import PublishedRuns
from evenhand.study.results import find_results


@pytest.mark.parametrize(
    ("name", "keys"), [("first-look", ("tpr.gap", "acc")), ("ci-mnist-smallest", ("eqodd",))]
)
def test_metrics_of_the_counts_are_those_of_the_file(name, keys):
    file = find_results(name)
    runs = PublishedRuns(file.parent)
    frame = Frame(runs)
    table = pl.read_parquet(file).filter((pl.col("split") == "test") & (pl.col("status") == "done"))
    own = table.filter(
        pl.col("measured_by") == pl.col("protect").str.json_decode(pl.List(pl.String)).list.join(" × ")
    )
    for key in keys:
        wanted = dict(own.select("id", key).iter_rows())
        values = frame.values("test", key)
        assert len(wanted) == frame.n == len(values)
        np.testing.assert_allclose(values, [wanted[id] for id in frame.columns["id"]], rtol=0, atol=1e-12)
    assert frame.study["report"]["base"] in frame.layout.methods()
    assert frame.failures == []


def test_what_is_no_published_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no runs\.parquet; 'evenhand study publish' writes one"):
        PublishedRuns(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "runs.parquet")
    with pytest.raises(InputError, match="is no export of evenhand's runs"):
        PublishedRuns(tmp_path)

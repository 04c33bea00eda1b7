"""Communities and Crime against the numbers of the spec (1.3); needs the data."""

import csv
import gzip

import numpy as np
import pytest
import torch

from evenhand.data import communities_crime as module
from evenhand.data import load
from evenhand.data.cache import on_disk, verified
from evenhand.errors import InputError

ABSENT = on_disk(module.PREPARED) is None and on_disk(module.OFFICIAL) is None
pytestmark = pytest.mark.skipif(ABSENT, reason="EVENHAND_DATA has no Communities and Crime")


def shares(task, name):
    """Share of level 0, and P(Y=0 | level 0), P(Y=0 | level 1)."""
    top, y = task.attribute(name).codes == 0, task.y.numpy() == 0
    return [round(float(value), 3) for value in (top.mean(), y[top].mean(), y[~top].mean())]


def test_the_published_counts():
    task = load("communities-crime")
    assert task.x.shape == (1994, 100)
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 1500, "test": 494}
    assert task.classes == ("over 0.28", "up to 0.28")
    assert round(float((task.y == 0).double().mean()), 3) == 0.292
    assert shares(task, "racepctblack") == [0.296, 0.642, 0.145]
    assert shares(task, "FemalePctDiv") == [0.281, 0.568, 0.185]
    assert [attribute.levels[0] for attribute in task.attributes] == ["over 0.17", "over 0.6"]


def test_the_cut_itself_may_count_as_top():
    task = load("communities-crime", strict=False)
    assert round(float((task.y == 0).double().mean()), 3) == 0.305
    assert [shares(task, name)[0] for name in ("racepctblack", "FemalePctDiv")] == [0.305, 0.300]


def test_columns_with_gaps_and_sensitive_columns():
    assert load("communities-crime", drop_missing=False).x.shape[1] == 122
    without = load("communities-crime", sensitive_in_x=False)
    assert without.x.shape[1] == 98
    assert not {"racepctblack", "FemalePctDiv", "ViolentCrimesPerPop"} & set(without.columns)
    assert "OtherPerCap" in without.columns


def test_scaling_by_the_training_rows():
    task = load("communities-crime")
    train = task.x[task.rows("train")].double()
    assert train.mean(dim=0).abs().max() < 1e-5
    assert (train.std(dim=0, correction=0) - 1).abs().max() < 1e-5


def test_zca_leaves_no_correlation_and_turns_little():
    plain, white = load("communities-crime"), load("communities-crime", whiten="zca")
    train = white.x[white.rows("train")].double()
    assert (torch.cov(train.T, correction=0) - torch.eye(100)).abs().max() < 1e-3
    # ZCA, unlike PCA, keeps each column near the one it came from
    assert np.median([np.corrcoef(white.x[:, j], plain.x[:, j])[0, 1] for j in range(100)]) > 0.3


def test_the_official_file_gives_the_same_task(tmp_path, monkeypatch):
    """The file as UCI publishes it, written from the prepared one and recognised by its checksum."""
    path = on_disk(module.PREPARED)
    if path is None:
        pytest.skip("the prepared file is not there")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    text = "".join(",".join(value or "?" for value in row) + "\n" for row in rows)
    (tmp_path / "communities.data").write_text(text, encoding="utf-8")
    verified(tmp_path / "communities.data", module.OFFICIAL)
    assert (tmp_path / "communities.data").stat().st_size == module.OFFICIAL.size
    prepared = load("communities-crime")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    official = load("communities-crime")
    assert list(official.card.files) == ["communities.data"]
    assert torch.equal(official.x, prepared.x)
    assert torch.equal(official.y, prepared.y)
    assert official.columns == prepared.columns


def test_wrong_knobs_are_refused():
    with pytest.raises(InputError, match="whiten='pca' must be z or zca"):
        load("communities-crime", whiten="pca")
    with pytest.raises(InputError, match=r"quantile=7 must be a share"):
        load("communities-crime", quantile=7)

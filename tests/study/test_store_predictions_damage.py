"""Predictions that are not what they should be: the message names the file and says what to do."""

import pytest

from evenhand.errors import DamagedFileError
from evenhand.study.store_predictions import FOLDER, file_that_is_missing, read_predictions


@pytest.mark.parametrize("ending", ["parquet", "npz"])
def test_a_file_of_junk_is_damaged_and_named(ending, tmp_path):
    path = tmp_path / FOLDER / f"0001.{ending}"
    path.parent.mkdir()
    path.write_bytes(b"junk")
    with pytest.raises(
        DamagedFileError, match=rf"0001\.{ending}.* damaged.*; restore it from a copy, or run"
    ):
        read_predictions(tmp_path, "0001")


def test_a_file_is_missing_only_where_those_of_other_runs_are_kept(tmp_path):
    (tmp_path / FOLDER).mkdir()
    assert file_that_is_missing(tmp_path, "0002") is None
    (tmp_path / FOLDER / "0001.npz").touch()
    assert file_that_is_missing(tmp_path, "0002") == tmp_path / FOLDER / "0002.npz"

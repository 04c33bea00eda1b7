"""Groups that more than one file holds: where they must agree, and what is no disagreement."""

from datetime import date

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.tables import Columns, read_joined

KEYED = Columns("y", "p", ("sex", "age"), key="id")
PLACED = Columns("y", "p", ("sex", "age"))
BIG = pl.DataFrame(
    {"id": [1, 2, 3], "y": [0, 1, 1], "p": [0, 1, 0], "sex": ["f", "m", None], "age": [40, 50, 40]}
)


@pytest.fixture
def read(tmp_path):
    """Write the tables (big, small, ..), as CSV or Parquet, and read them together."""

    def of(columns, *tables, endings=(".csv", ".csv", ".csv")):
        files = [
            tmp_path / f"{name}{ending}"
            for name, ending in zip(("big", "small", "tiny"), endings, strict=True)
        ][: len(tables)]
        for file, table in zip(files, tables, strict=True):
            table.write_parquet(file) if file.suffix == ".parquet" else table.write_csv(file)
        return read_joined(files[0], files[1:], columns)

    return of


def test_another_group_is_refused_by_key_with_both_values_and_files(read):
    small = BIG.with_columns(age=pl.Series([40, 40, 40])).reverse()
    with pytest.raises(InputError) as caught:
        read(KEYED, BIG, small)
    assert str(caught.value) == (
        "the group column 'age' of small.csv differs from big.csv at key '2' ('40', not '50'); the files "
        "must hold the same rows; where the groups of big.csv are right, leave the column out of the other"
    )


def test_rows_in_another_order_are_noticed_by_their_groups(read):
    small = BIG[[0, 2, 1]]
    with pytest.raises(
        InputError, match=r"'age' of small\.csv differs from big\.csv at row 2 \('40', not '50'\)"
    ):
        read(PLACED, BIG, small)
    with pytest.raises(InputError, match="the same rows in the same order, or have a key column; where"):
        read(PLACED, BIG, small)
    assert read(KEYED, BIG, small).predictions["small"].tolist() == [0, 1, 0]


def test_every_alternative_is_checked_with_the_columns_that_it_has(read):
    tiny = BIG.with_columns(age=pl.Series([40, 50, 60])).drop("sex")
    assert read(KEYED, BIG, BIG.drop("age", "sex"), BIG.drop("age")).names == ("big", "small", "tiny")
    for columns in (KEYED, PLACED):
        with pytest.raises(
            InputError, match=r"'age' of tiny\.csv differs from big\.csv .*\('60', not '40'\)"
        ):
            read(columns, BIG, BIG.drop("sex"), tiny)


@pytest.mark.parametrize("columns", [KEYED, PLACED], ids=["key", "place"])
def test_a_missing_value_on_either_side_is_no_other_group(read, columns):
    small = BIG.with_columns(sex=pl.Series(["f", None, "m"]), age=pl.Series([-1, 50, None]))
    joined = read(columns, BIG, small)
    assert [attribute.codes.tolist() for attribute in joined.attributes] == [[0, 1, -1], [0, 1, 0]]


def test_one_group_is_one_however_the_files_write_it(read):
    columns = Columns("y", "p", ("age", "born", "old"), key="id")
    typed = BIG.with_columns(born=pl.Series([date(1980, 1, 2)] * 3), old=pl.Series([False, True, False]))
    texts = typed.with_columns(pl.col("age").cast(pl.Float64), old=pl.Series([" false", "True", "false "]))
    named = typed.with_columns(pl.col("age", "born", "old").cast(pl.String).cast(pl.Categorical))
    endings = (".csv", ".parquet", ".csv")
    for tables in ((typed, named, texts), (texts, typed, typed)):
        for order in (endings, (".parquet", ".csv", ".parquet")):
            assert read(columns, *tables, endings=order).attributes[0].levels[0] in ("40", "40.0")


def test_groups_of_the_bases_own_predictions_are_not_those_of_another_model(read):
    other = BIG.with_columns(p=1 - pl.col("p"))
    assert read(Columns("y", "p", ("p",)), BIG, other).attributes[0].codes.tolist() == [0, 1, 0]


def test_groups_are_checked_in_every_run(read):
    columns = Columns("y", "p", ("age",), key="id", run="seed")
    runs = pl.concat([BIG.with_columns(seed=pl.lit(seed)) for seed in (0, 1)])
    moved = runs.with_columns(age=pl.when(pl.col("seed") == 1, pl.col("id") == 3).then(50).otherwise("age"))
    assert read(columns, runs, runs.reverse()).runs == ("0", "1")
    with pytest.raises(
        InputError, match=r"'age' of small\.csv differs from big\.csv at key '3' \('50', not '40'\)"
    ):
        read(columns, runs, moved)

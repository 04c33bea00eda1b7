"""Mean, deviation and range over runs: by hand, undefined as a dash, one line of a page for each place."""

import math

import numpy as np
import pytest

from evenhand.evaluation.study.run_spread import run_spread
from evenhand.evaluation.values import plain
from evenhand.report.paper_page import told_table
from evenhand.report.spread_table import TITLE, spread_table, spread_view, told
from evenhand.report.study_table_files import to_csv

NAN = float("nan")


def line(values, metric="acc", **place):
    return run_spread(place or {"method": "erm"}, metric, values)


def test_numbers_by_hand():
    found = line([0.2, 0.4, 0.9])
    assert found["runs"] == 3
    assert found["mean"] == pytest.approx(0.5)
    assert found["deviation"] == pytest.approx(math.sqrt((0.09 + 0.01 + 0.16) / 2))
    assert (found["smallest"], found["largest"]) == (0.2, 0.9)


def test_runs_without_a_value_are_left_out():
    found = line([0.2, NAN, None, 0.4])
    assert (found["runs"], found["smallest"], found["largest"]) == (2, 0.2, 0.4)
    assert found["mean"] == pytest.approx(0.3)
    assert found["deviation"] == pytest.approx(np.std([0.2, 0.4], ddof=1))


def test_one_run_has_no_deviation_and_none_no_number():
    one, none = line([0.3]), line([NAN])
    assert math.isnan(one["deviation"])
    assert (one["mean"], one["smallest"], one["largest"]) == (0.3, 0.3, 0.3)
    assert none["runs"] == 0
    assert all(math.isnan(none[key]) for key in ("mean", "deviation", "smallest", "largest"))
    assert math.isnan(line([])["mean"])
    assert line([0.1, 0.1, 0.1])["deviation"] == 0.0


def test_undefined_is_a_dash_on_the_page_and_nothing_in_the_file():
    lines = plain([line([0.3]), line([NAN], "gap")])
    assert told(lines[0]) == "0.300 ± – (0.300 to 0.300)"
    assert told(lines[1]) is told(None) is None
    shown = told_table(spread_view(lines))
    assert shown["rows"] == [["erm", "0 to 1", "0.300 ± – (0.300 to 0.300)", "–"]]
    assert shown["numeric"] == [False, True, True, True]  # a dash does not turn a column into words
    written = to_csv(spread_table(lines)).splitlines()
    assert written[0] == "method,metric,runs,mean,deviation,smallest,largest"
    assert written[1:] == ["erm,acc,1,0.3,,0.3,0.3", "erm,gap,0,,,,"]
    not_plain = spread_table([line([0.3])])
    assert not_plain.rows[0][4] is None  # NaN that never went through JSON


def test_the_page_has_a_row_for_each_place_and_a_column_for_each_metric():
    lines = [
        line([0.2, 0.4], task="a", method="erm"), line([0.1, NAN], "gap", task="a", method="erm"),
        line([0.5, 0.5], task="a", method="gdro"),
    ]  # fmt: skip
    table = spread_view(lines, "Oracle.")
    assert table.title == TITLE
    assert table.heads == ("Task", "Method", "Runs", "acc", "gap")
    assert table.rows == (
        ("a", "erm", "1 to 2", "0.300 ± 0.141 (0.200 to 0.400)", "0.100 ± – (0.100 to 0.100)"),
        ("a", "gdro", "2", "0.500 ± 0.000 (0.500 to 0.500)", None),
    )
    assert table.note.endswith("no deviation. Oracle.")
    finer = spread_view(lines[:2], decimals={"gap": 4}, without="task")
    assert finer.heads == ("Method", "Runs", "acc", "gap")
    assert finer.rows == (
        ("erm", "1 to 2", "0.300 ± 0.141 (0.200 to 0.400)", "0.1000 ± – (0.1000 to 0.1000)"),
    )
    assert spread_view([]).rows == spread_table([]).rows == ()

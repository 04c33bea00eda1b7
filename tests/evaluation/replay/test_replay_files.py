"""What a replay leaves in its folder, and what it says when the published files are not there."""

import csv
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.replay import NAME, is_replay, replay, report
from evenhand.evaluation.replay.published import PERFORMANCE, RUNS, read_published
from evenhand.report.figures.replay_cost import CostBlock, replay_cost
from evenhand.study.read import read_study

COLUMNS = {
    "variance": "technique,metric,mean,max,min,max_diff,stdev,class,class_max_diff,class_stdev",
    "tests": "technique,metric,base_mean,mean,p,direction,d,levene_p,variance_direction",
    "table4": "technique,max_diff,stdev,class_max_diff,class_stdev",
    "table5": "paper,multiple_runs,mean,stdev,range",
    "performance": "technique,mean,pstdev",
    "venn": "region,pairs",
}


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    made = tmp_path_factory.mktemp("replay")
    lines = []
    replay(made, lines.append, data=data)
    assert lines
    return made


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "columns"), COLUMNS.items())
def test_columns_are_exactly_these(folder, name, columns):
    text = (folder / "tables" / f"{name}.csv").read_text("utf-8")
    assert text.splitlines()[0] == columns


def test_tables_hold_fractions_in_full(folder, body):
    rows = rows_of(folder / "tables" / "variance.csv")
    assert len(rows) == 189
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in body["variance"]]
    assert max(float(row["class_max_diff"]) for row in rows) == pytest.approx(1.0)
    tests = rows_of(folder / "tables" / "tests.csv")
    assert [float(row["p"]) for row in tests] == [row["p"] for row in body["tests"]]
    assert {row["direction"] for row in tests} == {"+", "-", "NS"}


def test_table_4_in_markdown(folder):
    lines = (folder / "tables" / "table4.md").read_text("utf-8").splitlines()
    assert "| S-GR | 11.8 | 3.5 | 50.1 | 12.7 |" in lines
    assert sum(line.startswith("| ") for line in lines) == 28


def test_the_page_says_what_does_not_reproduce(folder):
    text = re.sub(r"\s+", " ", (folder / "report.html").read_text("utf-8"))
    for words in ("all 108 cells as printed", "S-UC and S-GR", "×3.8", "12.6 percentage points", "14 stay"):
        assert words in text
    assert 'http-equiv="Content-Security-Policy"' in text
    assert ">nan<" not in text.lower()


def test_the_figure_is_a_drawing_of_all_mitigations(folder):
    tree = ElementTree.parse(folder / "figures" / "cost.svg")
    blocks = [part for part in tree.iter("{http://www.w3.org/2000/svg}rect") if part.get("data-tip")]
    assert len(blocks) == 44


def test_the_page_is_drawn_again_from_the_folder_alone(folder, tmp_path):
    shutil.copy(folder / "replay.json", tmp_path)
    assert is_replay(tmp_path)
    assert report(tmp_path).read_text("utf-8") == (folder / "report.html").read_text("utf-8")
    json.loads((folder / "replay.json").read_text("utf-8"), parse_constant=pytest.fail)  # no NaN in it


def test_a_folder_without_replay_is_refused(tmp_path):
    assert not is_replay(tmp_path)
    with pytest.raises(InputError, match="holds no replay"):
        report(tmp_path)


def test_missing_files_are_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    with pytest.raises(
        InputError, match=r"fixed_seed_runs\.parquet.*lin-tan/fairness-variance.*EVENHAND_DATA"
    ):
        replay(tmp_path / "out")
    with pytest.raises(InputError, match=RUNS.checksum):
        read_published(tmp_path)
    assert not (tmp_path / "out").exists()


def test_other_bytes_are_refused(data, tmp_path):
    shutil.copy(data / RUNS.name, tmp_path)
    (tmp_path / PERFORMANCE.name).write_text("technique,run,performance\nS-Base,0,0.9\n", encoding="utf-8")
    with pytest.raises(InputError, match="damaged or another version"):
        read_published(tmp_path)


def test_a_folder_that_cannot_be_written(data, tmp_path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        replay(tmp_path / "taken", data=data)


def test_the_study_is_declared_as_a_replay():
    study = read_study(NAME)
    assert (study.name, study.kind) == (NAME, "replay")


@pytest.mark.parametrize("width", [360, 760])
def test_blocks_are_coloured_by_what_one_wants(width):
    blocks = [CostBlock("S-A", "+", "-"), CostBlock("S-B", "-", "+"), CostBlock("S-C", "NS", "NS")]
    drawn = replay_cost(blocks, title="cost", width=width)
    assert [drawn.count(f'class="{colour}"') for colour in ("b4", "a4", "zero")] == [2, 2, 2]
    assert "×" not in drawn
    ElementTree.fromstring(drawn)

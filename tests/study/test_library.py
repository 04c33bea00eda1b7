"""The studies of the package: found by name, right, and small enough in their smoke form."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.methods.registry import METHODS
from evenhand.study.expand import expand
from evenhand.study.library import find_study, study_lines, study_names
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.read import SMOKE_KEYS, STUDY_KEYS, read_study
from evenhand.study.read_blocks import GROUPING_KEYS, METHOD_KEYS, NET_KEYS, TASK_KEYS
from evenhand.study.search import settings_of
from evenhand.study.select_rules import RULES
from evenhand.study.spec import ReportSpec, SelectionSpec
from evenhand.study.validate import CONVENTIONS, CORRECTIONS, FIGURES, TESTS

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("name", study_names())
def test_every_study_of_the_package_is_right(name):
    study = read_study(name)
    assert study.name == name == study.source
    assert study.title
    assert study.about
    assert study.smoke is not None
    assert study_from_dict(study_to_dict(study)) == study


def test_the_listing_has_name_title_and_about():
    lines = {line["name"]: line for line in study_lines()}
    assert list(lines) == study_names()
    assert lines["first-look"]["title"] == read_study("first-look").title
    assert lines["first-look"]["about"].startswith("Eleven methods that need no network")


def test_a_file_goes_before_a_study_of_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first-look").mkdir()  # the folder that a study was run in is not the study
    assert find_study("first-look").packaged
    (tmp_path / "mine.toml").write_text("seeds = 1", encoding="utf-8")
    assert find_study("mine.toml").text == "seeds = 1"


def test_names_that_are_nothing_are_told_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match="no study and no file 'first_look'; did you mean 'first-look'"):
        read_study("first_look")
    (tmp_path / "loans.toml").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"did you mean '.*loans\.toml'"):
        read_study(tmp_path / "loan.toml")
    with pytest.raises(InputError, match=r"is a folder; a study is a TOML file, or one of: .*first-look"):
        read_study(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"seeds = 1\ntitle = '\xe9'\n")
    with pytest.raises(InputError, match=r"latin\.toml:2: the file is no UTF-8 text"):
        read_study(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "bom.toml").write_text("﻿kind = 'replay'\n", encoding="utf-8")
    assert read_study(tmp_path / "bom.toml").kind == "replay"


def test_first_look_gives_every_method_the_same_budget():
    study = read_study("first-look")
    problem = Problem.from_labels([0, 1, 0, 1], [0, 0, 1, 1])
    later = {"irm-uniform", *(key for key in METHODS if key.endswith(("-ad", "-kd")))}  # S1's variants
    later |= {"erm-posneg", "resample-posneg", "grl-conv", "disc-rba", "fairalm", "nifr"}  # S0's
    later |= {"kd", "at", "pkt", "sp", "fsp"}  # S2's
    alone = [key for key, method in METHODS.items() if key not in later and not method().extra(problem, 8)]
    assert sorted(method.key for method in study.methods) == sorted(alone)
    assert {len(settings_of(method)) for method in study.methods} == {4}
    runs = expand(study)
    assert len(runs) == 4 * 11 * 4 * 8  # adult twice, titanic, synthetic
    assert {run.spec.parts for run in runs} == {("validation", "test")}


def test_the_smoke_form_of_first_look_is_the_one_of_the_crash_test():
    small = read_study("first-look").smoke
    assert small is not None
    runs = expand(small)
    assert len(runs) == 2 * 4 * 3 * 4
    assert {(run.task, run.grouping) for run in runs} == {("adult", "sex"), ("synthetic", "a0")}
    assert {run.method for run in runs} == {"erm", "w-erm", "gdro", "gap"}
    assert {run.spec.seed for run in runs} == {0, 1, 2, 3}


def test_reading_and_expanding_load_neither_polars_nor_jinja():
    code = (
        "import sys\n"
        "from evenhand.study.read import read_study\nfrom evenhand.study.expand import expand\n"
        "expand(read_study('first-look').smoke)\n"
        "print(*({'polars', 'pandas', 'pyarrow', 'jinja2', 'ray', 'mlflow'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


PAGE = Path(__file__).parents[2] / "docs" / "study-files.md"
TOML = re.compile(r"^```toml\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
REST = {
    "[[task]]": '[[task]]\ndata = "titanic"\nvalidation = 0.2\n',
    "[[grouping]]": '[[grouping]]\nattributes = ["sex"]\n',
    "[[method]]": '[[method]]\nkey = "erm"\n',
}


@pytest.mark.parametrize("text", TOML.findall(PAGE.read_text(encoding="utf-8")))
def test_the_examples_of_the_page_are_studies(tmp_path, text):
    """What an example leaves out is added to it; it must then be a study that can be run."""
    (tmp_path / "example.toml").write_text(
        text + "".join(part for key, part in REST.items() if key not in text)
    )
    study = read_study(tmp_path / "example.toml")
    assert expand(study)
    assert study.smoke
    assert expand(study.smoke)


def test_the_first_example_has_as_many_runs_as_the_page_says(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    (tmp_path / "example.toml").write_text(TOML.findall(page)[0], encoding="utf-8")
    assert f"= {len(expand(read_study(tmp_path / 'example.toml')))} runs" in page


def test_the_page_names_every_key_and_choice():
    page = PAGE.read_text(encoding="utf-8")
    keys = [*TASK_KEYS, *GROUPING_KEYS, *NET_KEYS, *METHOD_KEYS, *STUDY_KEYS, *SMOKE_KEYS]
    keys += [item.name for kind in (SelectionSpec, ReportSpec) for item in fields(kind)]
    choices = [*RULES, *TESTS, *CORRECTIONS, *CONVENTIONS, *FIGURES]
    assert [word for word in (*keys, *choices) if not re.search(rf"\b{word}\b", page)] == []

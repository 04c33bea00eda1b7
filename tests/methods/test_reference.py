"""The reference page of methods is the registry: complete, and the copy in docs/ is up to date."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from evenhand.methods import METHODS, reference

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return reference.page()


def section(text: str, key: str) -> str:
    return text[text.index(f"## `{key}`: ") + 1 :].split("\n## ")[0]


def test_the_page_in_docs_is_up_to_date(text):
    assert (ROOT / "docs" / "methods.md").read_text(encoding="utf-8") == text, "run `make docs`"


def test_the_command_prints_the_page(text):
    command = [sys.executable, "-W", "error", "-m", "evenhand.methods.reference"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert done.stdout.decode("utf-8") == text


def test_the_table_has_the_columns_of_s1(text):
    rows = {
        key: (told_groups, reweights, adversarial)
        for key, told_groups, reweights, adversarial in re.findall(
            r"^\| `([^`]+)` \| [^|]+ \| (yes|no) \| (yes|no) \| (yes|no) \| (?:yes|no) \|$",
            text,
            re.MULTILINE,
        )
    }
    assert list(rows) == list(METHODS)
    # as printed in S1's Table 1: needs groups, reweights, adversarial
    assert rows["erm"] == ("no", "no", "no")
    assert rows["w-erm"] == rows["w-sqrt-erm"] == ("yes", "yes", "no")
    assert rows["gdro"] == ("yes", "yes", "yes")
    assert rows["jtt"] == ("no", "yes", "yes")
    assert rows["irm"] == rows["ind"] == ("yes", "no", "no")


@pytest.mark.parametrize("key", METHODS)
def test_a_section_has_objective_fields_and_source(key, text):
    told, method = section(text, key), METHODS[key]
    assert "Objective" in told
    assert ">>>" not in told
    assert method.citation in told
    assert f"`evenhand.methods.{method.__name__}`" in told
    named = re.findall(r"^\| `([a-z_0-9]+)` \|", told, flags=re.MULTILINE)
    assert named == [item.name for item in fields(method)]


def test_what_a_field_allows_is_told_in_words():
    assert reference.allowed({"at_least": 0.0, "at_most": 0.5}) == "0 to 0.5"
    assert reference.allowed({"at_least": None, "at_most": None}) == "any number"
    assert reference.allowed({"at_least": None, "at_most": 3.0}) == "3 or less"

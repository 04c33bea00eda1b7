"""The reference page of data sets is the registry: complete, and the copy in docs/ is up to date."""

import os
import re
from pathlib import Path

import pytest

from evenhand.data import reference
from evenhand.data.registry import AWAY, DATASETS, load
from evenhand.errors import InputError

ROOT = Path(__file__).parents[2]
# a form of the files that may be there without the official ones
FORMS = {
    "fairface": {"form": "npz32", "resident": False},
    "cifar10": {"form": "lossless-4k"},
    "cifar10s": {"form": "lossless-4k"},
}


@pytest.fixture(scope="module")
def text() -> str:
    return reference.page()


def section(text: str, name: str) -> str:
    return text[text.index(f"## `{name}`\n") + 1 :].split("\n## ")[0]


def test_the_page_in_docs_is_up_to_date(text):
    assert (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8") == text, "run `make docs`"


def test_every_data_set_has_a_row_and_a_section(text):
    assert re.findall(r"^## `(.+)`$", text, flags=re.MULTILINE) == list(DATASETS)
    assert re.findall(r"^\| `([^`]+)` \| .+ \| (?:table|image) \|", text, re.MULTILINE) == list(DATASETS)


@pytest.mark.parametrize("name", DATASETS)
def test_a_section_has_licence_and_knobs(name, text):
    told = section(text, name)
    assert "- **Licence**: " in told
    assert ">>>" not in told
    named = re.findall(r"^\| `([^`]+)` \|", told, flags=re.MULTILINE)
    assert named == list(DATASETS[name].knobs())


def test_what_is_in_the_package_is_told_with_its_rows(text):
    assert "- **Rows**: 30,000 train, 18,842 test\n" in section(text, "adult")
    assert "- **Rows**: 1,047 train, 262 test\n" in section(text, "titanic")
    assert "`sex` (`female`, `male`)" in section(text, "titanic")


@pytest.mark.parametrize("name", [d.name for d in DATASETS.values() if d.origin in AWAY])
def test_a_card_that_is_told_without_the_files_is_the_one_that_loading_gives(name):
    if not os.environ.get("EVENHAND_DATA"):
        pytest.skip("EVENHAND_DATA is not set")
    try:
        task = load(name, **FORMS.get(name, {}))
    except InputError as error:
        pytest.skip(str(error))
    card, _ = reference.card_of(DATASETS[name])
    for fact in ("title", "about", "licence", "citation", "target"):
        assert getattr(card, fact) == getattr(task.card, fact), fact

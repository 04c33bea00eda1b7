"""The reference page of networks is the registry: complete, and the copy in docs/ is up to date."""

import re
import sys
from pathlib import Path

import pytest

from evenhand.nets import reference
from evenhand.nets.registry import NETS, NetSpec

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return reference.page()


def test_the_page_in_docs_is_up_to_date(text):
    assert (ROOT / "docs" / "nets.md").read_text(encoding="utf-8") == text, "run `make docs`"


def test_every_network_has_a_row_and_is_in_one_heading(text):
    rows = re.findall(r"^\| `([^`]+)` \| (?:table|image)", text, flags=re.MULTILINE)
    headings = [name for line in re.findall(r"^## (.+)$", text, re.MULTILINE) for name in line.split(", ")]
    assert rows == list(NETS)
    assert headings == [f"`{name}`" for name in NETS]


def test_every_option_is_told_with_its_default(text):
    for kind in NETS.values():
        section = text[text.index(f"`{kind.name}`", text.index("\n## ")) :].split("\n## ")[0]
        for option, default in kind.options().items():
            assert f"| `{option}` | `{default!r}` |" in section, (kind.name, option)


def test_split_points_are_those_of_the_network_that_is_built():
    for name in ("mlp", "convnet", "s3-cnn"):
        built = NetSpec(name).build(reference.SHAPES[NETS[name].inputs[-1]], 3)
        assert reference.split_points(NETS[name]) == built.splits


def test_the_page_is_written_where_torchvision_is_not_installed(text, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    assert reference.page() == text

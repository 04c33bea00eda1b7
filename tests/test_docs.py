"""Every Python block of the documentation runs and prints what the page says; every command is a real one."""

import doctest
import re
import shlex
import warnings
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.data.registry import DATASETS
from evenhand.methods.registry import METHODS
from evenhand.train.recipe import Recipe

ROOT = Path(__file__).parents[1]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```(?:console)?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, with the line on which each begins."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start()) + 1, found.group(1)) for found in BLOCK.finditer(text)]


def assert_blocks_run(page: Path) -> None:
    """All blocks of a page in one namespace; those with `>>>` are compared with what they print."""
    names: dict[str, object] = {"__name__": page.stem}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for line, code in blocks(page):
        if ">>>" not in code:
            exec(compile("\n" * line + code, str(page), "exec"), names)
            continue
        test = parser.get_doctest(code, names, f"{page.name}:{line}", str(page), line)
        assert runner.run(test, clear_globs=False).failed == 0, f"see the block at {page.name}:{line}"
        names = test.globs


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may save a report
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_blocks_run(page)


def test_a_block_that_prints_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\n\n```python\n>>> x + 1\n4\n\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        assert_blocks_run(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_into_a_page_lead_to_a_heading(page):
    text = page.read_text(encoding="utf-8")
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text):
        other = (page.parent / name) if name else page
        headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), flags=re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, f"{page.name} links to {name}#{anchor}"


def commands(page: Path) -> list[list[str]]:
    """The `evenhand` commands in the shell blocks of a page, as words."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    lines = "\n".join(SHELL.findall(text)).replace("\\\n", " ").splitlines()
    ours = [line.removeprefix("$ ") for line in lines if line.removeprefix("$ ").startswith("evenhand ")]
    return [shlex.split(line, comments=True)[1:] for line in ours]


def assert_parsed(words: list[str]) -> None:
    """There is a command with these words and it takes these options; it is not run."""
    command = typer.main.get_command(app)
    while hasattr(command, "resolve_command"):
        context = command.make_context("evenhand", [*words])
        _, command, words = command.resolve_command(context, words)
    command.make_context("evenhand", [*words])


def test_a_command_that_is_not_there_is_found():
    for words in (["train", "adult", "--methd", "erm"], ["lst"], ["list", "method"]):
        with pytest.raises(Exception, match="No such"):
            assert_parsed(words)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_are_known(page):
    for words in commands(page):
        assert_parsed(words)


def test_the_quickstart_makes_its_commands_known_before_it_uses_them():
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    lines = [
        line.split(" #")[0].strip() for line in "\n".join(SHELL.findall(BLOCK.sub("", text))).splitlines()
    ]
    made, entered = lines.index("python3 -m venv .venv"), lines.index(". .venv/bin/activate")
    used = [place for place, line in enumerate(lines) if re.search(r"(^|\()(python|pip|evenhand) ", line)]
    assert made < entered < min(used)


def test_the_files_that_who_paid_writes_are_those_that_it_compares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "who-paid.md"
    line, code = blocks(page)[0]
    exec(compile("\n" * line + code, str(page), "exec"), {})
    ran = CliRunner().invoke(app, commands(page)[0])
    assert ran.exit_code == 0, ran.stderr
    assert (tmp_path / "comparison.html").is_file()
    assert "paid" in ran.stdout


def test_the_guide_lists_every_field_of_a_recipe_with_its_default():
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    section = text[text.index("## The recipe") : text.index("## Seeds")]
    told = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, flags=re.MULTILINE)
    assert told == [(item.name, repr(item.default)) for item in fields(Recipe)]


def test_the_front_page_lists_every_method_and_data_set():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text[text.index("## Methods and data sets") : text.index("## What you can rely on")]
    keys = re.findall(r"`([a-z0-9-]+)`", section)
    assert sorted(keys) == sorted([*METHODS, *DATASETS])

"""Every Python block of the documentation runs, and prints what the page says it prints."""

import doctest
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


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

"""A page in the shape of a paper, made of parts: sentences, tables and figures, under headings.

What a Markdown page is made of (tables, sentences, functions that draw) becomes one self-contained HTML file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report import page
from evenhand.report.emphasis import emphasised
from evenhand.report.figures.canvas import both_widths
from evenhand.report.paper_warning import warned
from evenhand.report.study_table_files import numeric_columns, shown
from evenhand.report.study_tables import Table

FINDINGS = ("verdict", "Findings")


@dataclass(frozen=True)
class Part:
    """One thing on the page: what it is (a name that the template knows), its words and its content."""

    kind: str
    text: str = ""
    content: Any = None


@dataclass(frozen=True)
class Section:
    """A part of the page that the list of sections leads to; one that has no parts is not shown."""

    key: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Head:
    """What every such page begins with; `warned` is told in a box, `version` and `made` at the end."""

    kind: str
    title: str
    about: Sequence[str]
    sentences: Sequence[str]
    warned: str = ""
    version: str = ""
    made: str = ""


def head_of(body: Mapping[str, Any], about: Sequence[str], sentences: Sequence[str]) -> Head:
    """The head of the page of one study, from the dictionary that its page begins with."""
    made, version = body["created"], body["evenhand"]
    return Head(body["name"], body["title"], about, sentences, warned([body]), version, made)


def render(head: Head, sections: Sequence[Section]) -> str:
    """The HTML page.

    >>> chapter = Section("a", "Table 1", (words("Few."),))
    >>> text = render(Head("s", "A study", ("What was run.",), ()), [chapter])
    >>> "<h2>Table 1</h2>" in text, "What was run." in text, "http:" in text.replace("http://www.w3.org", "")
    (True, True, False)
    """
    told = [section for section in sections if section.parts]
    return page.render(
        "paper.html.j2",
        paper=head,
        title=head.title,
        about=[emphasised(text) for text in head.about if text],
        sentences=[emphasised(text) for text in head.sentences],
        nav=[*([FINDINGS] if head.sentences else []), *((section.key, section.title) for section in told)],
        chapters=told,
    )


def heading(text: str) -> list[Part]:
    """A heading below that of the section; none where there are no words."""
    return [Part("heading", text)] if text else []


def words(text: str) -> Part:
    """A paragraph."""
    return Part("words", content=emphasised(text))


def items(lines: Sequence[str]) -> list[Part]:
    """Sentences below each other; nothing where there are none."""
    return [Part("items", content=[emphasised(line) for line in lines])] if lines else []


def table(found: Table, *, title: str = "") -> list[Part]:
    """A table with its note, under `title` where it is given; nothing where it has no rows."""
    return [*heading(title), Part("table", content=told_table(found))] if found.rows else []


def folded(summary: str, found: Table) -> list[Part]:
    """A table that is opened by its summary."""
    return [Part("folded", summary, told_table(found))] if found.rows else []


def figure(title: str, draw: Callable[[float], str]) -> Part:
    """A figure that is drawn for wide and for narrow screens."""
    return Part("figure", title, both_widths(draw))


def picture(title: str, svg: str) -> Part:
    """A figure of one size, which is scrolled where it is too wide."""
    return Part("picture", title, svg)


def told_table(table: Table) -> dict[str, Any]:
    """A table for a template: texts, and which columns are numbers.

    >>> told_table(Table("t", ("a", "b"), (("x", 0.5),)))["heads"]
    [('a', False), ('b', True)]
    """
    numeric = numeric_columns(table) if table.rows else [False] * len(table.heads)
    rows = [[shown(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "heads": list(zip(table.heads, numeric, strict=True)), "rows": rows,
            "numeric": numeric, "note": table.note}  # fmt: skip

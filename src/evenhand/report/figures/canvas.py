"""The three things that every figure is made of: marks, text and the frame with its title."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable

from evenhand.report.palette import attributes

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def mark(name: str, classes: str = "", tip: str = "", **values: float | str) -> str:
    """One SVG element, with its light colours and its class; `tip` is shown on hover.

    >>> mark("circle", "dot", cx=1.5, cy=2, r=3)
    '<circle class="dot" fill="#14598c" stroke="#14598c" cx="1.5" cy="2" r="3"/>'
    """
    every: dict[str, float | str] = {"class": classes} if classes else {}
    every |= attributes(classes) | {key.rstrip("_").replace("_", "-"): value for key, value in values.items()}
    if tip:
        every["data-tip"] = tip
    written = "".join(f' {key}="{_value(value)}"' for key, value in every.items())
    return f"<{name}{written}/>"


def text(
    x: float,
    y: float,
    content: str,
    classes: str = "t",
    size: float = 13,
    tip: str = "",
    **values: float | str,
) -> str:
    """A line of text; names come from the data, so that everything is escaped.

    >>> text(0, 0, "a < b").endswith(">a &lt; b</text>")
    True
    """
    opening = mark("text", classes, tip, x=x, y=y, font_size=size, **values)
    return f"{opening[:-2]}>{html.escape(clean(content))}</text>"


def figure(width: float, height: float, title: str, description: str, parts: list[str]) -> str:
    """The frame: size, font, title and description for those who do not see the picture.

    >>> figure(10, 10, "empty", "", []).count("<title>empty</title>")
    1
    """
    wide, high = _value(width), _value(height)
    described = f"<desc>{html.escape(clean(description))}</desc>" if description else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" font-family="{FONT}">'
        f"<title>{html.escape(clean(title))}</title>{described}{''.join(parts)}</svg>"
    )


def both_widths(draw: Callable[[float], str]) -> list[tuple[str, str]]:
    """The same figure for wide and for narrow screens: text keeps its size, the layout changes.

    >>> both_widths(lambda width: f"{width:.0f}")
    [('wide', '760'), ('narrow', '360')]
    """
    return [("wide", draw(760.0)), ("narrow", draw(360.0))]


def line(x1: float, y1: float, x2: float, y2: float, classes: str, **values: float | str) -> str:
    """A straight line.

    >>> line(0, 0, 1, 1, "grid")
    '<line class="grid" stroke="#e2e4e7" x1="0" y1="0" x2="1" y2="1"/>'
    """
    return mark("line", classes, "", x1=x1, y1=y1, x2=x2, y2=y2, **values)


def clean(content: str) -> str:
    """Text without the characters that XML forbids (control characters, lone surrogates).

    >>> clean("a\\x00b")
    'a\ufffdb'
    """
    return "".join(
        "\ufffd" if unicodedata.category(letter) in {"Cc", "Cs"} and letter not in "\n\t" else letter
        for letter in content
    )


def text_width(content: str, size: float = 13) -> float:
    """An estimate of the width of a text: no font is at hand, so that letters fall into four widths.

    >>> text_width("abc", 10) < text_width("日本語", 10)
    True
    """
    return size * sum(_letter_width(letter) for letter in content)


def _letter_width(letter: str) -> float:
    if letter in "ijltfr .,:;|!'·()[]-":
        return 0.34
    if letter in "mwMW@%…—":
        return 0.88
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.68 if letter.isupper() else 0.57


def clip(content: str, room: float, size: float = 13) -> str:
    """The text, cut with an ellipsis where it would not fit into `room`.

    >>> clip("a very long name of a group", 80)
    'a very lon…'
    """
    if text_width(content, size) <= room:
        return content
    kept = ""
    for letter in content:
        if text_width(kept + letter + "…", size) > room:
            break
        kept += letter
    return kept.rstrip() + "…"


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return html.escape(clean(value))
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

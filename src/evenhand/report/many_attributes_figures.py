"""S1's figures as SVG: panels of bars or points, side by side or one below the other, under one key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from evenhand.report.figures.canvas import both_widths, clip, figure, text, text_width
from evenhand.report.figures.critical_difference import critical_difference
from evenhand.report.many_attributes_added import added_drawn
from evenhand.report.many_attributes_bars import bar_panel, series_mark
from evenhand.report.many_attributes_names import metric_name, panel_title, rank_title
from evenhand.report.many_attributes_points import point_panel
from evenhand.report.numbers import number

Json = Mapping[str, Any]
LEFT, GAP, HEAD, TALL, FOOT, LINE = 44.0, 20.0, 30.0, 190.0, 46.0, 19.0


def drawn(study: Json) -> dict[str, str]:
    """Every figure of a study by the name of its file: those of the paper, diagrams of ranks, variants."""
    found = {one["file"]: panels(study, one) for one in study["figures"]}
    found |= {rank_file(row): ranks(study, row) for row in study["ranks"]}
    return found | added_drawn(study)


def both(study: Json, one: Json) -> list[tuple[str, str]]:
    """A figure for wide and for narrow screens; what hovering tells is in the former, where one can hover."""
    (_, wide), (_, narrow) = both_widths(partial(panels, study, one))
    return [("wide", _for_page(wide)), ("narrow", re.sub(r' data-tip="[^"]*"', "", _for_page(narrow)))]


def _for_page(svg: str) -> str:
    """The figure without the colours that a page's own rules give to each class: a sixth of its length."""
    return re.sub(r'(class="[^"]+")(?: (?:fill|stroke)="#[0-9a-f]{6}")+', r"\1", svg)


def panels(study: Json, one: Json, width: float = 760) -> str:
    """A figure of the paper; the same method has the same colour and mark in all figures of a study."""
    order = series_order(study)
    used = [name for name in order if name in _methods(one)]
    parts, top = _key(used, order, width)
    columns = min(3, len(one["panels"])) if width > 500 else 1
    room = (width - (LEFT + GAP) * columns) / columns
    draw, foot = (bar_panel, 14.0) if one["kind"] == "bars" else (point_panel, FOOT)
    for place, panel in enumerate(one["panels"]):
        left = LEFT + (place % columns) * (room + LEFT + GAP)
        head = top + (place // columns) * (HEAD + TALL + foot) + HEAD
        title = clip(panel_title(one, place), room + LEFT, 12)
        parts.append(text(left - LEFT + 6, head - 12, title, "t", 12, font_weight=600))
        parts += draw(panel, order, metric_name(one, panel["slot"]), (left, left + room), (head, head + TALL))
    rows = -(-len(one["panels"]) // columns)
    return figure(width, top + rows * (HEAD + TALL + foot) + 4, full_title(one), told(one), parts)


def full_title(one: Json) -> str:
    """What a figure is called.

    >>> full_title({"number": 3, "track": "blond", "title": "by attributes"})
    'Figure 3, blond: by attributes'
    """
    numbered = f"Figure {one['number']}" if one["number"] else "By collection"
    return f"{numbered}, {one['track']}: {one['title']}"


def series_order(study: Json) -> list[str]:
    """All methods that any figure shows, in the order in which they first appear."""
    return list(dict.fromkeys(name for one in study["figures"] for name in _methods(one)))


def _methods(one: Json) -> list[str]:
    shown = (entry for panel in one["panels"] for entry in panel.get("bars") or panel.get("series") or ())
    return list(dict.fromkeys(entry["method"] for entry in shown))


def _key(names: Sequence[str], order: Sequence[str], width: float) -> tuple[list[str], float]:
    """What the marks are, in as many lines as they take; and where they end."""
    parts, x, y = [], 8.0, 12.0
    for name in names:
        room = text_width(name, 12) + 30
        if x + room > width and x > 8:
            x, y = 8.0, y + LINE
        parts += [series_mark(order.index(name), x + 4, y - 4, name), text(x + 14, y, name, "t", 12)]
        x += room
    return parts, y + 8


def told(one: Json) -> str:
    """The figure in words, for those who do not see it: every method's mean, or its range, in each panel."""
    sentences = []
    for place, panel in enumerate(one["panels"]):
        each = [f"{bar['method']} {number(bar['y'])}" for bar in panel.get("bars", ())]
        for series in panel.get("series", ()):
            first, last = series["points"][0], series["points"][-1]
            ends = (f"{number(point['y'])} at {number(point['x'], 2)}" for point in (first, last))
            each.append(f"{series['method']} {' to '.join(ends)}")
        sentences.append(f"{panel_title(one, place)}: {'; '.join(each) or 'no runs'}")
    return ". ".join(sentences)


def rank_file(row: Json) -> str:
    """The name of the file of a diagram."""
    scope = "".join(letter if letter.isalnum() else "-" for letter in row["scope"].lower())
    return f"ranks-{scope}-{row['slot']}"


def ranks(study: Json, row: Json, width: float = 760) -> str:
    """A critical-difference diagram (Demsar 2006)."""
    return critical_difference(
        row["methods"], row["mean_ranks"], row["critical_difference"], row["cliques"],
        title=rank_title(study, row), width=width,
    )  # fmt: skip

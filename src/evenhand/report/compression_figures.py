"""Figure 2 of S2: how the error rates of every class moved, with a 95 % ellipse for each method."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from evenhand.report.compression_names import PRINTED, at_level, file_of, where
from evenhand.report.figures import Cloud, both_widths, scatter
from evenhand.report.numbers import defined

Json = Mapping[str, Any]
X_AXIS, Y_AXIS = "relative change of the false positive rate", "relative change of the false negative rate"


def drawn(study: Json) -> dict[str, str]:
    """Every figure of a study as SVG, by the name of its file."""
    return {
        file_of(study, problem, "figure-2", level): change_scatter(study, problem, level)
        for problem in study["problems"]
        for level in problem["levels"]
    }


def change_scatter(study: Json, problem: Json, level: str, width: float = 760) -> str:
    """Figure 2 at a level."""
    roles = {row["method"]: row["role"] for row in problem["rows"]}
    clouds = [
        Cloud(
            str(PRINTED.get(roles.get(one["method"], ""), one["method"])),
            tuple(
                (point["class"], point["fpr_change"], point["fnr_change"])
                for point in one["points"]
                if defined(point["fpr_change"]) and defined(point["fnr_change"])
            ),
        )
        for one in at_level(problem["changes"], level)
    ]
    return scatter(clouds, title=title_of(study, problem, level), x_axis=X_AXIS, y_axis=Y_AXIS, width=width)


def title_of(study: Json, problem: Json, level: str) -> str:
    """What the figure is called."""
    return f"Figure 2 in shape: change of the classes' error rates{where(study, problem, level)}"


def for_page(study: Json) -> list[dict[str, Any]]:
    """The figures for wide and narrow screens, with their titles."""
    return [
        {"title": title_of(study, problem, level),
         "drawn": both_widths(partial(change_scatter, study, problem, level))}
        for problem in study["problems"] for level in problem["levels"]
    ]  # fmt: skip

"""Figure 2 of S2: how the error rates of every class moved, with a 95 % ellipse for each method.

All methods in one picture, as S2 has it; and each by itself against pruning alone, as ten ellipses hide each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from evenhand.report.compression_names import PRINTED, at_level, file_of, where
from evenhand.report.figures import Cloud, both_widths, scatter
from evenhand.report.figures.panels import panels
from evenhand.report.numbers import defined

Json = Mapping[str, Any]
X_AXIS, Y_AXIS = "relative change of the false positive rate", "relative change of the false negative rate"
FEWEST_APART = 3  # methods for which it pays to be drawn one by one


def drawn(study: Json) -> dict[str, str]:
    """Every figure of a study as SVG, by the name of its file."""
    found = {}
    for problem in study["problems"]:
        for level in problem["levels"]:
            found[file_of(study, problem, "figure-2", level)] = change_scatter(study, problem, level)
            if drawn_apart(problem, level):
                name = file_of(study, problem, "figure-2-apart", level)
                found[name] = change_panels(study, problem, level)
    return found


def change_scatter(study: Json, problem: Json, level: str, width: float = 760) -> str:
    """Figure 2 at a level."""
    title = title_of(study, problem, level)
    return scatter(clouds_of(problem, level), title=title, x_axis=X_AXIS, y_axis=Y_AXIS, width=width)


def change_panels(study: Json, problem: Json, level: str, width: float = 760) -> str:
    """The same, each method in a panel over pruning alone (or over the first method) in grey."""
    every = clouds_of(problem, level)
    behind = next((cloud for cloud in every if cloud.name == PRINTED["pruning"]), every[0])
    others = [cloud for cloud in every if cloud is not behind]
    title = apart_title(study, problem, level)
    return panels(others, behind, title=title, x_axis="change of FPR", y_axis="change of FNR", width=width)


def drawn_apart(problem: Json, level: str) -> bool:
    """Whether a level has so many methods that they are drawn one by one too."""
    return len(at_level(problem["changes"], level)) >= FEWEST_APART


def clouds_of(problem: Json, level: str) -> list[Cloud]:
    """The classes of each method, those left out that have no relative change."""
    roles = {row["method"]: row["role"] for row in problem["rows"]}
    return [
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


def title_of(study: Json, problem: Json, level: str) -> str:
    """What the figure is called."""
    return f"Figure 2 in shape: change of the classes' error rates{where(study, problem, level)}"


def apart_title(study: Json, problem: Json, level: str) -> str:
    """What the panels are called."""
    return f"Each method against pruning alone{where(study, problem, level)}"


def for_page(study: Json) -> list[dict[str, Any]]:
    """The figures for wide and narrow screens, with their titles."""
    found = []
    for problem in study["problems"]:
        for level in problem["levels"]:
            kinds = [(title_of, change_scatter)]
            kinds += [(apart_title, change_panels)] if drawn_apart(problem, level) else []
            for title, draw in kinds:
                pictures = both_widths(partial(draw, study, problem, level))
                found.append({"title": title(study, problem, level), "drawn": pictures})
    return found

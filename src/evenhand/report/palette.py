"""One palette for pages and figures, light and dark; chosen to stay apart for colour-blind readers.

Figures carry the light colours as attributes (so that a figure alone, or its bitmap, looks right) and class
names; on a page the style sheet made here overrides them, so that the same figure follows the theme.
"""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
LIGHT: dict[str, str] = {
    "paper": "#ffffff", "panel": "#f7f7f5", "ink": "#1b222c", "soft": "#566170",
    "rule": "#e2e4e7", "line": "#b9bfc7",
    "accent": "#14598c", "focus": "#b45309", "chance": "#b45309", "band": "#dfe3e8", "alert": "#fdf3e3",
    # below the reference (blue) and above it (orange): safe for the common forms of colour blindness
    "b4": "#73aed6", "b3": "#9fc8e4", "b2": "#c5ddef", "b1": "#e3eef7", "zero": "#f5f5f3",
    "a1": "#fcefdd", "a2": "#f9dbb5", "a3": "#f2c182", "a4": "#e8a34f",
    "s0": "#f5f5f3", "s1": "#e2edeb", "s2": "#c2ddd8", "s3": "#97c6bf", "s4": "#68aca4",
    "c0": "#0072b2", "c1": "#c8520a", "c2": "#00805d", "c3": "#a6497e", "c4": "#7a6a00", "c5": "#5b6bc0",
    "c6": "#4d4d4d", "c7": "#a03e3e",
}
DARK: dict[str, str] = {
    "paper": "#14171b", "panel": "#1b1f25", "ink": "#e8eaed", "soft": "#a3adb9",
    "rule": "#2c323a", "line": "#525b67",
    "accent": "#7dbdec", "focus": "#f2b35e", "chance": "#f2b35e", "band": "#303842", "alert": "#2d2618",
    "b4": "#2a6591", "b3": "#275a80", "b2": "#224661", "b1": "#1f3343", "zero": "#22262b",
    "a1": "#3a2f1f", "a2": "#543f1d", "a3": "#704f1a", "a4": "#845913",
    "s0": "#22262b", "s1": "#20393a", "s2": "#224e4d", "s3": "#246562", "s4": "#236d68",
    "c0": "#5cb3ec", "c1": "#f0904d", "c2": "#3cc79d", "c3": "#e08dba", "c4": "#d3c04a", "c5": "#9dabf5",
    "c6": "#c2c2c2", "c7": "#ee8f8f",
}
# fmt: on
SERIES = 8  # c0 .. c7: more series than that repeat colours with another mark

# class of a mark in a figure -> the attributes it gets, by palette name
FIGURE: dict[str, dict[str, str]] = {
    "t": {"fill": "ink"},
    "ts": {"fill": "soft"},
    "grid": {"stroke": "rule"},
    "axis": {"stroke": "line"},
    "ref": {"stroke": "ink"},
    "bar": {"stroke": "accent"},
    "dot": {"fill": "accent", "stroke": "accent"},
    "hollow": {"fill": "paper", "stroke": "accent"},
    "chance": {"stroke": "chance"},
    "band": {"fill": "band"},
    "edge": {"stroke": "paper"},
    **{name: {"fill": name} for name in ("b1", "b2", "b3", "b4", "zero", "a1", "a2", "a3", "a4")},
    **{f"s{step}": {"fill": f"s{step}"} for step in range(5)},
    **{f"f{series}": {"fill": f"c{series}", "stroke": f"c{series}"} for series in range(SERIES)},
    **{f"o{series}": {"stroke": f"c{series}"} for series in range(SERIES)},
}


def attributes(classes: str) -> dict[str, str]:
    """The light colours of a mark, for a figure that stands alone.

    >>> attributes("ts")
    {'fill': '#566170'}
    """
    found: dict[str, str] = {}
    for name in classes.split():
        found.update({key: LIGHT[colour] for key, colour in FIGURE.get(name, {}).items()})
    return found


def stylesheet() -> str:
    """Custom properties of both themes (dark on screens only: paper is white) and the rules of the figures.

    >>> "--paper:#ffffff" in stylesheet()
    True
    """
    dark = f"color-scheme:dark;{_properties(DARK)}"
    figure = "".join(
        f"svg .{name}{{{';'.join(f'{key}:var(--{colour})' for key, colour in styles.items())}}}"
        for name, styles in FIGURE.items()
    )
    return (
        f":root{{color-scheme:light;{_properties(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}{figure}"
    )


def _properties(palette: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in palette.items())


def step_from_reference(difference: float | None) -> str:
    """The colour class of a rate by its distance from the rate of all rows.

    >>> [step_from_reference(x) for x in (-0.3, 0.03, 0.0, None)]
    ['b4', 'a1', 'zero', 'na']
    """
    if difference is None:
        return "na"
    size = sum(abs(difference) >= bound for bound in STEPS)
    return "zero" if size == 0 else f"{'a' if difference > 0 else 'b'}{size}"


STEPS = (0.02, 0.05, 0.1, 0.2)


def step_of_share(share: float | None) -> str:
    """The colour class of a value by its share of the largest one.

    >>> step_of_share(0.0), step_of_share(0.5), step_of_share(1.0), step_of_share(None)
    ('s0', 's3', 's4', 'na')
    """
    if share is None:
        return "na"
    return "s0" if share <= 0 else f"s{min(4, 1 + int(4 * min(share, 1)))}"

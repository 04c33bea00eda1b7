"""Three overlapping sets as circles with the number of members in each region, and those outside of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.report.figures.canvas import figure, mark, text

# centres of the circles, and where the number of a region stands: by which of the three sets hold it
RADIUS = 92.0
CENTRES = ((0.0, -52.0), (-62.0, 54.0), (62.0, 54.0))
PLACES = {
    (0,): (0.0, -92.0), (1,): (-100.0, 80.0), (2,): (100.0, 80.0), (0, 1): (-52.0, -8.0),
    (0, 2): (52.0, -8.0), (1, 2): (0.0, 92.0), (0, 1, 2): (0.0, 24.0),
}  # fmt: skip
Region = tuple[int, ...]


def exclusive(inside: Mapping[Region, int]) -> dict[Region, int]:
    """How many lie in exactly these sets, from how many lie in at least these: inclusion and exclusion.

    >>> exclusive({(0,): 5, (1,): 4, (2,): 3, (0, 1): 2, (0, 2): 1, (1, 2): 1, (0, 1, 2): 1})
    {(0,): 3, (1,): 2, (2,): 2, (0, 1): 1, (0, 2): 0, (1, 2): 0, (0, 1, 2): 1}
    """
    return {
        region: sum(
            (-1) ** (len(other) - len(region)) * n for other, n in inside.items() if set(region) <= set(other)
        )
        for region in PLACES
    }


def venn(
    names: Sequence[str], inside: Mapping[Region, int], none: int, *, title: str, width: float = 520
) -> str:
    """The picture; `inside` counts the members of at least these sets, `none` those of no set.

    >>> drawn = venn(("a", "b", "c"), dict.fromkeys(PLACES, 1), 4, title="costs")
    >>> drawn.count("<circle"), drawn.count("none: 4")
    (3, 2)
    """
    counts = exclusive(inside)
    x, y = width / 2, 190.0
    aside = min(130.0, x - 75)  # so that the names have room on a narrow screen
    parts = [
        mark("circle", f"o{place}", names[place], cx=x + dx, cy=y + dy, r=RADIUS, fill="none", stroke_width=2)
        for place, (dx, dy) in enumerate(CENTRES)
    ]
    parts += [
        text(x + dx, y + dy + 6, str(counts[region]), "t", 17, text_anchor="middle")
        for region, (dx, dy) in PLACES.items()
    ]
    parts += [
        text(x, 26, names[0], "t", 13, text_anchor="middle"),
        text(x - aside, y + 168, names[1], "t", 13, text_anchor="middle"),
        text(x + aside, y + 168, names[2], "t", 13, text_anchor="middle"),
        text(min(x + 240, width - 8), 60, f"none: {none}", "ts", 13, text_anchor="end"),
    ]
    told = "; ".join(
        f"{' and '.join(names[place] for place in region)} alone: {n}" for region, n in counts.items()
    )
    return figure(width, y + 186, title, f"{told}; none: {none}", parts)

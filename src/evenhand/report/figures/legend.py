"""What the colours mean."""

from __future__ import annotations

from evenhand.report.figures.canvas import figure, mark, text
from evenhand.report.palette import STEPS


def diverging_legend(below: str = "below all rows", above: str = "above all rows") -> str:
    """The key of colours that tell how far a rate lies from that of all rows.

    >>> diverging_legend().count("<rect")
    9
    """
    names = ["b4", "b3", "b2", "b1", "zero", "a1", "a2", "a3", "a4"]
    bounds = [*(-x for x in reversed(STEPS)), *STEPS]
    parts = [mark("rect", name, x=104 + 32 * i, y=2, width=32, height=12) for i, name in enumerate(names)]
    parts += [
        text(104 + 32 * (i + 1), 28, f"{abs(x):g}", "ts", 10.5, text_anchor="middle")
        for i, x in enumerate(bounds)
    ]
    parts += [
        text(98, 12, below, "ts", 11.5, text_anchor="end"),
        text(104 + 32 * 9 + 6, 12, above, "ts", 11.5),
    ]
    return figure(
        490, 34, f"Colours: {below} to {above}", f"Steps at {', '.join(f'{x:g}' for x in STEPS)}", parts
    )

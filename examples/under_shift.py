"""What becomes of gaps when inputs are noisy or the groups have other shares? One call, one page.

python examples/under_shift.py [--html report.html]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import evenhand


def main() -> None:
    """Train five times on the Titanic's passengers, then audit on shifted test rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--html", type=Path, help="write the page here")
    page = parser.parse_args().html

    fitted = evenhand.fit(
        "mlp", "erm", "titanic", seeds=5, epochs=30, rate=0.003, protect="sex", device="cpu"
    )
    metrics = ["tpr.gap", "selection.gap", "tpr.worst"]
    noisy = evenhand.audit_under_shift(fitted, shift="gaussian", severities=[0.25, 0.5, 1.0], metrics=metrics)

    print(f"{noisy.clean.n} passengers, {len(fitted.seeds)} runs, {noisy.draws} draws at each severity")
    for key, curve in noisy.curves.items():
        values = " ".join(f"{point.value:6.3f}" for point in curve.points)
        moved = curve.points[-1].moved
        assert moved is not None
        ends = f"{moved.low:+.3f} to {moved.high:+.3f}"
        print(f"{key:14} {values}  {moved.difference:+.3f} ({ends}): {curve.verdict}")

    # the other kind of shift: the same passengers in other shares, three quarters of the way to women only
    women = fitted.audit_under_shift("group-share:female", severities=[0.75], metrics=metrics)
    print(f"with more women: {', '.join(f'{key} {curve.verdict}' for key, curve in women.curves.items())}")
    if page:
        page.write_text(noisy.to_html(), encoding="utf-8")
        print(f"written to {page}")


if __name__ == "__main__":
    main()

"""The committed results of a published study: `studies/results/NAME/runs.parquet` beside the source."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path("studies") / "results"
RUNS = "runs.parquet"


def find_results(study: str) -> Path | None:
    """The committed runs of a study, in this folder or in the checkout that evenhand is run from.

    >>> find_results("no-such-study") is None
    True
    """
    checkout = Path(__file__).resolve().parents[3]
    for root in (Path.cwd(), checkout):
        file = root / RESULTS / study / RUNS
        if file.is_file():
            return file
    return None

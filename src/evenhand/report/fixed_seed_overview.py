"""S0's 27 techniques in one table: trained on what, how often, mean, deviation and range, and what moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.report.fixed_seed_tables import cell
from evenhand.report.numbers import UNDEFINED, count
from evenhand.report.replay_words import METRIC_NAMES
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
NOTE = (
    "In percent: mean ± deviation of the population, smallest to largest run. Moved: the difference of means "
    "from the family's baseline in percentage points with Welch's 95 % interval; in how many of the seven "
    "metrics bias fell (↓) and rose (↑) by S0's tests, then two-sided with Holm. Identical runs that are all "
    "equal to the bit have no row beside those with seeds."
)


def overview_sentence(body: Json) -> str:
    """Which of the techniques have runs, and which have them on S0's own data."""
    order, trained = body["order"], {name for name, *_ in _places(body)}
    own = {name for name, _, one, title in _places(body) if one["origin"][title]["own_data"]}
    runs = sum(
        row["runs"] for study in body["studies"] for one in study["sets"] for row in one["performance"]
    )
    lacking = [name for name in order if name not in trained]
    missing = f"; not trained: {', '.join(lacking)}" if lacking else ""
    on_own = f"{len(own)} of them on S0's own data" if own else "none of them on S0's own data"
    return (
        f"{len(trained)} of {len(order)} techniques have been trained, {on_own}{missing}. Together they have "
        f"{count(runs)} runs, as a network that is read in several ways counts for each."
    )


def overview_table(body: Json) -> Table:
    """A row for each technique in each set of each study."""
    order = {name: place for place, name in enumerate(body["order"])}
    places = sorted(_shown(body), key=lambda place: order[place[0]])
    heads = ("Technique", "Trained on", "Study", "Runs", "Performance", METRIC_NAMES["di"],
             f"Moved {METRIC_NAMES['di']}", METRIC_NAMES["eotp"], "Of 7 metrics")  # fmt: skip
    rows = tuple(_row(study, one, title) for _, study, one, title in places)
    return Table("All techniques", heads, rows, NOTE)


def _places(body: Json) -> Iterator[tuple[str, Json, Json, str]]:
    """(technique, study, set, its name in the study) of everything that was trained."""
    for study in body["studies"]:
        for one in study["sets"]:
            for title in one["techniques"]:
                yield title.split(" ")[0], study, one, title


def _shown(body: Json) -> Iterator[tuple[str, Json, Json, str]]:
    """Those with a row: identical runs that are all equal say nothing that runs with seeds do not say."""
    every = list(_places(body))
    vary = {name for name, _, one, _ in every if not _still(one)}
    return (place for place in every if not _still(place[2]) or place[0] not in vary)


def _still(one: Json) -> bool:
    return all(row["weights"] == 1 for row in one["varying"])


def _row(study: Json, one: Json, title: str) -> tuple[Any, ...]:
    by = {row["metric"]: row for row in one["variance"] if row["technique"] == title}
    (performance,) = [row for row in one["performance"] if row["technique"] == title]
    tests = [row for row in one["tests"] if row["technique"] == title]
    return (
        title, one["origin"][title]["data"], study["name"], performance["runs"], told(performance),
        told(by["di"]), "no baseline" if title in one["without_base"] else _moved(tests), told(by["eotp"]),
        _counts(tests),
    )  # fmt: skip


def told(row: Json) -> str:
    """Mean, deviation and range.

    >>> told({"text": {"mean": "2.0", "stdev": "0.5", "min": "1.2", "max": "2.9"}})
    '2.0 ± 0.5, 1.2 to 2.9'
    """
    return f"{cell(row, 'mean')} ± {cell(row, 'stdev')}, {cell(row, 'min')} to {cell(row, 'max')}"


def _moved(tests: list[Json]) -> str:
    found = [row for row in tests if row["metric"] == "di" and row["difference"] is not None]
    if not found:
        return "baseline" if not tests else UNDEFINED
    difference, low, high = (found[0][key] for key in ("difference", "low", "high"))
    ends = f" ({_points(low)} to {_points(high)})" if low is not None and high is not None else ""
    return f"{_points(difference)}{ends}"


def _points(x: float) -> str:
    told = f"{100 * x:+.1f}"
    return "0.0" if told in ("+0.0", "-0.0") else told.replace("-", "−")


def _counts(tests: list[Json]) -> str:
    tested = [row for row in tests if not row["note"]]
    if not tested:
        return UNDEFINED if not tests else "not tested"
    official, proper = (Counter(row[key] for row in tested) for key in ("direction", "holm"))
    return f"{official['-']} ↓ {official['+']} ↑; Holm {proper['-']} ↓ {proper['+']} ↑"

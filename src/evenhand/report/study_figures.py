"""The figures of a study, by problem and metric: for its page, and as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import both_widths
from evenhand.report.figures.cost_strip import cost_strip
from evenhand.report.figures.critical_difference import critical_difference
from evenhand.report.figures.heatmap import heatmap
from evenhand.report.figures.levelling import levelling
from evenhand.report.figures.seed_variance import Spread, seed_variance
from evenhand.report.figures.slopes import Rates, slopes
from evenhand.report.names import rate_name
from evenhand.report.numbers import defined
from evenhand.report.run_words import run_name, run_word, runs_word
from evenhand.report.study_asked import asked
from evenhand.report.study_body import completed, head, keys_of, metrics_of, names_by_id, problem_name, words
from evenhand.report.study_points import frontier_figure, has_points, points_of

Json = Mapping[str, Any]
RATES = ("tpr", "fpr", "selection", "acc")
RATE_NAMES = {"acc": "accuracy"}
SAME = 1e-9
MOST_PROBLEMS = 12  # of a study with more, only the first rate and the first metric are drawn
MOST_GROUPS = 16  # more groups than that are in the table only


def figures(study: Json) -> dict[str, str]:
    """Every figure of a study as an SVG text, by a title."""
    body = asked(completed(study))
    drawn: dict[str, str] = {}
    for problem in body["problems"]:
        name = problem_name(body, problem)
        for key, svg in frontiers(body, problem):
            drawn[f"frontier {head(key)} {name}"] = svg
        for rate, svg in rate_figures(body, problem):
            drawn[f"groups {rate} {name}"] = svg
        for key, svg in spread_figures(body, problem):
            drawn[f"seeds {head(key)} {name}"] = svg
        for title, found in (
            ("levelling", levelling_figure(problem)),
            ("cost", cost_figure(body, problem, 760)),
        ):
            if found:
                drawn[f"{title} {name}"] = found
    drawn |= {f"ranks {head(key)}": pairs[0][1] for key, pairs in rank_figures(body)}
    return drawn | {f"spearman {name}": svg for name, svg in spearman_figures(body)}


def frontiers(body: Json, problem: Json) -> list[tuple[str, str]]:
    """Accuracy against each metric, run by run."""
    points = points_of(body, problem)
    keys = [key for key in metrics_of(body) if has_points(problem, body["accuracy"], key)]
    return [(key, frontier_figure(body, problem, points, key)) for key in keys]


def rate_figures(body: Json, problem: Json) -> list[tuple[str, str]]:
    """The groups' rates under each method, one figure a rate; the base comes first."""
    groups = [str(group["name"]) for group in problem["groups"]]
    if not 1 < len(groups) <= MOST_GROUPS:
        return []
    entries = sorted(problem["methods"], key=lambda entry: entry["method"] != body["base"])
    drawn = []
    for rate in rates_of(problem) if len(body["problems"]) <= MOST_PROBLEMS else RATES[:1]:
        rows = [
            Rates(entry["method"], tuple(entry["rates"][rate]), entry["method"] == body["base"])
            for entry in entries
            if entry["rates"].get(rate) and any(defined(x) for x in entry["rates"][rate])
        ]
        if rows:
            drawn.append((rate, slopes(rows, groups, title=rate_words(rate).capitalize())))
    return drawn


def rates_of(problem: Json) -> list[str]:
    """The rates that some method has.

    Over exclusive classes the mean selection rate is one over their number in every group, and tells nothing.

    >>> rates_of({"methods": [{"rates": {"selection": [0.1, 0.1], "tpr": [0.3, 0.2]}}]})
    ['tpr']
    >>> rates_of({"methods": [{"rates": {"selection": [0.1, 0.4], "tpr": []}}]})
    ['selection']
    """
    found = {
        rate: [x for entry in problem["methods"] for x in entry["rates"].get(rate) or []] for rate in RATES
    }
    selected = [x for x in found["selection"] if defined(x)]
    if selected and max(selected) - min(selected) < SAME:
        found["selection"] = []
    return [rate for rate, values in found.items() if values]


def rate_words(rate: str) -> str:
    """A rate in words.

    >>> rate_words("acc"), rate_words("tpr")
    ('accuracy', 'true positive rate')
    """
    return RATE_NAMES.get(rate) or rate_name(rate)


def spread_figures(body: Json, problem: Json) -> list[tuple[str, str]]:
    """The runs of the selected settings in strips, one figure a number."""
    drawn = []
    for key in keys_of(body):
        rows = [row for entry in problem["methods"] if (row := _spread(body, entry, key)) is not None]
        if rows:
            title = f"{words(key).capitalize()} by {run_word(body)}"
            drawn.append((key, seed_variance(rows, title=title, over=runs_word(body).split()[-1])))
    return drawn


def _spread(body: Json, entry: Json, key: str) -> Spread | None:
    found = entry["numbers"].get(key) or {}
    seeds = ((entry["per_metric"] or {}).get(key) or entry)["seeds"]
    runs = [(seed, x) for seed, x in zip(seeds, found.get("values") or [], strict=False) if defined(x)]
    if not runs or not defined(found.get("mean")):
        return None
    return Spread(
        entry["method"], tuple(run_name(body, seed) for seed, _ in runs), tuple(x for _, x in runs),
        found["mean"], found.get("std"), found.get("row_std"),
    )  # fmt: skip


def levelling_figure(problem: Json) -> str:
    """Two arrows for each method; an empty text where nothing was compared."""
    rows = [
        {"method": entry["method"], **entry["levelling"]}
        for entry in problem["methods"]
        if entry["levelling"]
    ]
    return levelling(rows, title="Change of the worst and the best group") if rows else ""


def cost_figure(body: Json, problem: Json, width: float) -> str:
    """The two strips of a problem; an empty text where there is no comparison."""
    rows = [row for row in body["cost"] if row["problem"] == problem["id"]]
    if not rows:
        return ""
    told = {
        row["method"]: f"improved: {', '.join(head(key) for key in row['reduces'])}"
        if row.get("reduces")
        else "no metric is shown to have improved"
        for row in rows
    }
    return cost_strip(rows, title=f"Cost: {problem_name(body, problem)}", improved=told, width=width)


def rank_figures(body: Json) -> list[tuple[str, list[tuple[str, str]]]]:
    """The diagram of each number, for wide and narrow screens; one problem has no ranks to average."""
    if len(body["problems"]) < 2:
        return []
    return [
        (key, both_widths(_ranks(found, f"Mean ranks by {words(key)}")))
        for key, found in body["ranks"].items()
        if len(found.get("methods") or []) > 1 and all(defined(x) for x in found["mean_ranks"])
    ]


def _ranks(found: Json, title: str) -> Callable[[float], str]:
    return lambda width: critical_difference(
        found["methods"], found["mean_ranks"], found.get("critical_difference"), found.get("cliques") or [],
        title=title, width=width,
    )  # fmt: skip


def spearman_figures(body: Json) -> list[tuple[str, str]]:
    """How numbers go together over runs: a heat map for each problem."""
    names, every = names_by_id(body), _as_list(body["spearman"])
    drawn = []
    for found in every:
        if len(found.get("metrics") or []) < 2 or not _any(found["matrix"]):
            continue
        heads = [head(key) for key in found["metrics"]]
        name = names.get(str(found.get("problem")), str(found.get("problem") or "all problems"))
        svg = heatmap(found["matrix"], heads, heads, title=f"Spearman: {name}", diverging=True, decimals=2)
        drawn.append((name, svg))
    return drawn


def _as_list(found: Any) -> list[Json]:
    return [found] if isinstance(found, Mapping) else list(found)


def _any(matrix: Sequence[Sequence[Any]]) -> bool:
    return any(defined(x) for line in matrix for x in line)

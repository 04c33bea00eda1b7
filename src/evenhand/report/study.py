"""The report of a study: the dictionary of `evenhand.evaluation.study` into one self-contained HTML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from evenhand.report import page
from evenhand.report.figures.canvas import both_widths
from evenhand.report.figures.cost_strip import cost_legend
from evenhand.report.names import rate_head
from evenhand.report.study_asked import asked
from evenhand.report.study_body import (
    completed,
    definition,
    head,
    keys_of,
    metrics_of,
    names_by_id,
    problem_name,
    setting_words,
    words,
)
from evenhand.report.study_figures import (
    MOST_PROBLEMS,
    cost_figure,
    frontiers,
    levelling_figure,
    rank_figures,
    rate_figures,
    rate_words,
    rates_of,
    spearman_figures,
    spread_figures,
)
from evenhand.report.study_leaders import FAMILIES, SEVERAL, leader_rows, overall_rows
from evenhand.report.study_points import points_of, run_list
from evenhand.report.study_rows import class_rows, failure_rows, group_rows, variance_rows
from evenhand.report.study_tables import oracle_note
from evenhand.report.study_words import study_sentences

Json = Mapping[str, Any]


def render(study: Json) -> str:
    """The HTML report of a study, finished or not."""
    whole = completed(study)
    body = asked(whole)
    return page.render(
        "study.html.j2",
        scripts=("script.js", "study.js"),
        study=body,
        title=body["title"] or body["name"],
        sentences=study_sentences(whole),
        oracle=oracle_note(body),
        keys=keys_of(body),
        heads=[(key, head(key), definition(body, key)) for key in keys_of(body)],
        problems=[problem_parts(body, problem, place) for place, problem in enumerate(body["problems"])],
        families=FAMILIES,
        overall=overall_rows(body) if len(body["problems"]) > 1 else [],
        compared=any(entry["against"] for problem in body["problems"] for entry in problem["methods"]),
        order=order(body),
        several=any(entry["settings"] > 1 for entry in body["budget"]["methods"]),
        ranks=rank_figures(body),
        variance=variance_rows(body),
        failures=failure_rows(body),
        spearman=spearman_figures(body),
        spec=json.dumps(body["spec"], indent=2, ensure_ascii=False, default=str),
        legend=both_widths(cost_legend),
        shown_problem=lambda key: names_by_id(body).get(str(key), str(key)),
        **names(),
    )


def names() -> dict[str, Any]:
    """The functions by which the template calls things."""
    return {
        "head_of": head,
        "words_of": words,
        "rate_head": lambda rate: "Accuracy" if rate == "acc" else rate_head(rate),
        "rate_words": rate_words,
        "setting_words": setting_words,
        "seconds": seconds,
        "sentence": sentence,
        "moment": moment,
    }


def problem_parts(body: Json, problem: Json, place: int) -> dict[str, Any]:
    """Everything that the page shows of one problem."""
    points, series = points_of(body, problem), body["series"]
    only = {**body, "problems": [problem]}
    return {
        "place": f"p{place}",
        "id": problem["id"],
        "name": problem_name(body, problem),
        "problem": problem,
        "leaders": leader_rows(body, problem),
        "frontiers": frontiers(body, problem),
        "points": points,
        "runs": Markup(run_list(body, problem, points)),
        "series": [
            (series[entry["method"]], entry["method"],
             SEVERAL if entry["per_metric"] else setting_words(entry["setting"]))
            for entry in problem["methods"]
        ],
        "rates": rate_figures(body, problem),
        "groups": group_rows(only),
        "group_rates": rates_of(problem),
        "classes": _classes(only),
        "spreads": _spreads(body, problem),
        "levelling": levelling_figure(problem),
        "levels": [
            (entry["method"], entry["levelling"]) for entry in problem["methods"] if entry["levelling"]
        ],
        "cost": both_widths(lambda width: cost_figure(body, problem, width)),
    }  # fmt: skip


def _spreads(body: Json, problem: Json) -> list[tuple[str, str]]:
    """The strips: of a study with many problems only those of accuracy and of the first metric."""
    if len(body["problems"]) <= MOST_PROBLEMS:
        return spread_figures(body, problem)
    few = [entry for entry in body["metrics"] if entry["key"] in metrics_of(body)[:1]]
    return spread_figures({**body, "metrics": few}, problem)


def _classes(only: Json) -> list[dict[str, Any]]:
    """Per-class values as rows of method and metric, a column a class."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in class_rows(only):
        found.setdefault((row["method"], row["metric"]), {})[row["class"]] = row["value"]
    return [
        {"method": method, "metric": metric, "values": values} for (method, metric), values in found.items()
    ]


def sentence(told: Any) -> str:
    """A remark as a sentence of its own: a capital and a full stop.

    >>> sentence("the budgets differ"), sentence(""), sentence("Is it?")
    ('The budgets differ.', '', 'Is it?')
    """
    text = str(told or "").strip()
    return text[:1].upper() + text[1:] + ("" if not text or text[-1] in ".!?" else ".")


def order(body: Json) -> str:
    """By what the methods stand in the table: the metric of the selection."""
    key = body["selection"]["metric"]
    return f" by {words(key)}" if key else ""


def moment(stamp: Any) -> str:
    """A time as people write it.

    >>> moment("2026-03-01T10:20:30+00:00"), moment("today")
    ('2026-03-01 10:20 UTC', 'today')
    """
    text = str(stamp)
    return f"{text[:10]} {text[11:16]} UTC" if text.endswith("+00:00") else text


def seconds(x: Any) -> str:
    """A time in the unit that suits it.

    >>> seconds(0.25), seconds(75.0), seconds(7300), seconds(None)
    ('0.25 s', '75 s', '2 h 2 min', '–')
    """
    if x is None:
        return "–"
    if x < 120:
        return f"{x:.2g} s" if x < 10 else f"{x:.0f} s"
    minutes = round(x / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60:,} h {minutes % 60} min"

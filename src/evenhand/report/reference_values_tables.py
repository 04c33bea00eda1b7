"""The tables of a study beside its public values, from the dictionary that `evaluation` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.spread_table import spread_table
from evenhand.report.study_tables import Cell, Table

Json = Mapping[str, Any]
HEADS = (
    *("task", "group", "network", "model", "metric", "public"),
    *("ours, chosen on test", "± (seeds)", "n", "difference", "lies"),
    *("ours, chosen on validation", "± (seeds)", "n", "difference (validation)"),
)
NOTE = (
    "Public values: read off pictures to 0.02, the best setting on test rows for each metric. Compare them "
    "with ours chosen on test (an oracle); there, as in public, accuracy and eqodd are means of two numbers, "
    "each with a setting of its own."
)
NEAR = ("compared", "read", "seeds", "outside", "size", "mean", "size_validation")
NEAR_HEADS = ("values", "reading", "+ seeds", "outside", "mean size", "mean", "mean size, validation")
ASKED = ("", "Public", "Ours, chosen on test", "", "Ours, chosen on validation", "")


def tables(body: Json) -> dict[str, Table]:
    """Every table by the name of its file."""
    return {
        "public-values": values_table(body["rows"]),
        "nearness": nearness_table(body),
        "order": ranks_table(body),
        "questions": questions_table(body["questions"]),
        "farthest": farthest_table(body),
        "runs": spread_table(body["runs"]),
    }


def values_table(rows: Sequence[Json]) -> Table:
    """Public values and ours, a row each."""
    return Table("Public values and ours", HEADS, tuple(map(_value_cells, rows)), NOTE)


def _value_cells(row: Json) -> tuple[Cell, ...]:
    return (
        *(row["task"], row["grouping"], row["net"], row["model"], row["metric"], row["public"]),
        *_ours(row["oracle"]), row["difference"], row["lies"],
        *_ours(row["validation"]), row["difference_validation"],
    )  # fmt: skip


def _ours(found: Json | None) -> tuple[Cell, Cell, Cell]:
    if found is None:
        return None, None, None
    spread = found["std"]
    return found["mean"], None if spread is None or spread != spread else spread, found["n"]


def nearness_table(body: Json) -> Table:
    """How near ours come: all values, by metric, by problem, by model."""
    parts = [body["overall"], *(row for by in ("metric", "problem", "model") for row in body[f"by_{by}"])]
    rows = tuple((row["name"], *(row[key] for key in NEAR)) for row in parts)
    note = (
        "A difference is ours, chosen on test, less public. Reading: within the 0.02 to which the picture "
        "was read. + seeds: beyond that, but within it and Student's 95 % interval of our mean. Mean size: "
        "of differences without their sign; validation: of ours chosen on validation rows."
    )
    return Table("How near ours come", ("", *NEAR_HEADS), rows, note)


def ranks_table(body: Json) -> Table:
    """Spearman's correlation of the models' order, problems by metrics."""
    found = {(row["problem"], row["metric"]): row["models"] for row in body["ranks"]}
    problems = dict.fromkeys(row["problem"] for row in body["ranks"])
    rows = tuple((name, *(found.get((name, key)) for key in body["metrics"])) for name in problems)
    note = "Spearman's correlation over the models, public against ours chosen on test; –: undefined."
    return Table("The order of the models", ("", *body["metrics"].values()), rows, note)


def questions_table(questions: Sequence[Json]) -> Table:
    """Every part of every question: the public effect, ours with intervals, what they say."""
    rows = [
        (question["words"], part["words"], signed(part["public"]), *_answer(part["oracle"]),
         *_answer(part["validation"]))
        for question in questions
        for part in question["parts"]
    ]  # fmt: skip
    return Table("The order of the models, asked", ("Question", *ASKED), tuple(rows))


def question_table(question: Json) -> Table:
    """The parts of one question."""
    whole = questions_table([question])
    return Table(question["words"], whole.heads[1:], tuple(row[1:] for row in whole.rows))


def _answer(found: Json) -> tuple[str, str]:
    if found["effect"] is None:
        return UNDEFINED, "no runs"
    spread = interval([found["low"], found["high"]], signed=True)
    told = signed(found["effect"]) + (f" ({spread})" if spread != UNDEFINED else "")
    return told, found["verdict"] or "one seed"


def farthest_table(body: Json) -> Table:
    """The values that differ most."""
    rows = tuple(
        (row["task"], row["grouping"], body["models"][row["model"]], body["metrics"][row["metric"]],
         row["public"], row["oracle"]["mean"], signed(row["difference"]))
        for row in body["farthest"]
    )  # fmt: skip
    heads = ("task", "group", "model", "metric", "public", "ours, chosen on test", "difference")
    return Table("Where they differ most", heads, rows)


def signed(x: float | None) -> str:
    """A difference with its sign.

    >>> signed(0.0312), signed(-0.5), signed(None)
    ('+0.031', '−0.500', '–')
    """
    return number(x, signed=True)

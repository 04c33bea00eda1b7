"""The tables of a compression study: Table 1 beside the paper's, who paid, noise over seeds, exemplars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.report.claims_beside import verdicts_table
from evenhand.report.compression_names import METRICS, PRINTED, at_level, file_of, where
from evenhand.report.compression_paid import DIGITS, paid_table
from evenhand.report.numbers import UNDEFINED, defined, interval, number, p_value
from evenhand.report.spread_table import spread_view
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]


def tables(study: Json) -> dict[str, Table]:
    """Every table by the name of its file; those that have no rows are left out."""
    found: dict[str, Table] = {"noise": noise_table(study), "cev-and-sde": square_table(study)}
    found["anew"] = anew_table(study)
    found |= {"claims": claims_table(study["findings"]), "questions": claims_table(study["questions"])}
    for problem in study["problems"]:
        for level in problem["levels"]:
            found[file_of(study, problem, "table-1", level)] = table_1_columns(study, problem, level)
        found[file_of(study, problem, "runs")] = runs_table(study, problem)
        found[file_of(study, problem, "changes")] = changes_table(study, problem)
        for kind in ("classes", "groups", "cells"):
            found[file_of(study, problem, "who-paid", kind)] = paid_table(study, problem, kind)
        found[file_of(study, problem, "exemplars")] = exemplars_table(study, problem)
    return {name: table for name, table in found.items() if table.rows}


def table_1(study: Json, problem: Json, level: str) -> Table:
    """S2's Table 1 in shape: a method a row; in brackets what S2 prints for CIFAR-100 at 45 %."""
    shown = at_level(problem["rows"], level)
    rows = [
        (_named(row), *(_beside(ours, theirs) for ours, theirs in _pairs(row)), *_raw(row)) for row in shown
    ]
    heads = ("Method", *PRINTED_1, *RAW)
    return _table_1(study, problem, level, heads, rows, f"In brackets S2's, {OF_S2}. {_skipped(shown)}")


def table_1_columns(study: Json, problem: Json, level: str) -> Table:
    """The same for a file: what S2 prints in columns of its own, runs, and classes that are skipped."""
    rows = [
        (_named(row), *(value for pair in _pairs(row) for value in pair), *_raw(row), row["runs"],
         number(row["skipped"]["mean"], 1))
        for row in at_level(problem["rows"], level)
    ]  # fmt: skip
    pairs = (head for ours, theirs in PRINTED_1.items() for head in (ours, f"S2: {theirs}"))
    heads = ("Method", *pairs, *RAW, "Runs", "Skipped")
    return _table_1(study, problem, level, heads, rows, f"S2's are {OF_S2}.")


# ours: how S2 calls it, which prints no number that is not normalised
PRINTED_1 = {"CIE": "CIE", "CEV norm.": "CEV", "SDE norm.": "SDE", "Accuracy": "accuracy"}
RAW = ("CEV", "SDE")
OF_S2 = "of CIFAR-100, pruned to 45 %, CEV and SDE normalised"


def _table_1(
    study: Json, problem: Json, level: str, heads: Sequence[str], rows: Sequence[Any], told: str
) -> Table:
    base = problem["base"]
    note = (
        f"The base ({base['method']}) has accuracy {_over_seeds(base['accuracy'], 3)}, {base['runs']} runs. "
        f"Means over seeds, ± half of their 95 % interval. {told}"
    )
    return Table(f"Table 1 in shape{where(study, problem, level)}", tuple(heads), tuple(rows), note)


def _named(row: Json) -> str:
    return str(PRINTED.get(row["role"], row["method"]))


def _pairs(row: Json) -> list[tuple[Any, str]]:
    """What S2 prints, ours and theirs; nothing of theirs for a method that the paper does not have."""
    printed = row["printed"] or {}
    ours = (row["cie"], _told(row, "cev_norm"), _told(row, "sde_norm"), _told(row, "accuracy"))
    theirs = ("" if key not in printed else number(printed[key], digits) for key, digits in S2.items())
    return list(zip(ours, theirs, strict=True))


def _beside(ours: Any, theirs: str) -> Any:
    return f"{ours} ({theirs})" if theirs else ours


def _raw(row: Json) -> tuple[Any, ...]:
    return _told(row, "cev"), _told(row, "sde")


def _skipped(rows: Sequence[Json]) -> str:
    """How many classes have no relative change: as many of all methods, for the base's errors lack."""
    most = max((row["skipped"]["mean"] or 0.0 for row in rows), default=0.0)
    return f"Classes without a relative change, on average over seeds: {number(most, 1)}."


def _told(row: Json, key: str) -> str:
    return _over_seeds(row[key], {**DIGITS, "accuracy": 3}[key])


S2 = {"cie": 0, "cev": 5, "sde": 4, "accuracy": 3}  # digits of what is printed there


def _over_seeds(found: Json, digits: int) -> str:
    """A mean, and half of Student's interval, which is symmetric."""
    if not defined(found["mean"]):
        return UNDEFINED
    half = f" ± {number(found['high'] - found['mean'], digits)}" if defined(found["high"]) else ""
    return f"{number(found['mean'], digits)}{half}"


def runs_table(study: Json, problem: Json) -> Table:
    """Mean, deviation, range and interval over seeds of every number, for all methods and levels."""
    rows = [
        (row["method"], row["level"], name, *(found[one] for one in SPREAD))
        for row, name, found in _measured(problem)
    ]
    heads = ("Method", "Level", "Number", "Runs", "Mean", "Deviation", "Least", "Most", "Low", "High")
    return Table(f"Over seeds{where(study, problem)}", heads, tuple(rows))


SPREAD = ("n", "mean", "std", "min", "max", "low", "high")


def _measured(problem: Json) -> list[tuple[Json, str, Json]]:
    """Every number over seeds; the base, which the others are compared with, has its accuracy alone."""
    base = {**problem["base"], "level": ""}
    every = [(base, METRICS["accuracy"], base["accuracy"])]
    return every + [(row, name, row[key]) for row in problem["rows"] for key, name in METRICS.items()]


def runs_view(study: Json, problem: Json) -> Table:
    """The same to be read: mean, deviation and range, a row for each method and level."""
    named = dict(zip(("runs", "mean", "deviation", "smallest", "largest"), SPREAD, strict=False))
    lines = [
        {"method": row["method"], "level": row["level"], "metric": name}
        | {head: found[own] for head, own in named.items()}
        for row, name, found in _measured(problem)
    ]
    view = spread_view(lines, decimals={METRICS[key]: digits for key, digits in DIGITS.items()})
    return replace(view, title=f"{view.title}{where(study, problem)}")


def changes_table(study: Json, problem: Json) -> Table:
    """Figure 2's points: relative changes of both error rates of each class."""
    rows = [
        (one["method"], one["level"], point["class"], point["kept"], point["fpr_change"], point["fnr_change"])
        for one in problem["changes"]
        for point in one["points"]
    ]
    heads = ("Method", "Level", "Class", "Kept", "FPR change", "FNR change")
    return Table(f"Relative changes of the error rates{where(study, problem)}", heads, tuple(rows))


def noise_table(study: Json) -> Table:
    """How far a number moves over seeds, against how far methods are apart."""
    rows = [(row["place"], row["metric"], row["seeds"], row["methods"], row["ratio"], row["same"])
            for row in study["noise"]]  # fmt: skip
    heads = ("Where", "Number", "Deviation over seeds", "Deviation of methods' means", "Ratio", "Same order")
    note = "Same order: how often two seeds order two methods alike; 0.5 is chance."
    return Table("How noisy over seeds", heads, tuple(rows), note)


def anew_table(study: Json) -> Table:
    """How much further each method moved errors between classes than training the base anew, where known."""
    rows = [
        (where(study, problem, level).removeprefix(" at "), _named(row),
         *(cell for key in ANEW for cell in _more(row[key])))
        for problem, found in trained_anew(study)
        for level in problem["levels"] for row in at_level(found["rows"], level)
        if any(defined(row[key]["mean"]) for key in ANEW)
    ]  # fmt: skip
    heads = (f"{name}{told}" for name in ANEW.values() for told in (" beyond anew", ": Holm's p"))
    return Table("Beside training anew", ("Level", "Method", *heads), tuple(rows), ANEW_IS)


ANEW = {"cev": "CEV", "sde": "SDE"}
ANEW_IS = (
    "A method's number less that of training anew, which is the base of every other seed against the base of "
    "this one. The same bases stand on both sides: interval and p are Student's of jackknife values, for "
    "which a seed is left out of both, and need three seeds. p is corrected by Holm over methods, levels and "
    "both numbers. Less than anew is no merit of a method that goes on from the base's own weights."
)


def trained_anew(study: Json) -> list[tuple[Json, Json]]:
    """The problems whose base was trained more than once, with what that says."""
    return [(problem, problem["anew"]) for problem in study["problems"] if problem.get("anew")]


def _more(found: Json) -> tuple[str, str]:
    ends = interval((found["low"], found["high"]), signed=True)
    return f"{number(found['mean'], signed=True)} ({ends})", p_value(found["p_holm"])


def square_table(study: Json) -> Table:
    """CEV by SDE squared over two."""
    rows = [(row["place"], row["runs"], row["median"], row["min"], row["max"], row["correlation"])
            for row in study["square"]]  # fmt: skip
    heads = ("Where", "Runs", "Median ratio", "Least", "Most", "Rank correlation")
    return Table("CEV over SDE²/2, run by run", heads, tuple(rows), "Of two classes every ratio is 1.")


def exemplars_table(study: Json, problem: Json) -> Table:
    """Every exemplar with its row in the data."""
    rows = [
        (one["method"], one["level"], row["row"], row["truth"], row["base"], row["base_votes"],
         row["compressed"], row["compressed_votes"])
        for one in problem["exemplars"] for row in one["rows"]
    ]  # fmt: skip
    heads = ("Method", "Level", "Row", "Class", "Base", "Votes", "Compressed", "Votes of these")
    return Table(f"Compression-identified exemplars{where(study, problem)}", heads, tuple(rows))


def claims_table(findings: Sequence[Json]) -> Table:
    """The parts of claims with what decides them."""
    rows = [
        (found["id"], part["words"], _effect(part), _ends(part), part["replicates"],
         part["rule"].replace("-", "−"), part["verdict"])
        for found in findings for part in found["parts"]
    ]  # fmt: skip
    heads = ("Claim", "Part", "Effect", "Interval", "Numbers", "Holds if it", "Verdict")
    return Table("The claims of S2 in parts", heads, tuple(rows))


def beside_table(body: Json) -> Table:
    """What each of several studies says to each claim and question."""
    studies = body["studies"]
    told = [{found["id"]: found for found in (*one["findings"], *one["questions"])} for one in studies]
    words = {name: found["claim"] for answers in told for name, found in answers.items()}
    claims = ((name, claim, [each.get(name) for each in told]) for name, claim in words.items())
    return verdicts_table([one["name"] for one in studies], claims)


def _effect(part: Json) -> str:
    return number(part["effect"], 4, signed=part["unit"] == "difference")


def _ends(part: Json) -> str:
    return interval((part["low"], part["high"]), 4, signed=part["unit"] == "difference")

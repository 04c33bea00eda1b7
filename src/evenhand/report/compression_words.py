"""What the page of compression studies says in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.claims_words import claims_by_verdict, many
from evenhand.report.compression_names import PRINTED, at_level, where
from evenhand.report.compression_paid import paid_sentence
from evenhand.report.numbers import defined, number
from evenhand.report.paper_warning import unless_small

Json = Mapping[str, Any]
RULE = (
    "A claim is split into parts that runs can decide: a difference of two methods seed by seed, its "
    "mean, and Student's interval in which methods and seeds are both draws (Satterthwaite's degrees of"
    " freedom); or a rank correlation, or a share of pairs, with a bootstrap interval over methods and "
    "seeds (1,000 draws: the second decimal of its ends is not sure). The intervals of one claim hold "
    "together at 95 % (Bonferroni). A claim holds if all its parts do, and does not if one does not. The "
    "rules were written before any of these studies was run."
)
OWN_DATA = "cifar100-under"  # S2's
ALPHA = 0.05
HOW = (
    "CEV and SDE compare each compressed run with the base run of its own seed; classes in which the "
    "base makes no error of a kind have no relative change and are skipped. Normalised: divided by the "
    "same number of a uniform random predictor in closed form. CIE: test rows whose modal label over "
    "the runs of a method is another than over the runs of the base; a tie goes to the lowest class id."
    " Who paid: the runs as they are, rows drawn again for the interval; p of a row's mean change, "
    "corrected by Holm over all classes, over the groups of one attribute, or over the classes within "
    "them, of a method at a level. Nobody is called hurt where that is not shown."
)


def state(study: Json) -> str:
    """What was run.

    >>> state({"name": "c", "done": 5, "planned": 6, "failed": 1, "seeds": [0, 1], "problems": [
    ...     {"rows": [{"method": "pruning"}], "levels": ["45 %"], "name": "t / n"}]})
    'c: 5 of 6 runs are done, 1 failed; 1 compressed method, 1 level, 2 seeds, on t / n.'
    """
    failed = f", {study['failed']:,} failed" if study["failed"] else ""
    methods = {row["method"] for problem in study["problems"] for row in problem["rows"]}
    levels = {level for problem in study["problems"] for level in problem["levels"]}
    counts = [many(len(methods), "compressed method"), many(len(levels), "level"),
              many(len(study["seeds"]), "seed")]  # fmt: skip
    places = ", ".join(problem["name"] for problem in study["problems"])
    runs = f"{study['done']:,} of {study['planned']:,} runs are done{failed}"
    return f"{study['name']}: {runs}; {', '.join(counts)}, on {places}."


def whose(study: Json) -> str:
    """Whose data and networks S2's numbers are of, and what that makes of a comparison with ours.

    >>> whose({"problems": [{"task": "mnist-under"}]}).endswith("for the order of methods alone.")
    True
    """
    theirs = "S2 prunes a ResNet32x4 on CIFAR-100 with rare classes to 45 %"
    if all(problem["task"] == OWN_DATA for problem in study["problems"]):
        return f"{theirs}: these are its data, trained anew."
    return (
        f"{theirs}; these are other data and networks, a stand-in and **no replication**: read S2's numbers "
        "for the order of methods alone."
    )


def opening(studies: Sequence[Json]) -> list[str]:
    """What each study ran, and whose data S2's numbers are of: once, where it is the same for all.

    >>> one = {"name": "c", "title": "T", "done": 1, "planned": 1, "failed": 0, "seeds": [0], "problems": [
    ...     {"rows": [], "levels": [], "task": "mnist-under", "name": "t / n"}]}
    >>> [len(opening([one] * times)) for times in (1, 2)]
    [1, 3]
    """
    whole = [f"{study['title']}. {state(study)}" for study in studies]
    each = [whose(study) for study in studies]
    if len(studies) > 1 and len(set(each)) == 1:
        return [*whole, each[0]]
    return [f"{told} {data}" for told, data in zip(whole, each, strict=True)]


@unless_small
def sentences(study: Json) -> list[str]:
    """The findings of a study in a few sentences."""
    tally = Counter(found["verdict"] for found in study["findings"])
    told = [
        f"Of {len(study['findings'])} claims of the paper that {study['name']} was asked {tally['holds']} "
        f"hold, {tally['does not']} do not, and {tally['cannot tell']} cannot be told.",
        claims_by_verdict(study),
    ]
    told += [_question(found) for found in study["questions"]]
    for problem in study["problems"]:
        for level in problem["levels"]:
            told += _level(study, problem, level)
    return [*told, *_begun(study.get("begun") or {})]


def _begun(found: Json) -> list[str]:
    """That the students' teacher is the base; nothing where it is not known, or not of all: see below.

    >>> _begun({"runs": 5, "same": 5})
    ['All 5 students began with the network that the base is: their teacher had its loss in every epoch.']
    """
    runs, same = found.get("runs", 0), found.get("same", 0)
    if not runs or runs != same:
        return []
    whose = f"All {runs:,} students began" if runs > 1 else "The student began"
    teacher = "their teacher" if runs > 1 else "its teacher"
    return [f"{whose} with the network that the base is: {teacher} had its loss in every epoch."]


def begun_otherwise(study: Json) -> str:
    """What must be known before anything is read: that students began with another network than their base.

    >>> begun_otherwise({"name": "s", "begun": {"runs": 5, "same": 5}})
    ''
    >>> begun_otherwise({"name": "s", "begun": {"runs": 5, "same": 3}}).split(",")[0]
    "2 of 5 students of s began with another training of the base's seed"
    """
    found = study.get("begun") or {}
    runs, same = found.get("runs", 0), found.get("same", 0)
    if runs == same:
        return ""
    return (
        f"{runs - same:,} of {runs:,} students of {study['name']} began with another training of the base's "
        "seed, which went another way: their changes hold the base's own variation."
    )


def anew_sentence(study: Json, problem: Json, level: str) -> list[str]:
    """How many methods moved errors further than training anew does; nothing where that cannot be known.

    >>> told = {"mean": 0.02, "p_holm": 0.5}, {"mean": 0.1, "p_holm": 0.01}
    >>> problem = {"name": "t / n", "anew": {"cev": {"mean": 0.1}, "sde": {"mean": 0.2}, "rows": [
    ...     {"level": "45 %", "cev": told[0], "sde": told[1]}]}}
    >>> anew_sentence({"problems": [problem]}, problem, "45 %")[0].partition("than that ")[2]
    'at 45 %: 0 of 1 method by CEV, 1 by SDE; less far: 0 by CEV, 0 by SDE.'
    """
    found = problem.get("anew")
    rows = at_level(found["rows"], level) if found else []
    if not found or not any(defined(row[key]["p_holm"]) for row in rows for key in ("cev", "sde")):
        return []
    further, nearer = (
        [sum(_shown(row[key], sign) for row in rows) for key in ("cev", "sde")] for sign in (1, -1)
    )
    floor = f"CEV {number(found['cev']['mean'])}, SDE {number(found['sde']['mean'])}"
    return [
        f"Training the base anew, with another seed, moves errors between classes too ({floor}). Shown to "
        f"move them further than that{where(study, problem, level)}: {further[0]} of "
        f"{many(len(rows), 'method')} by CEV, {further[1]} by SDE; less far: {nearer[0]} by CEV, {nearer[1]} "
        "by SDE."
    ]


def _shown(found: Json, sign: int) -> bool:
    """Whether a mean has this sign beyond chance."""
    return defined(found["p_holm"]) and found["p_holm"] <= ALPHA and found["mean"] * sign > 0


def _question(found: Json) -> str:
    answer = {"holds": "Yes", "does not": "No"}.get(found["verdict"], "It cannot be told")
    return f"{found['claim']} {answer}."


def _level(study: Json, problem: Json, level: str) -> list[str]:
    """Who moved classes most and least, and whom pruning hurt."""
    rows = at_level(problem["rows"], level)
    known = [row for row in rows if defined(row["cev"]["mean"])]
    told = []
    if len(known) > 1:
        most, least = (pick(known, key=lambda row: row["cev"]["mean"]) for pick in (max, min))
        ends = [f"{PRINTED.get(row['role'], row['method'])} (CEV {number(row['cev']['mean'], 3)}, "
                f"{row['cie']:,} exemplars)" for row in (most, least)]  # fmt: skip
        told.append(f"Errors moved between classes most with {ends[0]} and least with {ends[1]}"
                    f"{where(study, problem, level)}.")  # fmt: skip
    told += anew_sentence(study, problem, level)
    pruned = next((row for row in rows if row["role"] == "pruning"), rows[0] if rows else None)
    return [*told, paid_sentence(problem, pruned)] if pruned else told

"""What is said in sentences of a study beside its public values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.claims_words import many
from evenhand.report.numbers import UNDEFINED, interval, number, percent
from evenhand.report.paper_warning import NOT_JUDGED, unless_small

Json = Mapping[str, Any]
VERDICTS = ("as in public", "not as in public", "cannot tell", NOT_JUDGED)


@unless_small
def sentences(body: Json) -> list[str]:
    """The findings: how near, in what order, and what else was looked at."""
    told = [_near(body), _size(body), _order(body), *sanity(body), _variants(body), _groups(body)]
    return [sentence for sentence in told if sentence]


def state(body: Json) -> str:
    """What was run."""
    failed = f", {body['failed']:,} failed" if body["failed"] else ""
    runs = f"{body['done']:,} of {body['planned']:,} runs are done{failed}"
    seeds = f"seed{'s' if len(body['seeds']) > 1 else ''} {', '.join(map(str, body['seeds']))}"
    return f"{runs}; at most {body['epochs']} epoch{'s' if body['epochs'] != 1 else ''}; {seeds}."


def unfinished(body: Json) -> str:
    """What must be said of a store that lacks runs; nothing of a whole one."""
    lacking = body["public"] - body["overall"]["compared"]
    if not lacking and body["done"] == body["planned"]:
        return ""
    values = (
        f"{lacking:,} of {body['public']:,} public values have no run of ours beside them. "
        if lacking
        else ""
    )
    return f"Not everything was run. {values}What follows may change."


def _near(body: Json) -> str:
    near = body["overall"]
    if not near["compared"]:
        return "Of no public value there is a run of ours."
    share = percent((near["read"] + near["seeds"]) / near["compared"])
    return (
        f"Of {near['compared']:,} public values ours are within the reading of the picture "
        f"({body['reading']}) for {near['read']:,}, within that and the interval of our seeds for another "
        f"{near['seeds']:,} ({share} in all), and outside for {near['outside']:,}."
    )


def _size(body: Json) -> str:
    near = body["overall"]
    if near["size"] is None:
        return ""
    return (
        f"Ours, chosen on test as theirs were, differ by {number(near['size'])} on average "
        f"(mean difference {number(near['mean'], signed=True)}); chosen on {body['part'].replace('_', ' ')} "
        f"rows, by {number(near['size_validation'])}."
    )


def _order(body: Json) -> str:
    found = body["mean_ranks"]
    if found["models"] is None:
        return ""
    return (
        "Within a problem and metric, Spearman's correlation between the public order of the models and ours "
        f"is {number(found['models'], 2)} on average ({number(found['families'], 2)} with LAFTR's four "
        f"variants as one; {number(found['validation'], 2)} for ours chosen on validation)."
    )


def sanity(body: Json) -> list[str]:
    """Whether plain training reaches what it must."""
    found = body["sanity"]
    if found is None:
        return []
    where = f"Accuracy of the MLP on “{found['task']}”, where nothing goes with the label"
    if found["mean"] is None:
        return [f"{where}: not run (it must be at least {found['least']:g})."]
    spread = interval([found["low"], found["high"]])
    told = f", {spread}" if spread != UNDEFINED else ""
    seeds = f"{found['n']} seed{'s' if found['n'] > 1 else ''}"
    verdict = "reached" if found["mean"] >= found["least"] else "missed"
    return [f"{where}: {number(found['mean'])} ({seeds}{told}); at least {found['least']:g}: {verdict}."]


def _variants(body: Json) -> str:
    found = body["variants"]
    if not found["n"]:
        return ""
    return (
        f"LAFTR's four variants lie {number(found['public'])} apart in the public values and "
        f"{number(found['ours'])} in ours (largest less smallest, mean over problems and metrics)."
    )


def _groups(body: Json) -> str:
    """Which of the two public group accuracies belongs to which group."""
    found = body["groups"]
    if not found or not found["n"]:
        return ""
    better = "as named" if found["named"] <= found["swapped"] else "exchanged"
    return (
        f"The public p-acc and up-acc fit ours better {better}: mean |difference| {number(found['named'])} "
        f"as named, {number(found['swapped'])} exchanged."
    )


def tally(question: Json) -> str:
    """How many parts of a question are as in public, for both ways of choosing."""
    told = [
        f"chosen on {where}, {_counted([part[key]['verdict'] for part in question['parts']])}"
        for where, key in (("test", "oracle"), ("validation", "validation"))
    ]
    return f"Of {many(len(question['parts']), 'part')}: {'; '.join(told)}."


def _counted(verdicts: list[str | None]) -> str:
    """The verdicts in numbers.

    >>> _counted(["as in public", "as in public", None])
    '2 as in public, 1 without enough runs'
    """
    found = Counter(verdicts)
    told = [f"{found[word]} {word}" for word in VERDICTS if found[word]]
    return ", ".join(told + ([f"{found[None]} without enough runs"] if found[None] else []))

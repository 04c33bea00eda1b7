"""A store of S1's shape as one dictionary: figures, ranks, claims; and its page, for several stores too."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.many_attributes.added import added_rows
from evenhand.evaluation.many_attributes.beside import beside
from evenhand.evaluation.many_attributes.evidence import Evidence
from evenhand.evaluation.many_attributes.explained import explained_rows
from evenhand.evaluation.many_attributes.figures import figures
from evenhand.evaluation.many_attributes.findings import findings
from evenhand.evaluation.many_attributes.layout import MARGIN, NAMES, PERFORMANCE, SLOTS
from evenhand.evaluation.many_attributes.printed import paper_tables
from evenhand.evaluation.many_attributes.printed_shift import shift_tables
from evenhand.evaluation.many_attributes.ranks import rank_rows
from evenhand.evaluation.many_attributes.runs import Runs
from evenhand.evaluation.many_attributes.spread import overall_lines, structure_lines
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.study.smoke import IN_SMALL, is_small

KIND = "many-attributes"
TITLE = "Many tasks, many attributes: what S1 claims, and what runs show"
Progress = Callable[[str], None]
Json = dict[str, Any]


def paper(store: Any, folder: Path | str, progress: Progress | None = None) -> Json:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows.

    `store` may be unfinished: what is missing is said, the rest is shown. `progress` is told each step.
    """
    from evenhand.report.many_attributes_files import write_paper

    tell = progress or (lambda words: None)
    body = together([compute(store, tell)])
    tell("writing the paper's tables, figures and page")
    write_paper(body, Path(folder))
    return body


def together(studies: Sequence[Json]) -> Json:
    """Several studies as one dictionary: each by itself, and what they say to the same questions."""
    from evenhand import __version__

    twice = {one["name"] for one in studies if sum(other["name"] == one["name"] for other in studies) > 1}
    if twice:
        raise InputError(f"the study {sorted(twice)[0]!r} was given twice; give each folder once")
    return {
        "kind": KIND, "evenhand": __version__,
        "title": f"{TITLE} {IN_SMALL}" if any(one["small"] for one in studies) else TITLE,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "studies": list(studies), "beside": beside(studies), "margins": dict(MARGIN), "slots": list(SLOTS),
    }  # fmt: skip


def compute(store: Any, tell: Progress = lambda words: None) -> Json:
    """Everything that is said of one store, finished or not, as plain values; NaN is None."""
    tell("reading the runs by structure")
    runs = Runs(store)
    frame = runs.frame
    if not runs.structures:
        raise InputError("no run of this study is done: there is nothing to show in the shape of S1")
    tell("ranks and figures")
    body = {**_head(runs), "ranks": rank_rows(runs), "figures": figures(runs),
            "explained": explained_rows(Evidence(runs)), "tables": [*paper_tables(runs), *shift_tables(runs)],
            "added": added_rows(runs),
            "runs": overall_lines(runs), "runs_by_structure": structure_lines(runs)}  # fmt: skip
    tell("answering the paper's claims")
    body["findings"] = [found.to_dict() for found in findings(runs, frame.study.get("claims") or ())]
    clean: Json = judged_if_whole(plain(body))
    return clean


def _head(runs: Runs) -> Json:
    """What was run."""
    frame = runs.frame
    study = frame.study
    return {
        "name": str(study.get("name", "")), "small": is_small(study),
        "about": str(study.get("title") or study.get("name", "")),
        "recipe": study.get("recipe") or {}, "seeds": sorted({int(seed) for seed in frame.columns["seed"]}),
        "planned": int(frame.trained.sum()), "done": int((frame.done & frame.trained).sum()),
        "failed": int((frame.failed & frame.trained).sum()),
        "structures": [_structure(one) for one in runs.structures],
        "methods": {name: runs.keys[name] for name in runs.methods}, "main": list(runs.main),
        "missing": _missing(runs),
    }  # fmt: skip


def _structure(one: Any) -> Json:
    metric = NAMES[one.key(PERFORMANCE)]
    return {**vars(one), "name": one.name, "attributes": one.attributes, "metric": metric}


def _missing(runs: Runs) -> list[Json]:
    """Methods whose planned runs are not all done."""
    frame, found = runs.frame, dict[str, list[int]]()
    for name, done, trained in zip(frame.columns["method"], frame.done, frame.trained, strict=True):
        if not trained:  # the same run under another grouping
            continue
        tally = found.setdefault(str(name), [0, 0])
        tally[0] += bool(done)
        tally[1] += 1
    return [{"method": name, "done": done, "planned": planned}
            for name, (done, planned) in found.items() if done < planned]  # fmt: skip

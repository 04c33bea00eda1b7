"""A store of a compression study as one dictionary: Table 1, Figure 2, who paid, exemplars, claims."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.compression.anew import anew_row
from evenhand.evaluation.compression.beginnings import begun_alike
from evenhand.evaluation.compression.evidence import Evidence
from evenhand.evaluation.compression.exemplars import exemplar_rows, pictured
from evenhand.evaluation.compression.findings import findings, questions
from evenhand.evaluation.compression.measures import Against, against_base
from evenhand.evaluation.compression.noise import noise_rows, square_rows
from evenhand.evaluation.compression.populations import PRUNING, Compressed, read_populations
from evenhand.evaluation.compression.tables import base_row, change_points, measured_row, who_paid_rows
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.study.frame import Frame
from evenhand.study.smoke import IN_SMALL

KIND = "compression"
TITLE = "What compression does to whom: what S2 claims, and what runs show"
Progress = Callable[[str], None]
Json = dict[str, Any]


def paper(store: Any, folder: Path | str, progress: Progress | None = None) -> Json:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows.

    `store` may be unfinished: what is missing is said, the rest is shown. `progress` is told each step.
    """
    from evenhand.report.compression import render
    from evenhand.report.compression_figures import drawn
    from evenhand.report.compression_tables import tables
    from evenhand.report.paper_files import write_paper

    tell = progress or (lambda words: None)
    study = compute(store, tell)
    tell("writing the paper's tables, figures and page")
    body = together([study])
    write_paper(Path(folder), render(body), body, tables(study), drawn(study))
    return body


def together(studies: Sequence[Json]) -> Json:
    """Several studies as one dictionary."""
    from evenhand import __version__

    names = [one["name"] for one in studies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the study {twice[0]!r} was given twice; give each folder once")
    small = any(one["small"] for one in studies)
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"kind": KIND, "evenhand": __version__, "title": f"{TITLE} {IN_SMALL}" if small else TITLE,
            "created": created, "studies": list(studies)}  # fmt: skip


def compute(store: Any, tell: Progress = lambda words: None) -> Json:
    """Everything that is said of one store, finished or not, as plain values; NaN is None."""
    tell("reading the predictions")
    frame = Frame(store)
    worlds = read_populations(store, frame)
    evidence = Evidence.of(worlds)
    if not evidence.places:
        raise InputError("no compressed run shares its seed with a run of the base: nothing can be compared")
    title = str(frame.study.get("title") or frame.study.get("name", ""))
    body = page_head(frame, KIND, title)
    body["begun"] = begun_alike(store, frame)
    body["problems"] = [_problem(world, tell) for world in worlds]
    body |= {"noise": noise_rows(evidence), "square": square_rows(evidence)}
    tell("answering the paper's claims")
    body["findings"] = [found.to_dict() for found in findings(evidence)]
    body["questions"] = [found.to_dict() for found in questions(evidence)]
    clean: Json = judged_if_whole(plain(body))
    return clean


def _problem(world: Compressed, tell: Progress) -> Json:
    """One task and network."""
    every = against_base(world)
    tell(f"{world.name}: {len(every)} populations against the base")
    return {
        "name": world.name, "task": world.task, "net": world.net, "classes": list(world.classes),
        "test": len(world.rows), "levels": world.levels, "base": base_row(world),
        "rows": [measured_row(one) for one in every], "anew": anew_row(world),
        "changes": [change_points(one) for one in every],
        "paid": [row for by in world.groupings for row in who_paid_rows(world, every, by)],
        "exemplars": [{"method": one.population.method, "level": one.population.level,
                       "rows": exemplar_rows(one)} for one in every],
        "sheets": [sheet for one in _shown(every) if (sheet := pictured(one))],
    }  # fmt: skip


def _shown(every: Sequence[Against]) -> list[Against]:
    """Whose exemplars are shown as pictures: those of pruning alone, else of the first method, by level."""
    roles = [one.population.role for one in every]
    role = PRUNING if PRUNING in roles else next(iter(roles), "")
    return [one for one in every if one.population.role == role]

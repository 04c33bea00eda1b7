"""The page of a study in the shape of S0, which `study run` and `study report` write beside the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.evaluation.fixed_seed.claims import answers
from evenhand.evaluation.fixed_seed.study import compute, together

Json = dict[str, Any]


def paper(store: Any, folder: Path | str, progress: Callable[[str], None] | None = None) -> Json:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows.

    `store` may be unfinished: what is missing is said, the rest is shown. `progress` is told each step.
    """
    from evenhand.report.fixed_seed_files import figures_of, tables_of
    from evenhand.report.fixed_seed_page import render
    from evenhand.report.paper_files import write_paper

    tell = progress or (lambda words: None)
    body = with_answers(together([compute(store, tell)]))
    tell("writing the paper's tables, figures and page")
    write_paper(Path(folder), render(body), body, tables_of(body), figures_of(body))
    return body


def with_answers(body: Json) -> Json:
    """The same with what it says to S0's claims; runs in small say nothing."""
    small = any(study["small"] for study in body["studies"])
    return {**body, "answers": {} if small else answers(body)}

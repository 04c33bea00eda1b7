"""`evenhand study report DIR`: the page of a study, finished or not; also what `study run` ends with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.choices import Debug
from evenhand.cli.outputs import as_json
from evenhand.cli.study_folder import reading
from evenhand.cli.study_replay import report_replay
from evenhand.errors import DamagedFileError, InputError

if TYPE_CHECKING:
    from evenhand.study.store import Store


def report(
    folder: given.Folder,
    out: given.ReportOut = None,
    png: given.Png = False,
    form: given.Format = given.ReportFormat.html,
    debug: Debug = False,
) -> None:
    """Write the report of a study, finished or not: a page, its tables and its figures."""
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder")
    needed(form)
    page = report_replay(folder)
    if page is not None:
        messages.console().print(f"report written to {page}", markup=False, soft_wrap=True)
        return
    with reading(folder) as store:
        body = summary_of(store)
    if form != given.ReportFormat.html and out is None:
        sys.stdout.write(_text(body, form))
        return
    _say(write(body, out or folder, png, form))  # before the paper's page, which may be impossible
    if form == given.ReportFormat.html:
        _say(write_paper(body, folder, out or folder))


def _say(lines: list[str]) -> None:
    for told in lines:
        messages.console().print(told, markup=False, soft_wrap=True)


def needed(form: given.ReportFormat) -> None:
    """Say now, not after the reading, that a page needs what is not installed."""
    if form == given.ReportFormat.json:
        return
    try:
        from evenhand.report import study_files, study_markdown  # noqa: F401
    except ImportError as error:
        told = f"a report needs {error.name}, which is not installed here"
        raise InputError(f"{told}; install it, or make the report where it is") from error


def summary_of(store: Store) -> dict[str, Any]:
    """The study's dictionary, from all that its store holds."""
    from evenhand.evaluation.study.summary import summarise

    with messages.progress() as tell:
        return summarise(store, progress=tell)


def write_paper(body: dict[str, Any], folder: Path, out: Path) -> list[str]:
    """Write the page in the shape of the paper that a study is taken from, if it has one; what to say.

    Where it cannot be written none is left from before; `DamagedFileError` where a file of the study is why.
    """
    from evenhand.evaluation.study.papers import PAGE, paper_of

    paper = paper_of(str(body["name"]), (body.get("spec") or {}).get("claims") or ())
    if paper is None or not body["state"]["done"]:
        return []
    try:
        with reading(folder) as store, messages.progress() as tell:
            paper(store, out, tell)
    except InputError as error:  # the report that all studies have is there all the same
        told = f"no page in the shape of the paper: {error}{_without_old(out / PAGE)}"
        if isinstance(error, DamagedFileError):
            raise DamagedFileError(told) from error
        return [told]
    return [f"in the shape of the paper: {out / PAGE}"]


def _without_old(page: Path) -> str:
    """Remove the page of before with its numbers, which no longer say what the report beside them does."""
    old = [path for path in (page, page.with_suffix(".json")) if path.exists()]
    for path in old:
        path.unlink()
    return f" ({', '.join(path.name for path in old)} of before removed)" if old else ""


def write(body: dict[str, Any], folder: Path, png: bool, form: given.ReportFormat) -> list[str]:
    """Write it into the folder; what was written, in lines for people."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == given.ReportFormat.html:
        from evenhand.report.study_files import write_study_report

        with messages.progress() as tell:
            tell("writing the report")
            page, *others = write_study_report(body, folder, png)
        return [f"report written to {page}, with {len(others)} tables and figures beside it"]
    path = folder / ("summary.md" if form == given.ReportFormat.md else "summary.json")
    path.write_text(_text(body, form), encoding="utf-8")
    return [f"{'Markdown' if form == given.ReportFormat.md else 'JSON'} written to {path}"]


def _text(body: dict[str, Any], form: given.ReportFormat) -> str:
    if form == given.ReportFormat.json:
        return as_json(body)
    from evenhand.report.study_markdown import summary_markdown

    return summary_markdown(body)

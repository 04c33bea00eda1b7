"""What programs that join several studies in one page share: reading folders, telling how far it is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation import published_study
from evenhand.evaluation.claims import refuse_small
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.report.marked_page import page_help
from evenhand.study.store import Store
from evenhand.study.store_open import FILE as STORE

Compute = Callable[[Store, Callable[[str], None]], dict[str, Any]]
Body = dict[str, Any]
Inside = Callable[[Body, Body], str]  # (all studies, one of them) -> its folder in `--out`
FOLDERS = "folders of studies: each holds study.sqlite, or the study.json that --page published"


def page_parser(program: str, marked: str) -> argparse.ArgumentParser:
    """The arguments of a program that writes what studies say into a page, one file of HTML, or both."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("folders", type=Path, nargs="+", help=FOLDERS)
    parser.add_argument("--page", type=Path, help=page_help(marked))
    parser.add_argument("--out", type=Path, help="folder for tables, figures and pictures")
    parser.add_argument("--html", type=Path, help="file for everything as one page, pictures inside")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    return parser


def run_program(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace], list[Path]],
) -> int:
    """Do the work and tell what it wrote; 2 if something given was wrong."""
    chosen = parser.parse_args(arguments)
    if not (chosen.page or chosen.html):
        parser.error("say what to write: --page FILE, --html FILE, or both")
    return told_or_written(chosen.folders, lambda: work(chosen), chosen.claims)


def told_or_written(
    folders: Sequence[Path], work: Callable[[], list[Path]], claims: str | None = None
) -> int:
    """Do the work and tell what it wrote; 2 where something given was wrong, a published study among it.

    Such a file is read as it is: one that another version wrote, or a hand, may lack what a page needs.
    """
    try:
        if claims and not Path(claims).is_file():  # before anything is written
            raise InputError(f"there is no claims file {claims}")
        written = work()
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(
            f"{error.filename or 'a file'} could not be read or written ({error.strerror or error})\n"
        )
        return 2
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        files = [str(folder / published_study.FILE) for folder in folders if _is_published(folder)]
        if not files:
            raise
        sys.stderr.write(
            f"one of {', '.join(files)} lacks something that this version needs "
            f"({type(error).__name__}: {error}); publish it again\n"
        )
        return 2
    tell_written(written)
    return 0


def write_asked(
    chosen: argparse.Namespace,
    body: Body,
    write_page: Callable[[Body, Path, Path], list[Path]],
    render: Callable[[Body], str],
    inside: Inside,
    public: Callable[[Body], Body] | None = None,
) -> list[Path]:
    """Write the page, with its files beside it unless `--out` says where, and the HTML, as asked for.

    `public` leaves out of the page and its files what is not to be passed on.
    """
    from evenhand.report.marked_page import written

    found: list[Path] = []
    if chosen.page:
        folder = chosen.out or chosen.page.with_suffix("")
        shared = public(body) if public else body
        found += write_page(shared, chosen.page, folder) + publish_studies(shared, folder, inside)
    if chosen.html:
        found.append(written(chosen.html, render(body)))
    return found


def publish_studies(body: Body, folder: Path, inside: Inside) -> list[Path]:
    """Write every study as study.json beside its tables, so that the page can be written without its store.

    Not into the folder of a store: that needs none, and its report has a file of this name.
    """
    places = [(study, folder / inside(body, study)) for study in body["studies"]]
    return [
        published_study.publish(study, body["kind"], own)
        for study, own in places
        if not (own / STORE).exists()
    ]


def read_studies(folders: Sequence[Path], compute: Compute, kind: str, *, whole: bool) -> list[Body]:
    """What is computed of each folder's runs, or was and is published there; a store comes first.

    `whole` refuses studies in small, which answer no claim.
    """
    return [_read(folder, compute, kind, whole) for folder in folders]


def _is_published(folder: Path) -> bool:
    return (folder / published_study.FILE).is_file() and not (folder / STORE).exists()


def _read(folder: Path, compute: Compute, kind: str, whole: bool) -> Body:
    if _is_published(folder):
        study = published_study.read_published(folder, kind)
        if whole:
            refuse_small({"name": study["name"], "smoke": None if study["small"] else {}})
        return study
    with Store.open(folder, readonly=True) as store:
        if whole:
            refuse_small(store.study())
        with naming_the_study(store.study(), folder, f"evenhand.evaluation.{kind.replace('-', '_')}"):
            return compute(store, lambda words: tell(f"{folder.name}: {words}"))


def tell(words: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(f"{words}\n")


def tell_written(files: Sequence[Path]) -> None:
    """The page, and how many files it links."""
    linked = f" and {len(files) - 1} files that it links" if len(files) > 1 else ""
    tell(f"written: {files[0]}{linked}")

"""What is said of runs that a study takes over from a file: which were left out, what they came without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.frame_rows import Rows, rows_of
from evenhand.study.library import study_names
from evenhand.study.read import read_study
from evenhand.study.records import PlannedRun, RunRecord
from evenhand.study.store import Store
from evenhand.study.told import BINS, is_told, told_by, told_key

LOST = "they leave {} undefined, unless they are run again"
KEPT = "they keep {} as the file says; intervals over rows cannot be made of that, they need the scores"
LEFT_OUT = (
    "they keep {} of all labels as the file says, and leave it undefined where a grouping leaves labels out, "
    "unless they are run again"
)
Row = dict[str, Any]


def same_data(rows: Sequence[Row], run: PlannedRun) -> bool:
    """Whether a run of the file was made of the data that the study has."""
    return bool(rows[0]["data_checksum"] == run.data_checksum)


def about_data(path: Path, matched: Sequence[tuple[Sequence[Row], PlannedRun]]) -> Iterator[str]:
    """A sentence for each task whose data are other ones here."""
    other = Counter(
        (run.task, rows[0]["data_checksum"], run.data_checksum)
        for rows, run in matched
        if not same_data(rows, run)
    )
    for (task, there, here), runs in other.items():
        yield (
            f"{runs} runs of {path.name} were not reused: the data of task '{task}' are not the same here "
            f"(checksum {str(there)[:12]} there, {here[:12]} here)"
        )


def about_bins(path: Path, matched: Sequence[tuple[Sequence[Row], PlannedRun]], bins: int) -> Iterator[str]:
    """A sentence where the file's scores were kept in another number of bins, which moves their metrics."""
    other = Counter(bins_of(rows[0]) for rows, run in matched if same_data(rows, run) and _bare(rows))
    for there, runs in other.items():
        if bins and there != bins and any(told_by(row) for rows, _ in matched for row in rows):
            known = "an unknown number of" if there is None else str(there)
            yield (
                f"what {path.name} says of the scores of {runs} runs is not kept: they were in {known} bins, "
                f"and this study has {bins}"
            )


def _bare(rows: Sequence[Row]) -> bool:
    return all(row.get("scores") is None for row in rows)


def bins_of(row: Row) -> int | None:
    """In how many bins the scores of a run were; a file that does not say is asked for its study."""
    told = row.get(BINS)
    if told is not None:
        return int(told)
    return _bins_of_study(str(row.get("study")))


@cache
def _bins_of_study(name: str) -> int | None:
    return read_study(name).score_bins if name in study_names() else None


def about_scores(path: Path, taken: Sequence[RunRecord], store: Store) -> Iterator[str]:
    """Sentences where the study reports or chooses by what is made of scores, and runs come without them."""
    keys = _made_of_scores(store.study())
    bare = [record for record in taken if all(measured.scores is None for measured in record.measured)]
    if not (keys and bare):
        return
    rows, said = rows_of(store.table(), store.study()), Counter[tuple[str, str]]()
    for record in bare:
        told = {told_key(name) for name in record.numbers if is_told(name)}
        kept, lost = ([key for key in keys if (key in told) is known] for known in (True, False))
        how = LEFT_OUT if _leaves_labels_out(rows, record) else KEPT
        said.update((", ".join(some), words) for some, words in ((lost, LOST), (kept, how)) if some)
    for (names, words), runs in said.items():
        yield f"{runs} reused runs of {path.name} have no scores: {words.format(names)}"


def _made_of_scores(study: Mapping[str, Any]) -> list[str]:
    """The metrics of scores that a study reports or chooses by."""
    report, selection = study.get("report") or {}, study.get("selection") or {}
    asked = dict.fromkeys([*report.get("metrics", ()), selection.get("metric", "")])
    return [key for key in asked if key in CATALOGUE and CATALOGUE[key].needs == "scores"]


def _leaves_labels_out(rows: Rows, record: RunRecord) -> bool:
    """Whether a grouping that a run stands for protects some of its labels, which take no part there."""
    labels = {name for part in record.measured if part.counts.multilabel for name in part.classes}
    return any(labels.intersection(rows.dropped[row]) for row in rows.of_run[record.id])

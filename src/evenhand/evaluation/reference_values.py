"""The public values of S3's later figures, and the numbers of a study of ours beside them.

The values were read off the published pictures (to 0.02) of Reddy et al. 2021 and lie in the package as
`studies/data/ci_mnist_reference.csv`. Each is the best over settings on the TEST rows, for every metric its
own: an oracle. Accuracy and equalised odds are means of two numbers that were chosen separately. So ours are
given twice: chosen in that way, to be compared, and chosen on validation rows, as one should.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.report.study_tables import Cell, Table
from evenhand.study.frame import Frame
from evenhand.study.frame_blocks import StoreLike
from evenhand.study.select import TEST, Choice, select
from evenhand.study.spec import SelectionSpec

FILE = "ci_mnist_reference.csv"
MEANS_OF = {"s3.accuracy.mean": ("acc_p", "acc_up"), "eqodd": ("eqopp0", "eqopp1")}
HEADS = (
    *("task", "group", "network", "model", "metric", "public"),
    *("ours, chosen on test", "± (seeds)", "n", "difference", "ours, chosen on validation", "± (seeds)", "n"),
)
NOTE = (
    "Public values: read off pictures to 0.02, the best setting on test rows for each metric. Compare them "
    "with ours chosen on test (an oracle); there, as in public, accuracy and eqodd are means of two numbers, "
    "each with a setting of its own."
)


@dataclass(frozen=True)
class Reference:
    """One public value: of a model and a metric, on a task with a grouping of one of our studies."""

    study: str
    task: str
    grouping: str
    model: str
    metric: str
    value: float
    within: float


@dataclass(frozen=True)
class Ours:
    """The mean over seeds of the chosen setting on test rows, its deviation (n - 1), and how many seeds."""

    mean: float
    std: float
    n: int


@dataclass(frozen=True)
class Beside:
    """A public value and ours on one problem; None where there is nothing of ours to choose."""

    reference: Reference
    net: str
    oracle: Ours | None
    validation: Ours | None

    @property
    def difference(self) -> float | None:
        """Ours less theirs, both chosen on test."""
        return None if self.oracle is None else self.oracle.mean - self.reference.value

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within the reading of the picture and two standard errors of our mean."""
        if self.oracle is None or self.difference is None:
            return None
        spread = 0.0 if self.oracle.n < 2 else self.oracle.std / np.sqrt(self.oracle.n)
        return bool(abs(self.difference) <= self.reference.within + 2 * spread)


@cache
def references() -> tuple[Reference, ...]:
    """All public values, in the order of the figures.

    >>> references()[0]
    Reference(study='ci-mnist-box', task='clr .5 .5', grouping='colour', model='mlp',
    metric='s3.accuracy.mean', value=0.94, within=0.02)
    """
    text = files("evenhand").joinpath("studies", "data", FILE).read_text(encoding="utf-8")
    return tuple(
        Reference(**{**row, "value": float(row["value"]), "within": float(row["within"])})  # type: ignore[arg-type]
        for row in csv.DictReader(text.splitlines())
    )


def beside(frame_or_store: Frame | StoreLike, study: str = "") -> Table:
    """A table of the public values with ours; `study` names whose values (that of the store unless given)."""
    return Table("Public values and ours", HEADS, tuple(map(_cells, matched(frame_or_store, study))), NOTE)


def matched(frame_or_store: Frame | StoreLike, study: str = "") -> list[Beside]:
    """Every public value whose task and grouping the store has, once for each of its networks."""
    frame = Frame.open(frame_or_store)
    name = study or str(frame.study["name"])
    known = [reference for reference in references() if reference.study == name]
    if not known:
        names = ", ".join(dict.fromkeys(reference.study for reference in references()))
        raise InputError(f"there are no public values for the study '{name}'; there are for {names}")
    part = str((frame.study.get("selection") or {}).get("part", "validation"))
    on_test = _chosen(frame, TEST, known)
    on_validation = _chosen(frame, part, known) if part != TEST else {}
    return list(_rows(frame, known, on_test, on_validation))


Chosen = Mapping[tuple[int, str], Mapping[str, Choice]]


def _chosen(frame: Frame, part: str, known: Sequence[Reference]) -> Chosen:
    """The setting of each method on each problem that is best by each metric on a part."""
    metrics = list(dict.fromkeys(reference.metric for reference in known))
    spec = SelectionSpec("best-per-metric", metrics[0], part, metrics[0])
    return {
        (choice.problem, choice.method): choice.per_metric for choice in select(frame, spec, metrics).choices
    }


def _rows(
    frame: Frame, known: Sequence[Reference], on_test: Chosen, on_validation: Chosen
) -> Iterator[Beside]:
    for number, problem in enumerate(frame.layout.problems):
        for reference in known:
            if (reference.task, reference.grouping) != (problem.task, problem.grouping):
                continue
            place, metric = (number, reference.model), reference.metric
            of_two = MEANS_OF.get(metric, (metric,))
            oracle = _numbers(frame, on_test.get(place, {}), of_two)
            own = _numbers(frame, on_validation.get(place, {}), (metric,))
            yield Beside(reference, problem.net, oracle, own)


def _numbers(frame: Frame, chosen: Mapping[str, Choice], metrics: Sequence[str]) -> Ours | None:
    """The mean over these metrics, each with its own setting, seed by seed."""
    if not all(metric in chosen for metric in metrics):
        return None
    by_seed = [_by_seed(frame, chosen[metric], metric) for metric in metrics]
    seeds = [seed for seed in by_seed[0] if all(seed in values for values in by_seed)]
    found: FloatArray = np.array([[values[seed] for seed in seeds] for values in by_seed]).mean(axis=0)
    if not len(found):
        return None
    std = float(found.std(ddof=1)) if len(found) > 1 else float("nan")
    return Ours(float(found.mean()), std, len(found))


def _by_seed(frame: Frame, choice: Choice, metric: str) -> dict[int, float]:
    """A metric on test rows of every finished seed of a choice where it is defined."""
    values = frame.values(TEST, metric)
    rows = [row for row in choice.rows.tolist() if not np.isnan(values[row])]
    return {int(frame.columns["seed"][row]): float(values[row]) for row in rows}


def _cells(row: Beside) -> tuple[Cell, ...]:
    told = row.reference
    return (
        *(told.task, told.grouping, row.net, told.model, told.metric, told.value),
        *_shown(row.oracle),
        row.difference,
        *_shown(row.validation),
    )


def _shown(ours: Ours | None) -> tuple[Cell, Cell, Cell]:
    if ours is None:
        return None, None, None
    return ours.mean, None if np.isnan(ours.std) else ours.std, ours.n

"""A store made of counts that a test writes down: what `evenhand.study.frame` reads, without any training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study.plain import study_to_dict
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, ReportSpec, SelectionSpec, Study, TaskSpec

PARTS = ("validation", "test")


@dataclass(frozen=True)
class FakeBlock:
    task: str
    grouping_name: str
    by: str
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    run_ids: list[str]
    counts: Counts
    scores: Scores | None = None


class FakeStore:
    """Rows of a table and tables of counts: `tables[part][id]` is `[G, C, C]`, for one grouping a run."""

    def __init__(
        self,
        study: Mapping[str, Any],
        rows: Sequence[Mapping[str, Any]],
        tables: Mapping[str, Mapping[str, Any]],
        groups: tuple[str, ...] = ("a", "b"),
        classes: tuple[str, ...] = ("no", "yes"),
    ) -> None:
        self._study, self.rows, self.tables = dict(study), [dict(row) for row in rows], dict(tables)
        self.groups, self.classes = groups, classes

    def study(self) -> dict[str, Any]:
        return self._study

    def table(self) -> dict[str, list[Any]]:
        names = list(row_of("", "", "", "", {}, 0, 0))
        return {name: [row[name] for row in self.rows] for name in names}

    def counts_of_states(self) -> dict[str, int]:
        states = [row["status"] for row in self.rows]
        return {"planned": len(states), "done": states.count("done"), "failed": states.count("failed")}

    def failures(self) -> list[dict[str, Any]]:
        reasons: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            if row["status"] == "failed":
                shown = {name: row[name] for name in ("method", "setting", "seed", "task")}
                reasons.setdefault(row["reason"], []).append(shown)
        return [{"reason": why, "runs": len(runs), "examples": runs[:3]} for why, runs in reasons.items()]

    def measured(self, part: str) -> list[FakeBlock]:
        found: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row["id"] in self.tables.get(part, {}):
                found.setdefault((row["task"], row["grouping"]), []).append(row["id"])
        return [
            FakeBlock(
                task, grouping, grouping, self.groups, self.classes, ids,
                Counts.from_table(np.stack([np.asarray(self.tables[part][name]) for name in ids])),
            )
            for (task, grouping), ids in found.items()
        ]  # fmt: skip


def row_of(
    run: str, task: str, grouping: str, method: str, setting: Mapping[str, Any], seed: int, place: int,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """One row of a store's table: a finished run, unless `more` says otherwise."""
    row: dict[str, Any] = {
        "id": run, "place": place, "task": task, "grouping": grouping, "net": "mlp", "method": method,
        "setting": dict(setting), "seed": seed, "status": "done", "reason": None, "seconds": 1.0,
        "stack_seconds": 8.0, "stack": 8, "peak_memory": 1 << 20, "device": "cpu", "host": "here",
        "versions": {"evenhand": "0.1.0", "torch": "2.11"}, "weights": "", "started": "", "finished": "",
        "source": "run", "spec": {"protect": [grouping], "groupings": [[grouping]]},
    }  # fmt: skip
    return {**row, **more}


def study_of(
    methods: Mapping[str, Sequence[Mapping[str, Any]]],
    tasks: Sequence[str] = ("adult",),
    seeds: int = 4,
    selection: SelectionSpec | None = None,
    report: ReportSpec | None = None,
) -> dict[str, Any]:
    """A study in which each method has a list of settings, as its dictionary."""
    specs = tuple(
        MethodSpec(name, fields={key: Grid(tuple(s[key] for s in settings)) for key in settings[0]})
        for name, settings in methods.items()
    )
    return study_to_dict(
        Study(
            "made-up", "A made-up study", "Counts that a test wrote down.", tasks=tuple(map(TaskSpec, tasks)),
            groupings=(GroupingSpec(("sex",), "sex"),), methods=specs, seeds=tuple(range(seeds)),
            selection=selection or SelectionSpec(), report=replace(report or ReportSpec(), base="erm"),
        )
    )  # fmt: skip


TableOf = Callable[[str, str, Mapping[str, Any], int, str], Any]


def store_of(
    methods: Mapping[str, Sequence[Mapping[str, Any]]],
    table_of: TableOf,
    tasks: Sequence[str] = ("adult",),
    seeds: int = 4,
    selection: SelectionSpec | None = None,
    report: ReportSpec | None = None,
    groups: tuple[str, ...] = ("a", "b"),
    classes: tuple[str, ...] = ("no", "yes"),
) -> FakeStore:
    """A finished study; `table_of(task, method, setting, seed, part)` gives the counts of a run."""
    rows, tables = [], {part: dict[str, Any]() for part in PARTS}
    for task in tasks:
        for method, settings in methods.items():
            for setting in settings:
                for seed in range(seeds):
                    run = f"{len(rows):06d}"
                    rows.append(row_of(run, task, "sex", method, setting, seed, len(rows)))
                    for part in PARTS:
                        tables[part][run] = table_of(task, method, setting, seed, part)
    study = study_of(methods, tasks, seeds, selection, report)
    return FakeStore(study, rows, tables, groups, classes)


def rates_table(tpr: Sequence[float], fpr: Sequence[float], n: int = 1000, positives: float = 0.5) -> Any:
    """Counts `[G, 2, 2]` of groups of n rows with these rates (rounded to whole rows)."""
    p = round(n * positives)
    return np.array(
        [
            [[n - p - round(f * (n - p)), round(f * (n - p))], [p - round(t * p), round(t * p)]]
            for t, f in zip(tpr, fpr, strict=True)
        ]
    )


SETTINGS = [{"lam": 0.1}, {"lam": 1.0}, {"lam": 10.0}]
SAMPLE = {"erm": [{}], "gap": SETTINGS, "group-dro": SETTINGS, "sd": SETTINGS}


def sample_store(
    tasks: Sequence[str] = ("adult", "compas", "credit"), seeds: int = 8, failures: bool = True
) -> FakeStore:
    """A study as it might come out: four methods, a few failed runs, a few that still wait."""
    rng = np.random.default_rng(0)
    shift = {task: rng.normal(0, 0.03) for task in tasks}

    def table_of(task: str, method: str, setting: Mapping[str, Any], seed: int, part: str) -> Any:
        strength = {"erm": 0.0, "gap": 0.5, "group-dro": 0.35, "sd": 0.15}[method]
        push = strength * (0.4 + 0.25 * np.log10(setting.get("lam", 1.0) * 10))
        jump = rng.normal(0, 0.012, 4)
        high, low = 0.82 + shift[task] - 0.07 * push, 0.60 + shift[task] + 0.17 * push
        return rates_table(
            (high + jump[0], low + jump[1]), (0.20 + 0.05 * push + jump[2], 0.12 + 0.06 * push + jump[3]), 900
        )

    report = ReportSpec(metrics=("tpr.gap", "fpr.gap", "selection.gap", "odds.max"))
    store = store_of(SAMPLE, table_of, tasks, seeds, SelectionSpec(metric="odds.max"), report)
    if failures:
        _spoil(store)
    return store


def _spoil(store: FakeStore) -> None:
    """Two runs fail and three wait, as in a study that still goes on."""
    for row in store.rows:
        if row["method"] == "sd" and row["setting"] == {"lam": 10.0} and row["seed"] < 2:
            row.update(status="failed", reason="the loss became NaN")
        elif row["place"] >= len(store.rows) - 3:
            row.update(status="waiting", seconds=0.0)
        else:
            continue
        for part in PARTS:
            store.tables[part].pop(row["id"])


def sample_study() -> dict[str, Any]:
    """The study dictionary of the sample store."""
    from evenhand.evaluation.study.summary import summarise

    return summarise(sample_store())

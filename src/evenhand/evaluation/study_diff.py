"""What differs between two folders of a study: the declarations, the runs, their bits, their metrics.

Runs are matched by specification and data, so that two versions of the package can be compared; whether a
pair also has one identity (the same version) is told. Counts and weights are compared to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.evaluation.study_diff_bits import digests_of, moved_numbers, same_weights
from evenhand.evaluation.study_diff_moved import moved_rows
from evenhand.evaluation.values import plain
from evenhand.study.frame import DONE, Frame
from evenhand.study.records import canonical

if TYPE_CHECKING:
    from evenhand.study.store import Store

NAMES = ("name", "key", "data", "net")  # what an entry of a list is called by
ASIDE = ("smoke", "source")  # of a declaration: where it came from, and its small form, which was not run
EXAMPLES = 20


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two: its runs by what they are, and the rows of its frame."""

    store: Store
    frame: Frame
    rows: dict[str, int]  # specification and data -> row of the frame

    @classmethod
    def of(cls, store: Store) -> Side:
        """Read a store; runs of the latest study only."""
        frame = Frame.open(store)
        place = {run: row for row, run in reversed(list(enumerate(frame.columns["id"])))}  # its first row
        keys = {
            canonical({"spec": run.spec.to_dict(), "data": run.data_checksum}): run.id for run in store.runs()
        }
        return cls(store, frame, {key: place[run] for key, run in keys.items() if run in place})

    def at(self, key: str, name: str) -> Any:
        """What a column holds of a run."""
        return self.frame.columns[name][self.rows[key]]


def diff_studies(one: Store, two: Store, metrics: Sequence[str] | None = None) -> dict[str, Any]:
    """Compare two stores; JSON values, NaN is None.

    `metrics` are those that the first study reports, unless given. "equal" is true where nothing was found:
    the declarations, the runs, what became of them, and every bit of their counts, numbers and weights.
    """
    left, right = Side.of(one), Side.of(two)
    shared = [key for key in left.rows if key in right.rows]
    spec, runs, bits = (
        differing(one.study(), two.study()),
        _runs(left, right, shared),
        _bits(left, right, shared),
    )
    moved = moved_rows(left.frame, right.frame, metrics or _reported(one.study()))
    numbers = _numbers(left, right, shared)
    other = any(row["equal"] < row["compared"] for row in numbers)
    equal = not (spec or runs["only_one"] or runs["only_two"] or runs["status"] or bits["different"] or other)
    body = {
        "kind": "study-diff",
        "one": {"folder": str(one.folder), "name": one.study().get("name")},
        "two": {"folder": str(two.folder), "name": two.study().get("name")},
        "equal": equal, "spec": spec, "runs": runs, "bits": bits, "numbers": numbers, "moved": moved,
    }  # fmt: skip
    clean: dict[str, Any] = plain(body)
    return clean


def differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The keys of two declarations that have different values; None where one has no such key.

    >>> one = {"seeds": [0, 1], "methods": [{"key": "gdro", "fields": {"eta": 0.1}}]}
    >>> differing(one, {"seeds": [0, 1], "methods": [{"key": "gdro", "fields": {"eta": 1.0}}]})
    [{'key': 'methods[gdro].fields.eta', 'one': 0.1, 'two': 1.0}]
    """
    first, second = (
        dict(_flat({key: value for key, value in study.items() if key not in ASIDE})) for study in (one, two)
    )
    return [
        {"key": key, "one": first.get(key), "two": second.get(key)}
        for key in dict.fromkeys([*first, *second])
        if canonical(first.get(key)) != canonical(second.get(key))
    ]


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names of everything in a declaration; entries of lists by their own names."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and value and all(isinstance(entry, Mapping) for entry in value):
        labels = [
            next((entry[name] for name in NAMES if entry.get(name)), place)
            for place, entry in enumerate(value)
        ]
        often = Counter(labels)
        for place, (label, entry) in enumerate(zip(labels, value, strict=True)):
            yield from _flat(entry, f"{path}[{label if often[label] == 1 else f'{label} {place}'}]")
    else:
        yield path, value


def _runs(left: Side, right: Side, shared: list[str]) -> dict[str, Any]:
    """Which runs only one side has, and what became differently of those that both have."""
    only_one = [key for key in left.rows if key not in right.rows]
    only_two = [key for key in right.rows if key not in left.rows]
    status = [key for key in shared if left.at(key, "status") != right.at(key, "status")]
    return {
        "shared": len(shared),
        "same_identity": sum(left.at(key, "id") == right.at(key, "id") for key in shared),
        "only_one": len(only_one),
        "only_two": len(only_two),
        "status": len(status),
        "examples": {
            "only_one": [named(left, key) for key in only_one[:EXAMPLES]],
            "only_two": [named(right, key) for key in only_two[:EXAMPLES]],
            "status": [
                {**named(left, key), "one": left.at(key, "status"), "two": right.at(key, "status")}
                for key in status[:EXAMPLES]
            ],
        },
    }


def named(side: Side, key: str) -> dict[str, Any]:
    """A run by the names that its study gives it."""
    return {name: side.at(key, name) for name in ("task", "grouping", "net", "method", "setting", "seed")}


def _bits(left: Side, right: Side, shared: list[str]) -> dict[str, Any]:
    """How many of the runs that both finished have the same counts, and the same weights, to the bit."""
    both = [key for key in shared if left.at(key, "status") == right.at(key, "status") == DONE]
    one, two = digests_of(left.store), digests_of(right.store)
    counts = {key: one.get(left.at(key, "id")) == two.get(right.at(key, "id")) for key in both}
    weights = {key: same_weights(left.at(key, "weights"), right.at(key, "weights")) for key in both}
    different = [key for key in both if not counts[key] or weights[key] is False]
    return {
        "compared": len(both),
        "counts_equal": sum(counts.values()),
        "weights_equal": sum(found is True for found in weights.values()),
        "weights_unknown": sum(found is None for found in weights.values()),
        "different": len(different),
        "examples": [
            {**named(left, key), "counts": counts[key], "weights": weights[key]}
            for key in different[:EXAMPLES]
        ],
    }


def _numbers(left: Side, right: Side, shared: list[str]) -> list[dict[str, Any]]:
    """The numbers that were taken of the trained models, of the runs that both finished."""
    both = [key for key in shared if left.at(key, "status") == right.at(key, "status") == DONE]
    return moved_numbers([(left.at(key, "numbers"), right.at(key, "numbers")) for key in both])


def _reported(study: Mapping[str, Any]) -> list[str]:
    report = study.get("report") or {}
    return list(dict.fromkeys([report.get("accuracy", "acc"), *report.get("metrics", ())]))

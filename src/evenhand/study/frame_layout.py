"""How the runs of a study lie: problems (task x grouping x net), and the settings of each method on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.study.records import canonical

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Problem:
    """What the methods are compared on."""

    task: str
    grouping: str
    net: str

    @property
    def id(self) -> str:
        """What a problem is called in tables.

        >>> Problem("adult", "sex", "mlp").id
        'adult / sex / mlp'
        """
        return " / ".join((self.task, self.grouping, self.net))


@dataclass(frozen=True, eq=False)
class Candidate:
    """One setting of a method on a problem; `rows` are its runs in the frame (one a seed), in order."""

    problem: int
    method: str
    setting: Mapping[str, Any]
    rows: Array

    @property
    def label(self) -> str:
        """The method with its setting, as a reader sees it."""
        return f"{self.method} ({setting_words(self.setting)})" if self.setting else self.method


@dataclass(frozen=True, eq=False)
class Layout:
    """All problems and candidates in the study's order; `candidate_of` gives each row's candidate."""

    problems: tuple[Problem, ...]
    candidates: tuple[Candidate, ...]
    candidate_of: Array

    def of(self, problem: int, method: str | None = None) -> list[int]:
        """Numbers of the candidates of a problem, of one method if it is named."""
        here = self._on_problem.get(problem, [])
        return [number for number in here if method in (None, self.candidates[number].method)]

    @cached_property
    def _on_problem(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, candidate in enumerate(self.candidates):
            found.setdefault(candidate.problem, []).append(number)
        return found

    def methods(self, problem: int | None = None) -> list[str]:
        """The methods of a problem (of all problems without one), in the study's order."""
        found = (c.method for c in self.candidates if problem in (None, c.problem))
        return list(dict.fromkeys(found))


def lay_out(columns: Columns, n_rows: int) -> Layout:
    """Problems and candidates of the rows, each where its first run stands.

    >>> columns = {"task": ["t", "t"], "grouping": ["g", "g"], "net": ["n", "n"], "method": ["a", "a"],
    ...            "setting": [{"lam": 1}, {"lam": 2}]}
    >>> [candidate.label for candidate in lay_out(columns, 2).candidates]
    ['a (lam=1)', 'a (lam=2)']
    """
    problems: dict[Problem, int] = {}
    places: dict[tuple[int, str, str], int] = {}
    candidate_of = np.zeros(n_rows, dtype=np.int64)
    for row in range(n_rows):
        problem = Problem(*(str(columns[name][row]) for name in ("task", "grouping", "net")))
        number = problems.setdefault(problem, len(problems))
        key = (number, str(columns["method"][row]), canonical(columns["setting"][row]))
        candidate_of[row] = places.setdefault(key, len(places))
    members = np.split(
        np.argsort(candidate_of, kind="stable"),
        np.cumsum(np.bincount(candidate_of, minlength=len(places)))[:-1],
    )
    candidates = tuple(
        Candidate(problem, method, columns["setting"][rows[0]], rows)
        for (problem, method, _), rows in zip(places, members, strict=False)
    )
    return Layout(tuple(problems), candidates, candidate_of)


def setting_words(setting: Mapping[str, Any]) -> str:
    """A setting in a few words; nothing where nothing is varied.

    >>> setting_words({"lam": 0.1, "rate": 1e-05})
    'lam=0.1, rate=1e-05'
    """
    return ", ".join(f"{name}={_short(value)}" for name, value in setting.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)

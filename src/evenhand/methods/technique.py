"""Technique: a method with all of its values as one published study has them, under that study's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BASE = "Base"


@dataclass(frozen=True)
class Technique:
    """A named configuration of a method: key, fields and a recipe of its own.

    `data` and `net` are what the paper trained it on, by our names; `published` are values of the paper's
    program where ours are others, because the program's are doubtful or are of another kind of comparison
    (`about` says why): write them beside the technique to have them.

    >>> example = Technique("A-L2", "A", "gap", {"lam": 0.1}, published={"lam": 20.0})
    >>> example.base, {**example.fields, **example.published}
    ('A-Base', {'lam': 20.0})
    """

    name: str
    family: str
    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    net: str = ""
    about: str = ""
    published: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The technique of its family that mitigates nothing: what it is compared with."""
        return f"{self.family}-{BASE}"

"""A program was given the folder of another kind of study: which study it is, and what makes its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.study.papers import page_program


@contextmanager
def naming_the_study(study: Mapping[str, Any], folder: Path, program: str) -> Iterator[None]:
    """What the program cannot do with this study is told together with who can.

    >>> with naming_the_study({"name": "adult-age"}, Path("runs/x"), "evenhand.evaluation.compression"):
    ...     raise InputError("no run was compressed")
    Traceback (most recent call last):
    evenhand.errors.InputError: runs/x holds the study 'adult-age' ('python -m
    evenhand.evaluation.reference_values' writes its page): no run was compressed
    """
    try:
        yield
    except InputError as error:
        own = page_program(str(study.get("name")), study.get("claims") or ())
        if own == program:
            raise
        # a study of one's own may have been meant for this program
        whose = (
            f"'python -m {own}' writes its page" if own else f"'evenhand study report {folder}' reports it"
        )
        told = f"{folder} holds the study '{study.get('name')}' ({whose})"
        raise InputError(f"{told}: {error}") from error

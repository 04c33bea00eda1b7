"""What is said of a training that serves several runs, and how a record tells that it was one."""

from __future__ import annotations


def shared_words(names: str, ways: int, trainings: int) -> str:
    """How methods share their trainings.

    >>> shared_words("S-DI1, S-DI2", 2, 16)
    'S-DI1, S-DI2: trained once, read 2 ways (16 trainings, whose cost is told once)'
    """
    count = f"{trainings} training{'s' if trainings > 1 else ''}"
    return f"{names}: trained once, read {ways} ways ({count}, whose cost is told once)"


def readers(seconds: float | None, stack_seconds: float | None, stack: int | None) -> int:
    """How many runs the training of a record served, from how its time was shared out.

    >>> readers(2.5, 40.0, 4), readers(10.0, 40.0, 4), readers(None, None, None)
    (4, 1, 1)
    """
    if not seconds or not stack_seconds or not stack:
        return 1
    return max(1, round(stack_seconds / (stack * seconds)))

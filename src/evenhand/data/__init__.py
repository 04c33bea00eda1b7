"""Data sets: usable without the trainer, fetched or packaged once, verified every time."""

from evenhand.data.cache import packaged

__all__ = ["packaged"]

"""The one error that is meant for the user: what is wrong with what was given, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """One clear sentence about a file, a column or a row; the command line prints it and exits with 2.

    >>> raise InputError("there is no column 'sexx' in preds.csv; did you mean 'sex'?")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no column 'sexx' in preds.csv; did you mean 'sex'?
    """


class DamagedFileError(InputError):
    """A file that belongs to a folder is missing there or cannot be read; what was made of it is outdated."""

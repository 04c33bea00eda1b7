"""Whose ValueError it is: a refusal of what was given, in words for the user, or numpy's about insides."""

from __future__ import annotations

import linecache
import traceback

NUMERIC = ("numpy", "scipy", "torch")


def is_refusal(error: ValueError) -> bool:
    """Whether the words were written for who gave the input; else something within evenhand went wrong.

    Those of numpy, scipy and torch speak of arrays that nobody gave. What they raise in C leaves no frame:
    then the last line that ran is one of ours, and no `raise`. Kinds of a ValueError, such as that of a file
    that is not UTF-8, and those of Python's readers or of a module of one's own are about what was given.

    >>> import numpy as np
    >>> def told(call):
    ...     try:
    ...         call()
    ...     except ValueError as error:
    ...         return is_refusal(error)
    >>> told(lambda: np.argmax([])), told(lambda: bytes([255]).decode())
    (False, True)
    """
    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    library = str(frame.f_globals.get("__name__")).split(".")[0]
    if library == "evenhand" and type(error) is ValueError:
        # the whole of a `raise` over several lines begins where the frame stands
        line = linecache.getline(frame.f_code.co_filename, number).strip()
        return not line or line.startswith("raise")
    return library not in NUMERIC

"""What to say about a name that is not there: the nearest right ones, and all there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def no_such(what: str, name: object, known: Iterable[str], heading: str) -> str:
    """One sentence for an `InputError`.

    >>> no_such("there is no network", "mpl", ["mlp", "convnet"], "There are")
    "there is no network 'mpl'; did you mean 'mlp'? There are: mlp, convnet"
    """
    names = list(known)
    near = get_close_matches(str(name), names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(match) for match in near)}?" if near else "."
    return f"{what} {name!r}{hint} {heading}: {', '.join(names) or 'none'}"

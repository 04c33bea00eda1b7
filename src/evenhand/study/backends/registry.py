"""The backends by name. Naming them imports none of them: Ray is an extra."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from evenhand.errors import InputError
from evenhand.nets.names import no_such
from evenhand.study.backends.base import Backend

_HERE = "evenhand.study.backends"
BACKENDS: dict[str, str] = {
    "local": f"{_HERE}.local:LocalBackend",
    "inline": f"{_HERE}.inline:InlineBackend",
    "ray": f"{_HERE}.ray:RayBackend",
}


def backend_of(name: str, **options: Any) -> Backend:
    """The backend of that name; "module:Class" is one of your own.

    >>> backend_of("local", workers=2).name
    'local'
    >>> backend_of("rya")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no backend 'rya'; did you mean 'ray'? There are: local, inline, ray
    >>> backend_of("local", worker=2)
    Traceback (most recent call last):
    evenhand.errors.InputError: the backend 'local' has no option 'worker'; did you mean 'workers'?
    Its options: workers, devices
    """
    kind = _kind_of(name)
    known = list(inspect.signature(kind).parameters)
    for option in options:
        if option not in known:
            raise InputError(no_such(f"the backend {name!r} has no option", option, known, "Its options"))
    made: Backend = kind(**options)
    return made


def _kind_of(name: str) -> Any:
    """The class behind a name."""
    home = BACKENDS.get(name, name)
    module, colon, kind = home.partition(":")
    if not colon:
        raise InputError(no_such("there is no backend", name, BACKENDS, "There are"))
    try:
        return getattr(import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the backend {name!r} could not be loaded: {error}") from error

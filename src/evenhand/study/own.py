"""Methods and tasks of one's own: "file.py:name" is the class or the function of that name in that file."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import fields as fields_of
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.base import Method


def load_own(reference: str) -> Any:
    """The object that "file.py:name" refers to; the file is run once in a process."""
    file, _, name = reference.rpartition(":")
    module = _module(Path(file))
    if not hasattr(module, name):
        near = get_close_matches(name, [known for known in vars(module) if not known.startswith("_")], n=2)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(f"{file} has no {name!r}{hint}")
    return getattr(module, name)


def own_method(reference: str, values: Mapping[str, Any]) -> Method:
    """The method that a user's class makes with these fields."""
    kind = load_own(reference)
    if not (isinstance(kind, type) and issubclass(kind, Method)):
        raise InputError(f"{reference} is no method: it must be a class derived from evenhand.methods.Method")
    known = [item.name for item in fields_of(kind)]
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{reference} has no field {name!r}{hint}")
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{reference} cannot be made with {dict(values)}: {error}") from error


def checksum_of_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _module(path: Path) -> ModuleType:
    """A module that is named after the file's content: an edited file is another module."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    name = f"evenhand_own_{path.stem}_{checksum_of_file(path)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while they are made
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{path} cannot be loaded ({type(error).__name__}: {error})") from error
    return module

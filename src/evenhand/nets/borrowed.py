"""What a copy of a module still calls of the module itself: functions are shared by a copy, not copied.

A module may hold a function that has hold of the module: `model.forward = lambda x: old(x)[0]`, or a hook
that writes into it. A copy would be changed and the module asked, so that compression seems to move nothing.
Methods are safe: a copy has its own.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any

from torch import nn


def borrowed(copy: nn.Module, module: nn.Module) -> str | None:
    """The name of a function in the copy that has hold of a part of the module; None where there is none.

    >>> from copy import deepcopy
    >>> net = nn.Sequential(nn.Linear(2, 2))
    >>> old = net.forward
    >>> net.forward = lambda x: old(x).relu()
    >>> borrowed(deepcopy(net), net)
    'forward'
    """
    own = {id(value) for value in (*module.modules(), *module.parameters(), *module.buffers())}
    for prefix, part in copy.named_modules():
        for name, value in vars(part).items():
            if any(id(reached) in own for held in _items(value) for reached in _reached(held, set())):
                return f"{prefix}.{name}".lstrip(".")
    return None


def _items(value: Any) -> list[Any]:
    """What a list or a table holds, else the value itself."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple | set) else [value]


def _reached(value: Any, seen: set[int]) -> Iterator[Any]:
    """What a function has hold of, and the functions that it has hold of; of a method, whose it is."""
    function = value.__func__ if isinstance(value, MethodType) else value
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    for held in _held(function):
        yield from (one.__self__ if isinstance(one, MethodType) else one for one in _items(held))
        yield from _reached(held, seen)
    names = {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}
    for name in names & function.__globals__.keys():  # those functions are not looked into: they have no end
        one = function.__globals__[name]
        yield one.__self__ if isinstance(one, MethodType) else one


def _held(function: FunctionType) -> list[Any]:
    """What is around a function where it is written, and its defaults."""
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # a name that was never given a value
            continue
    return found

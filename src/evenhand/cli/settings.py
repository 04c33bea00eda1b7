"""`--set field=value` and its kin: texts from the command line as the values of what they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.cli.knobs import parse_value
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.methods.base import Method


def settings(given: Sequence[str] | None, flag: str) -> dict[str, str]:
    """The texts by name; each is to be given once.

    >>> settings(["eta = 0.1", "by=group"], "--set")
    {'eta': '0.1', 'by': 'group'}
    """
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name:
            raise InputError(f"{flag} {text} is not of the form NAME=VALUE")
        if name in found:
            raise InputError(f"{flag} {name} was given twice; give it once")
        found[name] = value
    return found


def typed(given: Mapping[str, str], defaults: Mapping[str, object], flag: str = "--set") -> dict[str, Any]:
    """Each text as the kind of its default; a name without one stays a text, for its owner to refuse.

    >>> typed({"eta": "1", "widths": "100,64", "x": "1"}, {"eta": 0.01, "widths": (64, 64)})
    {'eta': 1.0, 'widths': (100, 64), 'x': '1'}
    """
    return {
        name: parse_value(name, text, defaults[name], flag) if name in defaults else text
        for name, text in given.items()
    }


def methods_of(names: Sequence[str], given: Sequence[str] | None) -> dict[str, Method]:
    """The methods by name, with their fields set.

    With several methods a field is that of all which have it, or of one as `gdro.eta=0.1`.

    >>> methods_of(["erm", "gdro"], ["eta=0.1"])["gdro"].eta
    0.1
    """
    from dataclasses import fields

    from evenhand.methods.registry import method_of

    for name in names:
        method_of(name)  # a name that does not exist is told before its fields are looked at
    texts, used = settings(given, "--set"), set[str]()
    made: dict[str, Method] = {}
    for name in dict.fromkeys(names):
        plainly = method_of(name)
        defaults = {item.name: getattr(plainly, item.name) for item in fields(plainly)}
        own = {
            key.removeprefix(f"{name}."): value for key, value in texts.items() if key.startswith(f"{name}.")
        }
        plain = {key: value for key, value in texts.items() if "." not in key}
        if len(names) > 1:
            plain = {key: value for key, value in plain.items() if key in defaults}
        used |= set(plain) | {f"{name}.{key}" for key in own}
        made[name] = method_of(name, **typed({**plain, **own}, defaults))
    for key in texts.keys() - used:
        raise InputError(
            f"--set {key}: none of {', '.join(names)} has such a field; see: evenhand list methods NAME"
        )
    return made

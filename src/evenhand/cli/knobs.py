"""`--set knob=value`: texts from the command line as the values that a knob takes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from evenhand.errors import InputError

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_knobs(given: Sequence[str], defaults: Mapping[str, object], owner: str) -> dict[str, Any]:
    """The values by name, each of the type of its default.

    >>> parse_knobs(["seed=3", "strict=no", "without=a,b"], {"seed": 0, "strict": True, "without": ""}, "it")
    {'seed': 3, 'strict': False, 'without': 'a,b'}
    """
    found: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not sign:
            raise InputError(f"--set {text} has no value; write it as {text}=VALUE")
        if name not in defaults:
            near = get_close_matches(name.replace("-", "_"), list(defaults), n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(repr(match) for match in near)}?" if near else "."
            raise InputError(f"{owner} has no knob '{name}'{hint} Its knobs: {', '.join(defaults) or 'none'}")
        if name in found:
            raise InputError(f"--set {name} was given twice; give it once")
        found[name] = parse_value(name, value.strip(), defaults[name])
    return found


def parse_value(name: str, text: str, default: object, flag: str = "--set") -> Any:
    """One value: as a text where the default is one, else as the number, list or truth value it spells.

    A number for each name, as in {"Male": 0.1}, stays that where the default is a number: some knobs take
    both, and the owner refuses it where it does not.

    >>> parse_value("shares", "[0.2, 0.8]", None), parse_value("widths", "64", (8, 8))
    ([0.2, 0.8], (64,))
    >>> parse_value("noise", '{"Male": 0.1}', 0.0)
    {'Male': 0.1}
    """
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        raise InputError(f"{flag} {name} takes true or false, not '{text}'")
    if text.lower() in ("true", "false", "none"):
        text = text.capitalize()
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = text
    if isinstance(default, (int, float)) and not isinstance(value, dict):
        return _number(f"{flag} {name}", text, value, isinstance(default, int))
    if isinstance(default, tuple) and isinstance(value, (int, float)):
        return (value,)  # a list of one
    return value


def _number(what: str, text: str, value: object, whole: bool) -> float | int:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or (whole and not isinstance(value, int))
    ):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{what} takes {kind}, not '{text}'")
    return value if whole else float(value)

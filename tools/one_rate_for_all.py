"""One rate for all methods of a study: the rule of studies/rate-of-compression-*.toml, carried out.

    evenhand study run studies/rate-of-compression-cifar10.toml --no-report
    python tools/one_rate_for_all.py runs/rate-of-compression-cifar10 --into STUDY.toml

A setting is a rate and a clip of gradients; each method has one run of each. Chosen is the setting with the
highest accuracy on validation rows after the last epoch, averaged over methods, the lower rate among equals;
a training that failed counts as chance, 0.1. `--into` writes it into the [recipe] of another study's file.
A study that is not run whole chooses nothing.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from evenhand.errors import InputError
from evenhand.study.frame import Frame
from evenhand.study.store import Store

CHANCE = 0.1
Setting = tuple[float, float]  # rate, clip


def accuracies(frame: Frame) -> dict[Setting, dict[str, float]]:
    """Validation accuracy by setting and method."""
    values, found = frame.values("validation", "acc"), dict[Setting, dict[str, float]]()
    for row in range(frame.n):
        if not (frame.done[row] or frame.failed[row]):
            raise SystemExit(
                f"{frame.columns['method'][row]} has a run that is not there yet: nothing is chosen"
            )
        recipe = frame.columns["spec"][row]["recipe"]
        method = frame.columns["method"][row].partition(",")[0]  # "base, clipped" is base in another setting
        value = float(values[row]) if frame.done[row] else CHANCE
        found.setdefault((recipe["rate"], recipe["clip"]), {})[method] = value
    if len({frozenset(methods) for methods in found.values()}) > 1:
        raise SystemExit("settings have different methods: their means cannot be compared")
    return found


def chosen(found: dict[Setting, dict[str, float]]) -> Setting:
    """The setting with the highest mean, the lower rate among equals."""
    return max(sorted(found), key=lambda setting: np.mean(list(found[setting].values())))


def with_setting(text: str, setting: Setting, chosen_by: str) -> str:
    """A study file whose [recipe] has this rate and clip, and says which study they were chosen by.

    >>> print(with_setting('[recipe]\\nrate = 0.2  # why\\nepochs = 2\\n', (0.1, 1.0), "rates").strip())
    [recipe]
    rate = 0.1  # studies/rates.toml
    clip = 1.0
    epochs = 2
    """
    rate, clip = setting
    lines = f"rate = {rate:g}  # studies/{chosen_by}.toml\n" + (f"clip = {clip}\n" if clip else "")
    changed, times = re.subn(r"(?m)^rate = .*\n(?:clip = .*\n)?", lines, text, count=1)
    if not times:
        raise SystemExit("the file has no line that begins with 'rate = '")
    return changed


def main() -> None:
    """Print a table, tell the choice, and write it where that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    try:
        with Store.open(options.folder, readonly=True) as store:
            frame = Frame(store)
            found, name = accuracies(frame), str(frame.study["name"])
    except InputError as error:
        raise SystemExit(str(error)) from None
    methods = list(next(iter(found.values())))
    print(f"| rate | clip | {' | '.join(methods)} | mean |\n|---|---|{'---|' * (len(methods) + 1)}")
    for (rate, clip), own in sorted(found.items()):
        cells = " | ".join(f"{own[name]:.4f}" for name in methods)
        print(f"| {rate:g} | {clip:g} | {cells} | {np.mean(list(own.values())):.4f} |")
    rate, clip = chosen(found)
    print(f"\nchosen: rate {rate:g}, clip {clip:g}")
    if options.into:
        options.into.write_text(with_setting(options.into.read_text("utf-8"), (rate, clip), name), "utf-8")


if __name__ == "__main__":
    main()

"""The reference of distribution shifts, written from the registry: it cannot fall behind it.

    python -m evenhand.data.shift_reference > docs/shifts.md

How much a shift changes is measured on packaged data: 500 test rows of Adult, 500 test images of CI-MNIST.
The picture is made by `tools/make_shift_sheet.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from torch import Tensor

from evenhand.data.reference import _table
from evenhand.data.registry import load
from evenhand.data.shift_registry import SHIFTS, Shift
from evenhand.data.shifts import shift_inputs, shift_rows
from evenhand.data.task import Scaling, Task

ROWS = 500
INTRODUCTION = """# Distribution shifts

<!-- Written by `python -m evenhand.data.shift_reference`; change the registry, not this page. -->

A gap that is small on test rows like the training rows may be wide on others. A shift makes such others, at
test time only: it changes the inputs of each row, or which rows there are.

```
evenhand list shifts
evenhand list shifts group-share
```

```python
import torch
from evenhand.data import load
from evenhand.data.shifts import SHIFTS, shift_inputs, shift_rows

adult = load("adult")
rows = adult.rows("test")[:1000]
x = adult.scaling(adult.x[rows])  # what a network is given
noisy = shift_inputs("gaussian", x, 0.03, seed=1, rows=rows, scaling=adult.scaling)
assert torch.equal(
    noisy[10:20], shift_inputs("gaussian", x[10:20], 0.03, seed=1, rows=rows[10:20], scaling=adult.scaling)
)
more_women = shift_rows("group-share:Female", adult, "test", 0.5, seed=1, protect=["sex"])
```

**Severity 0 is the data as it was**, for every shift. Each has five standard severities, in a unit that is
stated; they were chosen before any result was seen, and those of the paper on equalized robustness (S4: noise
of deviation 0.03 and 0.06 on scaled features, impulses at 0.03) are among them. A severity in between is as
good.

**The numbers of a row depend on the seed, the row and the place in the row alone**: not on the batch it is
in, on the runs beside it, or on the device. With one seed, greater severities hit the same entries and more,
so that a curve over severities is smooth. Several draws are several seeds.

**Units.** Noise on tables is added to the scaled features (deviation 1 on the training rows, where a data
set is z-scored). Images are taken back to black 0 and white 1, changed, cut to that range, and scaled again.
Lengths are shares of the shorter side of the image: 0.1 is 2.8 pixels of 28 and 22 of 224.

**Nobody is dropped in silence.** `group-share` moves the share among rows whose group is known; rows of
unknown group stay, each once.

**What it is not.** These are shifts one can write down. A gap that stays small under all of them says nothing
about a shift that is not here.
"""
PICTURE = """## What they look like

![every shift of images at its five severities](images/shifts.png)

Left of each pair a digit of CI-MNIST (32 pixels; MNIST: LeCun and Cortes, CC BY-SA 3.0), right a drawn scene
(64 pixels); the first column is the picture itself.
"""
MEASURED = """## How much they change

Root mean square change of an entry, measured with seed 0: tables on {rows} test rows of Adult (z-scored
features), images on {rows} test images of CI-MNIST (black 0, white 1). For shifts of rows, the share of
Adult's test rows that are replaced by others (protected: sex).
"""


def page() -> str:
    """The whole page, as Markdown."""
    head = ("key", "what it does", "acts on", "fits", "unit of the severity s", "greatest")
    rows = [
        (f"`{s.key}`", s.words, s.acts_on, ", ".join(s.fits), s.unit, _number(s.most))
        for s in SHIFTS.values()
    ]
    chosen = [f"- `{s.key}:NAME` chooses {s.chooses}." for s in SHIFTS.values() if s.chooses]
    same = ", ".join(f"`{s.key}`" for s in SHIFTS.values() if not s.random)
    told = f"The same for every seed: {same}.\n"
    parts = [INTRODUCTION, _table(head, rows), "\n".join(chosen) + "\n", told, PICTURE]
    return "\n".join([*parts, MEASURED.format(rows=ROWS), _table(*_measured())])


def _measured() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A row for each shift and kind of data: severity and change, five times."""
    tasks = {"table": load("adult"), "image": load("ci-mnist")}
    rows = []
    for shift in SHIFTS.values():
        for kind in shift.fits if shift.acts_on == "inputs" else ("rows",):
            changes = _changes(shift, tasks.get(kind, tasks["table"]))
            cells = [f"{s:g}: {change}" for s, change in zip(shift.severities, changes, strict=True)]
            rows.append((f"`{shift.key}`", kind, *cells))
    return ("key", "on", *(f"severity {place}" for place in range(1, 6))), rows


def _changes(shift: Shift, task: Task) -> Iterator[str]:
    rows = task.rows("test")
    for severity in shift.severities:
        if shift.acts_on == "rows":
            found = shift_rows(shift.key, task, "test", severity, seed=0, protect=["sex"])
            lost = 1 - len(set(found.tolist())) / len(rows)
            yield f"{lost:.2f}"
        else:
            change = _shifted(shift.key, task, rows[:ROWS], severity) - _shifted(
                shift.key, task, rows[:ROWS], 0
            )
            yield f"{float(change.square().mean().sqrt()):.2f}"


def _shifted(key: str, task: Task, rows: Tensor, severity: float) -> Tensor:
    """Features as they are scaled; images between 0 and 1."""
    assert isinstance(task.x, Tensor)
    x = task.x[rows] / 255 if len(task.input_shape) == 3 else task.scaling(task.x[rows])
    return shift_inputs(key, x, severity, seed=0, rows=rows, scaling=Scaling())


def _number(value: float) -> str:
    return f"{value:g}" if value < float("inf") else "none"


if __name__ == "__main__":
    sys.stdout.write(page())

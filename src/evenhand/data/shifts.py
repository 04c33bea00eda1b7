"""Shifted inputs and shifted populations: what a trained model is tried on beside its own test rows.

`SHIFTS` lists them; `shift_inputs` changes the inputs of given rows, `shift_rows` chooses other rows. Both
are pure functions of their arguments: the numbers of a row depend on (seed, row, place in the row) alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from evenhand.data import shift_blur, shift_images, shift_jpeg, shift_noise
from evenhand.data.shift_counters import Counters
from evenhand.data.shift_registry import IMAGE, SHIFTS, TABLE, Shift, check_fits, check_severity, find_shift
from evenhand.data.shift_resampling import by_covariate, by_group
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError

__all__ = ["SHIFTS", "Shift", "find_shift", "kind_of", "shift_inputs", "shift_rows", "white_of"]

BYTE = 255.0
ROOM = 0.02  # half precision brings pixels back that far outside [0, 1]
CHANGES: dict[str, Callable[[Tensor, float, Counters], Tensor]] = {
    "gaussian": shift_noise.gaussian,
    "uniform": shift_noise.uniform,
    "feature-dropout": shift_noise.feature_dropout,
    "impulse": shift_noise.impulse,
    "shot-noise": shift_noise.shot_noise,
    "blur": shift_blur.blur,
    "motion-blur": shift_blur.motion_blur,
    "contrast": shift_images.contrast,
    "brightness": shift_images.brightness,
    "pixelate": shift_images.pixelate,
    "jpeg": shift_jpeg.jpeg,
    "occlusion": shift_images.occlusion,
}
CHOICES = {"covariate-resampling": by_covariate, "group-share": by_group}


def shift_inputs(
    key: str,
    x: Tensor,
    severity: float,
    *,
    seed: int,
    rows: Tensor,
    scaling: Scaling,
    white: float | None = None,
) -> Tensor:
    """The inputs `x [N, ...]` of the rows with the ids `rows [N]`, shifted; shape, type and device stay.

    `x` is what networks are given, already scaled: a table `[N, d]`, or images `[N, C, H, W]`, which are
    taken back to [0, 1] by the task's `scaling`, shifted, cut to [0, 1] and scaled again. `white` is the
    value of white before scaling: unless given, 255 where the scale is above 1 (bytes), else 1; `white_of`
    tells it of a task. Give the task's own row numbers as `rows`, so that a part's rows are shifted alike
    wherever they occur.

    >>> x, rows = torch.zeros(3, 2), torch.tensor([5, 6, 9])
    >>> noisy = shift_inputs("gaussian", x, 0.5, seed=1, rows=rows, scaling=Scaling())
    >>> torch.equal(noisy[2:], shift_inputs("gaussian", x[2:], 0.5, seed=1, rows=rows[2:], scaling=Scaling()))
    True
    """
    shift, _ = find_shift(key)
    if shift.acts_on != "inputs":
        raise InputError(f"the shift '{shift.key}' chooses rows and leaves inputs alone: use shift_rows")
    severity = check_severity(shift, severity)
    _check_inputs(x, rows)
    check_fits(shift, IMAGE if x.ndim == 4 else TABLE)
    draws = Counters.of(seed, shift.key, rows.to(x.device))
    if severity == 0 or not len(x):
        return x
    change = CHANGES[shift.key]
    if x.ndim != 4:
        return change(x, severity, draws)
    pixels = _pixels(x, scaling, white)
    shifted = change(pixels, severity, draws).clamp(0, 1)
    return scaling(shifted * (white or _white(scaling))).to(x.dtype)


def shift_rows(
    key: str,
    task: Task,
    part: str,
    severity: float,
    *,
    seed: int,
    protect: Sequence[str] | str | None = None,
) -> Tensor:
    """Row numbers of the task, as many as the part has and some of them repeated: the part, shifted.

    The key may choose after a colon: "group-share:Female", "covariate-resampling:age". `protect` names the
    attributes whose groups are meant (all, unless named).

    >>> from evenhand.data.registry import load
    >>> titanic = load("titanic")
    >>> rows = shift_rows("group-share:female", titanic, "test", 0.5, seed=0, protect="sex")
    >>> was, now = (titanic.attribute("sex").codes[r.numpy()] == 0 for r in (titanic.rows("test"), rows))
    >>> len(rows), int(was.sum()), int(now.sum())
    (262, 87, 174)
    """
    shift, chosen = find_shift(key)
    if shift.acts_on != "rows":
        raise InputError(f"the shift '{shift.key}' changes inputs and leaves rows alone: use shift_inputs")
    severity = check_severity(shift, severity)
    check_fits(shift, kind_of(task))
    rows = task.rows(part)
    draws = Counters.of(seed, shift.key, rows)
    if not len(rows):
        raise InputError(f"the part '{part}' of the task '{task.name}' has no rows to choose from")
    return CHOICES[shift.key](task, rows, severity, draws, chosen, protect)


def kind_of(task: Task) -> str:
    """Whether the inputs of a task are a "table" or "image"s."""
    return IMAGE if len(task.input_shape) == 3 else TABLE


def white_of(task: Task) -> float:
    """The value of white in the images of a task before scaling: 255 for bytes, 1 for floats."""
    return 1.0 if isinstance(task.x, Tensor) and task.x.is_floating_point() else BYTE


def _white(scaling: Scaling) -> float:
    scale = scaling.scale if isinstance(scaling.scale, tuple) else (scaling.scale,)
    return BYTE if max(scale) > 1 else 1.0


def _pixels(x: Tensor, scaling: Scaling, white: float | None) -> Tensor:
    """Images as they were before scaling, in [0, 1], at least float32."""
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    shift, scale = scaling.numbers(x.dtype, x.device)
    pixels = (x * scale + shift) / (white or _white(scaling))
    low, high = (float(end) for end in pixels.aminmax())
    if low < -ROOM or high > 1 + ROOM:
        raise InputError(
            f"the images reach from {low:g} to {high:g} where 0 is black and 1 is white; give the task's own "
            "scaling, and the value of white before scaling as 'white' (255 for bytes)"
        )
    return pixels.clamp_(0, 1)


def _check_inputs(x: Tensor, rows: Tensor) -> None:
    if not x.is_floating_point() or x.ndim < 2:
        raise InputError(
            f"shifts act on scaled inputs, floats [N, ...]; these are {x.dtype} of the shape {tuple(x.shape)}"
        )
    if rows.shape != (len(x),) or rows.is_floating_point() or rows.dtype == torch.bool:
        raise InputError(
            f"a shift needs the id of each of the {len(x)} rows, whole numbers [{len(x)}]; "
            f"these are {rows.dtype} of the shape {tuple(rows.shape)}"
        )

"""What a module of one's own predicts, batch by batch, as class codes: for those who have no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from numbers import Integral
from typing import TYPE_CHECKING, Any

from evenhand.arrays import IntArray
from evenhand.errors import InputError
from evenhand.evaluation.checks import column
from evenhand.evaluation.module_outputs import class_codes, read_batch
from evenhand.levels import code_values

if TYPE_CHECKING:
    from torch import Tensor, nn


def predictions_of(
    modules: Mapping[str, Any], x: Any, y_true: object | None = None, batch_size: int = 512
) -> dict[str, IntArray]:
    """What each module predicts for every row; one that cannot be asked is called by its name.

    >>> import torch
    >>> predictions_of({"same": torch.nn.Identity()}, torch.eye(3), [0, 1, 2])["same"].tolist()
    [0, 1, 2]
    """
    rows = _rows(x)
    if isinstance(y_true, Sized) and len(y_true) != len(rows):
        raise InputError(f"there are {len(y_true):,} labels for {len(rows):,} inputs; give one for each")
    _class_count(y_true)
    told = {}
    for check in (True, False):  # nobody should wait for the first where the last is no module at all
        for name, module in modules.items():
            try:
                if check:
                    _check(module, batch_size)
                else:
                    told[name] = predicted_classes(module, rows, batch_size, y_true)
            except InputError as error:
                raise InputError(f"module {name!r}: {error}") from error
    return told


def predicted_classes(
    module: nn.Module, x: Tensor, batch_size: int = 512, y_true: object | None = None
) -> IntArray:
    """The class of the largest output for every row of `x`; with one output, 1 where it is above 0.

    The module is put at rest (`eval`) for the time of the call, runs where its parameters are and in their
    precision, and may return logits or a tuple that begins with them; whole numbers, one a row, are class
    codes. NaN, no rows at all, and single numbers that look like probabilities are refused; so is one output
    where the labels, if given, have more than two classes.

    >>> import torch
    >>> predicted_classes(torch.nn.Identity(), torch.tensor([[0.1, 0.9], [2.0, 1.0]])).tolist()
    [1, 0]
    """
    import torch

    _check(module, batch_size)
    n_classes, x = _class_count(y_true), _rows(x)
    learning = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            batches = torch.split(x, int(batch_size))
            told = torch.cat([read_batch(_asked(module, rows), len(rows)) for rows in batches])
    finally:
        for part in learning:  # some may have been at rest before
            part.training = True
    return class_codes(told, n_classes)


def _check(module: object, batch_size: object) -> None:
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(f"a torch module is asked for predictions, not {type(module).__name__}")
    if isinstance(batch_size, bool) or not isinstance(batch_size, Integral) or batch_size < 1:
        raise InputError(f"'batch_size' must be at least 1 and a whole number, not {batch_size!r}")
    if any(value.is_meta for value in (*module.parameters(), *module.buffers())):
        raise InputError(
            f"a module ({type(module).__name__}) is on the device 'meta', where weights have no values; give "
            "it its weights first: module.to_empty(device='cpu'), then load_state_dict"
        )


def _class_count(y_true: object | None) -> int | None:
    """How many classes the labels have; None where nobody said, or where `compare` refuses their shape."""
    if y_true is None or isinstance(y_true, Iterator):  # an iterator is read once, and not here
        return None
    values = column(y_true, "labels")
    if values.ndim != 1:
        return None
    names, _ = code_values(values, None, "labels", unknown=None)
    if values.dtype.kind in "US" or any(isinstance(value, str) for value in values.tolist()):
        raise InputError(
            f"labels hold text (like {names[-1]!r}), and modules answer with class codes; give the place of "
            "each label's class among the outputs, such as [names.index(label) for label in labels]"
        )
    if values.dtype.kind in "if" and (values < 0).any():  # such as the -100 that torch's losses pass over
        raise InputError(
            f"labels hold {values[values < 0][0]:g}, which no module answers; count classes from 0 on, and "
            "give rows without a class as NaN, which are counted as missing"
        )
    return len(names)


def _rows(x: Any) -> Tensor:
    """The inputs as a tensor that has rows."""
    import torch

    try:
        rows = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"the inputs must be a tensor or an array with a row for each label, not {type(x).__name__}; "
            "join the batches of a loader first, as in torch.cat([x for x, y in loader])"
        ) from error
    if rows.ndim == 0 or len(rows) == 0:
        raise InputError(
            f"the modules are asked about no input at all: 'x' has the shape {tuple(rows.shape)}; give a row "
            "for each label"
        )
    return rows


def _asked(module: nn.Module, rows: Tensor) -> Any:
    """What the module says; where it cannot take such inputs, which they are."""
    import torch

    try:
        return module(_as_read_by(module, rows))
    except (torch.OutOfMemoryError, InputError):
        raise
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
        kind = str(rows.dtype).removeprefix("torch.")
        told = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(
            f"a module does not take inputs of the shape {tuple(rows.shape)} and type {kind}; give them as "
            f"it was trained on them{_more(error)} (torch says: {told})"
        ) from error


def _more(error: Exception) -> str:
    """What else to do where a module of several arguments was called with the inputs alone."""
    if isinstance(error, TypeError) and "argument" in str(error):
        return ", and wrap a module that wants more than x in one whose forward(self, x) calls it"
    return ""


def _as_read_by(module: nn.Module, rows: Tensor) -> Tensor:
    """The rows where the module is, and of as many bits as its parameters, unless they are codes."""
    held = (*module.parameters(), *module.buffers())  # a layer of eight bits may have buffers alone
    own = next((value for value in held if value.is_floating_point()), None)
    if own is None:
        return rows
    return rows.to(own.device, own.dtype) if rows.is_floating_point() else rows.to(own.device)

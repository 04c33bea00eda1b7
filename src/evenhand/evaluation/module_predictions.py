"""What modules of one's own predict, batch by batch, as class codes: for those who have no files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evenhand.arrays import IntArray
from evenhand.errors import InputError
from evenhand.evaluation.checks import column
from evenhand.evaluation.module_inputs import Inputs, inputs_of, read_inputs
from evenhand.evaluation.module_labels import count_classes, label_codes
from evenhand.evaluation.module_outputs import read_batch
from evenhand.evaluation.module_row_labels import RowLabels
from evenhand.evaluation.module_trainings import Model, Training, check_module, named

if TYPE_CHECKING:
    from torch import Tensor, nn

Progress = Callable[[str], None]


def predicted_classes(
    module: nn.Module, x: Any, batch_size: int | None = None, y_true: object | None = None
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
    inputs = inputs_of(x, batch_size)
    check_module(module)
    told = Training("", module)
    n_classes = _n_classes(y_true)
    with at_rest([module]):
        for batch in inputs.batches:
            _hear(told, read_inputs(batch)[0], None)
    return told.codes(n_classes)


def ask(
    models: Mapping[str, Model], inputs: Inputs, labels: RowLabels, progress: Progress | None = None
) -> dict[str, IntArray]:
    """What each model predicts for every row, `[N]` or `[R, N]`; `labels` takes those of the loader.

    There is one pass: all modules are asked about a batch before the next one is read, and no batch is kept.
    """
    trainings = [one for model in models.values() for one in model.trainings]
    n_names = None if labels.names is None else len(labels.names)
    place = 0  # no enumerate: it would hold on to a batch while the next one is made
    with at_rest([one.module for one in trainings]):
        for batch in inputs.batches:
            place += 1
            rows = _rows_and_labels(batch, labels, "" if inputs.cut else f"batch {place} of the loader")
            del batch
            for one in trainings:
                with named(one.called):
                    _hear(one, rows, n_names)
            del rows
            if progress is not None:
                progress(_words(labels.rows, inputs.rows))
    if not labels.rows:
        raise InputError(
            "the loader gives no rows; a generator can be gone through only once, so give a new one each time"
        )
    n_classes = count_classes(labels.codes)
    return {name: model.predictions(n_classes) for name, model in models.items()}


@contextmanager
def at_rest(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Modules in `eval`, whatever happens, and every part in its own mode again afterwards."""
    learning = [part for module in modules for part in module.modules() if part.training]
    try:
        for module in modules:
            module.eval()
        yield
    finally:
        for part in learning:  # some may have been at rest before
            part.training = True


def _rows_and_labels(batch: Any, labels: RowLabels, called: str) -> Tensor:
    """The inputs of a batch, whose labels are taken."""
    try:
        rows, own = read_inputs(batch)
        labels.take(own, len(rows))
    except ValueError as error:
        raise InputError(f"{called}: {error}" if called else str(error)) from error
    return rows


def _hear(one: Training, rows: Tensor, n_names: int | None) -> None:
    import torch

    if not len(rows):
        return
    with torch.no_grad():  # around the module alone: a loader may need gradients
        one.said.append(read_batch(_asked(one.module, rows), len(rows), n_names))


def _words(done: int, rows: int | None) -> str:
    return f"{done:,} rows asked" if rows is None else f"{done:,} of {rows:,} rows asked"


def _n_classes(y_true: object | None) -> int | None:
    """How many classes the labels have; None where nobody said, or where `compare` refuses their shape."""
    if y_true is None or isinstance(y_true, Iterator):  # an iterator is read once, and not here
        return None
    values = column(y_true, "labels")
    return count_classes(label_codes(values)) if values.ndim == 1 else None


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

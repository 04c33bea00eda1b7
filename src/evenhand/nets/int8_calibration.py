"""The scales of eight bits, by torch's observers: of weights by their extremes, of inputs by calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.nets.int8 import Int8Weight

WANTED = "give a batch of inputs as the network reads them, or an iterable of such batches"


def weight_scales(weight: Tensor) -> Tensor:
    """A scale for each output, by torch's observer of the smallest and largest weight."""
    from torch.ao.quantization import PerChannelMinMaxObserver

    observer = PerChannelMinMaxObserver(dtype=torch.qint8, qscheme=torch.per_channel_symmetric)
    observer.to(weight.device)(weight)
    return cast(Tensor, observer.calculate_qparams()[0])


def steps(weight: Tensor, scales: Tensor) -> Tensor:
    """Weights as whole numbers of their scale, as torch rounds them."""
    zeros, scales = torch.zeros_like(scales, dtype=torch.int32), scales.to(torch.float32)
    found = torch.fake_quantize_per_channel_affine(weight.to(torch.float32), scales, zeros, 0, -128, 127)
    return (found / scales.view(-1, *[1] * (weight.dim() - 1))).round()


def calibrate(module: nn.Module, layers: Sequence[Int8Weight], calibration: Tensor | Iterable[Any]) -> None:
    """Scale and zero point of what each layer reads while the module sees the calibration inputs."""
    from torch.ao.quantization import HistogramObserver

    device = layers[0].weight_int8.device
    for layer in layers:
        layer.observer = HistogramObserver().to(device)
    for x in _batches(calibration):
        _show(module, x.to(device))
    for layer in layers:
        _fix(layer)
    if not any(layer.calibrated for layer in layers):
        raise InputError(f"the calibration inputs reached no layer; {WANTED}")


def _fix(layer: Int8Weight) -> None:
    """The layer with what its observer has seen, and without it; one that was not called stays as it is."""
    observer = cast(Any, layer.observer)
    del layer.observer  # of the parts of the layer
    layer.observer = None
    layer.calibrated = bool(torch.isfinite(observer.min_val).all())
    if layer.calibrated:
        scale, zero = observer.calculate_qparams()
        layer.input_scale.copy_(scale[0])
        layer.input_zero.copy_(zero[0])


def _batches(calibration: Tensor | Iterable[Any]) -> Iterator[Tensor]:
    """The inputs: of a pair, as a loader of inputs and labels gives them, the first item.

    >>> [tuple(x.shape) for x in _batches([(torch.zeros(2, 3), torch.zeros(2)), torch.zeros(1, 3)])]
    [(2, 3), (1, 3)]
    """
    if not isinstance(calibration, Iterable) or isinstance(calibration, str | bytes | dict):
        raise InputError(f"calibration inputs are tensors, not {type(calibration).__name__}; {WANTED}")
    for batch in [calibration] if isinstance(calibration, Tensor) else calibration:
        x = batch[0] if isinstance(batch, tuple | list) and batch else batch
        if not isinstance(x, Tensor):
            raise InputError(f"calibration inputs are tensors, not {type(x).__name__}; {WANTED}")
        if not torch.isfinite(x).all():
            raise InputError("the calibration inputs hold NaN or infinite numbers; leave such rows out")
        yield x


def _show(module: nn.Module, x: Tensor) -> None:
    try:
        module(x)
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
        why = (str(error).splitlines() or [""])[0]
        raise InputError(
            f"the network cannot read calibration inputs of shape {tuple(x.shape)} and {x.dtype} ({why}); "
            f"{WANTED}"
        ) from error

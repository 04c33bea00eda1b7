"""int8: a trained network whose weights, and with calibration inputs of layers too, have eight bits.

    w ~ s_c q,  q in -128 .. 127, a scale s_c for each output c        x ~ s (q - z),  q in 0 .. 255

Post-training quantisation (Jacob et al., Quantization and training of neural networks for efficient
integer-arithmetic-only inference, CVPR 2018) by torch's observers, which find the scales, and its
fake-quantisation, which rounds. Weights are kept as int8; products are taken in floating point of the rounded
numbers, on any device. Torch's own int8 kernels run on a CPU alone, and torch 2.13 warns that tensors of
quantised types will be removed; on the same scales theirs and these agree to the rounding of the output,
which they add.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from evenhand.errors import InputError
from evenhand.nets.convnet import ConvNet
from evenhand.nets.int8_calibration import calibrate, steps, weight_scales
from evenhand.nets.layers import Linear
from evenhand.nets.plain_copy import in_evaluation
from evenhand.nets.prunable import refuse_scripted

LOW, HIGH = 0, 255  # of inputs; zero is among them, since a padded image has zeros


class Int8Weight(nn.Module):
    """What a layer becomes: `weight` is made of int8 when it is read; inputs are rounded if calibrated."""

    weight_int8: Tensor
    weight_scale: Tensor
    input_scale: Tensor
    input_zero: Tensor
    calibrated: bool
    observer: nn.Module | None  # which sees inputs while they are calibrated

    @property
    def weight(self) -> Tensor:
        """The weights that the eight bits stand for."""
        scale = self.weight_scale.view(-1, *[1] * (self.weight_int8.dim() - 1))
        return self.weight_int8.to(scale.dtype) * scale

    def rounded(self, x: Tensor) -> Tensor:
        """Inputs as the eight bits have them; as they are where nothing was calibrated."""
        if self.observer is not None:
            self.observer(x)
        if not self.calibrated:
            return x
        return torch.fake_quantize_per_tensor_affine(x, self.input_scale, self.input_zero, LOW, HIGH)

    def forward(self, x: Tensor) -> Tensor:
        """The layer's own, of rounded inputs."""
        return cast(Tensor, super().forward(self.rounded(x)))

    def _load_from_state_dict(self, *given: Any) -> None:
        """Whether inputs are rounded comes with the numbers, also to a layer that nobody calibrated."""
        super()._load_from_state_dict(*given)
        scale, zero = float(self.input_scale), int(self.input_zero)
        if (scale, zero) != (1.0, 0):  # in older files that of a layer that was not calibrated
            self.calibrated = scale > 0


class Int8Conv2d(Int8Weight, nn.Conv2d):  # type: ignore[override]
    """A convolution in eight bits."""


class Int8TorchLinear(Int8Weight, nn.Linear):  # type: ignore[override]
    """Torch's linear layer in eight bits."""


class Int8Linear(Int8Weight, Linear):  # type: ignore[misc]
    """The linear layer of the networks here in eight bits."""

    def columns(self, x: Tensor) -> Tensor:
        """The layer's own, of rounded inputs."""
        return super().columns(self.rounded(x))


FORMS: dict[type[nn.Module], type[Int8Weight]] = {  # and those of classes derived from these, once met
    nn.Conv2d: Int8Conv2d, nn.Linear: Int8TorchLinear, Linear: Int8Linear,
}  # fmt: skip
CALLED_BY = ("__call__", "forward", "_conv_forward", "columns")  # what a layer makes of its inputs


def _form(kind: type[nn.Module]) -> type[Int8Weight] | None:
    """What a layer of this class becomes; a derived class only where it is called as the one it comes from.

    A forward of its own may do anything with the weights. Attention's output matrix is never called:
    attention reads its weights, so that its inputs would not be rounded.
    """
    parent = next((each for each in FORMS if issubclass(kind, each)), None)
    if kind in FORMS or parent is None or kind is NonDynamicallyQuantizableLinear:
        return FORMS.get(kind)
    if any(getattr(kind, name, None) is not getattr(parent, name, None) for name in CALLED_BY):
        return None
    FORMS[kind] = type(f"Int8{kind.__name__}", (FORMS[parent], kind), {"__reduce__": _reduced})
    return FORMS[kind]


def _reduced(layer: Any) -> tuple[Any, ...]:
    """For a pickle, which finds classes by name: one made here has none, and is made again."""
    return _blank, (type(layer).__bases__[1],), layer.__getstate__()


def _blank(kind: type[nn.Module]) -> Any:
    return object.__new__(cast(type, _form(kind)))


def int8_names(module: nn.Module) -> list[str]:
    """The layers that can be had in eight bits: convolutions and linear ones, by name.

    >>> int8_names(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(2, 2)))
    ['0', '3']
    """
    refuse_scripted(module)
    found = [name for name, part in module.named_modules() if _can_become_int8(part)]
    if not found:
        raise InputError(
            f"the network {type(module).__name__} has no Conv2d or Linear that has weights and torch's own "
            "forward, so nothing is made int8"
        )
    return found


def _can_become_int8(part: nn.Module) -> bool:
    """Whether it is such a layer; one without inputs or outputs, or of complex numbers, has no scales."""
    weight = dict(part.named_parameters(recurse=False)).get("weight")
    known = weight is not None and weight.numel() > 0 and not weight.is_complex()
    return known and _form(type(part)) is not None


@torch.no_grad()
def to_int8(module: nn.Module, calibration: Tensor | Iterable[Any] | None = None) -> nn.Module:
    """Turn the module itself into eight bits: its weights, and with calibration inputs what layers read.

    Calibration inputs are a batch, or an iterable of batches, or of pairs whose first item is one; they are
    seen in evaluation.

    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> x = torch.randn(64, 4)
    >>> before = net(x)
    >>> bool(((to_int8(net, x)(x) - before).abs() < 0.1).all()), net[0].weight_int8.dtype
    (True, torch.int8)
    """
    names, parts = int8_names(module), dict(module.named_modules())
    weights = {name: cast(Tensor, parts[name].weight).detach() for name in names}
    layers = int8_layers(module, names)
    for name, layer in layers.items():
        layer.weight_scale.copy_(weight_scales(weights[name]))
        layer.weight_int8.copy_(steps(weights[name], layer.weight_scale))
    if calibration is not None:
        with in_evaluation(module):
            calibrate(module, list(layers.values()), calibration)
    return module


def int8_layers(
    module: nn.Module, names: Iterable[str], calibrated: Iterable[str] = ()
) -> dict[str, Int8Weight]:
    """Turn these layers of the module into eight bits, all zero as yet: their numbers are to be put in."""
    ready = set(calibrated)
    parts, found = dict(module.named_modules()), {}
    for name in names:
        if name not in parts or not _can_become_int8(parts[name]):
            raise InputError(
                f"the network has no layer {name!r} that can be made int8; build the same network"
            )
        found[name] = _become_int8(parts[name], name in ready)
    for part in parts.values():
        _call_the_layers(part)
    return found


def _call_the_layers(part: nn.Module) -> None:
    """Keep a part from the faster ways that read the weights of its layers and pass the layers by."""
    if isinstance(part, ConvNet):
        vars(part)["products"] = False  # on a GPU
    elif isinstance(part, nn.TransformerEncoderLayer):
        part.activation_relu_or_gelu = 0  # what its fast path asks for; the activation stays
    elif isinstance(part, nn.TransformerEncoder):
        part.use_nested_tensor = False  # which is for that fast path alone


def _become_int8(layer: nn.Module, calibrated: bool) -> Int8Weight:
    """The layer itself, as another class: whoever holds it, or calls it in another way, need not know."""
    weight = cast(Tensor, layer._parameters.pop("weight")).detach()
    layer.__class__ = cast(type[Int8Weight], _form(type(layer)))
    made = cast(Int8Weight, layer)
    made.register_buffer("weight_int8", torch.zeros_like(weight, dtype=torch.int8))
    made.register_buffer("weight_scale", weight.new_ones(len(weight)))
    made.register_buffer("input_scale", torch.zeros((), device=weight.device))  # 0: not calibrated
    made.register_buffer("input_zero", torch.zeros((), dtype=torch.int32, device=weight.device))
    made.calibrated, made.observer = calibrated, None
    return made

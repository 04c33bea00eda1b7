"""The layers that the networks share: a linear one that stacks to the bit, and activations by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.names import no_such

Activation = Callable[[Tensor], Tensor]


def _identity(x: Tensor) -> Tensor:
    return x


_PLAIN: dict[str, Activation] = {
    "relu": F.relu, "tanh": torch.tanh, "gelu": F.gelu, "elu": F.elu, "identity": _identity,
}  # fmt: skip
ACTIVATIONS = ("leaky_relu", *_PLAIN)


def activation_of(name: str, slope: float = 0.01) -> Activation:
    """The activation of that name; `slope` is the slope of "leaky_relu" below 0.

    >>> activation_of("leaky_relu", slope=0.2)(torch.tensor([-1.0, 2.0])).tolist()
    [-0.20000000298023224, 2.0]
    """
    if name not in ACTIVATIONS:
        raise InputError(no_such("there is no activation", name, ACTIVATIONS, "There are"))
    if name == "leaky_relu":
        return partial(F.leaky_relu, negative_slope=slope)
    return _PLAIN[name]


def checked_dropout(p: float) -> float:
    """The share of numbers to drop, itself; `InputError` where nothing would be left."""
    if not 0 <= p < 1:
        raise InputError(f"dropout must be at least 0 and less than 1, not {p}")
    return p


class Linear(nn.Module):
    """`x W' + b` for `x [..., inputs]`, written as `(W x')' + b`, W being `[outputs, inputs]`.

    A network in a stack shall end where it ends alone, to the last bit (float32, CPU), which rules out
    `torch.nn.Linear`: its product with the bias inside rounds otherwise than a batch of products. With the
    weights first, a stack whose runs see the same x multiplies one tall matrix instead of R, forwards and for
    the gradient of W, and that gradient lies in memory as W does.

    Initial weights are those of `torch.nn.Linear` from the same generator; init="xavier" draws Xavier-uniform
    weights (Glorot and Bengio 2010) and the same kind of biases.

    >>> _ = torch.manual_seed(0)
    >>> Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, inputs: int, outputs: int, *, init: str = "default") -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        draw_weight(self.weight, init)
        bound = 1 / math.sqrt(inputs) if inputs else 0.0
        nn.init.uniform_(self.bias, -bound, bound)
        # A product of fewer than 12 rows takes another way through the matrix library in a stack than alone,
        # which changes the last bit, unless the rows come in fours: rows of 0 are added to make it so.
        self._spare = -outputs % 4 if outputs < 12 else 0

    def forward(self, x: Tensor) -> Tensor:
        """`[..., outputs]` for `x [..., inputs]`."""
        return self.columns(x.mT).mT

    def columns(self, x: Tensor) -> Tensor:
        """The same for rows that stand as columns: fresh memory `[outputs, B]` for `x [inputs, B]`."""
        bias = self.bias[:, None]
        if not self._spare or x.device.type != "cpu":
            return (self.weight @ x).add_(bias)  # in place: a pass over memory less
        product = F.pad(self.weight, (0, 0, 0, self._spare)) @ x
        return product[..., : len(self.bias), :] + bias

    def extra_repr(self) -> str:
        return f"{self.weight.shape[1]}, {self.weight.shape[0]}"


def draw_weight(weight: Tensor, init: str) -> None:
    """Fill a weight: "default" as torch's own layers do, "xavier" uniform, "kaiming" normal by fan-out."""
    if init == "xavier":
        nn.init.xavier_uniform_(weight)
    elif init == "kaiming":
        nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu")
    elif init == "default":
        nn.init.kaiming_uniform_(weight, a=math.sqrt(5))
    else:
        known = ("default", "xavier", "kaiming")
        raise InputError(no_such("there is no initialisation", init, known, "There are"))


def convolution(
    inputs: int, outputs: int, size: int, *, stride: int = 1, padding: int = 0, bias: bool = True, init: str
) -> nn.Conv2d:
    """A convolution whose weights are drawn as `init` says, its biases as torch draws them."""
    layer = nn.Conv2d(inputs, outputs, size, stride=stride, padding=padding, bias=bias)
    if init != "default":
        draw_weight(layer.weight, init)
    return layer

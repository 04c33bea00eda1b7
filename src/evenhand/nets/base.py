"""Net: what every network here gives, so that a method need not know which one it was given."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.names import no_such
from evenhand.records import NoiseSpec

Features = Tensor | tuple[Tensor, ...] | None


class Net(nn.Module):
    """A network whose `forward(x [B, ...])` gives `(logits [B, outputs], features [B, ...])`.

    Features are the representation at the split point: what the rest of the network reads there, dropout
    included. With `taps=("f1", "f3")` the second item is a tuple of those representations instead. A dropout
    mask is data: `noise()` says what is wanted for each row, and without `noise` nothing is dropped.
    """

    stackable: bool = False  # may be vmapped over stacked parameters: keeps no batch statistics
    splits: tuple[str, ...] = ()  # the names of the points where features can be taken
    split: str = ""  # the point where they are taken
    maps: tuple[str, ...] = ()  # the points whose features are maps [B, C, H, W], in order
    n_features: int = 0  # width of the features when flattened, 0 where there are none
    head_parts: tuple[str, ...] = ()  # those that a new task needs anew, by name; none: the last layer
    # the norm after each convolution, where it is not the next part by name; pruning takes both
    followed_by: Mapping[str, str] = {}

    def noise(self) -> dict[str, NoiseSpec]:
        """The random numbers wanted for each row of a batch, by name."""
        return {}

    def forward(
        self, x: Tensor, noise: Mapping[str, Tensor] | None = None, taps: tuple[str, ...] = ()
    ) -> tuple[Tensor, Features]:
        """Outputs and features of a batch."""
        raise NotImplementedError


class Points:
    """Picks out the representations that were asked for while a forward pass meets them, and no others."""

    def __init__(self, net: Net, taps: tuple[str, ...]) -> None:
        for name in taps:
            checked_split(name, net.splits)
        self.names = taps or (net.split,)
        self.tapped = bool(taps)
        self.found: dict[str, Tensor] = {}

    def at(self, name: str, value: Tensor) -> Tensor:
        """The value itself, after noting it if this is a point that was asked for."""
        if name in self.names:
            self.found[name] = value
        return value

    def features(self) -> Tensor | tuple[Tensor, ...]:
        """The second item of a forward pass."""
        if self.tapped:
            return tuple(self.found[name] for name in self.names)
        return self.found[self.names[0]]


def checked_split(split: str, splits: tuple[str, ...]) -> str:
    """The split point itself; a wrong name is told with the right ones.

    >>> checked_split("layer9", ("layer0", "layer1"))
    Traceback (most recent call last):
    evenhand.errors.InputError: this network has no split point 'layer9'; did you mean 'layer1' or 'layer0'?
    It has: layer0, layer1
    """
    if split not in splits:
        raise InputError(no_such("this network has no split point", split, splits, "It has"))
    return split

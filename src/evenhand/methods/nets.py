"""Nets: the networks as a method sees them, by name, and what part of training it is called in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call

from evenhand.nets.affine import Affine, affine_layers
from evenhand.nets.wrap import as_net
from evenhand.records import Sizes

Network = Callable[..., Any]


class Bound:
    """A module called with parameters other than its own."""

    def __init__(self, template: nn.Module, parameters: Mapping[str, Tensor]) -> None:
        self.template, self.parameters = template, dict(parameters)

    def __call__(self, *inputs: Tensor, **options: Any) -> Any:
        return functional_call(self.template, self.parameters, inputs, options)

    def at_rest(self) -> Bound:
        """The same with parameters that no gradient reaches."""
        return Bound(self.template, {key: value.detach() for key, value in self.parameters.items()})


NO_NOISE: Mapping[str, Mapping[str, Tensor]] = {}


class Nets(Mapping[str, Network]):
    """`nets["model"](x)` gives `(logits, features)`; an extra network gives what it is made to give.

    Dropout masks of the batch are handed to a network by themselves: called twice in one loss it sees the
    same masks, and `nets["model"](x, dropout=False)` sees none. `sizes`, `phase` and `turn` are plain values,
    so a loss may branch on them; `prepared` says that `batch.x` is what `Method.prepare` made of the inputs
    already. `precision` is put around a network that is called in training: fewer bits, say. In one's own
    loop: `Nets.of(model, problem.sizes)`.
    """

    def __init__(
        self,
        networks: Mapping[str, Network],
        sizes: Sizes,
        *,
        phase: str = "train",
        turn: tuple[str, ...] = ("model",),
        noise: Mapping[str, Mapping[str, Tensor]] = NO_NOISE,
        prepared: bool = False,
        precision: Callable[[Network], Network] | None = None,
    ) -> None:
        self._networks = networks
        self._noise = noise
        self._precision = precision
        self.sizes = sizes
        self.phase = phase
        self.turn = turn
        self.prepared = prepared

    @classmethod
    def of(cls, model: nn.Module, sizes: Sizes, **others: nn.Module) -> Nets:
        """One's own modules; a model may return logits alone, or `(logits, features)`."""
        return cls({"model": as_net(model), **others}, sizes)

    def __getitem__(self, name: str) -> Network:
        return self._called(self._networks[name], name)

    def at_rest(self, name: str) -> Network:
        """The network as others may use it: gradients go through it to its inputs, not to its parameters."""
        network = self._networks[name]
        if isinstance(network, nn.Module):
            network = Bound(network, dict(network.named_parameters()))
        return self._called(network.at_rest() if isinstance(network, Bound) else network, name)

    def measured(self, *, all_bits: bool = True) -> Nets:
        """The networks as a prediction meets them: nothing dropped, batch statistics as remembered, all bits.

        A difference of gradients, such as a curvature, would drown in the rounding of fewer bits; what a
        teacher says does not, and may have the precision of training.
        """
        still = {name: _remembering(network) for name, network in self._networks.items()}
        facts: dict[str, Any] = {"phase": self.phase, "turn": self.turn, "prepared": self.prepared}
        return Nets(still, self.sizes, precision=None if all_bits else self._precision, **facts)

    def in_phase(self, phase: str) -> Nets:
        """The same networks as if another phase were going on."""
        found = copy(self)
        found.phase = phase
        return found

    def points(self, name: str) -> tuple[str, ...]:
        """The names of the points where a network's features can be taken, by `nets[name](x, taps=...)`."""
        return self._told(name, "splits")

    def maps(self, name: str) -> tuple[str, ...]:
        """Those of its points whose features are maps `[B, C, H, W]`."""
        return self._told(name, "maps")

    def _told(self, name: str, what: str) -> tuple[str, ...]:
        """What a network of this package says of itself; nothing of one's own."""
        network = self._networks[name]
        return tuple(getattr(network.template if isinstance(network, Bound) else network, what, ()))

    def layers(self, name: str) -> tuple[Affine, ...] | None:
        """The layers of a ReLU perceptron, for those who need more of it than a call; None for others."""
        network = self._networks[name]
        if isinstance(network, nn.Module):
            return affine_layers(network, dict(network.named_parameters()))
        return affine_layers(network.template, network.parameters) if isinstance(network, Bound) else None

    def _called(self, network: Network, name: str) -> Network:
        masks = self._noise.get(name)
        network = network if self._precision is None else self._precision(network)

        def call(*inputs: Tensor, dropout: bool = True, **options: Any) -> Any:
            if masks and dropout:
                options["noise"] = masks
            return network(*inputs, **options)

        return call

    def __iter__(self) -> Iterator[str]:
        return iter(self._networks)

    def __len__(self) -> int:
        return len(self._networks)


def _remembering(network: Network) -> Network:
    """A module that keeps batch statistics, or draws by itself, as in evaluation; others as they are."""
    if not isinstance(network, nn.Module) or getattr(network, "stackable", True):
        return network

    def call(*inputs: Tensor, **options: Any) -> Any:
        learning = [part for part in network.modules() if part.training]
        for part in learning:
            part.training = False
        try:
            return network(*inputs, **options)
        finally:
            for part in learning:
                part.training = True

    return call

"""The networks by name: one line each. Listing them does not load torch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import InputError
from evenhand.kinds import checked_kind
from evenhand.nets.names import no_such

if TYPE_CHECKING:
    from evenhand.nets.base import Net

Inputs = Literal["table", "image"]


@dataclass(frozen=True)
class NetKind:
    """What can be said of a network before it is built; `home` is its builder as "module:name".

    A builder takes the shape of an input, the number of outputs and options by name. `fixed` are options that
    make it this network and no other. `stackable` is what it is with its default options.

    >>> NETS["s4-mlp"].options()
    {'dropout': 0.25, 'split': None}
    """

    name: str
    home: str
    summary: str
    inputs: tuple[Inputs, ...]
    stackable: bool
    citation: str
    fixed: tuple[tuple[str, Any], ...] = ()

    def builder(self) -> Callable[..., Net]:
        """The function or class that makes the network."""
        module, name = self.home.split(":")
        found: Callable[..., Net] = getattr(import_module(f"evenhand.nets.{module}"), name)
        return found

    def checked(self, option: str, value: Any) -> Any:
        """The value itself if it is of the option's kind."""
        declared = inspect.signature(self.builder()).parameters[option].annotation
        what, least = f"the network '{self.name}': {option}", 1 if declared == "int" else None
        return checked_kind(what, value, declared, least)

    def options(self) -> dict[str, object]:
        """The options with their defaults."""
        given = list(inspect.signature(self.builder()).parameters.values())[2:]  # after shape and outputs
        return {option.name: option.default for option in given if option.name not in dict(self.fixed)}


_IMAGE: tuple[Inputs, ...] = ("image",)
_ANY: tuple[Inputs, ...] = ("table", "image")
_HE = "He et al. 2016, Deep Residual Learning"
_S3 = "Reddy et al. 2021, Benchmarking Bias Mitigation Algorithms"
_S4 = "Wang et al. 2022, Equalized Robustness"
_TV = "torchvision_nets:TorchvisionResNet"

_LINES = (
    NetKind("mlp", "mlp:MLP", "perceptron of any widths", _ANY, True, "Rumelhart et al. 1986"),
    NetKind("s3-mlp", "mlp:s3_mlp", "encoder d-32-32-16, head 16-32-32-K", _ANY, True, _S3),
    NetKind("s4-mlp", "mlp:s4_mlp", "encoder d-100-64, head 64-32-K", _ANY, True, _S4),
    NetKind(
        "convnet", "convnet:ConvNet", "4 convolutions, group norm, 28-64 px", _IMAGE, True, "Wu and He 2018"
    ),
    NetKind("s3-cnn", "convnet:S3CNN", "5 convolutions, 16 features, 32 px", _IMAGE, True, _S3),
    NetKind("cifar-resnet18", "resnet:cifar_resnet18", "ResNet-18 for 32 px", _IMAGE, False, _HE),
    NetKind(
        "resnet32x4", "resnet:resnet32x4", "ResNet-32, 4 times as wide", _IMAGE, False, "Tian et al. 2020"
    ),
    NetKind("resnet18", _TV, "torchvision's ResNet-18", _IMAGE, False, _HE, (("name", "resnet18"),)),
    NetKind("resnet34", _TV, "torchvision's ResNet-34", _IMAGE, False, _HE, (("name", "resnet34"),)),
    NetKind("resnet50", _TV, "torchvision's ResNet-50", _IMAGE, False, _HE, (("name", "resnet50"),)),
)
NETS: dict[str, NetKind] = {line.name: line for line in _LINES}


@dataclass(frozen=True, init=False)
class NetSpec:
    """Which network is meant: a name and options. Hashable, so that runs of one network can be put together.

    >>> spec = NetSpec("mlp", widths=[100, 64], activation="tanh")
    >>> spec
    NetSpec(name='mlp', options=(('activation', 'tanh'), ('widths', (100, 64))))
    >>> net = spec.build((102,), 2)
    >>> net.n_features
    64
    >>> NetSpec("mlp", width=64)
    Traceback (most recent call last):
    evenhand.errors.InputError: the network 'mlp' has no option 'width'; did you mean 'widths'? Its options:
    widths, blocks, activation, slope, dropout, init, legacy_activation, split
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __init__(
        self, name: str, options: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **more: Any
    ) -> None:
        if name not in NETS:
            raise InputError(no_such("there is no network", name, NETS, "There are"))
        given = {**dict(options), **more}
        known = NETS[name].options() if given else {}
        for option in given:
            if option not in known:
                raise InputError(no_such(f"the network '{name}' has no option", option, known, "Its options"))
        object.__setattr__(self, "name", name)
        checked = {key: NETS[name].checked(key, _hashable(value)) for key, value in given.items()}
        object.__setattr__(self, "options", tuple((key, checked[key]) for key in sorted(checked)))

    def build(self, input_shape: Sequence[int], outputs: int) -> Net:
        """A network for inputs of this shape with this many outputs, drawn from torch's generator."""
        kind = NETS[self.name]
        found: Inputs = "image" if len(input_shape) == 3 else "table"
        if found not in kind.inputs:
            others = [name for name, other in NETS.items() if found in other.inputs]
            raise InputError(
                f"the network '{self.name}' reads images, and an input has the shape {tuple(input_shape)}; "
                f"for a {found} there are: {', '.join(others)}"
            )
        return kind.builder()(tuple(input_shape), outputs, **dict(kind.fixed), **dict(self.options))


def _hashable(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(_hashable(item) for item in value) if isinstance(value, (list, tuple)) else value

"""How much longer a training step takes in deterministic mode: networks, rounds in turns, a median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from scipy.stats import binom
from torch import Tensor, nn

from evenhand.nets import NetSpec
from evenhand.train.determinism import deterministic
from evenhand.train.precision import matmul_precision
from evenhand.train.recipe import Recipe

CLASSES = 10
FLOAT32 = Recipe(precision="float32")  # torch would let cuDNN's convolutions use tf32


@dataclass(frozen=True)
class Network:
    """A network, the images it is given, and S0's overhead."""

    name: str
    batch: int
    size: int
    build: Callable[[int], nn.Module]
    printed: float | None = None


def cifar_resnet18(size: int) -> nn.Module:
    """The ResNet-18 of S0's S family: 3 x 3 stem, no pooling before the stages."""
    return Logits(NetSpec("cifar-resnet18").build((3, size, size), CLASSES))


def of_torchvision(name: str) -> Callable[[int], nn.Module]:
    """A network of torchvision, its weights drawn."""

    def build(size: int) -> nn.Module:
        try:
            from torchvision import models
        except RuntimeError as error:  # a build for another torch
            raise ImportError(str(error)) from error
        made: nn.Module = getattr(models, name)(weights=None, num_classes=CLASSES)
        return made

    return build


class Logits(nn.Module):
    """A network of evenhand that gives its logits alone."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        """The logits."""
        logits: Tensor = self.net(x)[0]
        return logits


NETWORKS = (
    Network("cifar-resnet18", 128, 32, cifar_resnet18, 0.178),
    Network("resnet101", 32, 224, of_torchvision("resnet101"), 0.208),
    Network("densenet121", 32, 224, of_torchvision("densenet121"), 0.141),
)


def tiny(size: int) -> nn.Module:
    """A network for a look at the program."""
    head = nn.Linear(4 * size * size, CLASSES)
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), head)


SMALL = (Network("tiny", 4, 8, tiny),)


class Training:
    """A network on a fixed batch with S0's optimiser; `seconds_of` takes steps and says how long one took."""

    def __init__(self, network: Network, device: torch.device, fixed: bool) -> None:
        torch.manual_seed(0)
        self.device, self.fixed = device, fixed
        self.model = network.build(network.size).to(device).train()
        self.x = torch.randn(network.batch, 3, network.size, network.size, device=device)
        self.y = torch.randint(CLASSES, (network.batch,), device=device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9, weight_decay=5e-4)

    def step(self) -> None:
        """Forward, backward, update."""
        self.optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(self.model(self.x), self.y).backward()
        self.optimizer.step()

    def seconds_of(self, steps: int) -> float:
        """Seconds of a step."""
        with deterministic(self.fixed), matmul_precision(FLOAT32):
            _wait(self.device)
            start = time.perf_counter()
            for _ in range(steps):
                self.step()
            _wait(self.device)
        return (time.perf_counter() - start) / steps


def overhead(network: Network, device: torch.device, rounds: int, steps: int) -> dict[str, Any]:
    """(t_det - t_plain) / t_plain: the median over rounds in which both take turns, and its interval.

    Who goes first changes from round to round. The first steps of each, which load kernels, are not counted.
    """
    sides = [Training(network, device, fixed) for fixed in (False, True)]
    for side in sides:
        side.seconds_of(3)
    times: list[list[float]] = [[], []]
    for number in range(rounds):
        for place in (0, 1) if number % 2 == 0 else (1, 0):
            times[place].append(sides[place].seconds_of(steps))
    shares = [(det - plain) / plain for plain, det in zip(*times, strict=True)]
    low, high = median_interval(shares)
    return {
        "net": network.name, "batch": network.batch, "size": network.size, "rounds": rounds, "steps": steps,
        "plain": statistics.median(times[0]), "deterministic": statistics.median(times[1]),
        "overhead": statistics.median(shares), "low": low, "high": high, "printed": network.printed,
        "shares": shares,
    }  # fmt: skip


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """An interval of the median that assumes nothing of the distribution: two of the ordered values.

    The k-th smallest and the k-th largest, with the largest k for which a fair coin gives fewer than k heads
    in n throws with a chance of at most (1 - confidence) / 2; the extremes where there is none.

    >>> median_interval(list(range(1, 13)))  # 3rd and 10th of 12: covers with 96.1 %
    (3, 10)
    """
    ordered, n = sorted(values), len(values)
    k = max((k for k in range(1, n // 2 + 1) if binom.cdf(k - 1, n, 0.5) <= (1 - confidence) / 2), default=1)
    return ordered[k - 1], ordered[n - k]


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

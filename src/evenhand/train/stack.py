"""Stack: the networks of R runs, one template for each name and parameters with a run dimension in front."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.nets import Bound, Network
from evenhand.train.heads import head_parameters

Parameters = dict[str, dict[str, Tensor]]  # network -> name -> [R, ...], or [...] for a single run
Build = Callable[[], dict[str, nn.Module]]

# A run's numbers take whole cache lines. Kernels treat the last few numbers of a tensor otherwise than the
# rest (no vector is full there), so where a run's numbers end must not depend on its neighbours.
LINE = 16


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's CPU generator set to a seed inside, and as it was afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed % 2**64)
        yield


class Stack:
    """Parameters are leaves; a network is called as its template with a run's parameters put in.

    A single run is not stacked: its networks are called without vmap and may keep batch statistics.
    """

    def __init__(
        self,
        builds: Sequence[Build],
        seeds: Sequence[int],
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        stacked: bool | None = None,
    ) -> None:
        self.n_runs = len(seeds)
        self.stacked = self.n_runs > 1 if stacked is None else stacked
        if self.n_runs > 1 and not self.stacked:
            raise InputError(f"{self.n_runs} runs are trained side by side only if they are stacked")
        self.device, self.dtype = device, dtype
        self._builds = list(builds)
        made = [self._build(build, seed) for build, seed in zip(builds, seeds, strict=True)]
        self.blocks = {name: self._filled(name, made) for name in made[0]}
        self.templates = {name: module.to(device=device, dtype=dtype) for name, module in made[0].items()}
        self.parameters: Parameters = {name: self._leaves(name) for name in self.templates}
        leaves = (leaf for own in self.parameters.values() for leaf in own.values())
        self._trained = [leaf for leaf in leaves if leaf.requires_grad]
        self.mode(training=True)  # a module that was read from a file may have been left in the other mode

    def _build(self, build: Build, seed: int) -> dict[str, nn.Module]:
        with seeded(seed):
            return build()

    def _filled(self, name: str, made: Sequence[Mapping[str, nn.Module]]) -> dict[str, Tensor]:
        """The numbers of one network in all runs: for each parameter a block `[R, whole lines]`."""
        found = {}
        parameters = [dict(modules[name].named_parameters()) for modules in made]
        for key in parameters[0]:
            values = [own[key].detach().reshape(-1) for own in parameters]
            found[key] = in_lines(torch.stack(values).to(device=self.device, dtype=self.dtype))
        return found

    def _leaves(self, name: str) -> dict[str, Tensor]:
        """The parameters as views of their blocks; a frozen module's stay without gradient.

        A single run's template is given the views for its own, so that it can be called as it is.
        """
        found: dict[str, Tensor] = {}
        for key, own in self.templates[name].named_parameters():
            view = self.blocks[name][key][:, : own.numel()].view(self.n_runs, *own.shape)
            if self.stacked:
                found[key] = view.detach().requires_grad_(own.requires_grad)
            else:
                own.data = view[0]
                found[key] = own
        return found

    def restart(self, names: Sequence[str], seeds: Sequence[int]) -> None:
        """Initialise some networks again."""
        made = [self._build(build, seed) for build, seed in zip(self._builds, seeds, strict=True)]
        for name in names:
            with torch.no_grad():
                for key, block in self._filled(name, made).items():
                    self.blocks[name][key].copy_(block)
                fresh = dict(made[0][name].named_buffers())
                for key, value in self.templates[name].named_buffers():
                    value.copy_(fresh[key])

    def copy(self, name: str, source: str) -> None:
        """Let a network begin with what another one of its kind has learnt."""
        with torch.no_grad():
            for key, block in self.blocks[source].items():
                self.blocks[name][key].copy_(block)
            learnt = dict(self.templates[source].named_buffers())
            for key, value in self.templates[name].named_buffers():
                value.copy_(learnt[key])

    def move(self, heads: Sequence[str] = ()) -> None:
        """Let gradients reach everything again, but of these networks only the head."""
        for leaf in self._trained:
            leaf.requires_grad_(True)
        for name in heads:
            kept = head_parameters(self.templates[name])
            for key, leaf in self.parameters[name].items():
                leaf.requires_grad_(leaf.requires_grad and key in kept)

    def networks(self, parameters: Mapping[str, Mapping[str, Tensor]]) -> dict[str, Network]:
        """The networks as functions; in a stack with these parameters, of one run, inside vmap."""
        if not self.stacked:
            return dict(self.templates)
        return {name: Bound(self.templates[name], values) for name, values in parameters.items()}

    def mode(self, training: bool) -> None:
        """Batch statistics and the like behave as in training, or as in evaluation."""
        for template in self.templates.values():
            template.train(training)

    def buffers(self) -> dict[str, Tensor]:
        """Tensors that a single run's networks keep beside parameters: running statistics."""
        return {
            f"{name}.{key}": value
            for name, template in self.templates.items()
            for key, value in template.named_buffers()
        }


def in_lines(rows: Tensor) -> Tensor:
    """Rows `[R, n]` padded with zeros to whole lines; as they are if they fill their lines.

    >>> in_lines(torch.ones(2, 5)).shape
    torch.Size([2, 16])
    """
    extra = -rows.shape[1] % LINE
    return functional.pad(rows, (0, extra)) if extra else rows.contiguous()

"""Selection: which epoch's parameters a run keeps, and when it stops; each run for itself.

A stopped run is not taken out of the stack (the others would then be computed in another shape); what it
keeps is a copy that no longer changes: of its networks, and of what the method remembers.
"""

from __future__ import annotations

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.records import State
from evenhand.train.recipe import Recipe
from evenhand.train.stack import Stack

STATE = "state/"  # before the names of what the method remembers, among what is kept


class Selection:
    """Best value, epochs without improvement, and the copy that will be kept, for each run."""

    def __init__(self, recipe: Recipe, stack: Stack, validated: bool) -> None:
        self._recipe, self._stack = recipe, stack
        self.active = recipe.patience > 0 or recipe.keep == "best"
        if self.active and not validated:
            raise InputError("'patience' and keep='best' need validation rows, and this task has none")
        self.start()

    def start(self) -> None:
        """Forget what was seen: a new phase begins."""
        n = self._stack.n_runs
        self.best = torch.full((n,), torch.inf, dtype=torch.float64)
        self.best_epoch = torch.zeros(n, dtype=torch.int64)
        self.waited = torch.zeros(n, dtype=torch.int64)
        self.stopped = torch.zeros(n, dtype=torch.bool)
        self.kept: dict[str, Tensor] = {}

    def _live(self) -> dict[str, Tensor]:
        """Everything that makes up a run's networks: parameters, and statistics of a single run."""
        parameters = {
            f"{network}.{key}": leaf
            for network, values in self._stack.parameters.items()
            for key, leaf in values.items()
        }
        return parameters if self._stack.stacked else {**parameters, **self._stack.buffers()}

    @property
    def all_stopped(self) -> bool:
        """Whether no run goes on."""
        return bool(self.stopped.all())

    def see(self, values: Tensor, epoch: int, state: State, ripe: Tensor | bool = True) -> None:
        """Note this epoch's monitored numbers `[R]`, lower is better; NaN is no improvement.

        A run that has never improved has no best epoch; it keeps the last one before it stopped. A run that
        is not `ripe` yet is neither kept nor stopped.
        """
        if not self.active:
            return
        going = ~self.stopped & ripe
        better = going & (values < self.best - self._recipe.min_drop)
        self.best = torch.where(better, values, self.best)
        self.best_epoch = torch.where(better, epoch, self.best_epoch)
        self.waited = torch.where(better, 0, self.waited + going.to(torch.int64))
        self._keep(going & (self.best_epoch == 0) | better if self._recipe.keep == "best" else going, state)
        if self._recipe.patience:
            self.stopped |= self.waited >= self._recipe.patience

    def _keep(self, which: Tensor, state: State) -> None:
        live = {**self._live(), **{STATE + name: value for name, value in state.items()}}
        for name, value in live.items():
            if name not in self.kept:  # the first epoch: all are going
                self.kept[name] = value.detach().clone()
            elif self._stack.stacked:
                wide = which.to(value.device).view(-1, *[1] * (value.dim() - 1))
                self.kept[name] = torch.where(wide, value.detach(), self.kept[name])
            elif bool(which[0]):
                self.kept[name] = value.detach().clone()

    def restore(self, state: State) -> dict[str, Tensor]:
        """Put what was kept back into the networks; the state that belongs to it."""
        if not self.kept:
            return dict(state)
        for name, value in self._live().items():
            value.data.copy_(self.kept[name])
        return {name: self.kept[STATE + name] for name in state}

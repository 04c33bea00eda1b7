"""NIFR: an invertible network that gathers s in a few numbers, which are then set to 0 in the inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method, Tensors
from evenhand.methods.ffvae_terms import noise_of_rows
from evenhand.methods.fields import number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.nifr_terms import as_bins, as_image, committee_loss, needed, null_sampled
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import probabilities, row_losses
from evenhand.nets.flow import checked_levels, flow_of, nll_per_dimension
from evenhand.nets.flow_critics import Critics, renewed
from evenhand.records import Batch, Needs, NoiseSpec, Out, Phase, State

PIECE = 512  # rows that go through the flow and back at a time: pictures inside are large


@dataclass(frozen=True)
class NullSampling(Method):
    """Null-sampling: inputs are sent through a flow, lose the numbers that tell s, and come back as inputs.

    Objective of the flow f, in the first phase ("represent"): `-(1/d) log p(x) + weight mean_k CE(D_k(R[z_y,
    0]), g)`, where `z = f(x)`, `log p(x) = log N(z; 0, I) + log|det dz/dx|`, z_s is the last `round(share d)`
    numbers of z (at least one), z_y the others, and R turns the sign of the gradient: each discriminator D_k
    tells the group from [z_y, 0] as well as it can, and the flow moves against it. As f loses nothing, what
    tells the group must go to z_s. After each step a discriminator begins anew with probability `reset`.

    Objective of the model, in the second phase ("classify"): its mean loss on null-sampled inputs
    `f^-1([z_y, 0])`, with the flow at rest; predictions are of null-sampled inputs too. They have the shape
    of the inputs, so any network does, and they can be looked at
    (`evenhand.methods.nifr_samples.null_samples`).

    Images (inputs from `low` to `high`) are cut to `bits` bits; in training of the flow uniform noise fills
    the bins, elsewhere a number stands in the middle of its bin; what comes back is clamped. Tables arrive as
    z-scores, one-hot columns too: every column gets noise of deviation `jitter`, for atoms have no density,
    and what no discriminator could see for noise must not be read without it. Outside the flow's training
    it is made of the row's own inputs, so that a null-sample can be repeated.

    Needs the groups of training rows; those of unknown group serve the likelihood and the model only.

    S0's N-Flow has 3 levels of 32 blocks of width 512, 10 discriminators of width 512, reset 1/5000 and
    76,000 steps of 32 images of 64 pixels; the defaults are for small machines. It trains the flow on other,
    unconfounded rows than the model (here on the same) and gives discriminators batch statistics, which
    cannot be stacked (here none). The weight scales the gradient that reaches the flow and not the
    discriminators' own; Adam makes that one and the same.

    >>> problem = Problem.from_labels([0, 1], g=[0, 1], inputs=(3, 32, 32))
    >>> method = NullSampling()
    >>> method.check(problem)
    >>> method.n_sensitive(3072), [phase.name for phase in method.phases()]
    (3, ['represent', 'classify'])
    """

    key: ClassVar[str] = "nifr"
    title: ClassVar[str] = "Null-sampling with an invertible network"
    citation: ClassVar[str] = (
        "Kehrenberg et al., Null-sampling for interpretable and fair representations, ECCV 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True)
    adversarial: ClassVar[bool] = True

    weight: float = number(
        0.01, "how strongly the flow works against the discriminators", search=(1e-3, 10.0)
    )
    share: float = number(0.001, "share of the flow's numbers that are z_s; at least one is", at_most=1.0)
    levels: int = number(3, "images: levels of the flow, each of which halves the sides", at_least=1)
    blocks: int = number(4, "blocks of the flow (in each level, of images)", at_least=1)
    width: int = number(32, "width of the couplings' networks", at_least=1)
    norm: bool = switch(False, "an ActNorm before every block")
    discriminators: int = number(3, "how many discriminators there are", at_least=1)
    critic: int = number(64, "width of a discriminator's layers", at_least=1)
    critic_blocks: int = number(1, "residual blocks of a discriminator")
    reset: float = number(0.001, "chance a step that a discriminator begins anew", at_most=1.0)
    flow_epochs: int = number(20, "epochs of the first phase", at_least=1)
    bits: int = number(5, "images: bits of a number that the flow reads", at_least=1, at_most=8)
    low: float = number(-1.0, "images: smallest number of the inputs", at_least=None)
    high: float = number(1.0, "images: largest number of the inputs", at_least=None)
    jitter: float = number(0.05, "tables: deviation of the noise on the columns")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The model's loss on null-sampled inputs, or that of flow and discriminators, with the reversal."""
        if nets.phase != "represent":
            x = batch.x if nets.prepared else self.prepare(nets, batch)
            return Out({"model": row_losses(nets["model"](x)[0], batch.y).mean()}, state)
        z, log_det = nets["flow"](self.noisy(batch))
        told = nets["discriminators"](reverse(null_sampled(z, self.share), self.weight))
        nll = nll_per_dimension(z, log_det).mean()
        spotting = committee_loss(told, batch.g, nets.sizes.n_groups)
        anew = {name: needed(batch.noise, name)[0] for name in ("reset", "fresh")}
        anew["reset"] = (anew["reset"] < self.reset).to(z.dtype)
        return Out({"flow": nll + spotting}, anew, {"nll": nll, "spotting": spotting})

    def noisy(self, batch: Batch) -> Tensor:
        """Inputs as the flow is trained on: images whose bins are filled, tables with noise."""
        noise = needed(batch.noise, "density")
        if batch.x.ndim == 4:
            return as_bins(batch.x, self.low, self.high, self.bits, noise)
        return batch.x + self.jitter * noise

    def null_sample(self, nets: Nets, x: Tensor) -> Tensor:
        """Inputs without what z_s held: `f^-1([z_y, 0])`, in the scale of inputs; in 64 bits in between."""
        return torch.cat([self._nulled(nets, some) for some in torch.split(x, PIECE)])

    def _nulled(self, nets: Nets, x: Tensor) -> Tensor:
        z, _ = nets["flow"](self.repeatable(x).to(torch.float64))
        back: Tensor = nets["flow"](null_sampled(z, self.share), inverse=True).to(x.dtype)
        return as_image(back, self.low, self.high) if x.ndim == 4 else back

    def repeatable(self, x: Tensor) -> Tensor:
        """Inputs as the flow reads them outside its training: the middle of bins, the row's own noise."""
        if x.ndim == 4:
            return as_bins(x, self.low, self.high, self.bits)
        # a table without noise would tell what discriminators could not see for it
        return x + self.jitter * noise_of_rows(x, x.shape[1])

    def prepare(self, nets: Nets, batch: Batch) -> Tensor:
        """Null-sampled inputs, by a flow at rest."""
        with torch.no_grad():
            return self.null_sample(nets, batch.x)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The model's scores of null-sampled inputs."""
        x = batch.x if nets.prepared else self.null_sample(nets, batch.x)
        return probabilities(nets["model"](x)[0], nets.sizes)

    def constrain(self, parameters: Mapping[str, Tensors], state: State) -> Mapping[str, Tensors]:
        """Discriminators whose turn it is begin anew; their optimiser goes on as it is.

        In the second phase the state stays, and the same ones are given the weights that they have.
        """
        mine = parameters["discriminators"]
        return {"discriminators": renewed(mine, state["reset"] > 0, state["fresh"])}

    def init(self, problem: Problem) -> State:
        """Which discriminators begin anew after a step, and from which numbers."""
        return {name: torch.zeros(self.discriminators) for name in ("reset", "fresh")}

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The flow and the discriminators of [z_y, 0]."""
        shape, how = problem.sizes.inputs, {"blocks": self.blocks, "width": self.width}
        d, n_groups = math.prod(shape), problem.sizes.n_groups
        critics = Critics(self.discriminators, d, n_groups, width=self.critic, blocks=self.critic_blocks)
        return {"flow": flow_of(shape, levels=self.levels, norm=self.norm, **how), "discriminators": critics}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """Flow and discriminators share one loss, by the reversal; the model has its own."""
        return {"flow": ("flow", "discriminators"), "model": ("model",)}

    def phases(self) -> tuple[Phase, ...]:
        """The flow first, then the model on null-sampled inputs."""
        first = Phase("represent", (("flow",),), epochs=self.flow_epochs, select=False)
        return first, Phase("classify", prepared=True)

    def noise(self, problem: Problem) -> dict[str, NoiseSpec]:
        """For the density of inputs, and for who begins anew."""
        shape, first = problem.sizes.inputs, ("represent",)
        filling = NoiseSpec("uniform" if len(shape) == 3 else "normal", shape, phases=first)
        chance = NoiseSpec("uniform", (self.discriminators,), phases=first)
        return {"density": filling, "reset": chance, "fresh": chance}

    def n_sensitive(self, d: int) -> int:
        """How many of d numbers are z_s."""
        return int((null_sampled(torch.ones(1, d), self.share) == 0).sum())

    def check(self, problem: Problem) -> None:
        """Refuse shapes that no flow takes, a z_s that leaves nothing, an empty range."""
        super().check(problem)
        shape = problem.sizes.inputs
        if len(shape) != 1:
            checked_levels(shape, self.levels)
        d = math.prod(shape)
        if self.n_sensitive(d) >= d:
            raise InputError(f"'share' of 'nifr' is {self.share}: all {d} numbers are z_s; nothing is left")
        if self.low >= self.high:
            raise InputError(f"'low' of 'nifr' must be less than 'high', not {self.low} and {self.high}")

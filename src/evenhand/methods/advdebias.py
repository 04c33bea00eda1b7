"""AdvDebias: an adversary on the prediction (and the label), and steps that do not help it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method, Tensors
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.projection import projected
from evenhand.methods.terms import row_losses, weighted_mean
from evenhand.nets.head import Head
from evenhand.nets.layers import Linear
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class AdvDebias(Method):
    """Adversarial debiasing (Zhang et al.): an adversary that sees the prediction, and projected steps.

    Objective: none that is minimised. For each parameter tensor the model steps along
    `g - <g, e> e - alpha h`, g the gradient of the mean loss, h that of the adversary's loss, `e = h / |h|`
    (no projection where h is 0), so that `<step, h> = -alpha |h|^2`. Then the adversary steps on the same
    batch with the model as it is now. The adversary has `u = sigmoid((1 + |c|) z)`, z the log-odds of the
    prediction and c learned (1 at first), and is linear in `[u, u y, u (1 - y)]` (head="odds") or in u
    ("parity"). `growing` lets alpha grow as `sqrt(t)` with the model's steps t, as the authors' theory asks.

    form="reversal" is S4's reading: an adversary with a hidden layer of `width` on the two probabilities (and
    the label, if head="odds"; S4 has head="parity"), the step `g - alpha h` without a projection, which is
    gradient reversal, and both players move at once.

    Needs two classes and the groups of training rows; rows of unknown group serve the task only. Two groups
    have one logit, more of them a softmax. alpha = 0 is ERM for form="reversal" alone: the projection stays.
    Differs from AIF360 in the constant that it adds to |h|. It is known to be unstable (S3 left it out).

    >>> AdvDebias(head="parity").phases()[0].turns, AdvDebias(form="reversal").phases()[0].turns
    ((('model',), ('adversary',)), (('model', 'adversary'),))
    """

    key: ClassVar[str] = "advdebias"
    title: ClassVar[str] = "Adversarial debiasing"
    citation: ClassVar[str] = (
        "Zhang, Lemoine, Mitchell, Mitigating unwanted biases with adversarial learning, AIES 2018"
    )
    needs: ClassVar[Needs] = Needs(groups=True, binary=True, cross_gradients=(("adversary", "model"),))
    adversarial: ClassVar[bool] = True

    alpha: float = number(0.1, "weight of the adversary's gradient, turned round", search=(0.01, 10.0))
    head: str = choice("odds", ("odds", "parity"), "whether the adversary sees the label too")
    form: str = choice("projection", ("projection", "reversal"), "the authors' step, or S4's reading")
    growing: bool = switch(False, "alpha grows with the square root of the model's steps")
    width: int = number(32, "form 'reversal': width of the adversary's hidden layer", at_least=1)

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task for the model, the group for the adversary, which may move alone."""
        logits, _ = nets["model"](batch.x)
        moving = "model" in nets.turn
        guess = nets["adversary"](logits if moving else logits.detach(), batch.y)
        losses = row_losses(guess, batch.g.clamp(min=0))
        spotting = weighted_mean(losses, (batch.g >= 0).to(losses.dtype))
        if not moving:
            return Out({"adversary": spotting}, state)
        task, logs = row_losses(logits, batch.y).mean(), {"adversary": spotting.detach()}
        if not self.growing:
            return Out({"model": task, "adversary": spotting}, state, logs)
        step = state["step"] + 1  # `combine` sees no state: what alpha is to multiply is scaled instead
        grown = spotting * step.to(spotting.dtype).sqrt()
        return Out({"model": task, "adversary": grown}, {"step": step}, logs)

    def init(self, problem: Problem) -> State:
        """The number of the model's steps, where it matters."""
        return {"step": torch.zeros((), dtype=torch.int64)} if self.growing else {}

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary, on the model's outputs."""
        odds, groups = self.head == "odds", problem.sizes.n_groups
        if self.form == "reversal":
            return {"adversary": OutputAdversary(groups, odds=odds, width=self.width)}
        return {"adversary": ScaledAdversary(1 if groups == 2 else groups, odds=odds)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """Model and adversary, each with its own loss."""
        return {"model": ("model",), "adversary": ("adversary",)}

    def phases(self) -> tuple[Phase, ...]:
        """The model and then the adversary on each batch; at once where there is no projection."""
        together = (("model", "adversary"),)
        return (Phase(turns=together if self.form == "reversal" else (("model",), ("adversary",))),)

    def combine(self, grads: Mapping[tuple[str, str], Tensors]) -> Mapping[tuple[str, str], Tensors]:
        """The model's gradient against the adversary's, and without its part along it if projected."""
        own, other = grads["model", "model"], grads["adversary", "model"]
        if self.form == "reversal":
            found = {key: own[key] - self.alpha * other[key] for key in own}
        else:
            found = {key: projected(own[key], other[key], self.alpha) for key in own}
        return {**grads, ("model", "model"): found}

    def check(self, problem: Problem) -> None:
        """Refuse what the adversary could not tell apart, beside what the contract refuses."""
        super().check(problem)
        if problem.sizes.n_groups < 2:
            raise InputError(f"the method '{self.key}' compares groups; this task has one only")
        if self.growing and self.form == "reversal":
            raise InputError(
                f"'growing' of '{self.key}' belongs to form='projection'; with form='reversal' both players "
                "move on one loss and its scale is the adversary's own step"
            )


class ScaledAdversary(nn.Module):
    """Logits of the group `[B, outputs]`, linear in a sharpened prediction and its products with the label.

    >>> ScaledAdversary(1, odds=True)(torch.zeros(4, 2), torch.tensor([0, 1, 1, 0])).shape
    torch.Size([4, 1])
    """

    stackable = True

    def __init__(self, outputs: int, *, odds: bool) -> None:
        super().__init__()
        self.c = nn.Parameter(torch.ones(()))
        self.odds = odds
        self.linear = Linear(3 if odds else 1, outputs)

    def forward(self, logits: Tensor, y: Tensor, noise: Mapping[str, Tensor] | None = None) -> Tensor:
        """For the model's outputs `[B, 2]` (or `[B, 1]`) and labels `[B]`."""
        u = torch.sigmoid((1 + self.c.abs()) * log_odds(logits))
        positive = y.to(u.dtype)
        seen = [u, u * positive, u * (1 - positive)] if self.odds else [u]
        return self.linear(torch.stack(seen, dim=-1))  # type: ignore[no-any-return]


class OutputAdversary(nn.Module):
    """Logits of the group `[B, groups]` from the two probabilities, and the label if `odds`: S4's 2-32-2.

    >>> OutputAdversary(2, odds=False)(torch.zeros(4, 2), torch.zeros(4)).shape
    torch.Size([4, 2])
    """

    stackable = True

    def __init__(self, groups: int, *, odds: bool, width: int = 32) -> None:
        super().__init__()
        self.odds = odds
        self.head = Head(3 if odds else 2, groups, (width,))

    def forward(self, logits: Tensor, y: Tensor, noise: Mapping[str, Tensor] | None = None) -> Tensor:
        """For the model's outputs `[B, 2]` (or `[B, 1]`) and labels `[B]`."""
        positive = torch.sigmoid(log_odds(logits))
        shares = torch.stack([1 - positive, positive], dim=-1)
        return self.head(shares, y if self.odds else None)  # type: ignore[no-any-return]


def log_odds(logits: Tensor) -> Tensor:
    """The log-odds of the second class `[B]`, from two outputs or from one.

    >>> log_odds(torch.tensor([[1.0, 3.0]])).tolist()
    [2.0]
    """
    return logits[:, 0] if logits.shape[-1] == 1 else logits[:, 1] - logits[:, 0]

"""What the four forms of LAFTR share: players, turns, and an adversary's error that groups share equally."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.methods.adversary_nets import BENDS, adversary, checked_width
from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import cells_of, probabilities, row_losses
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class Laftr(Method):
    """What the four forms share; they differ in three numbers (`condition`), so that one stack can hold all.

    The encoder is the network up to its split point, the classifier is the rest: together the player "model".
    The adversary reads the features and the label times `seen`: where it may not see the label it has a
    constant 0 in its place (one unused input more than the authors'), so that the shapes agree.
    """

    citation: ClassVar[str] = (
        "Madras, Creager, Pitassi, Zemel, Learning adversarially fair and transferable representations, "
        "ICML 2018"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True, binary=True)
    adversarial: ClassVar[bool] = True
    condition: ClassVar[tuple[float, float, float]]  # label seen and conditioned on; label 0, label 1 count

    gamma: float = number(1.0, "weight of the adversary's error", search=(0.1, 4.0))
    n_adv: int = number(2, "steps of the adversary on each batch", at_least=1)
    width: int = number(32, "width of the adversary's hidden layers", at_least=1)
    depth: int = number(2, "hidden layers of the adversary; 0: it is linear")
    bend: str = choice("leaky", BENDS, "what stands between the adversary's layers")
    task_loss: str = choice("cross-entropy", ("cross-entropy", "l1"), "what the classifier minimises")

    def numbers(self) -> tuple[float, float, float]:
        """`condition`, or what stands for it in a stack of several forms."""
        return self.condition

    def stacked_form(self) -> Method:
        """The same training by the class that all four forms share."""
        shared = {item.name: getattr(self, item.name) for item in fields(Laftr)}
        seen, on_0, on_1 = self.numbers()
        return StackedLaftr(**shared, seen=seen, on_0=on_0, on_1=on_1)

    def init(self, problem: Problem) -> State:
        """The weight of each group and label, from their shares of the training rows `[G, 2]`."""
        table = inverse_shares(problem.cell_counts().double(), *self.numbers())
        return {"weights": table.to(torch.get_default_dtype())}

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary: one output for two groups, one for each of more."""
        groups = problem.sizes.n_groups
        inputs, outputs = checked_width(n_features, self.key) + 1, groups if groups > 2 else 1
        return {"adversary": adversary(inputs, outputs, self.width, self.depth, self.bend)}

    def players(self) -> dict[str, tuple[str, ...]]:
        """Encoder and classifier against the adversary."""
        return {"model": ("model",), "adversary": ("adversary",)}

    def phases(self) -> tuple[Phase, ...]:
        """On each batch one step of the model, then those of the adversary."""
        return (Phase(turns=(("model",), *[("adversary",)] * self.n_adv)),)

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The model's loss and the adversary's; where only the adversary moves, its own alone."""
        logits, z = nets["model"](batch.x)
        seen = batch.y.to(z.dtype) * self.numbers()[0]
        if "model" not in nets.turn:
            error = self._error(nets["adversary"](z.detach(), seen), batch, state, nets)
            return Out({"adversary": error}, state)
        error = self._error(nets["adversary"](z, seen), batch, state, nets)
        task = self._task_losses(logits, batch.y, nets).mean()
        logs = {"task": task.detach(), "adversary": error.detach()}
        return Out({"model": task - self.gamma * error, "adversary": error}, state, logs)

    def _error(self, outputs: Tensor, batch: Batch, state: State, nets: Nets) -> Tensor:
        """The group-normalised error of the adversary, over the rows of known group."""
        cells, _ = cells_of(batch, nets.sizes, "label-group")
        known = (cells >= 0).to(outputs.dtype)
        weights = state["weights"].flatten()[cells.clamp(min=0)].to(outputs.dtype) * known
        return (weights * misses(outputs, batch.g)).sum() / known.sum().clamp(min=1)

    def _task_losses(self, logits: Tensor, y: Tensor, nets: Nets) -> Tensor:
        if self.task_loss == "cross-entropy":
            return row_losses(logits, y)
        return 1 - probabilities(logits, nets.sizes).gather(1, y[:, None])[:, 0]


@dataclass(frozen=True)
class StackedLaftr(Laftr):
    """Any of the four forms as numbers, which may differ from run to run of one stack; not in the registry.

    >>> opportunity = StackedLaftr(gamma=2.0, seen=1.0, on_0=0.0, on_1=1.0)
    >>> opportunity.init(Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 0, 1]))["weights"].tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """

    key: ClassVar[str] = "laftr"
    title: ClassVar[str] = "LAFTR"

    seen: float = number(0.0, "1: the adversary sees the label, and shares are those of group and label")
    on_0: float = number(1.0, "1: rows of label 0 count")
    on_1: float = number(1.0, "1: rows of label 1 count")

    def numbers(self) -> tuple[float, float, float]:
        """The fields in place of the class's own."""
        return self.seen, self.on_0, self.on_1


def inverse_shares(counts: Tensor, seen: float, on_0: float, on_1: float) -> Tensor:
    """`n / n_a` of each group, or `n / n_ab` of group and label; 0 for cells that are empty or do not count.

    With the counts of a batch, `mean_i w_i v_i` is the sum of the means of v within its groups or cells.

    >>> inverse_shares(torch.tensor([[2.0, 1.0], [1.0, 0.0]]), seen=1.0, on_0=1.0, on_1=1.0).tolist()
    [[2.0, 4.0], [4.0, 0.0]]
    """
    of_group = counts.sum(1, keepdim=True)
    rows = seen * counts + (1 - seen) * of_group
    counted = counts.new_tensor([on_0, on_1])
    return torch.where(rows > 0, counted * counts.sum() / rows.clamp(min=1), 0.0)


def misses(outputs: Tensor, g: Tensor) -> Tensor:
    """`1 - p_g` of each row `[B]`: one output is the log-odds of group 1, where that is `|p - g|`.

    >>> misses(torch.tensor([[0.0], [50.0]]), torch.tensor([0, 1])).tolist()
    [0.5, 1.9287498933537385e-22]
    """
    own = g.clamp(min=0)
    if outputs.shape[-1] == 1:
        return torch.sigmoid((1 - 2 * own) * outputs[:, 0])  # exact near 0, where 1 - p is not
    return 1 - torch.softmax(outputs, dim=-1).gather(1, own[:, None])[:, 0]

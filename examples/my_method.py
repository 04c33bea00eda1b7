"""A method of your own in one file: the mean loss, and how far groups are apart in their mean score.

    evenhand study run ci-mnist --smoke --add examples/my_method.py:MeanDifference

`method_in_a_study.py` beside this file runs it with others in seconds.
"""

from dataclasses import dataclass

from evenhand.methods import Batch, Method, Nets
from evenhand.methods.fields import number
from evenhand.methods.terms import group_means, mask_of, probabilities, row_losses
from evenhand.records import Needs, Out, State


@dataclass(frozen=True)
class MeanDifference(Method):
    """`mean l_i + lam * (mean score of group 0 - mean score of group 1)^2`, of each batch."""

    key = "mean-difference"
    title = "Mean difference"
    needs = Needs(groups=True, binary=True)

    lam: float = number(1.0, "weight of the difference", search=(0.1, 10.0))

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """What the network shall make small; many runs with a lam each are trained at once."""
        logits, _ = nets["model"](batch.x)
        scores = probabilities(logits, nets.sizes)[:, 1]
        found = group_means(scores, mask_of(batch.g, nets.sizes.n_groups, scores.dtype))
        apart = (found.means[0] - found.means[1]) * found.present.all()  # 0 where a batch lacks a group
        return Out({"model": row_losses(logits, batch.y).mean() + self.lam * apart.square()}, state)

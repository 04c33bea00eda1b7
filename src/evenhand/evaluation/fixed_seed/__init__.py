"""Studies in the shape of S0, "Are My Deep Learning Systems Fair?": what varies, what moved, what it cost.

The tables are those of the replay of the published runs (`evenhand.evaluation.replay`), made from runs of our
own; what the authors published stands beside each.
"""

from evenhand.evaluation.fixed_seed.claims import answers
from evenhand.evaluation.fixed_seed.study import compute, together
from evenhand.evaluation.fixed_seed.trained import Trained, read_trained

__all__ = ["Trained", "answers", "compute", "read_trained", "together"]

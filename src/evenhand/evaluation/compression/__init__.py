"""Studies of S2's compression: populations, exemplars, CEV and SDE, who paid, and the claims answered.

`python -m evenhand.evaluation.compression DIR [DIR ...] --page docs/studies/compression.md` writes the page
of one study or several; with `--claims docs/claims.csv` it fills in the answers.
"""

from evenhand.evaluation.compression.findings import CLAIMS, QUESTIONS, findings, questions
from evenhand.evaluation.compression.measures import Against, against_base
from evenhand.evaluation.compression.populations import Compressed, Population, read_populations
from evenhand.evaluation.compression.study import compute, together
from evenhand.evaluation.many_attributes.claims import answers

__all__ = ["CLAIMS", "QUESTIONS", "Against", "Compressed", "Population", "against_base", "answers", "compute",
           "findings", "questions", "read_populations", "together"]  # fmt: skip

"""S3's claims one by one: each in parts that runs can decide, with effect, interval, runs and verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.evaluation.ci_mnist import findings_order as order
from evenhand.evaluation.ci_mnist import findings_settings as settings
from evenhand.evaluation.ci_mnist import findings_stability as stability
from evenhand.evaluation.ci_mnist.evidence import Evidence
from evenhand.evaluation.ci_mnist.judging import Asked, Part, judged, together
from evenhand.evaluation.ci_mnist.layout import BESIDE, MODELS, SETTINGS, tasks_of

Claim = Callable[[Evidence], Sequence[Asked]]


@dataclass(frozen=True)
class Finding:
    """A claim with its parts and what they come to."""

    id: str
    claim: str
    parts: tuple[Part, ...]
    verdict: str
    runs: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As a report reads it."""
        return {**vars(self), "parts": [part.to_dict() for part in self.parts]}


CLAIMS: dict[str, tuple[str, Claim, str]] = {
    "S3.1a": ("As the unprivileged group shrinks from one half to 0.001, accuracy and fairness fall.",
              settings.less_blue, ""),
    "S3.1b": ("At (0.001, 0.001) fairness is kept in the order LAFTR, FFVAE, CFAIR, MLP; accuracy in the "
              "reverse order.", settings.order_of_models,
              "Later public figures of the same authors have LAFTR best in both."),
    "S3.2a": ("When colour goes with the label, FFVAE keeps fairness best; LAFTR and CFAIR are like the MLP "
              "or worse.", settings.ffvae_keeps,
              "Later public figures of the same authors have FFVAE worst."),
    "S3.2b": ("In that setting the MLP has the best accuracy.", settings.mlp_most_accurate, ""),
    "S3.2c": ("Models use the correlation on a balanced test set too; some fairness metrics reach 0, with "
              "mitigation too.", settings.correlation_is_used,
              "A number below 0.05 counts as 0: its bar is not seen in a figure."),
    "S3.3": ("When lines go with the label, MLP, CFAIR and FFVAE change little; LAFTR-DP loses fairness, "
             "LAFTR-EqOpp0 gains it.", settings.lines_matter_little,
             "The authors put the LAFTR part down to its variance."),
    "S3.4a": ("An easy green hint (g1 = 2) makes LAFTR less fair and hardly changes MLP, CFAIR and FFVAE.",
              settings.green_hint, ""),
    "S3.4b": ("One green pixel is enough: gw = 5 is close to gw = 1.", settings.one_pixel, ""),
    "S3.5a": ("LAFTR varies most between seeds, FFVAE least.", stability.laftr_varies_most,
              stability.POOLED),
    "S3.5b": ("The LAFTR variant that is named after a metric is often not the best one on it.",
              stability.named_is_not_best,
              "Often: in more than half of the tasks and widths. Four equal variants would give three "
              "quarters."),
    "S3.5c": ("An adversary on the output (Zhang et al.) is the least stable.",
              stability.output_adversary, stability.POOLED),
    "S3.6": ("Models whose metrics correlate less with the knobs of the data act fairer.",
             order.less_correlated_is_fairer,
             "Both sides come from the same runs: a model whose fairness falls more is also more correlated "
             "with what makes it fall."),
    "S3.7": ("Small groups and large correlated features cause more bias than small features do.",
             order.large_features, ""),
    "S3.8": ("No model suits every setting, and no single metric serves to select a model for all of them.",
             order.nothing_serves_all, ""),
}  # fmt: skip


def findings(evidence: Evidence) -> list[Finding]:
    """All claims, answered from what there is."""
    found = []
    for name, (claim, ask, note) in CLAIMS.items():
        parts = tuple(judged(ask(evidence)))
        found.append(Finding(name, claim, parts, together(parts), _runs(evidence, name), note))
    return found


def _runs(evidence: Evidence, name: str) -> int:
    """The finished runs that a claim rests on: those of its setting, or of all."""
    own = int(name[3]) - 1  # the first four claims are about the four settings, in order
    models = (*MODELS, BESIDE) if name == "S3.5c" else tuple(MODELS)
    return evidence.runs(tasks_of(SETTINGS[own : own + 1] or SETTINGS), models)

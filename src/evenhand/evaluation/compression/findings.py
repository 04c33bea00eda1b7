"""S2's claims on compression one by one, and our own questions: parts that runs decide, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.evaluation.compression import asked
from evenhand.evaluation.compression.evidence import Evidence
from evenhand.evaluation.equalized_robustness.findings import Finding
from evenhand.evaluation.many_attributes.judging import Asked, judged, together

Ask = Callable[[Evidence], Sequence[Asked]]
# claim: (its words in docs/claims.csv, what is asked of the runs, what must be said with the answer)
CLAIMS: dict[str, tuple[str, Ask, str]] = {
    "S2.1": ("CEV and SDE agree with the number of compression-identified exemplars.",
             asked.agree_with_exemplars,
             "A method's runs at a level are its population, whose votes are drawn again too; Hooker et al. "
             "have thirty."),
    "S2.2": ("Distillation while pruning lowers CEV and SDE against pruning alone.",
             asked.distillation_lowers, ""),
    "S2.3": ("Adding KD to a feature distillation lowers CEV and SDE further.", asked.kd_lowers_further, ""),
    "S2.4": ("Accuracy alone is a poor indicator: pruned models of similar accuracy differ in CEV and SDE.",
             asked.differ_at_similar_accuracy,
             "Methods are those of the paper and not drawn: the seeds make the interval."),
    "S2.5": ("Pruning spreads its damage unevenly: the false negative rate of some classes changes by 300 %.",
             asked.some_classes_change_much,
             "Relative to a small base rate: a class with three errors more may have doubled its rate."),
    "S2.6": ("CEV and SDE tell reliably which of two models is more biased.", asked.reliable,
             "Two models: one run each of two methods at the same level, against the base of their seed."),
}  # fmt: skip
QUESTIONS: dict[str, tuple[str, Ask, str]] = {
    "A": ("Does distillation lower CEV and SDE at equal accuracy?", asked.lower_at_equal_accuracy,
          "Equal: not lower by 0.01."),
    "B": ("Is CEV more than SDE squared beyond two classes?", asked.more_than_a_square, ""),
    "C": ("Do the classes that are rare in training pay for pruning?", asked.rare_classes_pay,
          "Which classes are rare was drawn once: the answer is about these."),
}  # fmt: skip


def findings(evidence: Evidence) -> list[Finding]:
    """The claims that the runs of a study say something to."""
    return _answered(evidence, CLAIMS)


def questions(evidence: Evidence) -> list[Finding]:
    """Our own questions, answered in the same way."""
    return _answered(evidence, QUESTIONS)


def _answered(evidence: Evidence, entries: dict[str, tuple[str, Ask, str]]) -> list[Finding]:
    found = []
    for name, (claim, ask, note) in entries.items():
        parts = tuple(judged(ask(evidence)))
        rule = " ".join((ask.__doc__ or "").split(": ", 1)[-1].split())
        if any(part.replicates for part in parts):
            found.append(Finding(name, claim, parts, together(parts), evidence.runs, rule, note))
    return found

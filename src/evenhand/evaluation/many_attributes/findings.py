"""S1's claims one by one: each in parts that runs decide, with effect, interval, runs and verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenhand.evaluation.equalized_robustness.findings import Finding
from evenhand.evaluation.many_attributes import asked_settings as settings
from evenhand.evaluation.many_attributes import asked_sweep as sweep
from evenhand.evaluation.many_attributes.asked_noise import noisy_labels
from evenhand.evaluation.many_attributes.evidence import Evidence
from evenhand.evaluation.many_attributes.explained import erm_explains_more
from evenhand.evaluation.many_attributes.judging import Asked, judged, together
from evenhand.evaluation.many_attributes.ranks import most_reliable
from evenhand.evaluation.many_attributes.runs import Runs
from evenhand.evaluation.many_attributes.turning import directions
from evenhand.evaluation.many_attributes.winners import depends_on_groups

Ask = Callable[[Evidence], Sequence[Asked]]
NESTED = (
    "Structures of a collection contain each other, and a method without groups is one model under all of "
    "them: they are fewer than they seem."
)
CONFOUNDED = "Attributes that are set against each other differ in more than how rightly they are labelled."
# claim: (its words in docs/claims.csv, what is asked of the runs, what must be said with the answer)
CLAIMS: dict[str, tuple[str, Ask, str]] = {
    "S1.1": ("Which method is best depends on the protected groups that were chosen: one task does not tell.",
             depends_on_groups, ""),
    "S1.2": ("Plain importance weighting (W-ERM) ties or beats every other method in every metric for almost "
             "all groupings.", sweep.weighting_ties_or_beats,
             f"Almost all: surely more than two of three. A tie: within the margin of the metric. {NESTED}"),
    "S1.3": ("Group DRO is almost as good as W-ERM on single-label tasks, and weaker for crossed attributes.",
             sweep.robust_on_single_labels, NESTED),
    "S1.4": ("On multi-label tasks Group DRO has the lower bias amplification for one attribute and the "
             "higher for several.", sweep.robust_turns_over,
             f"One attribute: one structure for each collection. {NESTED}"),
    "S1.5": ("On multi-label tasks Group DRO is less effective in reweighted mAP.",
             sweep.robust_on_many_labels, NESTED),
    "S1.6": ("Domain independence (Ind) is at least as good as W-ERM on multi-label tasks in reweighted mAP "
             "and intersectional bias, and weaker in bias amplification.",
             sweep.independent_on_many_labels, NESTED),
    "S1.7": ("Ind is less effective on single-label tasks.", sweep.independent_on_single_labels, NESTED),
    "S1.8": ("Spectral decoupling reaches the highest reweighted accuracy on single-label tasks without any "
             "group label, and does not lower bias amplification or intersectional bias significantly.",
             sweep.decoupling, NESTED),
    "S1.9": ("Just Train Twice is not competitive on any of the 54 tasks taken together.", sweep.twice,
             NESTED),
    "S1.10": ("Intersectional bias grows with the number of crossed attributes; bias amplification and "
              "reweighted accuracy do not move in one direction.", directions,
              "Methods and seeds are drawn here, the structures are those of the study."),
    "S1.11": ("A method's result is explained better by the result of ERM on the same task than by the "
              "number of crossed attributes.", erm_explains_more, NESTED),
    "S1.12": ("Methods that reweight are sensitive to noisy group labels.", noisy_labels, CONFOUNDED),
    "S1.13": ("Table 4 in shape: W-ERM and Group DRO lower intersectional bias more than spectral decoupling "
              "does.", settings.table_4, ""),
    "S1.14": ("Table 5 in shape: Just Train Twice matches W-ERM and Group DRO in reweighted and worst-group "
              "accuracy, and not in intersectional bias and bias amplification.", settings.table_5, ""),
    "S1.15": ("With target and protected attribute swapped, Just Train Twice is no better than ERM.",
              settings.swapped, ""),
    "S1.16": ("Table 6 in shape: Ind beats domain discrimination, Group DRO and adversarial censoring in "
              "every metric, and W-ERM in no bias metric.", settings.table_6, ""),
    "S1.17": ("With scarce group labels W-ERM and Ind are the most effective, and no method is significantly "
              "better than ERM.", settings.most_effective, ""),
    "S1.18": ("Pre-training on all rows is necessary: without it reweighted accuracy falls from 48 to 14 % "
              "(W-ERM) and from 47 to 17 % (Ind).", settings.pretraining,
              "Necessary: it adds surely more than 0.1."),
    "S1.19": ("Distilling the heads of Ind into one student lowers bias amplification (7.4 to 6.3) at equal "
              "accuracy.", settings.distillation, ""),
    "S1.20": ("Attribute decomposition lowers bias amplification of Ind (7.4 to 6.9) and W-ERM (7.6 to 6.8).",
              settings.decomposition, ""),
    "S1.21": ("Both together give the lowest bias amplification, 28 % below ERM.", settings.both, ""),
    "S1.22": ("IRM and adversarial censoring are not competitive, even with much tuning.",
              sweep.not_competitive, NESTED),
    "S1.23": ("Where group labels are plentiful, decomposition and distillation make methods less effective, "
              "beyond three attributes significantly.", settings.variants_hurt, NESTED),
    "S1.24": ("Over many tasks plain importance weighting is the most reliable method.", most_reliable,
              NESTED),
}  # fmt: skip
COUNTED = ("S1.1", "S1.2", "S1.24")  # by structures, not by differences on them
NETWORKS = "A structure counts once for each network."
REPLICATIONS = tuple(f"S1.{number}" for number in range(13, 17))
SCARCE = tuple(f"S1.{number}" for number in range(17, 22))
PLENTIFUL, NOISY_LABELS = "S1.23", "S1.12"
SWEEP = tuple(name for name in CLAIMS if name not in (*REPLICATIONS, *SCARCE))


def chosen(named: Sequence[str]) -> list[str]:
    """Which claims a study that names some is asked: those, all on many structures if it names one of them
    (unless that is all about wrong group labels), and for plentiful labels what is asked for scarce ones too.

    >>> chosen(["S1.18"]), chosen(["S3.1"]) == list(SWEEP), len(chosen(["S1.1", "S1.19"]))
    (['S1.18'], True, 16)
    >>> chosen(["S1.23"])
    ['S1.17', 'S1.18', 'S1.19', 'S1.20', 'S1.21', 'S1.23']
    >>> chosen(["S1.12"])
    ['S1.12']
    """
    own = {name for name in named if name in CLAIMS}
    if own == {PLENTIFUL}:
        own |= set(SCARCE)
    elif own == {NOISY_LABELS}:
        pass
    elif not own or own & set(SWEEP):
        own |= set(SWEEP)
    return [name for name in CLAIMS if name in own]


def findings(runs: Runs, named: Sequence[str] = ()) -> list[Finding]:
    """The claims that a study speaks to, answered from what there is; of those that it does not name, only
    the ones that its runs say something to.
    """
    found = [finding(runs, name) for name in chosen(named)]
    return [one for one in found if one.id in named or any(part.replicates for part in one.parts)]


def finding(runs: Runs, name: str) -> Finding:
    """One claim, answered."""
    claim, ask, note = CLAIMS[name]
    evidence = Evidence(runs)
    parts = tuple(judged(ask(evidence)))
    rule = " ".join((ask.__doc__ or "").split(": ", 1)[-1].split())
    several = len({net for _, net in runs.tracks}) > 1
    also = NETWORKS if several and name in COUNTED else ""
    words = " ".join(filter(None, (note, also)))
    return Finding(name, claim, parts, together(parts), evidence.trainings(), rule, words)

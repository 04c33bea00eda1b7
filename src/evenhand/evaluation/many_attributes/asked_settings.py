"""What is asked for S1's replications and for scarce group labels; written before its study was run."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.many_attributes.evidence import Evidence, name_of, one_attribute
from evenhand.evaluation.many_attributes.judging import Asked, contrast
from evenhand.evaluation.many_attributes.layout import (
    AMPLIFICATION,
    EPSILON,
    MULTI,
    PERFORMANCE,
    SENSITIVE,
    SINGLE,
    SLOTS,
    VARIANTS,
    WORST,
    printed_name,
)
from evenhand.evaluation.many_attributes.rules import (
    above,
    below,
    better,
    close,
    not_better,
    not_worse,
    worse,
)
from evenhand.evaluation.many_attributes.runs import Structure

BIASES = (AMPLIFICATION, EPSILON)
NECESSARY = 0.1  # what pre-training must surely add to performance to be called necessary
GIVEN = False  # a printed table's task and our networks are those that are meant, not drawn
FEW = 3  # attributes, beyond which S1 finds decomposition and distillation harmful


def table_4(e: Evidence) -> list[Asked]:
    """13: intersectional bias of W-ERM and of Group DRO is below that of SD."""
    where = e.where(SINGLE, one_attribute)
    return [e.less(better(EPSILON), key, "sd", EPSILON, where, SINGLE, GIVEN) for key in ("w-erm", "gdro")]


def table_5(e: Evidence) -> list[Asked]:
    """14: JTT is not worse than W-ERM and Group DRO by the margin in reweighted and worst-cell accuracy, and
    worse in intersectional bias and bias amplification.
    """
    where, found = e.where(SINGLE, one_attribute), []
    for other in ("w-erm", "gdro"):
        for slot in (PERFORMANCE, WORST, *BIASES):
            rule = worse(slot) if slot in BIASES else not_worse(slot)
            found.append(e.less(rule, "jtt", other, slot, where, SINGLE, GIVEN))
    return found


def swapped(e: Evidence) -> list[Asked]:
    """15: where target and protected attribute are swapped, JTT is not better than ERM by the margin in any
    metric.
    """
    where = [structure for structure in e.runs.structures if structure.swapped]
    return [e.less(not_better(slot), "jtt", "erm", slot, where, "swapped", GIVEN) for slot in SLOTS]


def table_6(e: Evidence) -> list[Asked]:
    """16: Ind is better than Disc, Group DRO and A-Cens in every metric, and not better than W-ERM by the
    margin in bias amplification and intersectional bias.
    """
    where = e.where(MULTI, one_attribute)
    beaten = ("disc", "gdro", "a-cens")
    return [
        *(
            e.less(better(slot), "ind", other, slot, where, MULTI, GIVEN)
            for other in beaten
            for slot in SLOTS
        ),
        *(e.less(not_better(slot), "ind", "w-erm", slot, where, MULTI, GIVEN) for slot in BIASES),
    ]


# -- scarce labels: all structures of the study, of whatever kind ------------------------------------------
def most_effective(e: Evidence) -> list[Asked]:
    """17: performance of W-ERM and of Ind is above that of the other methods; no method lowers the bias
    amplification of ERM by the margin.
    """
    best, where = ("w-erm", "ind"), _all(e)
    rest = e.others(*best, "erm")
    return [
        *(e.less(better(PERFORMANCE), key, other, PERFORMANCE, where) for key in best for other in rest),
        *(e.less(not_better(AMPLIFICATION), key, "erm", AMPLIFICATION, where) for key in (*best, *rest)),
    ]


def pretraining(e: Evidence) -> list[Asked]:
    """18: pre-training on all rows adds more than 0.1 to the performance of W-ERM and of Ind."""
    where, found = _all(e), []
    for key in ("w-erm", "ind"):
        with_, without = (e.runs.find(key, pretrained=told) for told in (True, False))
        words = f"{name_of(PERFORMANCE, where)} of {printed_name(key)}: pre-trained less not"
        table = e.table(with_, without, PERFORMANCE, where)
        found.append(contrast(words, above(NECESSARY), (1.0, table)))
    return found


def distillation(e: Evidence) -> list[Asked]:
    """19: bias amplification of distilled Ind is below that of Ind; its performance is within the margin."""
    where = _all(e)
    return [
        e.less(below(), "ind-kd", "ind", AMPLIFICATION, where),
        e.less(close(PERFORMANCE), "ind-kd", "ind", PERFORMANCE, where),
    ]


def decomposition(e: Evidence) -> list[Asked]:
    """20: bias amplification of decomposed Ind and W-ERM is below that of Ind and W-ERM."""
    pairs = (("ind-ad", "ind"), ("w-erm-ad", "w-erm"))
    return [e.less(below(), one, other, AMPLIFICATION, _all(e)) for one, other in pairs]


def both(e: Evidence) -> list[Asked]:
    """21: bias amplification of Ind with both is below that of ERM and of every other method."""
    variants = [key for key in VARIANTS if key != "ind-ad-kd" and e.runs.find(key)]
    others = ["erm", *e.others("erm"), *variants]
    return [e.less(below(), "ind-ad-kd", other, AMPLIFICATION, _all(e)) for other in others]


def variants_hurt(e: Evidence) -> list[Asked]:
    """23: where all group labels are known, decomposition and distillation lower performance on structures of
    more than three attributes of the protected collection; their mean lowers no bias metric by the margin.
    """
    pairs = [(key, VARIANTS[key]) for key in ("w-erm-ad", "ind-ad", "ind-kd") if e.runs.find(key)]
    found = []
    for kind in e.kinds():
        where = [one for one in _sensitive(e, kind) if one.attributes > FEW]
        words = f"{kind}, more than {FEW} attributes"
        found += [e.less(worse(PERFORMANCE), *pair, PERFORMANCE, where, words) for pair in pairs]
        found += [_all_variants(e, slot, pairs, where, words) for slot in BIASES]
    return found or [
        e.less(worse(PERFORMANCE), "ind-ad", "ind", PERFORMANCE, [], f"more than {FEW} attributes")
    ]


def _all_variants(
    e: Evidence, slot: str, pairs: Sequence[tuple[str, str]], where: Sequence[Structure], words: str
) -> Asked:
    """The mean of all variants less what they vary: one part, as more would widen every interval."""
    tables = [e.table(e.runs.find(one), e.runs.find(other), slot, where) for one, other in pairs]
    shared = set.intersection(*(set(table) for table in tables)) if tables else set()
    mean = {place: sum(table[place] for table in tables) / len(tables) for place in sorted(shared)}
    told = f"{name_of(slot, where)} of the variants less their methods ({words})"
    return contrast(told, not_better(slot), (1.0, mean))


def _sensitive(e: Evidence, kind: str) -> Sequence[Structure]:
    """The protected collection; all structures where the study has no collections of that name."""
    own = e.where(kind, lambda one: one.collection == SENSITIVE)
    return own or e.where(kind)


def _all(e: Evidence) -> list[Structure]:
    return [structure for structure in e.runs.structures if not structure.swapped]

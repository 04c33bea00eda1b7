"""What is asked of the order of the models, in the public values and in ours; written before full runs."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.evaluation.reference_values.public import ACCURACY, FAIRNESS, LAFTR, MODELS, ODDS

Problem = tuple[str, str]  # task and grouping
FAMILIES = {"LAFTR": LAFTR, **{name: (key,) for key, name in MODELS.items() if key not in LAFTR}}
MEASURES = {"accuracy": (ACCURACY,), "fairness": FAIRNESS, "EqOdd": (ODDS,)}


@dataclass(frozen=True)
class Mean:
    """A weight times the mean of a measure over the models of a family, on one problem."""

    weight: float
    family: str
    measure: str
    problem: Problem


@dataclass(frozen=True)
class Part:
    """A sum of such means and a constant, whose sign is the answer."""

    words: str
    means: tuple[Mean, ...]
    constant: float = 0.0


@dataclass(frozen=True)
class Question:
    """A question with the parts that answer it."""

    words: str
    parts: tuple[Part, ...]


BALANCED, FEW, TIED = ((name, "colour") for name in ("clr .5 .5", "clr .001 .001", "clr .01 .99"))
BOX = ("pos .9 .1", "box")
AGES = tuple((name, "age") for name in ("age .5 .5", "age .01 .01", "age .06 .36"))


def less(one: str, other: str, measure: str, problem: Problem, where: bool = False) -> Part:
    """How much more of a measure one family has than another on a problem.

    >>> less("CFAIR", "MLP", "accuracy", BOX, where=True).words
    'CFAIR less MLP, accuracy, pos .9 .1'
    """
    told = f"{one} less {other}, {measure}" + (f", {problem[0]}" if where else "")
    return Part(told, (Mean(1.0, one, measure, problem), Mean(-1.0, other, measure, problem)))


def kept(family: str, problem: Problem, before: Problem) -> Part:
    """Accuracy above half-way between a coin's 0.5 and what the family has on another problem.

    Below 0, more than half of what it knew is lost.
    """
    told = f"{family}: accuracy, above half-way from 0.5 to its own at {before[0]}"
    return Part(told, (Mean(1.0, family, "accuracy", problem), Mean(-0.5, family, "accuracy", before)), -0.25)


def odds_above_half(family: str, problem: Problem) -> Part:
    """EqOdd less 0.5."""
    return Part(f"{family}: EqOdd, above 0.5", (Mean(1.0, family, "EqOdd", problem),), -0.5)


def _change(family: str, measure: str, after: Problem, before: Problem) -> Part:
    told = f"{family}, {measure}: {after[0]} less {before[0]}"
    return Part(told, (Mean(1.0, family, measure, after), Mean(-1.0, family, measure, before)))


def _over_ages(words: str, one: str, other: str, measure: str) -> Question:
    return Question(words, tuple(less(one, other, measure, age, where=True) for age in AGES))


OTHERS = ("MLP", "CNN", "CFAIR", "FFVAE")
QUESTIONS = {
    "ci-mnist-box": (
        Question("At clr (.001, .001), is LAFTR more accurate than the others?",
                 tuple(less("LAFTR", other, "accuracy", FEW) for other in OTHERS)),
        Question("At clr (.001, .001), is LAFTR's fairness above that of the others?",
                 tuple(less("LAFTR", other, "fairness", FEW) for other in OTHERS)),
        Question("At clr (.01, .99), do MLP and CNN collapse?",
                 tuple(part for family in ("MLP", "CNN")
                       for part in (kept(family, TIED, BALANCED), odds_above_half(family, TIED)))),
        Question("Do the others collapse there too?",
                 tuple(part for family in ("LAFTR", "CFAIR", "FFVAE")
                       for part in (kept(family, TIED, BALANCED), odds_above_half(family, TIED)))),
        Question("Does LAFTR keep more than MLP and CNN there?",
                 tuple(less("LAFTR", other, measure, TIED)
                       for measure in ("accuracy", "fairness") for other in ("MLP", "CNN"))),
        Question("Where the box goes with the label and is protected, is CFAIR the fairest?",
                 tuple(less("CFAIR", other, "fairness", BOX) for other in ("MLP", "CNN", "LAFTR", "FFVAE"))),
    ),
    "adult-age": (
        _over_ages("Is CFAIR more accurate than the MLP?", "CFAIR", "MLP", "accuracy"),
        _over_ages("Is LAFTR less accurate than the MLP?", "LAFTR", "MLP", "accuracy"),
        _over_ages("Is LAFTR's fairness above the MLP's?", "LAFTR", "MLP", "fairness"),
        _over_ages("Is CFAIR-EO's fairness above the MLP's?", "CFAIR-EO", "MLP", "fairness"),
        _over_ages("Is CFAIR-EO less accurate than CFAIR?", "CFAIR-EO", "CFAIR", "accuracy"),
        Question("Does the MLP lose where one age group is small, or unlike the other?",
                 tuple(_change("MLP", measure, after, AGES[0])
                       for after in AGES[1:] for measure in ("accuracy", "fairness"))),
    ),
}  # fmt: skip

"""What a study in the shape of S0 consists of, and the rules by which it is judged.

Written before any run of such a study was seen; `claims.py` and `best.py` follow them. A method of the study
is one of S0's 27 techniques by its name; the baseline of family X is X-Base.
"""

from __future__ import annotations

from evenhand.evaluation.replay.survey import printed_table4

PART = "test"
RUNS = 16  # identical trainings of each technique in S0
FEWEST = 2  # runs below which nothing can be said of variation
CLAIMED_BEST = "S-DI2"
IDENTICAL, CONTROL, VARIED, SEEDS = "identical", "control", "varied", "seeds"
CONFIDENCE = 0.95

# S0's overheads of deterministic mode, by the name of the network in the benchmark
OVERHEADS = {"cifar-resnet18": 0.178, "resnet101": 0.208, "densenet121": 0.141}
FACTOR = 2.0  # a measured overhead agrees with a printed one that is at most so many times larger or smaller
FEWEST_OPERATIONS = 20  # that must have been tried before it is said that none lacks a deterministic form

RULES = {
    "S0.12": (
        "Holds if, among identical runs on a GPU outside deterministic mode, all S techniques on CIFAR-10S "
        "but at most one have a MaxDiff above 0 in at least one of the seven metrics; does not if none has. "
        "Techniques with fewer than two runs take no part; with fewer than two techniques it cannot be told."
    ),
    "S0.13": (
        "Holds if all identical trainings in deterministic mode on a GPU (pairs of the benchmark, techniques "
        "of studies) end in the same bits and at least one outside of it does not; does not if a "
        "deterministic one differs."
    ),
    "S0.14": (
        "Holds if, for each of the three networks, the interval of the overhead lies above 0 and meets the "
        "range from half to twice what is printed; does not if one lies wholly outside that range."
    ),
    "S0.15": (
        "Holds if at least one operation of torch's documented list still raises in deterministic mode on a "
        f"GPU; does not if none does, of at least {FEWEST_OPERATIONS} that were tried."
    ),
}


def technique_names() -> tuple[str, ...]:
    """The 27 techniques in S0's order.

    >>> len(technique_names()), technique_names()[:3]
    (27, ('S-Base', 'S-RS', 'S-UC'))
    """
    return tuple(row["technique"] for row in printed_table4())


def technique_of(method: str) -> str | None:
    """The technique that a method of a study is, by its name, or a variant of; None where it is neither.

    >>> technique_of("S-DD1"), technique_of("A-L2 as published"), technique_of("S-DD11"), technique_of("erm")
    ('S-DD1', 'A-L2', None, None)
    """
    first = method.split(" ")[0]
    return first if first in technique_names() else None

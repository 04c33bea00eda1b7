"""The public values of S3's later figures, and the names under which they are shown.

They were read off the published pictures (to 0.02) of Reddy et al. 2021 and lie in the package as
`studies/data/ci_mnist_reference.csv`. Each is the best over settings on the TEST rows, for every metric its
own: an oracle. Accuracy and equalised odds are means of two numbers that were chosen separately.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evenhand.errors import InputError

FILE = "ci_mnist_reference.csv"
READING = 0.02  # to which a value was read off its picture
MEANS_OF = {"s3.accuracy.mean": ("acc_p", "acc_up"), "eqodd": ("eqopp0", "eqopp1")}
ACCURACY, ODDS = "s3.accuracy.mean", "eqodd"
FAIRNESS = ("s3.cv", "eqopp0", "eqopp1", "eqodd")
METRICS = {
    "s3.accuracy.mean": "acc", "acc_p": "p-acc", "acc_up": "up-acc", "s3.cv": "DP", "eqopp0": "EqOpp0",
    "eqopp1": "EqOpp1", "eqodd": "EqOdd",
}  # fmt: skip
MODELS = {
    "mlp": "MLP", "cnn": "CNN", "laftr-dp": "LAFTR-DP", "laftr-eqopp0": "LAFTR-EqOpp0",
    "laftr-eqopp1": "LAFTR-EqOpp1", "laftr-eqodd": "LAFTR-EqOdd", "cfair": "CFAIR", "cfair-eo": "CFAIR-EO",
    "ffvae": "FFVAE",
}  # fmt: skip
LAFTR = tuple(model for model in MODELS if model.startswith("laftr"))


@dataclass(frozen=True)
class Reference:
    """One public value: of a model and a metric, on a task with a grouping of one of our studies."""

    study: str
    task: str
    grouping: str
    model: str
    metric: str
    value: float
    within: float


@cache
def references() -> tuple[Reference, ...]:
    """All public values, in the order of the figures.

    >>> references()[0]
    Reference(study='ci-mnist-box', task='clr .5 .5', grouping='colour', model='mlp',
    metric='s3.accuracy.mean', value=0.94, within=0.02)
    """
    text = files("evenhand").joinpath("studies", "data", FILE).read_text(encoding="utf-8")
    return tuple(
        Reference(**{**row, "value": float(row["value"]), "within": float(row["within"])})  # type: ignore[arg-type]
        for row in csv.DictReader(text.splitlines())
    )


def references_of(study: str) -> list[Reference]:
    """The public values of one study; one that has none is refused.

    >>> len(references_of("adult-age"))
    168
    """
    known = [reference for reference in references() if reference.study == study]
    if not known:
        names = ", ".join(dict.fromkeys(reference.study for reference in references()))
        raise InputError(f"there are no public values for the study '{study}'; there are for {names}")
    return known


def family(model: str) -> str:
    """The model, LAFTR's four variants as one: in the public figures they can hardly be told apart.

    >>> family("laftr-dp"), family("cfair-eo")
    ('LAFTR', 'CFAIR-EO')
    """
    return "LAFTR" if model in LAFTR else MODELS[model]

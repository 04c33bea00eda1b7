"""How S3 lays its study out: four settings in thirteen rows, seven models, seven metrics, their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

NAME = "ci-mnist"


@dataclass(frozen=True)
class Row:
    """A row of S3's tables: its label, the task of the study it is, and the knobs that its setting turns.

    Knobs are shares, 0.5 where nothing is tied to the label, as `knob_strength` takes them.
    """

    label: str
    task: str
    knobs: tuple[float, ...]


@dataclass(frozen=True)
class Setting:
    """One of S3's experiments: what is varied, its rows, and the numbers that it has in the paper.

    `pair` are the places of the rows before and after; `changed` of those that differ from the balanced one.
    """

    name: str
    title: str
    knob: str
    rows: tuple[Row, ...]
    first_table: int
    pair_figure: int
    all_figure: int
    pair: tuple[int, int] = (0, -1)
    changed: tuple[int, ...] = field(default=())

    @property
    def after(self) -> tuple[str, ...]:
        """The tasks in which the knob is turned."""
        return tuple(self.rows[place].task for place in self.changed)


def _colours(*rows: tuple[str, float, float]) -> tuple[Row, ...]:
    return tuple(Row(f"({even:g}, {odd:g})", task, (even, odd)) for task, even, odd in rows)


SETTINGS = (
    Setting(
        "minority", "Fewer and fewer blue digits", "clr-ratio",
        _colours(
            ("balanced", 0.5, 0.5), ("minority .1", 0.1, 0.1), ("minority .01", 0.01, 0.01),
            ("minority .001", 0.001, 0.001),
        ), 4, 2, 6, changed=(1, 2, 3),
    ),
    Setting(
        "colour", "Colour goes with the label", "clr-ratio",
        _colours(("balanced", 0.5, 0.5), ("colour .1 .9", 0.1, 0.9), ("colour .01 .99", 0.01, 0.99)),
        11, 3, 7, changed=(1, 2),
    ),
    Setting(
        "lines", "Lines on the digit go with the label", "e-o-ratio",
        _colours(("balanced", 0.5, 0.5), ("lines .9 .1", 0.9, 0.1)), 18, 8, 8, changed=(1,),
    ),
    Setting(
        # how easily the mark is found stands for the share: 22 columns hide it, 2 columns show it
        "green", "Green marks that tell the label", "g1, gw",
        (
            Row("g1 = 22, gw = 5", "balanced", (0.5,)), Row("g1 = 22, gw = 1", "green 22 low", (0.5,)),
            Row("g1 = 2, gw = 5", "green 2", (1.0,)), Row("g1 = 2, gw = 1", "green 2 low", (1.0,)),
        ), 25, 4, 9, pair=(1, 3), changed=(2, 3),
    ),
)  # fmt: skip

MODELS = {
    "mlp": "MLP", "laftr-dp": "LAFTR-DP", "laftr-eqodd": "LAFTR-EqOdd", "laftr-eqopp0": "LAFTR-EqOpp0",
    "laftr-eqopp1": "LAFTR-EqOpp1", "cfair": "CFAIR", "ffvae": "FFVAE",
}  # fmt: skip
BESIDE = "advdebias"  # S3 dropped it from its tables for being unstable: it is in that finding only
METRICS = {
    "s3.accuracy.mean": "acc", "acc_p": "p-acc", "acc_up": "up-acc", "s3.cv": "DP", "eqopp0": "EqOpp0",
    "eqopp1": "EqOpp1", "eqodd": "EqOdd",
}  # fmt: skip
ACCURACY, UNPRIVILEGED, ODDS = "s3.accuracy.mean", "acc_up", "eqodd"
FAIRNESS = ("s3.cv", "eqopp0", "eqopp1", "eqodd")
# the official code averages two numbers that were each maximised for themselves
AVERAGED = {"s3.accuracy.mean": ("acc_p", "acc_up"), "eqodd": ("eqopp0", "eqopp1")}

LAFTR = tuple(model for model in MODELS if model.startswith("laftr"))
FAMILIES = {"LAFTR": LAFTR, "FFVAE": ("ffvae",), "CFAIR": ("cfair",), "MLP": ("mlp",)}
# the LAFTR variant that is named after a metric
NAMED = {"laftr-dp": "s3.cv", "laftr-eqodd": "eqodd", "laftr-eqopp0": "eqopp0", "laftr-eqopp1": "eqopp1"}


def setting_of(name: str) -> Setting:
    """A setting by its name.

    >>> setting_of("green").after
    ('green 2', 'green 2 low')
    """
    return next(setting for setting in SETTINGS if setting.name == name)


def tasks_of(settings: Iterable[Setting] = SETTINGS) -> tuple[str, ...]:
    """The distinct trainings behind the rows, in order.

    >>> len(tasks_of()), sum(len(setting.rows) for setting in SETTINGS)
    (10, 13)
    """
    return tuple(dict.fromkeys(row.task for setting in settings for row in setting.rows))


def table_number(setting: Setting, model: str) -> int:
    """The number of a model's table in the paper.

    >>> table_number(setting_of("minority"), "mlp"), table_number(setting_of("green"), "ffvae")
    (4, 31)
    """
    return setting.first_table + list(MODELS).index(model)

"""How S4 lays out its tabular study: tasks, methods, noises, and what each table shows of them."""

from __future__ import annotations

NAME = "equalized-robustness"

TASKS = {
    "cc-race": "Communities and Crime, RacePctBlack",
    "cc-divorced": "Communities and Crime, FemalePctDiv",
    "adult-sex": "Adult, sex",
}
ZCA = "cc-race-zca"
BATCH = {"adult-sex": 256}  # the others have the study's
COMMON_BATCH = 64

# the paper's four, the paper's other reading of LAFTR, and CUMA without its second half
METHODS = {"normal": "Normal", "advdebias": "AdvDebias", "laftr": "LAFTR", "cuma": "CUMA"}
BESIDE = {"laftr-eqodd": "LAFTR-EqOdd", "cuma-alpha-only": "CUMA, gamma = 0"}
KEYS = {
    "erm": "normal", "advdebias": "advdebias", "laftr-dp": "laftr", "laftr-eqodd": "laftr-eqodd",
    "cuma": "cuma",
}  # fmt: skip
MITIGATIONS = ("advdebias", "laftr")  # what CUMA is set against besides plain training

CLEAN = "test"
NOISES = ("gaussian", "uniform")
MAIN, TWICE = 0.03, 0.06
METRICS = {
    "acc": "Acc", "delta_eopp": "ΔEOpp", "delta_eo": "ΔEO", "delta_er": "ΔER",
    "delta_er.narrow": "ΔER, narrow kernels", "delta_er.wide": "ΔER, wide kernels", "delta_dp": "ΔDP",
}  # fmt: skip
# table of the paper: its task and how strong its noise is
MAIN_TABLES = {
    1: ("cc-race", MAIN), 2: ("cc-divorced", MAIN), 3: ("adult-sex", MAIN), 8: ("cc-race", TWICE),
    9: ("cc-divorced", TWICE),
}  # fmt: skip

ALPHAS = (0.1, 1.0, 10.0)
GAMMAS = (0.1, 1.0, 10.0)
STEPS = (0.01, 0.1, 1.0)
KERNELS = ("narrow", "default", "wide")
BATCHES = (32, 64, 128, 256)
SWEEP = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SWEPT = ("cc-race", "cc-divorced")


def noisy(kind: str, severity: float) -> str:
    """The name of a part under noise.

    >>> noisy("gaussian", 0.03)
    'gaussian 0.03'
    """
    return f"{kind} {severity:g}"


def columns(severity: float) -> list[tuple[str, str]]:
    """Part and metric of each column of the paper's main tables.

    >>> columns(0.06)[-1]
    ('uniform 0.06', 'delta_eo')
    """
    clean = [(CLEAN, key) for key in ("acc", "delta_eopp", "delta_eo", "delta_er")]
    return clean + [(noisy(kind, severity), key) for kind in NOISES for key in ("delta_eopp", "delta_eo")]


def head(part: str, metric: str) -> str:
    """What a column is called.

    >>> head("test", "delta_eo"), head("uniform 0.03", "delta_eo")
    ('ΔEO', 'ΔEO, uniform')
    """
    return METRICS[metric] + ("" if part == CLEAN else f", {part.split()[0]}")

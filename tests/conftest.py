"""What every test may use: golden references, the comparison they ask for, and hypothesis settings."""

from __future__ import annotations

import json
import math
import os
import runpy
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

# No deadline: the first example pays for imports. The same examples every time where CI is set, so that a
# red build can be repeated; fresh ones on a developer's machine, where a find is welcome.
settings.register_profile("evenhand", deadline=None, max_examples=50)
settings.register_profile("evenhand-ci", settings.get_profile("evenhand"), derandomize=True, print_blob=True)
settings.load_profile("evenhand-ci" if os.environ.get("CI") else "evenhand")

# Products are small here: on several threads they take longer, and on a busy machine, or where several
# processes run the tests, many times as long. Said before anything imports torch; commands that tests start
# inherit it. Who wants more threads says so.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The width of somebody's terminal is none of the tests' business: where several processes run them, Python's
# readline has put it into the environment, and tables would be cut to it.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Tests begun in the background of a shell inherit an ignored Ctrl-C, and so would commands that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def with_floats(value: Any) -> Any:
    """A JSON value with the strings "nan", "inf" and "-inf" turned into the floats they stand for."""
    if isinstance(value, dict):
        return {key: with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_floats(item) for item in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


@pytest.fixture(scope="session")
def torchvision() -> Any:
    """torchvision, or the test is skipped: whichever test of this process asks first."""
    return runpy.run_path(str(Path(__file__).parent / "nets" / "conftest.py"))["load_torchvision"]()


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """`golden("07b_fairlearn_metrics")`: the content of that file in tests/golden."""

    def load(name: str) -> Any:
        path = GOLDEN / (name if name.endswith(".json") else f"{name}.json")
        return with_floats(json.loads(path.read_text(encoding="utf-8")))

    return load


@pytest.fixture(scope="session")
def assert_close() -> Callable[..., None]:
    """`assert_close(got, expected, tol)`: |got - expected| <= tol max(1, |expected|), element by element.

    NaN is equal to NaN and to nothing else: an undefined number that comes out defined is a failure.
    """

    def check(got: Any, expected: Any, tol: float = 1e-9) -> None:
        got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
        assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
        finite = np.isfinite(expected)
        same = np.where(np.isnan(expected), np.isnan(got), got == expected)
        room = tol * np.maximum(1.0, np.abs(expected, where=finite, out=np.ones_like(expected)))
        apart = np.abs(np.subtract(got, expected, where=finite, out=np.zeros_like(expected)))
        wrong = ~np.where(finite, apart <= room, same)
        assert not wrong.any(), f"got {got[wrong]}, expected {expected[wrong]} (tolerance {tol})"

    return check

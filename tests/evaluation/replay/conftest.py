"""The published runs, read once; tests that need them are skipped where EVENHAND_DATA lacks them."""

import os
from pathlib import Path

import pytest

from evenhand.evaluation.replay import compute
from evenhand.evaluation.replay.published import PERFORMANCE, RUNS, read_published


@pytest.fixture(scope="session")
def data():
    folder = Path(os.environ.get("EVENHAND_DATA", ""))
    for source in (RUNS, PERFORMANCE):
        if not os.environ.get("EVENHAND_DATA") or not (folder / source.name).is_file():
            pytest.skip(f"EVENHAND_DATA does not lead to {source.name}")
    return folder


@pytest.fixture(scope="session")
def published(data):
    return read_published(data)


@pytest.fixture(scope="session")
def body(published):
    return compute(published)

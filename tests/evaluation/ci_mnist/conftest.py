"""The made-up store of the study `ci-mnist` and what is computed from it, once for all tests."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.evaluation.ci_mnist.study import compute


@pytest.fixture(scope="session")
def made():
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "made_store.py")))


@pytest.fixture(scope="session")
def store(made):
    return made.make_store()


@pytest.fixture(scope="session")
def body(store):
    return compute(store)

"""The samples as fixtures; each test gets its own copy and may change it."""

import copy
import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@cache
def samples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("report_sample", Path(__file__).with_name("sample.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def built(name: str) -> dict[str, Any]:
    return getattr(samples(), name)()


@pytest.fixture
def binary() -> dict[str, Any]:
    return copy.deepcopy(built("binary"))


@pytest.fixture
def multiclass() -> dict[str, Any]:
    return copy.deepcopy(built("multiclass"))


@pytest.fixture
def several_runs() -> dict[str, Any]:
    return copy.deepcopy(built("several_runs"))


@pytest.fixture
def huge() -> dict[str, Any]:
    return copy.deepcopy(built("huge"))


@pytest.fixture
def comparison() -> dict[str, Any]:
    return copy.deepcopy(built("comparison"))


@pytest.fixture
def tradeoff() -> dict[str, Any]:
    return copy.deepcopy(built("tradeoff"))


@pytest.fixture
def many_models() -> dict[str, Any]:
    return samples().comparison(models=12, classes=100, n=4000)


@cache
def study_samples() -> ModuleType:
    place = Path(__file__).with_name("study_sample.py")
    spec = importlib.util.spec_from_file_location("report_study_sample", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="study_samples")
def study_samples_fixture() -> ModuleType:
    return study_samples()


@cache
def built_study(name: str) -> dict[str, Any]:
    return getattr(study_samples(), name)()


@pytest.fixture
def study() -> dict[str, Any]:
    return copy.deepcopy(built_study("study"))


@pytest.fixture
def unfinished_study() -> dict[str, Any]:
    return copy.deepcopy(built_study("unfinished"))


@pytest.fixture
def empty_study() -> dict[str, Any]:
    return copy.deepcopy(built_study("empty"))

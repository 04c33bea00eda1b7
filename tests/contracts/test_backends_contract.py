"""Every registered backend keeps the rules B1 to B6 of its contract; and the test of that can fail."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.backends import conformance, registry
from evenhand.study.backends.base import Ended, Made, Standing
from evenhand.study.backends.conformance import CHECKS, DEADLY_CHECKS
from evenhand.study.backends.inline import InlineBackend
from evenhand.study.backends.registry import BACKENDS, backend_of

OPTIONS = {"local": {"workers": 2}, "ray": {"workers": 2}}
HAS_RAY = importlib.util.find_spec("ray") is not None
CASES = [
    pytest.param(name, check, id=f"{name}-{check}", marks=[] if name != "ray" else [
        pytest.mark.skipif(not HAS_RAY, reason="ray is not installed")
    ])
    for name in BACKENDS
    for check in [*CHECKS, *(DEADLY_CHECKS if name != "inline" else ())]
]  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Iterator[Callable[[str], None]]:
    """Ray is started once for all its checks, when the first asks; the backend then uses that session."""
    opened = []

    def prepare(name: str) -> None:
        if name == "ray" and not opened:
            from evenhand.study.backends.ray_cluster import connected

            opened.append(connected(None, cpus=2))
            opened[0].__enter__()

    yield prepare
    for context in opened:
        context.__exit__(None, None, None)


@pytest.mark.parametrize(("name", "check"), CASES)
def test_a_backend_keeps_the_rules(name, check, session, tmp_path):
    session(name)
    {**CHECKS, **DEADLY_CHECKS}[check](backend_of(name, **OPTIONS.get(name, {})), tmp_path)


class Wrong(InlineBackend):
    """A backend that changes what is told."""

    def __init__(self, change):
        self._change = change

    def run(self, buckets, job, hear, stop):
        def changed(message):
            for other in self._change(message):
                hear(other)

        super().run(buckets, job, changed, stop)


WRONG = {
    "every record once": lambda m: [m, m] if isinstance(m, Made) else [m],
    "again": lambda m: [] if isinstance(m, Made) else [m],
    "told at once": lambda m: [] if isinstance(m, Standing) else [m],
    "exception": lambda m: [Ended(m.bucket)] if isinstance(m, Ended) else [m],
    "stop": lambda m: [Ended(m.bucket)] if isinstance(m, Ended) else [m],
}


@pytest.mark.parametrize("check", WRONG)
def test_a_backend_that_breaks_a_rule_is_found(check, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.study.backends.toy_work.LONGEST", 1.0)
    monkeypatch.setattr(conformance, "SECONDS", 0.9)
    with pytest.raises(AssertionError):
        CHECKS[check](Wrong(WRONG[check]), tmp_path)


def test_a_backend_of_ones_own_is_named_by_its_class():
    assert backend_of("evenhand.study.backends.inline:InlineBackend").name == "inline"
    with pytest.raises(InputError, match=r"'no\.such:Thing' could not be loaded"):
        backend_of("no.such:Thing")


def test_where_ray_is_missing_the_extra_is_named(monkeypatch):
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("evenhand.study.backends.ray_cluster.import_module", absent)
    with pytest.raises(InputError, match=r"pip install 'evenhand\[ray\]'"):
        backend_of("ray")


def test_names_lead_to_files():
    root = Path(registry.__file__).parent
    for home in BACKENDS.values():
        assert (root / f"{home.partition(':')[0].rpartition('.')[2]}.py").exists()

"""Which runs are to be made now."""

from dataclasses import replace

import pytest
from tests.study.test_driver import N_RUNS, STUDY
from tests.study.test_plan import a_run

from evenhand.errors import InputError
from evenhand.study.driver import Options, run_study
from evenhand.study.only import chosen_runs

RUNS = [a_run("erm", seed) for seed in range(2)] + [
    a_run("gdro", seed, eta=eta) for seed in range(2) for eta in (0.1, 1.0)
]


@pytest.mark.parametrize(
    ("only", "number"),
    [
        ([], 6),
        (["method=gdro"], 4),
        (["method=gdro", "eta=0.10"], 2),
        (["eta=0.1", "eta=1"], 4),  # erm has no eta
        (["seed=1", "method=erm"], 1),
        (["method=erm", "method=gdro"], 6),
        (["net=mlp", "task=synthetic", "grouping=a0"], 6),
    ],
)
def test_conditions(only, number):
    assert len(chosen_runs(RUNS, only)) == number


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ("gdro", "KEY=VALUE"),
        ("=gdro", "KEY=VALUE"),
        ("metod=gdro", "did you mean 'method'"),
        ("method=grdo", "did you mean 'gdro'"),
        ("eta=7", "no run of this study has eta=7"),
        ("seed=zero", "no run of this study has seed=zero"),
    ],
)
def test_what_no_run_has_is_refused(only, words):
    with pytest.raises(InputError, match=words):
        chosen_runs(RUNS, [only])


def test_a_study_in_parts(tmp_path):
    options = Options(tmp_path, backend="inline", device="cpu")
    first = run_study(STUDY, replace(options, only=("method=erm",)))
    assert (first.done, first.waiting) == (6, N_RUNS - 6)
    again = run_study(STUDY, replace(options, only=("method=erm",)))  # all of them are made: nothing is wrong
    assert again.done == 6
    assert run_study(STUDY, options).done == N_RUNS

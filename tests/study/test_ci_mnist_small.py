"""The study for two cores: what ci-mnist has, on digits of the package, but for what its file says."""

from collections import Counter
from dataclasses import replace

import pytest

from evenhand.study.driver import Options, run_study
from evenhand.study.expand import expand
from evenhand.study.frame import Frame
from evenhand.study.plan import plan
from evenhand.study.read import read_study
from evenhand.study.search import settings_of
from evenhand.study.store import Store

RUNS = {  # of each training
    "mlp": 1,
    **dict.fromkeys(("laftr-dp", "laftr-eqodd", "laftr-eqopp0", "laftr-eqopp1"), 5),
    "cfair": 5,
    "ffvae": 4,
    "advdebias": 3,
}


@pytest.fixture(scope="module")
def study():
    return read_study("ci-mnist-small")


@pytest.fixture(scope="module")
def runs(study):
    return expand(study)


def test_it_is_a_part_of_the_study_of_s3(study):
    whole = read_study("ci-mnist")
    for name in ("recipe", "parts", "groupings", "selection", "report"):
        assert getattr(study, name) == getattr(whole, name), name
    same = {task.name: {**task.knobs, "part": "packaged"} for task in whole.tasks}
    assert {task.name: dict(task.knobs) for task in study.tasks} == {
        name: same[name] for name in ("balanced", "minority .01")
    }
    assert study.seeds == whole.seeds[:1]
    assert study.nets == tuple(net for net in whole.nets if net.name == "width 32")
    grids = {method.name: method for method in whole.methods}
    ffvae = {method.name: method for method in study.methods}["ffvae"]
    assert [method for method in study.methods if method.name != "ffvae"] == [
        grids[method.name] for method in study.methods if method.name != "ffvae"
    ]
    assert replace(ffvae, fields={}) == replace(grids["ffvae"], fields={})
    assert ffvae.fields["represent_epochs"] == grids["ffvae"].fields["represent_epochs"]
    larger = [setting.fields for setting in settings_of(grids["ffvae"])]
    assert all(setting.fields in larger for setting in settings_of(ffvae))


def test_it_has_66_runs_that_two_workers_share(runs):
    assert Counter((run.task, run.method) for run in runs) == {
        (task, method): count for task in ("balanced", "minority .01") for method, count in RUNS.items()
    }
    buckets = plan(runs, device="cpu", workers=2)
    assert sum(len(bucket.runs) for bucket in buckets) == len(runs) == 66
    laftr = [len(bucket.runs) for bucket in buckets if bucket.runs[0].method.startswith("laftr")]
    assert laftr == [20, 20]  # the longest: one for each worker, at the beginning
    assert buckets[0].runs[0].method.startswith("laftr")


def test_the_smoke_form_has_every_method_once_on_both_trainings(study, runs):
    small = expand(study.smoke)
    assert Counter((run.task, run.method) for run in small) == dict.fromkeys(
        {(run.task, run.method) for run in runs}, 1
    )
    assert {run.spec.knobs["limit"] for run in small} == {600}
    assert {run.spec.recipe["epochs"] for run in small} == {1}


@pytest.mark.slow
def test_the_smoke_form_runs_to_its_end(study, tmp_path):
    run_study(study, Options(out=str(tmp_path), device="cpu", workers=1, smoke=True))
    with Store.open(tmp_path) as store:
        frame = Frame(store)
        assert frame.done.all(), frame.failures
        assert {*frame.columns["method"]} == {*RUNS}

"""What a worker makes of a bucket: records, failures that stay alone, checkpoints that are gone on with."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.study.test_plan import a_run

import evenhand
from evenhand.metrics.counts import Counts
from evenhand.study import execute as execute_module
from evenhand.study.backends.base import Job
from evenhand.study.execute import execute
from evenhand.study.plan import plan
from evenhand.study.weights import load_weights
from evenhand.train.determinism import WORKSPACE


def records(runs, folder, tell=lambda standing: None, **job):
    found = [r for b in plan(runs) for r in execute(b, Job(str(folder), **job), tell)]
    return {record.id: record for record in found}


def same(one, other):
    assert one.weights == other.weights
    for mine, theirs in zip(one.measured, other.measured, strict=True):
        assert mine.counts == theirs.counts
        assert (mine.part, mine.grouping, mine.groups) == (theirs.part, theirs.grouping, theirs.groups)


def test_counts_are_those_of_an_audit(tmp_path):
    run = a_run(seed=3)
    record = records([run], tmp_path)[run.id]
    task = evenhand.load("synthetic", n_train=600)
    fitted = evenhand.fit("mlp", "erm", task, seeds=[3], protect="a0", device="cpu", epochs=1)
    audit = fitted.audit("test")
    assert np.array_equal(record.measured[0].counts.table, audit.subject.grouping.counts.table)
    assert record.status == "done"
    assert record.measured[0].groups == tuple(group.name for group in audit.groups)


def test_a_run_is_the_same_alone_and_in_a_bucket(tmp_path):
    runs = [a_run("gdro", seed, eta=eta) for seed in range(2) for eta in (0.1, 1.0)]
    together = records(runs, tmp_path)
    for run in runs:
        same(records([run], tmp_path / run.id)[run.id], together[run.id])


def test_runs_on_several_tasks_are_measured_on_their_own(tmp_path):
    runs = [a_run(seed=1, knobs={"n_train": 600, "seed": seed}) for seed in range(3)]
    together = records(runs, tmp_path)
    for run in runs:
        same(records([run], tmp_path / run.id)[run.id], together[run.id])


def test_a_run_that_diverges_fails_alone(tmp_path):
    good, bad = a_run(seed=0), a_run(seed=1, recipe={"rate": 1e30, "optimizer": "sgd"})
    good = replace(good, spec=replace(good.spec, recipe={**bad.spec.recipe, "rate": 0.01}))
    found = records([good, bad], tmp_path)
    assert found[good.id].status == "done"
    assert found[bad.id].status == "failed"
    assert "no number" in found[bad.id].reason
    assert found[bad.id].measured == ()


def test_a_bucket_that_raises_is_tried_run_by_run(tmp_path, monkeypatch):
    from evenhand.study import execute as module

    real = module.train_runs

    def fails_for_two(runs, *rest, **options):
        if any(run.seed == 2 for run in runs):
            raise RuntimeError("seed two cannot be trained")
        return real(runs, *rest, **options)

    monkeypatch.setattr(module, "train_runs", fails_for_two)
    runs = [a_run(seed=seed) for seed in range(3)]
    found = records(runs, tmp_path)
    assert [found[run.id].status for run in runs] == ["done", "done", "failed"]
    assert found[runs[2].id].reason == "RuntimeError: seed two cannot be trained"
    assert "Traceback" in found[runs[2].id].detail


def test_stopped_in_the_middle_it_goes_on_to_the_same_bits(tmp_path):
    runs = [replace(run, spec=replace(run.spec, recipe={**run.spec.recipe, "epochs": 6}))
            for run in (a_run(seed=seed, knobs={"n_train": 3000}) for seed in range(3))]  # fmt: skip
    whole = records(runs, tmp_path / "whole")
    seen = []

    def interrupt(standing):
        seen.append(standing.done)
        if standing.done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        records(runs, tmp_path / "cut", interrupt)
    assert list((tmp_path / "cut").rglob("checkpoint-*.npz"))
    begun = []
    again = records(runs, tmp_path / "cut", lambda standing: begun.append(standing.done))
    assert begun[0] > 0.4  # it went on, it did not begin anew
    for run in runs:
        same(whole[run.id], again[run.id])


def test_scores_weights_and_predictions_are_kept_where_asked_for(tmp_path):
    run = a_run()
    record = records([run], tmp_path, score_bins=32, keep_weights=True, keep_predictions=True)[run.id]
    scores = record.predictions["test"]
    rows = evenhand.load("synthetic", n_train=600).rows("test")
    assert scores.shape == (len(rows), 2)
    assert record.measured[0].scores.bins == 32
    assert int(record.measured[0].scores.n.sum()) == len(rows)
    task = evenhand.load("synthetic", n_train=600)
    y = task.y[rows]
    own = Counts.from_predictions(y, scores.argmax(-1), np.asarray(task.attribute("a0").codes)[rows], 2, 2)
    assert own == record.measured[0].counts
    names = load_weights(tmp_path, run.id)
    assert all(name.startswith("model/") for name in names)
    assert all(torch.isfinite(value).all() for value in names.values())


def test_every_grouping_and_part_is_measured(tmp_path):
    run = a_run(knobs={"n_train": 600, "attributes": 2}, protect=("a0", "a1"))
    spec = replace(run.spec, parts=("validation", "test"), groupings=(("a0", "a1"), ("a0",), ()))
    record = records([replace(run, spec=spec)], tmp_path)[run.id]
    places = [(each.part, each.grouping) for each in record.measured]
    assert places == [(p, g) for p in ("validation", "test") for g in ("a0 × a1", "a0", "all")]
    tests = [each.counts for each in record.measured if each.part == "test"]
    crossed, single, everybody = (counts.table.sum(axis=-3) for counts in tests)
    assert np.array_equal(crossed, single)
    assert np.array_equal(single, everybody)


def test_history_ends_where_the_run_stopped(tmp_path):
    recipe = {
        "patience": 1,
        "keep": "best",
        "min_drop": 10.0,
    }  # never improves by so much after the first epoch
    run = a_run(recipe=recipe)
    run = replace(run, spec=replace(run.spec, recipe={**run.spec.recipe, "epochs": 5}))
    history = records([run], tmp_path)[run.id].history
    assert history["epoch"] == [1, 2]
    assert all(math.isfinite(value) for value in history["train"])


def test_epochs_that_belong_to_the_adversary_are_no_failure(tmp_path):
    run = a_run("a-cens", every="epoch", ratio=2)
    run = replace(run, spec=replace(run.spec, recipe={**run.spec.recipe, "epochs": 4}))
    record = records([run], tmp_path)[run.id]
    assert record.status == "done"
    assert [loss is None for loss in record.history["train"]] == [False, True, True, False]


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_deterministic_run_is_known_before_cuda_is_used(tmp_path, monkeypatch, deterministic):
    seen = []
    monkeypatch.delenv(WORKSPACE, raising=False)
    told = lambda share, device: seen.append((share, os.environ.get(WORKSPACE)))  # noqa: E731
    monkeypatch.setattr("evenhand.study.execute.hold_at_most", told)
    records([a_run(recipe={"deterministic": deterministic})], tmp_path, gpu_share=0.3)
    assert seen == [(0.3, ":4096:8" if deterministic else None)]
    monkeypatch.delenv(WORKSPACE, raising=False)


def test_a_gpu_that_others_fill_is_waited_for_and_told(tmp_path, monkeypatch):
    """Once while it is trained, once while it is measured; what comes out is what would have come out."""
    left = {"_train": 1, "_measured": 1}

    def full(name, real):
        def work(*given):
            if left[name]:
                left[name] -= 1
                raise torch.cuda.OutOfMemoryError("no memory")
            return real(*given)

        return work

    (expected,) = records([a_run()], tmp_path / "a").values()
    for name in left:
        monkeypatch.setattr(f"evenhand.study.execute.{name}", full(name, getattr(execute_module, name)))
    monkeypatch.setattr("evenhand.train.gpu_memory.filled_by_others", lambda device: True)
    monkeypatch.setattr("evenhand.train.gpu_memory.time.sleep", lambda seconds: None)
    words = []
    told = lambda standing: words.append(standing.words)  # noqa: E731
    (found,) = records([a_run()], tmp_path / "b", tell=told).values()
    assert (found.status, found.weights) == ("done", expected.weights)
    assert left == {"_train": 0, "_measured": 0}
    assert words.count("waits: other programs fill the GPU") == 2

"""Which runs share a bucket, and which do not."""

from dataclasses import asdict, replace

import pytest

from evenhand.methods.registry import method_of
from evenhand.study.plan import bucket_id, plan
from evenhand.study.records import Bucket, PlannedRun, RunSpec, identity
from evenhand.study.tasks import data_checksum, load_task
from evenhand.train.recipe import Recipe


def a_run(
    method="erm", seed=0, data="synthetic", knobs=None, protect=("a0",), net="mlp", recipe=None, **fields
):
    spec = RunSpec(
        data, {"n_train": 600} if knobs is None else knobs, protect, net, {}, method,
        asdict(method_of(method, **fields)), asdict(Recipe.of(epochs=1, **(recipe or {}))), seed, ("test",),
    )  # fmt: skip
    return PlannedRun(identity(spec, "1", "d"), spec, data, "a0", net, method, dict(fields), "d", seed)


def members(buckets):
    return sorted(sorted(run.id for run in bucket.runs) for bucket in buckets)


def test_seeds_and_numbers_share_a_bucket():
    runs = [a_run("gdro", seed, eta=eta) for seed in range(3) for eta in (0.1, 1.0)]
    assert len(plan(runs)) == 1


def test_learning_rates_share_a_bucket():
    assert len(plan([a_run(seed=s, recipe={"rate": r}) for s in range(2) for r in (0.1, 0.01)])) == 1


def test_tasks_of_one_shape_share_a_bucket():
    assert len(plan([a_run(knobs={"n_train": 600, "seed": seed}) for seed in range(3)])) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"method": "gdro"},
        {"net": "s4-mlp"},
        {"knobs": {"n_train": 700}},
        {"recipe": {"batch_size": 64}},
        {"recipe": {"schedule": "cosine"}},
        {"protect": ()},
    ],
)
def test_what_shapes_the_computation_parts_them(other):
    assert len(plan([a_run(), a_run(**other)])) == 2


def test_fields_that_are_no_numbers_part_them():
    assert len(plan([a_run("gdro", balanced=True), a_run("gdro", balanced=False)])) == 2


def test_every_run_is_in_one_bucket_and_none_exceeds_the_stack():
    runs = [a_run(seed=seed) for seed in range(50)]
    buckets = plan(runs, stack=16)
    assert sorted(run.id for bucket in buckets for run in bucket.runs) == sorted(run.id for run in runs)
    assert max(len(bucket.runs) for bucket in buckets) <= 16
    assert min(len(bucket.runs) for bucket in buckets) >= 12  # nearly equal: no straggler


def test_work_is_shared_between_workers():
    assert len(plan([a_run(seed=seed) for seed in range(40)], workers=2)) == 2


def test_a_network_that_cannot_be_stacked_runs_singly():
    runs = [
        a_run(seed=s, data="ci-mnist", knobs={}, protect=("colour",), net="cifar-resnet18") for s in range(2)
    ]
    assert [len(bucket.runs) for bucket in plan(runs)] == [1, 1]


def test_slow_buckets_go_first():
    cheap, dear = a_run(), a_run(method="gdro", knobs={"n_train": 5000})
    assert [bucket.runs[0].method for bucket in plan([cheap, dear])] == ["gdro", "erm"]


def test_a_bucket_is_known_by_its_members_and_their_order():
    one, other = a_run(seed=0), a_run(seed=1)
    assert bucket_id([one, other]) != bucket_id([other, one])


def test_a_bucket_survives_json():
    import json

    bucket = plan([a_run(seed=seed) for seed in range(2)])[0]
    again = Bucket.from_dict(json.loads(json.dumps(bucket.to_dict())))
    assert again.id == bucket.id
    assert [identity(run.spec, "1", "d") for run in again.runs] == [run.id for run in bucket.runs]


def test_identity_changes_with_everything_that_matters():
    run = a_run()
    spec = run.spec
    changed = [
        replace(spec, seed=1), replace(spec, knobs={"n_train": 601}), replace(spec, protect=()),
        replace(spec, net_options={"dropout": 0.1}), replace(spec, fields={"x": 1}),
        replace(spec, recipe={**spec.recipe, "rate": 0.5}), replace(spec, parts=("validation",)),
        replace(spec, sources={"mine.py": "00"}),
    ]  # fmt: skip
    ids = [identity(each, "1", "d") for each in changed]
    ids += [run.id, identity(spec, "2", "d"), identity(spec, "1", "e")]
    assert len(set(ids)) == len(ids)


def test_epochs_of_other_lengths_part_them():
    runs = [a_run("resample", data="titanic", knobs={"seed": seed}, protect=("sex",)) for seed in range(4)]
    assert len(plan(runs)) == 4  # each split has other numbers of rows to repeat
    plain = [a_run("erm", data="titanic", knobs={"seed": seed}, protect=("sex",)) for seed in range(4)]
    assert len(plan(plain)) == 1


def test_identity_and_data_are_the_same_however_a_number_is_written():
    spec = a_run().spec
    written = [
        replace(spec, knobs={"scarcity": zero}, net_options={"dropout": zero, "widths": widths})
        for zero, widths in ((0, [8, 8]), (0.0, (8.0, 8)))
    ]
    assert len({identity(each, "1", "d") for each in written}) == 1
    small = {"n_train": 40, "n_validation": 40, "n_test": 40}
    checksums = [data_checksum(load_task("synthetic", {**small, "scarcity": n})) for n in (0, 0.0, 0.5)]
    assert checksums[0] == checksums[1] != checksums[2]
    assert identity(replace(spec, fields={"x": True}), "1", "d") != identity(
        replace(spec, fields={"x": 1}), "1", "d"
    )

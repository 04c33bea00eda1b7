"""One training that several runs read: what comes out is what each would have had by itself."""

from dataclasses import replace

import numpy as np
import pytest
from tests.study.test_execute import records
from tests.study.test_plan import a_run

from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.discriminative_rba import DiscriminativeRBA
from evenhand.methods.independent import DomainIndependent
from evenhand.study import execute as execute_module
from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.plan import bucket_id, plan
from evenhand.study.sharing import trainings_of
from evenhand.study.sharing_methods import shared_methods
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.weights import load_weights

RULES = ("sum-prob", "max-prob-shift", "sum-prob-shift")


def readings(seeds=(0, 1), **options):
    """DD1 to DD4 of each seed, and both of domain independent training."""
    disc = [a_run("disc", seed, inference=rule, **options) for seed in seeds for rule in RULES]
    rba = [a_run("disc-rba", seed, **options) for seed in seeds]
    ind = [a_run("ind", s, inference=rule, **options) for s in seeds for rule in ("sum-logit", "sum-prob")]
    return [*disc, *rba, *ind]


def trained_apart(monkeypatch):
    for kind in (DomainDiscriminative, DiscriminativeRBA, DomainIndependent):
        monkeypatch.setattr(kind, "trains_as", lambda self: self)


def test_readings_of_a_seed_are_one_training_of_one_bucket():
    runs = readings(seeds=range(5))
    assert sorted(map(len, trainings_of(runs))) == [2] * 5 + [4] * 5
    buckets = plan(runs)
    assert sorted(len(bucket.runs) for bucket in buckets) == [10, 20]
    assert {len(trainings_of(bucket.runs)) for bucket in buckets} == {5}


def test_a_stack_counts_trainings():
    buckets = plan(readings(seeds=range(4)), stack=2)
    assert sorted(len(bucket.runs) for bucket in buckets) == [4, 4, 8, 8]
    assert all(len(trainings_of(bucket.runs)) == 2 for bucket in buckets)


def test_cost_is_counted_once_a_training():
    one, four = plan([a_run("disc")]), plan([run for run in readings(seeds=[0]) if "disc" in run.method])
    assert one[0].cost == four[0].cost


@pytest.mark.parametrize("recipe", [{"keep": "best"}, {"patience": 2}])
def test_where_validation_chooses_the_epoch_nothing_is_shared(recipe):
    runs = readings(recipe=recipe)
    assert len(trainings_of(runs)) == len(runs)
    assert len(plan(runs)) == 6  # one for each of the rules


def test_other_seeds_recipes_and_groups_are_other_trainings():
    one = a_run("disc", 0)
    others = [
        a_run("disc", 1, inference="sum-prob-shift"),
        a_run("disc", 0, inference="sum-prob-shift", recipe={"rate": 0.5}),
        a_run("disc", 0, inference="sum-prob-shift", protect=("a1",)),
        a_run("disc", 0, inference="sum-prob-shift", knobs={"n_train": 700}),
        a_run("ind", 0),
    ]
    assert all(len(trainings_of([one, other])) == 2 for other in others)


def test_buckets_of_methods_that_share_nothing_are_as_they_were():
    runs = [a_run("gdro", seed, eta=eta) for seed in range(3) for eta in (0.1, 1.0)]
    assert [bucket.id for bucket in plan(runs)] == [bucket_id(runs)]
    alone = [a_run("disc", seed, inference="sum-prob-shift") for seed in range(3)]
    assert [bucket.id for bucket in plan(alone)] == [bucket_id(alone)]


def test_sharing_changes_no_bit(tmp_path, monkeypatch):
    runs = readings()
    shared = records(runs, tmp_path / "shared", keep_weights=True, keep_predictions=True)
    trained_apart(monkeypatch)
    assert len(trainings_of(runs)) == len(runs)
    apart = records(runs, tmp_path / "apart", keep_weights=True, keep_predictions=True)
    decided = {shared[run.id].predictions["test"].argmax(-1).tobytes() for run in runs}
    assert len(decided) > 4  # the readings do differ
    for run in runs:
        one, other = shared[run.id], apart[run.id]
        assert one.status == other.status == "done"
        assert np.array_equal(one.predictions["test"], other.predictions["test"])
        assert one.measured[0].counts == other.measured[0].counts
        weights, own = (load_weights(tmp_path / name, run.id) for name in ("shared", "apart"))
        for name in (key for key in own if key.startswith("model/")):
            assert np.array_equal(weights[name], own[name])


def test_a_reading_is_the_same_alone_and_beside_others(tmp_path):
    runs = readings()
    together = records(runs, tmp_path / "together")
    for run in runs:
        alone = records([run], tmp_path / run.id)[run.id]
        assert alone.weights == together[run.id].weights
        assert alone.measured[0].counts == together[run.id].measured[0].counts


def test_numbers_of_a_rule_may_differ_from_reading_to_reading(tmp_path):
    runs = [a_run("disc-rba", seed, margin=margin) for seed in range(2) for margin in (0.01, 0.4)]
    runs.append(a_run("disc-rba", 0, margin=0.2))  # a reading that one of the trainings lacks
    found = records(runs, tmp_path / "together")
    assert len({found[run.id].weights for run in runs}) == 2
    for run in runs:
        alone = records([run], tmp_path / run.id)[run.id]
        assert alone.measured[0].counts == found[run.id].measured[0].counts


def test_sharers_have_one_digest_and_their_share_of_the_time(tmp_path):
    runs = [run for run in readings() if "disc" in run.method]
    found = records(runs, tmp_path)
    for seed in (0, 1):
        mine = [found[run.id] for run in runs if run.spec.seed == seed]
        assert len({record.weights for record in mine}) == 1
        assert {record.stack for record in mine} == {2}
        assert sum(r.seconds for r in mine) == pytest.approx(mine[0].stack_seconds / 2)
    assert found[runs[0].id].weights != found[runs[-1].id].weights


def test_each_training_is_made_once_also_one_by_one(tmp_path, monkeypatch):
    real, trained = execute_module.train_runs, []

    def counted(runs, *rest, **options):
        if len(runs) > 1:
            raise RuntimeError("not together")
        trained.append(runs[0].seed)
        return real(runs, *rest, **options)

    monkeypatch.setattr(execute_module, "train_runs", counted)
    runs = [run for run in readings() if "disc" in run.method]
    found = records(runs, tmp_path)
    assert trained == [0, 1]
    assert {record.status for record in found.values()} == {"done"}
    assert all("tried alone" in record.detail for record in found.values())


def test_a_training_that_fails_fails_all_that_would_read_it(tmp_path, monkeypatch):
    monkeypatch.setattr(execute_module, "train_runs", lambda *_, **__: 1 / 0)
    runs = readings(seeds=[0])
    found = records(runs, tmp_path)
    assert {record.reason for record in found.values()} == {"ZeroDivisionError: division by zero"}
    assert len(found) == len(runs)


def test_a_reading_that_cannot_be_made_fails_alone(tmp_path):
    good = [a_run("ind", 0, inference=rule) for rule in ("sum-logit", "sum-prob")]
    bad = a_run("ind", 0, inference="max")  # of several labels a row only
    found = records([*good, bad], tmp_path)
    assert [found[run.id].status for run in (*good, bad)] == ["done", "done", "failed"]
    assert "cannot be read" in found[bad.id].reason


SMALL = {"n_train": 300, "n_validation": 200, "n_test": 200}
STUDY = Study(
    "shared",
    tasks=(TaskSpec("synthetic", "one", SMALL),),
    groupings=(GroupingSpec(("a0",)),),
    nets=(NetEntry("mlp", options={"widths": [8]}),),
    methods=(
        MethodSpec("erm"),
        MethodSpec("disc", "S-DD1"),
        MethodSpec("disc", "S-DD3", {"inference": "sum-prob-shift"}),
        MethodSpec("disc-rba", "S-DD4"),
    ),
    recipe={"epochs": 2, "batch_size": 32},
    seeds=(0, 1),
)


def digests(folder):
    with Store.open(folder, readonly=True) as store:
        return store.digests()


def options(folder, **values):
    return Options(folder, backend="inline", device="cpu", **values)


def test_a_study_says_what_is_trained_once(tmp_path):
    status = run_study(STUDY, options(tmp_path))
    told = "S-DD1, S-DD3, S-DD4: trained once, read 3 ways (2 trainings, whose cost is told once)"
    assert told in status.notes
    assert status.done == 8
    with Store.open(tmp_path, readonly=True) as store:
        frame = Frame(store)
        from evenhand.evaluation.study.summary import summarise

        body = summarise(frame, replicates=0)
    assert frame.readers.tolist() == [1, 1, 3, 3, 3, 3, 3, 3]
    assert any(note.startswith(told) for note in body["notes"])
    assert body["budget"]["seconds"] == pytest.approx(
        sum(s / n for s, n in {(s, n) for s, n in zip(frame.columns["stack_seconds"],
                                                       frame.columns["stack"], strict=True)}) * 2
    )  # fmt: skip


def test_shared_methods_are_told_without_any_data():
    named = replace(STUDY, methods=tuple(replace(m, name=m.name or m.key) for m in STUDY.methods))
    assert shared_methods(named) == [("S-DD1", "S-DD3", "S-DD4")]
    assert shared_methods(replace(named, recipe={"keep": "best"})) == []


@pytest.mark.parametrize("part", [{"limit": 3}, {"only": ("method=S-DD3",)}])
def test_parts_of_a_study_come_to_the_same(tmp_path, part):
    run_study(STUDY, options(tmp_path / "whole"))
    status = run_study(STUDY, options(tmp_path / "parts", **part))
    assert 0 < status.done < 8
    run_study(STUDY, options(tmp_path / "parts"))
    assert digests(tmp_path / "parts") == digests(tmp_path / "whole")


def test_a_limit_leaves_no_training_half_read(tmp_path):
    status = run_study(STUDY, options(tmp_path, limit=3))
    assert status.done == 5  # two of erm, and a training that three read

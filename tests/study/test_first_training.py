"""First trainings that runs share: each made once, to the bit; locks that die with their owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.study.test_plan import a_run

from evenhand.study import first_training
from evenhand.study.backends.base import Job
from evenhand.study.driver import Options, run_study
from evenhand.study.execute import execute
from evenhand.study.file_lock import tried_lock
from evenhand.study.first_training import FirstTrainings, first_id, first_of, whole_of
from evenhand.study.plan import plan
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

SMALL = {"n_train": 200, "n_validation": 60, "n_test": 60, "classes": 3}
STUDY = Study(
    "distilled",
    tasks=(TaskSpec("synthetic", "one", SMALL),),
    groupings=(GroupingSpec(("a0",)),),
    nets=(NetEntry("mlp", options={"widths": [8], "dropout": 0.2}),),
    methods=(
        MethodSpec("erm"),
        MethodSpec("kd"),
        MethodSpec("kd", "kd-soft", {"temperature": 8.0}),
        MethodSpec("pkt-kd"),
        MethodSpec("prune+sp", "pruned", {"kind": "magnitude", "every": 1}),
    ),
    recipe={"epochs": 2, "batch_size": 32},
    seeds=(0, 1),
)
STUDENTS = ("kd", "kd-soft", "pkt-kd", "pruned")


def options(folder, **values):
    return Options(folder, backend="inline", device="cpu", **values)


def records(folder):
    """Records by method and seed."""
    with Store.open(folder, readonly=True) as store:
        found = {run.id: (run.method, run.spec.seed) for run in store.runs()}
        return {found[record.id]: record for record in store.records()}


@pytest.fixture
def made(monkeypatch):
    """Ids of the first trainings that are written, in order."""
    seen, real = [], first_training.save_tensors

    def counted(path, *given):
        seen.append(path.stem)
        real(path, *given)

    monkeypatch.setattr(first_training, "save_tensors", counted)
    return seen


ONCE = [({}, 1), ({"keep": "best"}, 1), ({"patience": 1, "epochs": 3}, None)]


@pytest.mark.parametrize(("recipe", "stack"), ONCE)
def test_a_teacher_is_trained_once_and_no_bit_changes(tmp_path, monkeypatch, made, recipe, stack):
    """Students, pruned ones and those of another temperature; alone and side by side."""
    study = replace(STUDY, recipe={**STUDY.recipe, **recipe})
    status = run_study(study, options(tmp_path / "shared", stack=stack))
    assert (status.done, status.failed) == (10, 0)
    assert len(made) == len(set(made)) == 2  # seeds; four methods
    monkeypatch.setattr(first_training, "first_of", lambda run: None)
    run_study(study, options(tmp_path / "apart", stack=stack))
    assert len(made) == 2
    shared, apart = records(tmp_path / "shared"), records(tmp_path / "apart")
    for key, record in apart.items():
        assert record.weights == shared[key].weights
        assert record.history == shared[key].history
        assert [m.counts for m in record.measured] == [m.counts for m in shared[key].measured]


PLAIN = replace(
    STUDY, nets=(NetEntry("mlp", options={"widths": [8]}),)
)  # no masks: a teacher is ERM's network


STOPPED_APART = ({"patience": 1, "epochs": 8, "rate": 0.05}, None)  # one seed long before the other


@pytest.mark.parametrize(("recipe", "stack"), [*ONCE, STOPPED_APART])
def test_plain_training_and_the_teacher_are_one_and_no_bit_changes(
    tmp_path, monkeypatch, made, recipe, stack
):
    """The base of a study of distillation is the very network that its students begin with."""
    study = replace(PLAIN, recipe={**STUDY.recipe, **recipe})
    run_study(study, options(tmp_path / "shared", stack=stack))
    assert len(made) == len(set(made)) == 2  # seeds
    shared = records(tmp_path / "shared")
    for seed in (0, 1):
        first = {json.loads(shared[method, seed].detail)["first"] for method in ("erm", *STUDENTS)}
        assert len(first) == 1
        assert shared["erm", seed].seconds > 0  # it comes first, and has the time
    monkeypatch.setattr(first_training, "first_of", lambda run: None)
    run_study(study, options(tmp_path / "apart", stack=stack))
    for key, record in records(tmp_path / "apart").items():
        assert not record.detail
        assert record.weights == shared[key].weights
        assert record.history == shared[key].history
        assert [m.counts for m in record.measured] == [m.counts for m in shared[key].measured]


def test_plain_training_takes_the_teacher_as_it_is(tmp_path, monkeypatch):
    """Two trainings of one seed may differ on a GPU: here the teacher's is given another last layer."""
    run_study(PLAIN, options(tmp_path, only=("method=kd",)))
    for file in (tmp_path / "first").glob("*.npz"):
        tensors, facts = first_training.load_tensors(file)
        moved = {name: value + 1.0 if value.ndim == 1 else value for name, value in tensors.items()}
        first_training.save_tensors(file, moved, facts)
    run_study(PLAIN, options(tmp_path))
    run_study(PLAIN, options(tmp_path / "alone", only=("method=erm",)))
    taken, alone = records(tmp_path), records(tmp_path / "alone")
    for seed in (0, 1):
        assert taken["erm", seed].weights != alone["erm", seed].weights
        assert taken["erm", seed].history == alone["erm", seed].history
        assert taken["erm", seed].seconds == 0  # whose time it was is with the student


def test_plain_training_of_which_some_are_teachers_takes_these(tmp_path):
    """Runs on two tasks are one stack, and students, which are there already, are on one of them."""
    two = replace(STUDY.tasks[0], name="two", knobs={**SMALL, "signal": 0.5})
    methods = (PLAIN.methods[0], replace(PLAIN.methods[1], tasks=("one",)))
    study = replace(PLAIN, tasks=(*STUDY.tasks, two), methods=methods, seeds=(0,))
    run_study(study, options(tmp_path, only=("method=kd",)))
    run_study(study, options(tmp_path))
    with Store.open(tmp_path, readonly=True) as store:
        names = {run.id: (run.method, run.task) for run in store.runs()}
        found = {names[record.id]: record for record in store.records()}
    assert found["erm", "one"].stack == 2
    assert found["erm", "one"].detail == found["kd", "one"].detail != ""


def test_plain_training_is_kept_for_students_that_are_made_later(tmp_path, made):
    run_study(PLAIN, options(tmp_path, only=("method=erm",)))
    assert len(made) == 2
    run_study(PLAIN, options(tmp_path))
    assert len(made) == 2
    assert records(tmp_path)["erm", 0].seconds > 0


def test_plain_training_that_nobody_begins_with_is_kept_nowhere(tmp_path, made):
    run_study(replace(PLAIN, methods=PLAIN.methods[:1]), options(tmp_path))
    assert not made
    assert {record.detail for record in records(tmp_path).values()} == {""}


def test_where_masks_are_drawn_the_teacher_s_are_its_own(tmp_path, made):
    run_study(replace(STUDY, methods=STUDY.methods[:2]), options(tmp_path))
    found = records(tmp_path)
    assert not found["erm", 0].detail
    assert found["kd", 0].detail


PRETRAINED = replace(
    STUDY,
    name="pretrained",
    tasks=(TaskSpec("synthetic", "one", {**SMALL, "scarcity": 0.5}),),
    methods=tuple(
        MethodSpec(f"pre+{key}", fields={"pre_epochs": 2})
        for key in ("erm", "w-erm", "gdro", "irm", "resample", "ind", "a-cens")
    ),
)


@pytest.mark.parametrize(("recipe", "stack"), ONCE)
def test_methods_that_begin_alike_are_pretrained_once_and_no_bit_changes(
    tmp_path, monkeypatch, made, recipe, stack
):
    study = replace(PRETRAINED, recipe={**STUDY.recipe, **recipe})
    run_study(study, options(tmp_path / "shared", stack=stack))
    assert len(made) == len(set(made)) == 2  # seeds; five methods, and two that are their own
    monkeypatch.setattr(first_training, "first_of", lambda run: None)
    run_study(study, options(tmp_path / "apart", stack=stack))
    shared, apart = records(tmp_path / "shared"), records(tmp_path / "apart")
    assert len(apart) == 14
    for key, record in apart.items():
        assert (record.status, record.weights) == ("done", shared[key].weights)
        assert record.history == shared[key].history
    told = {method for (method, _), record in shared.items() if record.detail}
    assert told == {"pre+erm", "pre+w-erm", "pre+gdro", "pre+irm", "pre+resample"}


def test_a_record_says_what_it_shares(tmp_path, made):
    run_study(STUDY, options(tmp_path))
    found = records(tmp_path)
    first = {key: json.loads(record.detail)["first"] for key, record in found.items() if record.detail}
    assert {method for method, _ in first} == set(STUDENTS)
    for seed in (0, 1):
        assert len({first[method, seed] for method in STUDENTS}) == 1
    assert set(first.values()) == set(made)


def test_who_trains_it_has_its_time(tmp_path, monkeypatch):
    spent, real = [], first_training.left_of

    def looked_at(trainer, place):
        spent.append(trainer.position.seconds)
        return real(trainer, place)

    monkeypatch.setattr(first_training, "left_of", looked_at)
    run_study(STUDY, options(tmp_path, only=("method=kd",)))
    assert records(tmp_path)["kd", 0].stack_seconds > spent[0] > 0
    run_study(STUDY, options(tmp_path))
    assert len(spent) == 2  # the two seeds, side by side: nobody else has any


def test_files_stay_until_the_study_is_finished_or_weights_are_kept(tmp_path):
    run_study(STUDY, options(tmp_path / "a", only=("method=kd",)))
    files = sorted(path.suffix for path in (tmp_path / "a" / "first").iterdir())
    assert files == [".lock", ".lock", ".npz", ".npz"]
    run_study(STUDY, options(tmp_path / "a"))
    assert not (tmp_path / "a" / "first").exists()
    run_study(STUDY, options(tmp_path / "b", keep_weights=True))
    assert len(list((tmp_path / "b" / "first").glob("*.npz"))) == 2


def test_stopped_while_the_teacher_or_the_student_trains_it_goes_on_to_the_same_bits(tmp_path):
    runs = [a_run("kd", seed, knobs={**SMALL, "n_train": 1500}, recipe={"batch_size": 16}) for seed in (0, 1)]
    whole = made_in(tmp_path / "whole", runs)
    for share in (0.2, 0.7):
        folder = tmp_path / str(share)

        def interrupt(standing, share=share):
            if standing.done > share:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made_in(folder, runs, interrupt)
        begun: list[float] = []
        again = made_in(folder, runs, lambda standing, seen=begun: seen.append(standing.done))
        assert begun[0] > share
        assert {id: r.weights for id, r in again.items()} == {id: r.weights for id, r in whole.items()}


def made_in(folder, runs, tell=lambda standing: None):
    """The runs in a folder that has a study."""
    folder.mkdir(exist_ok=True)
    (folder / "study.sqlite").touch()
    job = Job(str(folder))
    return {record.id: record for bucket in plan(runs) for record in execute(bucket, job, tell)}


def test_a_damaged_file_is_made_again(tmp_path, made):
    one, two = a_run("kd", knobs=SMALL), a_run("pkt", knobs=SMALL)
    whole = made_in(tmp_path / "whole", [one, two])
    made_in(tmp_path / "cut", [one])
    (file,) = (tmp_path / "cut" / "first").glob("*.npz")
    file.write_bytes(file.read_bytes()[:500])
    assert made_in(tmp_path / "cut", [two])[two.id].weights == whole[two.id].weights


def test_on_a_disk_of_its_own_a_worker_leaves_nothing(tmp_path):
    run = a_run("kd", knobs=SMALL)
    (bucket,) = plan([run])
    (record,) = execute(bucket, Job(str(tmp_path)), lambda standing: None)
    assert record.status == "done"
    assert not (tmp_path / "first").exists()


def test_what_a_first_training_is_known_by():
    def known(method="kd", device="cpu", **options):
        run = a_run(method, knobs=options.pop("knobs", SMALL), **options)
        return first_id(run, first_of(run), device)

    same = [
        {"alpha": 0.3},
        {"method": "pkt", "beta": 2.0},
        {"method": "prune+sp", "share": 0.2},
        {"protect": ()},
    ]
    assert {known(**other) for other in same} == {known()}
    monitored = {"monitor": "tpr.gap", "keep": "best"}
    others = [
        {"seed": 1}, {"teacher_epochs": 3}, {"recipe": {"rate": 0.1}}, {"net": "s4-mlp"}, {"device": "cuda"},
        {"knobs": {**SMALL, "seed": 1}}, {"recipe": monitored}, {"recipe": monitored, "protect": ()},
    ]  # fmt: skip
    assert len({known(), *(known(**other) for other in others)}) == len(others) + 1
    assert known(device="cuda:1") == known(device="cuda:0")


def test_who_is_as_a_whole_what_others_begin_with():
    """ERM alone: what adds something to it is none, nor are identical runs."""
    (method, network) = whole_of(a_run("erm"))
    assert first_id(a_run("erm"), method, "cpu") == first_id(a_run("kd"), first_of(a_run("kd")), "cpu")
    assert network == "teacher"
    for other in ("gdro", "w-erm", "prune+erm", "staged+erm", "pre+erm"):
        assert whole_of(a_run(other, knobs=SMALL)) is None
    identical = a_run("erm", knobs=SMALL)
    assert whole_of(replace(identical, spec=replace(identical.spec, repeat=0))) is None


def test_what_others_wait_for_is_planned_first():
    students = [a_run("kd", knobs={**SMALL, "n_train": 3000}), a_run("pkt", knobs=SMALL)]
    base = a_run("erm", knobs=SMALL)
    assert [bucket.first for bucket in plan([*students, base])] == ["awaited", "own", "own"]
    assert [bucket.first for bucket in plan([students[0], base])] == ["own", "same"]  # other data


def test_who_shares_nothing():
    assert first_of(a_run("erm")) is None
    assert first_of(a_run("pre+kd", knobs=SMALL)) is None
    identical = a_run("kd", knobs=SMALL)
    assert first_of(replace(identical, spec=replace(identical.spec, repeat=0))) is None


OWNER = """
import sys, time
from pathlib import Path
from tests.study.test_first_training import waiting_for
folder = Path(sys.argv[1])

def make(runs, methods, name, told):
    (folder / "first" / ".half.npz.1.part").write_bytes(b"half")
    (folder / "began").touch()
    time.sleep(60)

waiting_for(folder).ensure(make, print)
"""


def waiting_for(folder) -> FirstTrainings:
    (folder / "study.sqlite").touch()
    return FirstTrainings([a_run("kd", knobs=SMALL)], Job(str(folder)), "bucket")


def test_what_another_made_meanwhile_stays(tmp_path, monkeypatch):
    """Where there are no locks two may train at once: the first network is everybody's."""
    monkeypatch.setattr(first_training, "tried_lock", lambda path: nullcontext(True))
    mine, bases = waiting_for(tmp_path), [a_run("erm", knobs=SMALL)]
    file = tmp_path / "first" / f"{mine.ids[0]}.npz"

    def make(runs, methods, name, told):
        first_training.save_tensors(file, {}, {"history": ["another's"]})
        return [SimpleNamespace(stack=SimpleNamespace(n_runs=1), position=SimpleNamespace(seconds=1.0))]

    mine.ensure(make, print)
    assert first_training.load_tensors(file)[1] == {"history": ["another's"]}
    assert FirstTrainings(bases, Job(str(tmp_path)), "base", first_training.AWAITED).ids == mine.ids


def test_the_lock_of_a_killed_worker_is_free_at_once(tmp_path):
    """While it lives others wait, and may be stopped; after kill -9 there is no half file and no lock."""
    other = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)])
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "began").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        mine, told = waiting_for(tmp_path), []

        def stopped(standing):
            told.append(standing.words)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            mine.ensure(lambda *given: pytest.fail("two would train the same"), stopped)
        assert "waits for a first training" in told[0]
    finally:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert not list((tmp_path / "first").glob("*[0-9a-f].npz"))
    began = time.monotonic()
    asked = []

    def make(runs, methods, name, told):
        asked.extend(methods)
        raise RuntimeError("far enough")

    with pytest.raises(RuntimeError, match="far enough"):
        mine.ensure(make, lambda standing: pytest.fail("nobody is waited for"))
    assert len(asked) == 1
    assert time.monotonic() - began < 5
    with tried_lock(tmp_path / "first" / f"{mine.ids[0]}.lock") as ours:
        assert ours  # an error let go of it too


def test_who_waited_reads_what_the_other_made(tmp_path, made, monkeypatch):
    monkeypatch.setattr(first_training, "LOOK_EVERY", 0.01)
    run = a_run("kd", knobs=SMALL)
    alone = made_in(tmp_path / "alone", [run])[run.id]
    (file,) = (tmp_path / "alone" / "first").glob("*.npz")
    folder = tmp_path / "waits"
    folder.mkdir()
    mine = waiting_for(folder)
    place = folder / "first" / file.name
    with tried_lock(place.with_suffix(".lock")) as ours:
        assert ours
        mine.ensure(
            lambda *given: pytest.fail("it is being made"),
            lambda standing: place.write_bytes(file.read_bytes()),
        )
    assert made_in(folder, [run])[run.id].weights == alone.weights
    assert len(made) == 1

"""Identical runs: one seed, a process each; what is named may differ between them, and nothing else."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.study.test_plan import a_run

from evenhand.errors import InputError
from evenhand.evaluation.study.summary import summarise
from evenhand.report.study_body import completed
from evenhand.report.study_words import study_sentences
from evenhand.study import fit_process
from evenhand.study.backends.base import Job
from evenhand.study.driver import Options, run_study
from evenhand.study.execute import execute
from evenhand.study.expand import expand
from evenhand.study.fit import IMPLEMENTATION, varied_in
from evenhand.study.fit_process import facts_of_repeat, implementation, own_seeds
from evenhand.study.frame import Frame
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.plan import plan
from evenhand.study.read import read_study
from evenhand.study.records import RunSpec, identity
from evenhand.study.sharing import trainings_of
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

STUDY = Study(
    "fit",
    tasks=(TaskSpec("synthetic", "one", {"n_train": 300, "n_validation": 200, "n_test": 200}),),
    groupings=(GroupingSpec(("a0",)),),
    nets=(NetEntry("mlp", options={"widths": [8], "dropout": 0.2}),),
    methods=(
        MethodSpec("erm", "erm"),
        MethodSpec("ind", "DI1"),
        MethodSpec("ind", "DI2", {"inference": "sum-prob"}),
    ),
    recipe={"epochs": 2, "batch_size": 32},
    seeds=(3,),
    repeats=2,
    vary=IMPLEMENTATION,
)
ONE = replace(STUDY, methods=STUDY.methods[:1])
FILE = """
name = "fit"
repeat = "identical"
{top}

[recipe]
epochs = 1
{recipe}

[fit]
{fit}

[[task]]
data = "titanic"

[[grouping]]
attributes = ["sex"]

[[method]]
key = "erm"
"""


def read(tmp_path, top="", recipe="", fit=""):
    file = tmp_path / "fit.toml"
    file.write_text(FILE.format(top=top, recipe=recipe, fit=fit))
    return read_study(file)


def run(folder, study=STUDY, **values):
    status = run_study(study, Options(Path(folder), device="cpu", **values))
    with Store.open(Path(folder), readonly=True) as store:
        return status, list(store.records()), Frame(store), summarise(store, replicates=0)


@pytest.fixture(scope="module")
def identical(tmp_path_factory):
    return run(tmp_path_factory.mktemp("identical"), workers=2)


def test_every_training_has_a_process_of_its_own(identical):
    status, records, _, _ = identical
    assert (status.done, status.failed) == (6, 0)
    processes = [facts_of_repeat(record.detail)["process"] for record in records]
    assert len(set(processes)) == 4  # two trainings of erm, two that DI1 and DI2 read
    assert os.getpid() not in processes


def test_identical_runs_on_a_cpu_are_equal_to_the_bit(identical):
    _, _, frame, _ = identical
    weights = dict(zip(zip(frame.columns["method"], frame.columns["seed"], strict=True),
                       frame.columns["weights"], strict=True))  # fmt: skip
    assert set(frame.columns["repeat"]) == {0, 1}
    assert weights["erm", 0] == weights["erm", 1] != ""
    assert weights["DI1", 0] == weights["DI2", 0] == weights["DI1", 1] == weights["DI2", 1]


def test_the_report_says_so_instead_of_testing(identical):
    _, _, _, body = identical
    told = "2 identical runs of every method gave identical weights (by SHA-256)"
    assert any(note.startswith(told) for note in body["notes"])
    assert any("what may differ between them: kernels, reduction" in note for note in body["notes"])
    assert not any("intervals over seeds are wide" in note for note in body["notes"])  # there are none
    assert body["budget"]["words"].endswith("2 identical runs")
    first = study_sentences(completed(body))[0]
    assert first.startswith("The identical runs of every method are equal to the bit")
    methods = {entry["method"]: entry for entry in body["problems"][0]["methods"]}
    found = methods["DI1"]
    assert found["n"] == 2
    assert found["numbers"]["acc"]["std"] == found["numbers"]["acc"]["maxdiff"] == 0.0
    assert found["numbers"]["acc"]["low"] is None
    assert {line["verdict"] for line in found["against"].values()} == {"not enough runs to tell"}
    assert all(line["p"] is None or line["p"] == 1.0 for line in found["against"].values())
    assert {line["variance"] for line in body["cost"]} == {"NS"}


def test_what_was_switched_is_in_the_records(identical):
    _, records, frame, _ = identical
    for spec in frame.columns["spec"]:
        assert spec["vary"] == ["kernels", "reduction"]
    facts = facts_of_repeat(records[0].detail)
    assert (facts["cudnn_benchmark"], facts["deterministic"]) == (True, False)
    assert facts["vary"] == ["kernels", "reduction"]


@pytest.mark.parametrize(("vary", "initial"), [(("order",), 1), (("init",), 2), (("dropout",), 1), ((), 1)])
def test_one_source_alone(tmp_path, monkeypatch, vary, initial):
    records = []
    for bucket in plan(expand(replace(ONE, vary=vary))):
        monkeypatch.setattr(fit_process, "_worked", False)  # one process will do: nothing is chosen by timing
        records += execute(bucket, Job(str(tmp_path)), lambda standing: None)
    facts = [facts_of_repeat(record.detail) for record in records]
    assert len({record.weights for record in records}) == (2 if vary else 1)
    assert len({fact["initial"] for fact in facts}) == initial
    assert [fact["deterministic"] for fact in facts] == [True, True]
    assert [fact["cudnn_benchmark"] for fact in facts] == [False, False]


def test_repeat_0_is_the_run_of_the_seed():
    spec = replace(a_run(seed=3).spec, repeat=0, vary=("order", "init", "dropout"))
    assert own_seeds(spec) == {}
    others = [own_seeds(replace(spec, repeat=number)) for number in (1, 2)]
    assert all(set(each) == {"order_seed", "weight_seed", "noise_seed"} for each in others)
    assert len({seed for each in others for seed in each.values()}) == 6
    assert set(own_seeds(replace(spec, repeat=1, vary=("order", "kernels")))) == {"order_seed"}


def test_a_deterministic_recipe_is_the_control():
    runs = expand(
        replace(STUDY, recipe={**STUDY.recipe, "deterministic": True}, vary=(*IMPLEMENTATION, "order"))
    )
    assert {run.spec.vary for run in runs} == {("order",)}
    assert varied_in(IMPLEMENTATION, {"deterministic": True}) == ()


def test_torch_is_told_and_left_as_it_was():
    spec = a_run().spec
    for vary in ((), ("kernels",), ("reduction",), IMPLEMENTATION):
        with implementation(replace(spec, repeat=0, vary=vary)):
            assert torch.backends.cudnn.benchmark == ("kernels" in vary)
            assert torch.are_deterministic_algorithms_enabled() == ("reduction" not in vary)
        assert not torch.backends.cudnn.benchmark
        assert not torch.are_deterministic_algorithms_enabled()


def test_runs_that_are_not_repeated_have_the_identity_that_they_had():
    spec = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, seed=0)
    assert "repeat" not in spec.content()
    assert "vary" not in spec.content()
    assert identity(spec, "0.1.0", "00") == "ec37bc31ded838a5918f04477e12a981"  # of the version before
    repeated = [replace(spec, repeat=number) for number in range(2)]
    assert len({identity(one, "0.1.0", "00") for one in (spec, *repeated)}) == 3
    assert RunSpec.from_dict(repeated[1].to_dict()) == repeated[1]


def test_they_are_never_stacked():
    runs = expand(replace(STUDY, repeats=4))
    buckets = plan(runs)
    assert len(runs) == 12
    assert len(buckets) == 8
    assert all(bucket.fresh and bucket.stack == 1 for bucket in buckets)
    assert all(len(trainings_of(bucket.runs)) == 1 for bucket in buckets)


def test_a_process_that_has_worked_is_refused(monkeypatch):
    monkeypatch.setattr(fit_process, "_worked", True)
    with pytest.raises(InputError, match="a process each"):
        fit_process.begin_in_fresh_process(True)
    fit_process.begin_in_fresh_process(False)


def test_the_file(tmp_path):
    study = read(tmp_path)
    assert (study.repeats, study.vary, study.seeds, study.smoke.repeats) == (16, IMPLEMENTATION, (0,), 2)
    study = read(tmp_path, "runs = 5\nseeds = [7]", fit='vary = ["init", "kernels"]')
    assert (study.repeats, study.vary, study.seeds) == (5, ("kernels", "init"), (7,))
    assert study_from_dict(study_to_dict(study)) == study
    assert read(tmp_path, fit="vary = []").vary == ()


@pytest.mark.parametrize(
    ("top", "recipe", "fit", "told"),
    [
        ("seeds = 3", "", "", "identical runs have one seed, and there are 3"),
        ("runs = 1", "", "", "'runs' must be at least 2, not 1"),
        ("runs = 1_000_000_000_000", "", "", "the study would have .*000,000,000,000 runs, and at most"),
        ("", "", 'vary = ["ordre"]', "there is no source of variance 'ordre'; did you mean 'order'"),
        ("", "", "varies = 1", r"\[fit\] has no key 'varies'"),
        ("", "deterministic = true", 'vary = ["kernels"]', "leaves no room for kernels to vary"),
    ],
)
def test_mistakes_are_told(tmp_path, top, recipe, fit, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, top, recipe, fit)


def test_what_belongs_to_identical_runs_only(tmp_path):
    file = tmp_path / "fit.toml"
    for old, told in (('repeat = "identical"\n', "runs"), ('repeat = "identical"\nruns = 4\n', "fit")):
        text = FILE.format(top="runs = 4", recipe="", fit='vary = ["order"]')
        file.write_text(text.replace(old, ""))
        with pytest.raises(InputError, match=f"'{told}' belongs to identical runs"):
            read_study(file)
    file.write_text(FILE.format(top="", recipe="", fit="").replace('"identical"', '"identicl"'))
    with pytest.raises(InputError, match="there is no way to repeat 'identicl'"):
        read_study(file)


def test_only_one_of_them(tmp_path):
    status, *_ = run(tmp_path, ONE, backend="inline", only=("repeat=1",))
    assert (status.done, status.planned) == (1, 2)
    with Store.open(tmp_path, readonly=True) as store:
        table = store.table()
    states = zip(table["spec"], table["status"], strict=True)
    assert [spec["repeat"] for spec, state in states if state == "done"] == [1]


PROGRAM = """
import os, signal, sys
from pathlib import Path
from tests.study.test_fit import ONE
from evenhand.study import conduct
from evenhand.study.driver import Options, run_study

conduct.TOLD_EVERY = conduct.COUNTED_EVERY = 0.0  # else both may have ended before the first is counted

def die(status):
    if status.done:
        os.kill(os.getpid(), signal.SIGKILL)

run_study(ONE, Options(Path(sys.argv[1]), device="cpu", workers=1), tell=die)
"""


def test_killed_and_gone_on_with(tmp_path, identical):
    place = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(place)}
    program = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path)]
    ended = subprocess.run(program, env=environment, cwd=place, check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    with Store.open(tmp_path, readonly=True) as store:
        before = store.digests()
    assert len(before) == 1
    assert not list(tmp_path.rglob("checkpoint-*.npz"))  # an identical run is made as a whole
    status, records, _, _ = run(tmp_path, ONE, workers=1)
    assert status.done == 2
    left_alone = {record.id: record.weights for record in identical[1]}
    assert all(left_alone[record.id] == record.weights for record in records)


def test_exports_tell_the_repeats(tmp_path, identical):
    from evenhand.study.export_rows import run_columns

    folder = identical[2]._store.folder
    with Store.open(folder, readonly=True) as store:
        columns = run_columns(store, ["acc"])
    assert set(columns["repeat"]) == {0, 1}
    assert set(columns["seed"]) == {3}
    assert set(columns["vary"]) == {"kernels, reduction"}


def test_published_runs_are_told_apart_by_their_number(tmp_path, identical):
    from evenhand.evaluation.fixed_seed.trained import kind_of
    from evenhand.evaluation.study.repeats import repeat_notes
    from evenhand.evaluation.study.setup import Setup
    from evenhand.study.export import export_runs
    from evenhand.study.published import PublishedRuns

    with Store.open(identical[2]._store.folder, readonly=True) as store:
        export_runs(store, tmp_path / "runs.parquet")
    frame = Frame(PublishedRuns(tmp_path))
    assert sorted(frame.columns["seed"]) == [0, 0, 0, 1, 1, 1]
    assert frame.columns["repeat"] == frame.columns["seed"]
    here, there = (kind_of(one.columns["spec"]) for one in (frame, identical[2]))
    assert here == there == ("identical", ["kernels", "reduction"])
    assert any("between them: kernels, reduction" in note for note in repeat_notes(Setup.of(frame)))


def test_the_page_and_the_tables_call_identical_runs_what_they_are(identical):
    from evenhand.report.study import render
    from evenhand.report.study_tables import tables

    body = identical[3]
    page = render(body)
    for words in ("Identical runs", "Mean over identical runs", "Variance over identical runs", '"run 1"'):
        assert words in page
    shown = page.partition("The study as it was declared")
    wrong = r">Seeds<|[Oo]ver seeds(?!, on the val| is over)|seed 1|another seed"
    assert not re.search(wrong, shown[0] + shown[2])
    assert "identical runs" in tables(body)["budget"].heads
    assert "Mean over identical runs" in tables(body)["leaders"].note
    with_seeds = {**body, "budget": {**body["budget"], "run": "seed"}}
    assert ">Seeds<" in render(with_seeds)
    assert "Each dot is a training with another seed" in render(with_seeds)


def test_identical_runs_make_no_pairs_in_a_plan(identical):
    from evenhand.evaluation.study.power import Asked, study_power

    with Store.open(identical[2]._store.folder, readonly=True) as store:
        plan = study_power(store, Asked("acc", 0.01, base="erm"))
        assert {line["runs"] for line in plan["comparisons"]} == {1}
        with pytest.raises(InputError, match="are identical ones of one seed, and make no pairs"):
            study_power(store, Asked("acc", 0.01, base="erm", paired=True))


def test_what_the_command_line_says_of_them(tmp_path):
    from typer.testing import CliRunner

    from evenhand.cli.app import app

    file = tmp_path / "fit.toml"
    methods = '[[method]]\nkey = "ind"\n\n[[method]]\nkey = "ind"\nname = "sp"\ninference = "sum-prob"\n'
    file.write_text(FILE.format(top="runs = 4", recipe="", fit="vary = []") + methods)
    said = " ".join(CliRunner().invoke(app, ["study", "show", str(file)]).output.split())
    assert "4 identical runs of seed 0" in said
    assert "what may differ between them: nothing (the control)" in said
    assert "ind, sp: one training, read 2 ways" in said
    assert "12 in all" in said

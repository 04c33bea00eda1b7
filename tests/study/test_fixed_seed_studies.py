"""The studies in the shape of S0: every technique is in one, with S0's constants or a word on why not."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenhand.data.cifar10s import Pictures, fewer
from evenhand.errors import InputError
from evenhand.methods.techniques import TECHNIQUES
from evenhand.study.driver import Options, run_study
from evenhand.study.expand import expand
from evenhand.study.frame import Frame
from evenhand.study.read import read_study
from evenhand.study.sharing import trainings_of
from evenhand.study.store import Store

CLAIMS = Path(__file__).parents[2] / "docs" / "claims.csv"
STUDIES = {
    "fixed-seed-cifar10s": "S",
    "fixed-seed-mnist10s": "S",
    "fixed-seed-mnist10s-identical": "S",
    "fixed-seed-mnist10s-order": "S",
    "fixed-seed-mnist10s-init": "S",
    "fixed-seed-faces": "C",
    "fixed-seed-fairface": "I",
    "fixed-seed-faces-attractive": "A",
    "fixed-seed-faces-smiling": "N",
    "fixed-seed-adult": "AN",
}
SEVEN = {"dp", "di", "spsf", "fpsf", "eofp", "eotp", "ba"}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_all_techniques_of_its_families_and_the_seven_metrics(name):
    study, families = read_study(name), STUDIES[name]
    wanted = {technique.name for technique in TECHNIQUES.values() if technique.family in families}
    named = {method.name: method for method in study.methods}
    assert wanted <= set(named)
    assert all(extra.endswith("as published") for extra in set(named) - wanted)
    for technique in (TECHNIQUES[called] for called in wanted):
        assert named[technique.name].key == technique.key
    assert set(study.report.metrics) == SEVEN
    assert study.report.base == f"{families[0]}-Base"
    assert len(study.seeds) * max(study.repeats, 1) >= 3
    assert max(map(len, study.about.splitlines())) <= 120


def test_all_27_are_trained_somewhere():
    trained = {method.name for name in STUDIES for method in read_study(name).methods}
    assert set(TECHNIQUES) <= trained


def test_the_claims_that_name_the_gpu_study_are_the_ones_it_names():
    rows = csv.DictReader(CLAIMS.read_text(encoding="utf-8").splitlines())
    named = [row["id"] for row in rows if row["study"] == "fixed-seed-cifar10s"]
    assert list(read_study("fixed-seed-cifar10s").claims) == named


def test_the_gpu_study_is_s0s_but_for_the_schedule_it_states():
    study = read_study("fixed-seed-cifar10s")
    assert (study.repeats, study.seeds, study.nets[0].net) == (16, (0,), "cifar-resnet18")
    assert study.tasks[0].knobs["n_train"] == 25_000
    recipes = {method.name: {**study.recipe, **method.recipe} for method in study.methods}
    assert recipes["S-Base"] == {**TECHNIQUES["S-Base"].recipe, "epochs": 8, "precision": "tf32",
                                 "milestones": [0.25, 0.5, 0.75]}  # fmt: skip
    assert recipes["S-UC"] == {**TECHNIQUES["S-UC"].recipe, "epochs": 20, "precision": "tf32"}
    assert recipes["S-GR"]["epochs"] / recipes["S-Base"]["epochs"] == 500 / 200
    assert len(range(0, 20, 3)) == 7  # epochs of the model, as `about` says
    assert "in 7 of which the model moves" in study.about.replace("\n", " ")


def test_the_digits_study_trains_six_networks_for_ten_techniques():
    runs = expand(read_study("fixed-seed-mnist10s"))
    assert len(runs) == 160
    assert len(trainings_of(runs)) == 6 * 16


@pytest.mark.parametrize(
    ("twin", "loose"), [("identical", ("kernels", "reduction")), ("order", ("order",)), ("init", ("init",))]
)
def test_its_twins_are_the_same_runs_but_for_seeds_and_what_is_let_loose(twin, loose):
    runs, study = expand(read_study("fixed-seed-mnist10s")), read_study(f"fixed-seed-mnist10s-{twin}")
    again = expand(study)
    assert (study.seeds, tuple(study.vary)) == ((0,), loose)
    assert {run.method for run in again} == {run.method for run in runs}
    for part in ("recipe", "knobs", "net", "fields"):
        told = {run.method: getattr(run.spec, part) for run in runs}
        assert all(getattr(run.spec, part) == told[run.method] for run in again), part


def test_as_published_is_what_the_techniques_say_is_published():
    for name in ("fixed-seed-faces-attractive", "fixed-seed-adult"):
        for method in read_study(name).methods:
            if method.name.endswith("as published"):
                technique = TECHNIQUES[method.name.removesuffix(" as published")]
                assert method.fields == {**technique.fields, **technique.published}


SMALL = {
    "fixed-seed-mnist10s": ["S-Base", "S-DD1", "S-DD4", "S-DI1", "S-UC"],
    "fixed-seed-adult": ["A-Base", "A-L2", "A-ALM"],
}


@pytest.mark.parametrize("name", SMALL)
def test_a_few_techniques_of_the_small_form_run(name, tmp_path):
    study, names = read_study(name), SMALL[name]
    tasks = tuple(task for task in study.smoke.tasks if "mixing" not in task.name)
    methods = tuple(method for method in study.smoke.methods if method.name in names)
    nets = tuple(replace(net, methods=()) for net in study.smoke.nets)
    small = replace(study.smoke, methods=methods, tasks=tasks, nets=nets, seeds=(0,))
    run_study(replace(study, smoke=small), Options(out=str(tmp_path), device="cpu", workers=1, smoke=True))
    with Store.open(tmp_path) as store:
        frame = Frame(store)
        assert frame.done.all(), frame.failures
        assert np.isfinite(frame.values("test", "eotp")).all()
        if "S-DD4" in names:  # one network, read in two ways
            weights = dict(zip(frame.columns["method"], frame.columns["weights"], strict=True))
            assert weights["S-DD1"] == weights["S-DD4"] != weights["S-Base"]


def test_fewer_pictures_are_the_first_of_each_class():
    import torch

    y = torch.arange(60) % 10
    pictures = Pictures(torch.arange(60).view(60, 1, 1, 1), y, 40, "official", {})
    less = fewer(pictures, n_train=20, n_test=10)
    assert less.x.flatten().tolist() == [*range(20), *range(40, 50)]
    assert fewer(pictures) is pictures
    for wrong in ({"n_train": 25}, {"n_test": 30}, {"n_train": -10}):
        with pytest.raises(InputError, match=r"must be a multiple of 10, at most [24]0; 0 uses all"):
            fewer(pictures, **wrong)

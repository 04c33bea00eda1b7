"""The studies of S1: its structures, methods and hyper-parameters as printed, and their small forms run."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenhand.cli.study_outline import number_of_runs
from evenhand.data.celeba_labels import WANG_34
from evenhand.data.registry import load_sketch
from evenhand.errors import InputError
from evenhand.study.driver import Options, run_study
from evenhand.study.expand import expand
from evenhand.study.frame import Frame
from evenhand.study.read import read_study
from evenhand.study.store import Store
from evenhand.train.recipe import Recipe

CLAIMS = Path(__file__).parents[2] / "docs" / "claims.csv"
DRAWN = [
    "many-attributes-faces",
    "many-attributes-resnet",
    "scarce-labels",
    "plentiful-labels",
    "replications-faces",
    "label-noise",
]
AWAY = {
    "many-attributes-celeba": "CelebA is not here",
    "replications-celeba": "CelebA is not here",
    "imagenet-people": "ImageNet's People subtree",
}
ALL = [*DRAWN, *AWAY, "many-attributes-fairface", "many-attributes-adult"]

# S1, A.2, in the printed order
STRUCTURES = {
    "balanced": "Wearing Lipstick, High Cheekbones, Heavy Makeup, Male, Attractive, Smiling, "
    "Mouth Slightly Open",
    "imbalanced": "Wearing Hat, Double Chin, Blurry, Gray Hair, Bald, Sideburns, Mustache",
    "inconsistent": "Wavy Hair, Oval Face, Big Nose, Pale Skin, Big Lips, Straight Hair",
    "protected": "Pale Skin, Male, Narrow Eyes, Big Nose, Young, Straight Hair, Attractive",
}

# S1, B.3: rate, batch, weight decay, dropout, epochs, optimiser, what is custom
SGD, ADAM = "sgd", "adam"
PRINTED = {
    ("replications-celeba", "table 4"): {
        "erm": (1e-3, 128, 0, 0, 50, SGD, {}),
        "w-erm": (1e-5, 128, 1e-1, 0, 50, SGD, {}),
        "gdro": (1e-5, 128, 1e-1, 0, 50, SGD, {"eta": 0.01}),
        "irm": (1e-4, 128, 0, 0, 50, SGD, {"lam": 1}),
        "sd": (1e-4, 128, 1e-5, 0, 50, SGD, {"lam": 10, "gamma_0": 0.44, "gamma_1": 2.5}),
        "sd-as-printed": (1e-4, 128, 1e-5, 0, 50, SGD, {"lam": 10, "gamma_0": 0.44, "gamma_1": 0.25}),
    },
    ("replications-celeba", "table 5"): {
        "erm": (1e-4, 128, 1e-4, 0, 50, SGD, {}),
        "w-erm": (1e-4, 128, 1e-4, 0, 50, SGD, {}),
        "gdro": (1e-5, 128, 1e-1, 0, 50, SGD, {"eta": 0.01}),
        "jtt": (1e-5, 128, 1e-1, 0, 50, SGD, {"lambda_up": 50, "identify_epochs": 1}),
    },
    ("replications-celeba", "table 6"): {
        "erm": (1e-4, 128, 0, 0.5, 50, ADAM, {}),
        "w-erm": (1e-4, 128, 0, 0.5, 50, ADAM, {}),
        "ind": (1e-4, 128, 0, 0.5, 50, ADAM, {"inference": "sum-logit"}),
        "ind-sum-prob": (1e-4, 128, 0, 0.5, 50, ADAM, {"inference": "sum-prob"}),
        "disc": (1e-4, 128, 0, 0.5, 50, ADAM, {}),
        "a-cens": (1e-4, 128, 0, 0.5, 50, ADAM, {"ratio": 3, "alpha": 1}),
        "gdro": (1e-4, 128, 0, 0.5, 50, ADAM, {"eta": 0.1}),  # a row of results, none of numbers
    },
    ("many-attributes-celeba", "multi"): {
        "erm": (1e-4, 32, 0, 0.5, 30, ADAM, {}),
        "w-erm": (1e-4, 32, 0, 0.5, 30, ADAM, {}),
        "ind": (1e-4, 32, 0, 0.5, 30, ADAM, {}),
        "gdro": (1e-4, 32, 0, 0.5, 30, ADAM, {"eta": 0.1}),
        "jtt": (1e-4, 32, 0, 0.5, 30, ADAM, {"lambda_up": 20, "identify_epochs": 1}),
    },
    ("many-attributes-celeba", "single"): {
        "erm": (1e-4, 128, 1e-1, 0, 50, SGD, {}),
        "w-erm": (1e-5, 128, 1e-1, 0, 50, SGD, {}),
        "ind": (1e-4, 128, 1e-4, 0, 50, SGD, {}),
        "gdro": (1e-4, 128, 1e-1, 0, 50, SGD, {"eta": 0.01}),
        "jtt": (1e-4, 32, 1e-1, 0, 50, SGD, {"lambda_up": 5, "identify_epochs": 1}),
        "irm": (1e-4, 32, 1e-1, 0, 50, SGD, {"lam": 1}),
        "irm-uniform": (1e-4, 128, 1e-1, 0, 50, SGD, {"lam": 1, "groups_per_batch": 16}),
        "sd": (1e-4, 128, 1e-4, 0, 50, SGD, {"lam": 10, "gamma_0": 0.44, "gamma_1": 2.5}),
    },
    ("imagenet-people", "imagenet-people"): {
        "erm": (1e-4, 64, 1e-4, 0, 100, SGD, {}),
        "pre+w-erm": (1e-4, 64, 1e-2, 0, 50, SGD, {}),
        "w-erm": (1e-4, 64, 1e-2, 0, 50, SGD, {}),
        "pre+w-sqrt-erm": (1e-4, 64, 1e-2, 0, 50, SGD, {}),
        "pre+w-sqrt-erm-kd": (1e-4, 64, 1e-2, 0, 50, SGD, {"lam": 1}),
        "pre+gdro": (1e-4, 64, 1e-2, 0, 50, SGD, {"eta": 0.01}),
        "jtt": (1e-5, 64, 1e-1, 0, 50, SGD, {"lambda_up": 5, "identify_epochs": 5}),
        "pre+ind": (1e-4, 64, 1e-1, 0, 50, SGD, {}),
        "ind": (1e-4, 64, 1e-1, 0, 50, SGD, {}),
        "pre+ind-kd": (1e-4, 64, 1e-1, 0, 50, SGD, {"lam": 1}),
        "sd": (1e-5, 64, 1e-1, 0, 50, SGD, {"lam": 10, "form": "simple"}),
    },
}
NETS = {"table 4": ("resnet18", False), "imagenet-people": ("resnet50", True)}  # else resnet50, pretrained
AUGMENTED = {"table 6", "multi", "imagenet-people"}


def of_task(entries, task):
    return [entry for entry in entries if not entry.tasks or task in entry.tasks]


def runs_by(study, *labels):
    return Counter(tuple(getattr(run, label) for label in labels) for run in expand(study))


@pytest.mark.parametrize("name", ALL)
def test_selection_claims_and_words_are_those_of_s1(name):
    study = read_study(name)
    known = {row["id"] for row in csv.DictReader(CLAIMS.read_text(encoding="utf-8").splitlines())}
    assert study.claims
    assert set(study.claims) <= known
    assert study.selection.part == "validation"
    assert study.selection.metric in ("acc_u", "acc_u.label_attr", "map_u")  # "reweighted accuracy/mAP"
    assert study.report.base == "erm"
    assert {"eps", study.selection.metric} <= set(study.report.metrics)
    assert {"ba_signed", "ba_signed.positive"} & set(study.report.metrics)
    assert len(study.seeds) >= 3
    assert max(map(len, study.about.splitlines())) <= 120


@pytest.mark.parametrize("name", ["many-attributes-faces", "many-attributes-celeba"])
def test_the_27_structures_stand_in_the_printed_order(name):
    study = read_study(name)
    printed = {key: tuple(text.replace(" ", "_").split(",_")) for key, text in STRUCTURES.items()}
    wanted = [
        (f"{collection} {count}", names[:count])
        for collection, names in printed.items()
        for count in range(1, len(names) + 1)
    ]
    assert [(grouping.name, grouping.attributes) for grouping in study.groupings] == wanted
    assert len(wanted) == 27
    assert [task.name for task in study.tasks] == ["single", "multi"]
    assert study.tasks[0].knobs["target"] == "Blond_Hair"
    assert study.tasks[1].knobs["target"] == "all"


def test_what_is_protected_on_drawn_faces_is_predicted_nowhere():
    study = read_study("many-attributes-faces")
    anywhere = {name for grouping in study.groupings for name in grouping.attributes}
    assert len(anywhere) == 22
    assert set(study.tasks[1].knobs["protect"]) == anywhere
    assert "Blond_Hair" not in anywhere
    assert read_study("many-attributes-celeba").tasks[1].drop_protected  # forty labels are trained there


def test_the_54_tasks_need_about_800_trainings():
    study = read_study("many-attributes-faces")
    found = runs_by(study, "task", "method")
    grouped, variants = 27 * 3, 7 * 3
    single = {"w-erm": grouped, "gdro": grouped, "ind": grouped, "irm": grouped, "irm-uniform": grouped}
    multi = {"w-erm": grouped, "gdro": grouped, "ind": grouped}
    both = dict.fromkeys(("w-erm-ad", "ind-ad", "ind-kd", "ind-ad-kd", "a-cens"), variants)
    once = {"erm": 3, "jtt": 3}
    assert {name: n for (task, name), n in found.items() if task == "single"} == single | both | once | {
        "sd": 3
    }
    assert {name: n for (task, name), n in found.items() if task == "multi"} == multi | both | once
    assert 780 <= sum(found.values()) <= 900
    assert {run.spec.fields["eta"] for run in expand(study) if run.method == "gdro"} == {0.01, 0.1}


def test_an_expanded_study_has_20000_training_faces_and_no_variant_outside_its_list():
    runs = expand(read_study("many-attributes-faces"))
    knobs = runs[0].spec.knobs
    assert knobs["n"] * (1 - knobs["validation"] - knobs["test"]) == pytest.approx(20_000)
    variants = [run for run in runs if run.method.endswith(("-ad", "-kd"))]
    assert {run.grouping.split()[0] for run in variants} == {"protected"}
    erm = [run for run in runs if run.method == "erm" and run.task == "multi"]
    assert {run.spec.protect for run in erm} == {()}
    lists = [names for names in erm[0].spec.groupings if len(names) > 1]
    assert len(lists) == 27 - 4  # the four structures of one attribute are among the single ones
    budget = {(run.spec.recipe["epochs"], run.spec.recipe["rate"], run.spec.net) for run in runs}
    assert budget == {(10, 0.001, "convnet")}


@pytest.mark.parametrize("where", PRINTED, ids=" / ".join)
def test_hyper_parameters_are_as_printed(where):
    name, task_name = where
    study = read_study(name)
    (task,) = [task for task in study.tasks if task.name == task_name]
    (net,) = of_task(study.nets, task_name)
    assert (net.net, net.options.get("pretrained", False)) == NETS.get(task_name, ("resnet50", True))
    methods = {method.name: method for method in of_task(study.methods, task_name)}
    for called, (rate, batch, decay, dropout, epochs, optimiser, custom) in PRINTED[where].items():
        method = methods[called]
        recipe = Recipe.of(**{**study.recipe, **task.recipe, **method.recipe})
        found = (recipe.rate, recipe.batch_size, recipe.weight_decay, recipe.epochs, recipe.optimizer)
        assert found == (rate, batch, decay, epochs, optimiser), called
        assert net.options.get("dropout", 0) == dropout
        assert recipe.momentum == 0.9
        assert (recipe.augment == "none") == (task_name not in AUGMENTED)
        assert {key: method.fields[key] for key in custom} == custom, called
    assert len(study.seeds) == 3
    rest = {plain(method.key) for method in methods.values()} - {plain(key) for key in PRINTED[where]}
    assert all(key.endswith(("-ad", "-kd")) for key in rest)  # of which S1 prints no numbers


def plain(key):
    return {"ind-sum-prob": "ind", "sd-as-printed": "sd"}.get(key, key.removeprefix("pre+"))


def test_table_6_has_its_34_labels_and_the_swap_changes_places():
    assert len(WANG_34) == 34
    for name in ("replications-celeba", "replications-faces"):
        assert {task.name: task for task in read_study(name).tasks}["table 6"].knobs["target"] == "wang-34"
    runs = expand(read_study("replications-faces"))
    pairs = {(run.task, run.spec.knobs["target"], run.spec.protect) for run in runs if "table 5" in run.task}
    assert pairs == {("table 5", "Blond_Hair", ("Male",)), ("table 5 swapped", "Male", ("Blond_Hair",))}
    assert {run.method for run in runs if run.task == "table 5 swapped"} >= {"erm", "jtt"}
    assert runs_by(read_study("replications-faces"), "task") == {
        ("table 4",): 30, ("table 5",): 48, ("table 5 swapped",): 48, ("table 6",): 42,
        ("attractive, chubby",): 48, ("attractive, eyeglasses",): 48,
    }  # fmt: skip


def test_scarce_and_plentiful_labels_are_twins():
    scarce, plentiful = read_study("scarce-labels"), read_study("plentiful-labels")
    assert [task.knobs["labelled"] for task in (*scarce.tasks, *plentiful.tasks)] == [0.05, 0.05, 1.0, 1.0]
    assert (scarce.methods, scarce.groupings, scarce.recipe) == (
        plentiful.methods,
        plentiful.groupings,
        plentiful.recipe,
    )
    names = {method.name for method in scarce.methods}
    table_2 = {"erm", "jtt", "sd", "pre+gdro", "pre+w-erm", "pre+ind"}
    table_3 = {
        "pre+ind-ad",
        "pre+ind-kd",
        "pre+ind-ad-kd",
        "pre+w-erm-ad",
        "pre+w-sqrt-erm",
        "pre+w-sqrt-erm-kd",
    }
    assert names == table_2 | table_3 | {"w-erm", "ind"}  # Table 7: without pre-training
    grouped = 11 * 3 * 5  # methods with groups, groupings, seeds
    assert runs_by(scarce, "task") == {("single",): grouped + 3 * 5, ("multi",): grouped + 2 * 5}


@pytest.mark.parametrize("name", AWAY)
def test_studies_of_data_that_is_away_are_right_and_say_what_to_do(name, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    study = read_study(name)
    with pytest.raises(InputError, match=AWAY[name]):
        expand(study)


PAGE = CLAIMS.parent / "studies" / "many-attributes.md"
TRAININGS = {
    cells[1].strip(" `"): int(cells[4].replace(",", ""))
    for cells in (line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines())
    if len(cells) == 6 and cells[4].strip().isdigit()
}


def drawn_instead(data, knobs):
    """Drawn faces have what CelebA's rows have, but for the images."""
    assert data == "celeba"
    return load_sketch("faces", target=knobs["target"], n=2000)


@pytest.mark.parametrize("name", [name for name in AWAY if "celeba" in name])
def test_the_celeba_studies_fit_together(name):
    runs = expand(read_study(name), task_of=drawn_instead)
    assert len(runs) == TRAININGS[name]
    assert {run.spec.net for run in runs} <= {"resnet18", "resnet50"}


def test_the_page_names_every_study_and_counts_its_trainings():
    assert set(TRAININGS) == set(ALL)
    assert {name: number_of_runs(read_study(name)) for name in ALL} == TRAININGS  # what `study list` says
    for name in DRAWN:
        assert len(expand(read_study(name))) == TRAININGS[name]
    adult, people = read_study("many-attributes-adult"), read_study("imagenet-people")
    assert len(expand(replace(adult, seeds=(0,)))) * len(adult.seeds) == TRAININGS[adult.name]
    assert len(people.methods) * len(people.seeds) == TRAININGS[people.name]


def test_what_fairface_predicts_it_does_not_protect():
    study = read_study("many-attributes-fairface")
    levels = {"race": 7, "gender": 2, "age": 9}
    for task in study.tasks:
        groupings = of_task(study.groupings, task.name)
        assert all(task.knobs["target"] not in grouping.attributes for grouping in groupings)
        widest = max(groupings, key=lambda grouping: len(grouping.attributes)).attributes
        assert np.prod([levels[name] for name in (*widest, task.name)]) == 126


def test_adult_crosses_one_to_five_attributes():
    found = runs_by(replace(read_study("many-attributes-adult"), seeds=(0,)), "method", "grouping")
    assert {grouping for method, grouping in found if method == "w-erm"} == {
        f"attributes {count}" for count in range(1, 6)
    }
    assert sum(found.values()) == 17 * 5 + 3  # with groups; erm, jtt, sd once


SMALL = {
    "many-attributes-adult": (["erm", "gdro", "w-erm-ad"], {}),
    "many-attributes-faces": (["erm", "gdro", "ind-ad"], {"n": 300}),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_few_methods_of_the_small_form_run(name, tmp_path):
    study, (names, knobs) = read_study(name), SMALL[name]
    small = replace(
        study.smoke,
        methods=tuple(method for method in study.smoke.methods if method.name in names),
        tasks=tuple(replace(task, knobs={**task.knobs, **knobs}) for task in study.smoke.tasks),
    )
    ends(replace(study, smoke=small), names, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DRAWN, "many-attributes-adult"])
def test_small_forms_run_to_their_end(name, tmp_path):
    study = read_study(name)
    ends(study, {method.name for method in study.smoke.methods}, tmp_path)


def ends(study, names, folder):
    """Run the small form; every method has a value of every metric on every problem that it is for."""
    run_study(study, Options(out=str(folder), device="cpu", workers=1, smoke=True))
    with Store.open(folder) as store:
        frame = Frame(store)
        assert frame.done.all(), frame.failures
        assert {*frame.columns["method"]} == set(names)
        for key in ("acc", study.selection.metric, "eps"):
            values = frame.values("test", key)
            assert np.isfinite(values).all(), key
        once = [method.name for method in study.smoke.methods if method.once]
        for method in once:
            own = [g.name for g in study.smoke.groupings]
            stands = {
                problem.grouping
                for number, problem in enumerate(frame.layout.problems)
                if method in frame.layout.methods(number)
            }
            assert stands == set(own)

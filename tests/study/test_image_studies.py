"""The image studies of S4 are declared as the paper has them, and say so where they are not."""

import pytest

from evenhand.data.celeba import celeba
from evenhand.data.registry import find_dataset
from evenhand.data.shift_registry import SHIFTS, TABLE
from evenhand.errors import InputError
from evenhand.methods.registry import METHODS
from evenhand.study.expand import expand
from evenhand.study.read import read_study

CELEBA, FAIRFACE = "equalized-robustness-celeba", "equalized-robustness-fairface"


def shifts_of(study):
    return {(shift.kind, severity) for shift in study.shifts for severity in shift.severities}


def test_celeba_is_that_of_tables_4_and_5():
    study = read_study(CELEBA)
    knobs = find_dataset("celeba").knobs()
    assert (knobs["n_train"], knobs["n_test"], knobs["size"]) == (45_000, 5_000, 128)
    assert [grouping.attributes for grouping in study.groupings] == [("Chubby",), ("Eyeglasses",)]
    assert all(task.knobs["target"] == "Attractive" and task.seeded == ("seed",) for task in study.tasks)
    assert not {"n_train", "n_test", "size"} & {*study.tasks[0].knobs, *study.tasks[1].knobs}
    assert shifts_of(study) == {("gaussian", 0.08), ("impulse", 0.03)}
    assert {shift.draws for shift in study.shifts} == {5}
    assert [(net.net, dict(net.options)) for net in study.nets] == [("resnet18", {"split": "conv4"})]
    recipe = {"epochs": 120, "rate": 1e-3, "weight_decay": 1e-5, "schedule": "cosine"}
    assert {key: study.recipe[key] for key in recipe} == recipe
    assert "Departures from S4" in study.about


def test_the_third_stage_of_resnet18_is_where_s4_splits(torchvision):
    from evenhand.nets.registry import NetSpec

    assert (
        NetSpec("resnet18", split="conv4").build((3, 128, 128), 2).n_features == 8 * 8 * 256
    )  # S4, appendix A


def test_celeba_without_the_images_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"celeba\.toml:\d+: CelebA is not here.*mmlab\.ie\.cuhk\.edu\.hk"):
        expand(read_study(CELEBA))
    with pytest.raises(InputError, match="call it celeba inside EVENHAND_DATA"):
        celeba()


def test_fairface_gives_every_task_the_methods_that_serve_it():
    study = read_study(FAIRFACE)
    of_age = [method for method in study.methods if "age" in (method.tasks or ("age",))]
    assert not any(METHODS[method.key].needs.binary for method in of_age)
    assert {method.name for method in study.methods} - {method.name for method in of_age} == {
        "advdebias",
        "laftr",
    }
    assert {("gaussian", 0.08), ("impulse", 0.03)} < shifts_of(study)  # S4's own
    assert not any(SHIFTS[kind].fits == (TABLE,) for kind, _ in shifts_of(study))
    twins = {method.name: dict(method.fields) for method in study.methods if method.key == "cuma"}
    assert twins == {"cuma": {"alpha": 1.0, "gamma": 1.0}, "cuma-alpha-only": {"alpha": 1.0, "gamma": 0.0}}
    assert all(task.knobs["limit"] == 300 for task in study.smoke.tasks)

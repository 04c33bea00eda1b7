"""The techniques of S0: all 27, with the constants of its programs, on methods that there are."""

from collections import Counter
from dataclasses import replace

import pytest

from evenhand.data.registry import DATASETS
from evenhand.errors import InputError
from evenhand.evaluation.replay.survey import printed_table4
from evenhand.methods.problem import Problem
from evenhand.methods.registry import method_of
from evenhand.methods.techniques import TECHNIQUES, find_technique, shared_training, technique_row
from evenhand.nets.registry import NETS
from evenhand.train.recipe import Recipe


def test_they_are_the_27_of_the_printed_table_in_its_order():
    assert list(TECHNIQUES) == [row["technique"] for row in printed_table4()]
    assert Counter(t.family for t in TECHNIQUES.values()) == {"S": 10, "C": 6, "I": 6, "A": 3, "N": 2}


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_technique_is_a_method_with_a_recipe_on_data_and_network_that_there_are(name):
    technique = TECHNIQUES[name]
    method = method_of(technique.key, **technique.fields)
    assert {key: getattr(method, key) for key in technique.fields} == technique.fields
    other = method_of(technique.key, **{**technique.fields, **technique.published})
    assert (other == method) == (not technique.published)
    assert Recipe.of(**technique.recipe).epochs == technique.recipe["epochs"]
    assert technique.data in DATASETS
    assert technique.net in NETS
    assert technique.base in TECHNIQUES
    assert TECHNIQUES[technique.base].key.rpartition("+")[2] in ("erm", "erm-posneg")
    assert technique.about


@pytest.mark.parametrize("family", "SCIAN")
def test_a_method_of_a_family_can_be_trained_on_what_it_is_for(family):
    several = family == "C"
    y = [[1, 0], [0, 1], [1, 1], [0, 0]] * 2 if several else [0, 1, 0, 1] * 2
    problem = Problem.from_labels(y, g=[0, 0, 1, 1] * 2, inputs=(3, 32, 32))
    own = [technique for technique in TECHNIQUES.values() if technique.family == family]
    assert len(own) == {"S": 10, "C": 6, "I": 6, "A": 3, "N": 2}[family]
    for technique in own:
        method_of(technique.key, **technique.fields).check(problem)  # which raises where it cannot be served


def test_four_and_two_techniques_share_their_network_and_no_others_do():
    sets = {shared_training(technique) for technique in TECHNIQUES.values()}
    assert sets == {(), ("S-DD1", "S-DD2", "S-DD3", "S-DD4"), ("S-DI1", "S-DI2")}
    assert shared_training(replace(TECHNIQUES["S-DI1"], fields={"inference": "sum-prob"}))


def test_constants_of_the_first_family_are_those_of_its_programs():
    recipes = {name: TECHNIQUES[name].recipe for name in ("S-Base", "S-UC")}
    assert [recipes["S-Base"][key] for key in ("epochs", "batch_size", "rate", "weight_decay")] == [
        200, 128, 0.1, 5e-4,
    ]  # fmt: skip
    assert list(recipes["S-Base"]["milestones"]) == [50 / 200, 100 / 200, 150 / 200]
    assert [recipes["S-UC"][key] for key in ("epochs", "optimizer", "rate", "weight_decay")] == [
        500, "adam", 1e-4, 3e-4,
    ]  # fmt: skip
    turns = {
        name: method_of(TECHNIQUES[name].key, **TECHNIQUES[name].fields).phases()[0]
        for name in ("S-UC", "S-GR")
    }
    main = {
        name: sum("model" in player for epoch in range(500) for player in phase.turn(0, epoch))
        for name, phase in turns.items()
    }
    assert main == {"S-UC": 167, "S-GR": 167}  # epochs in which the model moves, of 500
    both = sum("adversary" in player for epoch in range(500) for player in turns["S-GR"].turn(0, epoch))
    assert both == 500  # the projection's adversary moves in every epoch, the other one in two of three


def test_constants_of_the_other_families():
    def fields(name):
        return TECHNIQUES[name].fields

    assert [fields(f"C-R{r}")["ratio"] for r in (1, 2, 3)] == [1, 2, 3]
    assert [fields(name)["lam"] for name in ("C-A4", "C-A5", "I-A4", "I-A5")] == [2.0, 2.0, 1.0, 1.0]
    assert [fields(name)["tap"] for name in ("I-A4", "I-A5")] == ["conv4", "conv5"]
    stages = {name: (fields(name)["head_epochs"], TECHNIQUES[name].recipe["epochs"]) for name in TECHNIQUES
              if name[0] in "CI"}  # fmt: skip
    assert stages["C-Base"] == stages["C-A5"] == (60, 60)
    assert (stages["C-A4"], stages["I-R2"]) == ((50, 50), (15, 15))
    assert 1e-4 * fields("I-Base")["rate_share"] == pytest.approx(5e-6)
    assert fields("A-ALM") == {"eta": 20.0, "growth": 1.01, "inner_steps": 5, "dual": "simultaneous"}
    assert (fields("A-L2")["lam"], TECHNIQUES["A-L2"].published) == (0.1, {"lam": 20.0})
    assert round(0.001 * 3 * 64 * 64) == round(fields("N-Flow")["share"] * 12288) == 12


def test_a_name_is_found_in_any_case_and_a_wrong_one_told_with_the_nearest():
    assert find_technique("s-dd4") is TECHNIQUES["S-DD4"]
    with pytest.raises(
        InputError, match=r"there is no technique 'A-ALN'; did you mean 'A-ALM'.*There are: S-B"
    ):
        find_technique("A-ALN")
    assert technique_row(TECHNIQUES["S-Base"])["recipe"]["milestones"] == [0.25, 0.5, 0.75]

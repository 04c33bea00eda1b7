"""Methods of one's own beside those of a study: run where they can be, and told where they cannot."""

from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.added import with_added
from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

SMALL = {"n_train": 200, "n_validation": 60, "n_test": 120, "attributes": 2}
STUDY = Study(
    "small",
    tasks=(TaskSpec("synthetic", "two", SMALL), TaskSpec("synthetic", "three", {**SMALL, "classes": 3})),
    groupings=(GroupingSpec(("a0",)), GroupingSpec(("a0", "a1"))),
    nets=(NetEntry("mlp", options={"widths": [8]}),),
    methods=(MethodSpec("erm"),),
    recipe={"epochs": 1, "batch_size": 32},
    seeds=(0, 1),
)
METHODS = """
from evenhand.errors import InputError
from evenhand.methods import ERM

class Anywhere(ERM):
    key = "anywhere"

class TwoClasses(ERM):
    key = "two-classes"

    def check(self, problem):
        super().check(problem)
        if problem.sizes.n_classes > 2:
            raise InputError("it is for two classes")

class TwoGroups(ERM):
    key = "two-groups"

    def check(self, problem):
        super().check(problem)
        if problem.sizes.n_groups > 2:
            raise InputError("it is for two groups")

class GroupsAsClasses(ERM):
    key = "groups-as-classes"

    def check(self, problem):
        super().check(problem)
        if problem.sizes.n_groups != 2 * (problem.sizes.n_classes - 1):
            raise InputError("it is for twice as many groups as classes less one")

class Odd(ERM):
    key = "odd"

    def check(self, problem):
        raise ValueError("odd")

class Nowhere(ERM):
    key = "nowhere"

    def check(self, problem):
        raise InputError("it is for nothing")
"""


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(METHODS)
    return lambda *names: [f"{file}:{name}" for name in names]


def test_a_method_that_serves_all_is_not_limited(mine):
    found = with_added(STUDY, mine("Anywhere"))
    assert (found.study.methods[-1].tasks, found.study.methods[-1].groupings) == ((), ())
    assert found.notes == ()
    assert with_added(STUDY, ()).study == STUDY


def test_tasks_and_groupings_that_it_cannot_serve_are_left_out_and_told(mine):
    found = with_added(STUDY, mine("TwoClasses", "TwoGroups"))
    classes, groups = found.study.methods[-2:]
    assert (classes.tasks, classes.groupings) == (("two",), ())
    assert (groups.tasks, groups.groupings) == ((), ("a0",))
    assert found.notes == (
        "TwoClasses is run on 2 of 4 problems; the others it cannot serve (it is for two classes)",
        "TwoGroups is run on 2 of 4 problems; the others it cannot serve (it is for two groups)",
    )


def test_the_runs_are_those_that_can_be_made(mine, tmp_path):
    options = Options(Path(tmp_path / "out"), backend="inline", device="cpu", add=tuple(mine("TwoClasses")))
    status = run_study(STUDY, options)
    assert status.failed == 0
    assert [note for note in status.notes if note.startswith("TwoClasses is run on 2 of 4 problems")]
    with Store.open(tmp_path / "out", readonly=True) as store:
        columns = Frame(store).columns
    own = {
        (task, grouping)
        for task, grouping, method in zip(
            columns["task"], columns["grouping"], columns["method"], strict=True
        )
        if method == "TwoClasses"
    }
    assert own == {("two", "a0"), ("two", "a0 × a1")}


def test_each_task_has_the_groupings_that_it_can_serve_there(mine, tmp_path):
    found = with_added(STUDY, mine("GroupsAsClasses"))
    first, second = found.study.methods[-2:]
    assert (first.tasks, first.groupings) == (("two",), ("a0",))
    assert (second.tasks, second.groupings) == (("three",), ("a0 × a1",))
    options = Options(
        Path(tmp_path / "out"), backend="inline", device="cpu", add=tuple(mine("GroupsAsClasses"))
    )
    assert run_study(STUDY, options).failed == 0


def test_a_check_that_breaks_is_told_with_its_method(mine):
    with pytest.raises(InputError, match=r"mine\.py:Odd cannot check 'two' by 'a0' \(ValueError: odd\)"):
        with_added(STUDY, mine("Odd"))


def test_a_method_that_serves_nothing_is_refused(mine):
    with pytest.raises(InputError, match="Nowhere can serve no problem of the study 'small': it is for noth"):
        with_added(STUDY, mine("Nowhere"))


def test_the_same_class_twice_is_refused(mine):
    with pytest.raises(InputError, match="already has a method called 'Anywhere'"):
        with_added(STUDY, mine("Anywhere", "Anywhere"))


def test_data_that_are_not_there_are_told_as_before(mine, tmp_path):
    study = Study("gone", tasks=(TaskSpec(f"{tmp_path / 'none.csv'}", "gone"),), groupings=STUDY.groupings,
                  nets=STUDY.nets, methods=STUDY.methods, recipe=STUDY.recipe)  # fmt: skip
    messages = []
    for add in ((), tuple(mine("Anywhere"))):
        with pytest.raises(InputError) as told:
            run_study(study, Options(tmp_path / "out", backend="inline", device="cpu", add=add))
        messages.append(str(told.value))
    assert messages[0] == messages[1]

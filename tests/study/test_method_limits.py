"""Methods limited to groupings, and methods of one name on other tasks."""

from dataclasses import replace

import pytest

from evenhand.errors import InputError
from evenhand.study.expand import expand
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.smoke import SmokeSpec, smoke_form
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, Study, TaskSpec
from evenhand.study.validate import check_study

TASKS = tuple(
    TaskSpec("synthetic", name, {"attributes": 2, "n_train": 200, "seed": seed})
    for seed, name in enumerate("ab")
)
GROUPINGS = (GroupingSpec(("a0",), "one"), GroupingSpec(("a0", "a1"), "both"))


def study_of(*methods):
    return Study("s", tasks=TASKS, groupings=GROUPINGS, methods=methods)


def gdro(task, eta, **more):
    return MethodSpec("gdro", "gdro", {"eta": eta}, tasks=(task,), **more)


def test_one_name_has_other_values_on_another_task():
    study = check_study(study_of(MethodSpec("erm"), gdro("a", Grid((0.1, 1.0))), gdro("b", 0.5)))
    etas = {(run.task, run.spec.fields["eta"]) for run in expand(study) if run.method == "gdro"}
    assert etas == {("a", 0.1), ("a", 1.0), ("b", 0.5)}
    assert len(expand(study)) == 2 * (2 + 1) + 2 * (1 + 1)
    assert study_from_dict(study_to_dict(study)) == study


def test_two_of_one_name_on_a_task_are_refused():
    with pytest.raises(InputError, match="there are 2 methods called 'gdro'"):
        check_study(study_of(gdro("a", 0.1), gdro("a", 0.5)))
    with pytest.raises(InputError, match="there are 2 methods called 'gdro'"):
        check_study(study_of(gdro("a", 0.1), MethodSpec("gdro")))


def test_one_name_is_one_method():
    other = MethodSpec("w-erm", "gdro", tasks=("b",))
    with pytest.raises(InputError, match="the methods called 'gdro' must have one key"):
        check_study(study_of(gdro("a", 0.1), other))
    once = MethodSpec("erm", tasks=("a",), once=True), MethodSpec("erm", tasks=("b",))
    with pytest.raises(InputError, match="be trained once or not alike"):
        check_study(study_of(*once))


def test_a_method_is_trained_on_its_groupings_alone():
    study = check_study(study_of(MethodSpec("erm"), MethodSpec("w-erm-ad", groupings=("both",))))
    found = {(run.grouping, run.method) for run in expand(study)}
    assert found == {("one", "erm"), ("both", "erm"), ("both", "w-erm-ad")}
    assert study_from_dict(study_to_dict(study)) == study
    assert "groupings" not in study_to_dict(study)["methods"][0]  # as it was stored before there were any


def test_what_a_method_cannot_serve_may_be_among_the_others():
    """A method that refuses a grouping is fine where it is not asked to serve it."""
    everybody = GroupingSpec((), "all")
    study = replace(
        study_of(MethodSpec("erm"), MethodSpec("gdro", groupings=("one",))),
        groupings=(everybody, GROUPINGS[0]),
    )
    assert len(expand(study)) == 2 * (2 + 1)
    with pytest.raises(InputError, match="cannot serve the task 'a' by 'all'"):
        expand(replace(study, methods=(MethodSpec("gdro"),)))


def test_groupings_that_are_not_there_are_told():
    with pytest.raises(InputError, match="the study has no grouping 'bth'; did you mean 'both'"):
        check_study(study_of(MethodSpec("w-erm", groupings=("bth",))))
    with pytest.raises(InputError, match="trained once and measured by every grouping; leave groupings out"):
        check_study(study_of(MethodSpec("erm", once=True, groupings=("both",))))


def test_a_small_form_without_its_groupings_is_without_the_method():
    study = study_of(MethodSpec("erm"), MethodSpec("w-erm-ad", groupings=("both",)))
    named = replace(study, methods=tuple(replace(method, name=method.key) for method in study.methods))
    small = smoke_form(named, SmokeSpec(groupings=("one",)))
    assert [method.name for method in small.methods] == ["erm"]
    assert check_study(small)

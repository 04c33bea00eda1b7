"""Programs of pages that are given the folder of another study say which it is, and what makes its page."""

from importlib import import_module

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.evaluation.study.papers import page_program
from evenhand.study.driver import Options, run_study
from evenhand.study.library import study_names
from evenhand.study.read import read_study
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec

KNOBS = {"n_train": 40, "n_validation": 40, "n_test": 40}
REFUSING = (
    "ci_mnist_marks", "compression", "equalized_robustness", "er_predicts_shift", "fixed_seed", "hair_colour",
    "reference_values", "under_shift",
)  # fmt: skip


@pytest.fixture(scope="module")
def plain_study(tmp_path_factory):
    """A study that is none of a paper's."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    study = Study(
        "mine", "Small", tasks=(TaskSpec("synthetic", knobs=KNOBS),), groupings=(GroupingSpec(("a0",)),),
        nets=(NetEntry("mlp", options={"widths": [4]}),), methods=(MethodSpec("erm"),),
        recipe={"epochs": 1, "batch_size": 32},
    )  # fmt: skip
    assert run_study(study, Options(folder, backend="inline", device="cpu")).failed == 0
    return folder


@pytest.mark.parametrize("program", REFUSING)
def test_the_study_and_what_reports_it_are_named(plain_study, program, tmp_path, capsys):
    main = import_module(f"evenhand.evaluation.{program}.__main__").main
    assert main([str(plain_study), "--page", str(tmp_path / "page.md")]) == 2
    told = capsys.readouterr().err
    assert (
        f"{plain_study} holds the study 'mine' ('evenhand study report {plain_study}' reports it): " in told
    )


def test_its_own_program_is_named_and_its_own_mistakes_are_left_alone(tmp_path):
    study = {"name": "renamed", "claims": ["S2.1"]}
    compression = "evenhand.evaluation.compression"
    with (
        pytest.raises(InputError, match=rf"'renamed' \('python -m {compression}' writes its page\): no"),
        naming_the_study(study, tmp_path, "evenhand.evaluation.hair_colour"),
    ):
        raise InputError("no")
    with pytest.raises(InputError, match=r"^no$"), naming_the_study(study, tmp_path, compression):
        raise InputError("no")


def test_every_program_that_is_named_is_there():
    named = {name: page_program(name, read_study(name).claims) for name in study_names()}
    assert named["er-predicts-shift"] == "evenhand.evaluation.er_predicts_shift"
    assert named["equalized-robustness-fairface"] == "evenhand.evaluation.under_shift"
    assert named["first-look"] is None
    for program in {program for program in named.values() if program}:
        assert import_module(f"{program}.__main__").main

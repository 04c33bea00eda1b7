"""Levels of a study are no settings that were tuned: what its report and the terminal say of them."""

import io

import pytest

from evenhand.evaluation.study.levels import level_words, levels_of
from evenhand.evaluation.study.summary import summarise
from evenhand.report.study import render
from evenhand.report.terminal_study import study_table
from evenhand.study.driver import Options, run_study
from evenhand.study.read import read_study
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

ABOUT = "Every student starts from what `base` is."


def summary_of(name, folder):
    fields = {"share": Grid((0.3, 0.6)), "every": 1, "kind": "magnitude"}
    study = Study(
        name, "Small", ABOUT, tasks=(TaskSpec("synthetic", knobs={"n_train": 80, "n_test": 80}),),
        groupings=(GroupingSpec(("a0",)),), nets=(NetEntry("mlp", options={"widths": [8]}),),
        methods=(MethodSpec("erm", "base"), MethodSpec("prune+erm", "pruning", fields)),
        recipe={"epochs": 2, "batch_size": 32}, seeds=(0, 1),
    )  # fmt: skip
    assert run_study(study, Options(folder, backend="inline", device="cpu")).failed == 0
    with Store.open(folder, readonly=True) as store:
        return summarise(store, replicates=0)


def printed(body):
    from rich.console import Console

    console = Console(width=400, record=True, file=io.StringIO())
    console.print(study_table(body))
    return console.export_text()


@pytest.fixture(scope="module")
def levelled(tmp_path_factory):
    return summary_of("compression-mine", tmp_path_factory.mktemp("levels"))


def test_levels_are_told_and_no_budget_differs(levelled):
    told = "share (0.3, 0.6) is a level of this study and was not tuned: this report shows one level of each "
    assert [note for note in levelled["notes"] if note.startswith(told)]
    assert levelled["budget"]["equal"] is True
    for text in (printed(levelled), render(levelled), " ".join(levelled["notes"])):
        assert "is a level of this study and was not tuned" in text or "Share (0.3" in text
        assert "budgets differ" not in text
        assert "settings were chosen over the seeds" not in text
    assert "one level of share each, chosen on validation" in printed(levelled)
    assert levelled["selection"]["words"].startswith("of the levels of share one is shown, the setting with")


def test_the_same_settings_are_tuned_in_another_study(tmp_path):
    body = summary_of("mine", tmp_path)
    assert body["budget"]["equal"] is False
    assert any(note.startswith("the budgets differ") for note in body["notes"])
    assert "settings chosen on validation" in printed(body)
    assert level_words({"name": "mine"}) == ""


def test_a_level_beside_something_that_is_tuned_is_a_setting():
    methods = [{"fields": {"share": {"grid": [0.3]}}, "recipe": {"rate": {"grid": [0.1, 0.2]}}}]
    assert levels_of({"name": "compression-mine", "methods": methods}) == ("", [])


def test_code_in_a_description_is_shown_as_code(levelled):
    assert '<p class="about">Every student starts from what <code>base</code> is.</p>' in render(levelled)


def test_the_packaged_study_has_its_two_levels():
    from evenhand.study.plain import study_to_dict

    assert levels_of(study_to_dict(read_study("compression-mnist"))) == ("share", [0.45, 0.7])

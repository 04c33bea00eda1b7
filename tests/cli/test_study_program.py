"""Studies of the kind "program" from the command line."""

import pytest

from evenhand.cli import study_program
from evenhand.cli.study_folder import check_folder
from evenhand.cli.study_list import needed_data, summary
from evenhand.errors import InputError
from evenhand.study.expand import expand
from evenhand.study.read import read_study
from evenhand.study.spec import Study


def test_the_program_writes_its_page(monkeypatch, tmp_path, capsys):
    from evenhand.evaluation.titanic_fairness import study as home
    from evenhand.evaluation.titanic_fairness.models import boosting

    whole = home.compute
    monkeypatch.setattr(home, "compute", lambda progress: whole({"gtb": boosting}, 2, 20, progress))
    study_program.run_program(read_study("titanic-fairness"), tmp_path, quiet=False, json=False)
    assert "report.md" in capsys.readouterr().out
    assert (tmp_path / "report.md").is_file()
    with pytest.raises(InputError, match="is a program; its page is"):
        check_folder(tmp_path)


def test_a_study_without_a_program_is_told(tmp_path):
    with pytest.raises(InputError, match=r"no program for the study 'mine'.*titanic-fairness"):
        study_program.run_program(Study("mine", kind="program"), tmp_path, quiet=True, json=False)


def test_what_needs_runs_is_refused():
    study_program.refuse("titanic-fairness", add=None, limit=None)
    with pytest.raises(InputError, match="--smoke is of no use here"):
        study_program.refuse("titanic-fairness", smoke=True)
    with pytest.raises(InputError, match="is a program: it has no runs to be trained"):
        expand(Study("p", kind="program"))


def test_the_listing_tells_what_it_needs():
    study = read_study("titanic-fairness")
    assert summary(study)["kind"] == "program"
    assert needed_data(study) == ["scikit-learn"]

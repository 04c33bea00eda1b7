"""Studies of the kind "program" from the command line."""

import json

import pytest
from typer.testing import CliRunner

from evenhand.cli import study_program
from evenhand.cli.app import app
from evenhand.cli.study_folder import check_folder
from evenhand.cli.study_list import needed_data, summary
from evenhand.errors import InputError
from evenhand.study.expand import expand
from evenhand.study.read import read_study
from evenhand.study.spec import Study


@pytest.fixture
def quick(monkeypatch):
    """One model of three, on two splits."""
    from evenhand.evaluation.titanic_fairness import study as home
    from evenhand.evaluation.titanic_fairness.models import boosting

    whole = home.compute
    monkeypatch.setattr(home, "compute", lambda progress, **few: whole({"gtb": boosting}, 2, 20, progress))


def test_the_program_writes_its_pages(quick, tmp_path, capsys):
    study_program.run_program(read_study("titanic-fairness"), tmp_path, quiet=False, json=False)
    assert "paper.html" in capsys.readouterr().out
    assert (tmp_path / "report.md").is_file()
    page = (tmp_path / "paper.html").read_text("utf-8")
    for told in ("<h2>Beside the paper: Table 3</h2>", "GTB, S2", "Claim S2.9", "by the rule on this page"):
        assert told in page
    assert "runs in small" not in page
    assert (tmp_path / "paper" / "tables" / "beside-the-paper.csv").is_file()
    with pytest.raises(InputError, match=r"is a program; its page is .*paper\.html"):
        check_folder(tmp_path)
    with pytest.raises(InputError, match="--smoke would put its report in that one's place"):
        study_program.run_program(
            read_study("titanic-fairness"), tmp_path, quiet=True, json=False, small=True
        )


def test_the_program_in_small_judges_nothing(quick, tmp_path):
    found = CliRunner().invoke(app, ["study", "run", "titanic-fairness", "--smoke", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    page, text = ((tmp_path / name).read_text("utf-8") for name in ("paper.html", "report.md"))
    for told in (page, text):
        assert "Claim S2.9 is not judged." in told
        assert "in small, to see that it runs" in told
        assert "means are within" not in told
        assert "mean over two splits" in told
    assert json.loads((tmp_path / "titanic-fairness.json").read_text("utf-8"))["verdict"] == "not judged"
    assert (tmp_path / "paper.html").is_file()


def test_a_study_without_a_program_is_told(tmp_path):
    with pytest.raises(InputError, match=r"no program for the study 'mine'.*titanic-fairness"):
        study_program.run_program(Study("mine", kind="program"), tmp_path, quiet=True, json=False)


def test_what_needs_runs_is_refused():
    study_program.refuse("titanic-fairness", add=None, limit=None)
    with pytest.raises(InputError, match="--limit is of no use here"):
        study_program.refuse("titanic-fairness", limit=3)
    with pytest.raises(InputError, match="is a program: it has no runs to be trained"):
        expand(Study("p", kind="program"))


def test_the_listing_tells_what_it_needs():
    study = read_study("titanic-fairness")
    assert summary(study)["kind"] == "program"
    assert needed_data(study) == ["scikit-learn"]

"""Which studies have a page in the shape of a paper, the parts it is made of, what the commands say."""

import re
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.cli.study_end import finish
from evenhand.cli.study_state import State
from evenhand.errors import DamagedFileError, InputError
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.study import papers
from evenhand.evaluation.study.papers import paper_of
from evenhand.report import paper_page as made
from evenhand.report.paper_files import write_paper
from evenhand.report.paper_page import Head, Section
from evenhand.report.study_tables import Table
from evenhand.study.driver import Options, run_study
from evenhand.study.read import read_study
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec

FAMILIES = {"fixed-seed-": "fixed_seed", "compression-": "compression", "model-selection": "model_selection",
            "hair-colour": "hair_colour"}  # fmt: skip


KNOBS = {"n_train": 80, "n_validation": 40, "n_test": 80}


def module_of(name, claims=()):
    found = paper_of(name, claims)
    return None if found is None else found.__module__.split(".")[2]


@pytest.mark.parametrize("start", FAMILIES)
def test_every_study_of_these_papers_has_a_page_by_name_and_by_claims(start):
    every = [file.name.removesuffix(".toml") for file in resources.files("evenhand.studies").iterdir()]
    names = [name for name in every if name.startswith(start) and name != "fixed-seed-replay"]
    assert names
    assert {module_of(name) for name in names} == {FAMILIES[start]}
    spoken = {module_of("renamed", study.claims) for study in map(read_study, names) if study.claims}
    assert spoken == {FAMILIES[start]}


def test_the_first_claim_is_not_the_tenth_and_others_have_no_page():
    assert module_of("mine", ["S2.10"]) == "hair_colour"
    assert module_of("mine", ["S2.1"]) == "compression"
    assert module_of("mine", ["S1.3"]) == "many_attributes"
    assert module_of("mine", ["S0.1", "S2.9"]) is None  # the replay and titanic-fairness have others
    assert module_of("ci-mnist") == "ci_mnist"


def a_table(rows=(("<b>x</b>", 0.5),)):
    return Table("A table", ("Name", "Value"), tuple(rows), "A note.")


def a_page(sections, **head):
    return made.render(Head("kind", "A title", ("What **was** run.",), ("Found.",), **head), sections)


def test_parts_become_html_and_names_are_escaped():
    parts = [made.words("`k` **b** <i>"), *made.items(["one", "two"]), *made.table(a_table(), title="Head"),
             *made.folded("More", a_table()), made.figure("Drawn", lambda width: f"<svg>{width:.0f}</svg>"),
             made.picture("Fixed", "<svg>fixed</svg>")]  # fmt: skip
    page = a_page([Section("first", "First", parts)], warned="Some runs are missing.")
    assert "What <strong>was</strong> run." in page
    assert "<code>k</code> <strong>b</strong> &lt;i&gt;" in page
    assert page.count('<th scope="row">&lt;b&gt;x&lt;/b&gt;</th><td class="num">0.500</td>') == 2
    assert "<h3>Head</h3>" in page
    assert "<details><summary>More</summary>" in page
    assert re.search(r'class="figure wide"><svg>760.*class="figure narrow"><svg>360', page)
    assert 'role="note">Some runs are missing.' in page
    assert '<a href="#first">First</a>' in page
    assert "default-src 'none'" in page


def test_a_section_without_parts_is_neither_shown_nor_linked():
    empty = [*made.table(a_table(())), *made.folded("More", a_table(())), *made.items([]), *made.heading("")]
    assert empty == []
    page = a_page([Section("gone", "Gone", empty), Section("here", "Here", [made.words("x")])])
    assert "Gone" not in page
    assert 'href="#here"' in page
    assert 'role="note"' not in page


def test_the_folder_has_page_numbers_tables_and_figures(tmp_path):
    page, *others = write_paper(tmp_path, "<p>", {"x": float("nan")}, {"t": a_table()}, {"f": "<svg/>"})
    assert page.name == "paper.html"
    assert (tmp_path / "paper.json").read_text("utf-8") == '{"x": null}\n'
    inside = {path.relative_to(tmp_path).as_posix() for path in others}
    assert {"paper/tables/t.csv", "paper/tables/t.tex", "paper/figures/f.svg"} <= inside


def run(name, folder, seeds=(0, 1)):
    """A study of real runs that is called like one of a paper's."""
    study = Study(
        name, "Small", tasks=(TaskSpec("synthetic", knobs=KNOBS),),
        groupings=(GroupingSpec(("a0",)),), nets=(NetEntry("mlp", options={"widths": [4]}),),
        methods=(MethodSpec("erm", "S-Base"),), recipe={"epochs": 1, "batch_size": 32}, seeds=seeds,
    )  # fmt: skip
    assert run_study(study, Options(folder, backend="inline", device="cpu")).failed == 0
    return folder


def test_a_paper_that_cannot_be_written_leaves_the_report_and_one_line(tmp_path):
    found = CliRunner().invoke(app, ["study", "report", str(run("compression-mine", tmp_path))])
    assert found.exit_code == 0, found.output
    assert "report written to" in found.output
    (line,) = [line for line in found.output.splitlines() if "shape of the paper" in line]
    assert line.startswith("no page in the shape of the paper: ")
    assert (tmp_path / "report.html").is_file()
    assert not (tmp_path / "paper.html").exists()


def fails(error):
    def paper(store, folder, progress):
        raise error

    return lambda name, claims: paper


@pytest.mark.parametrize("command", ["report", "run"])
def test_a_damaged_file_leaves_the_report_no_old_page_and_another_exit_code(command, tmp_path, monkeypatch):
    folder = run("model-selection-mine", tmp_path / "store")
    monkeypatch.setattr(papers, "paper_of", fails(DamagedFileError("0007.parquet is missing")))
    for name in ("paper.html", "paper.json"):
        (folder / name).write_text("of before", "utf-8")
    if command == "report":
        found = CliRunner().invoke(app, ["study", "report", str(folder)])
        assert found.exit_code == 2
        assert "report written to" in found.output
        told = " ".join(found.output.split())
    else:
        with pytest.raises(DamagedFileError) as raised:
            finish(State("s", done=2, planned=2), folder, no_report=False, quiet=True, json=False)
        told = str(raised.value)
    lacking = "0007.parquet is missing (paper.html, paper.json of before removed)"
    assert f"no page in the shape of the paper: {lacking}" in told
    assert not (folder / "paper.html").exists()
    assert (folder / "report.html").is_file()


def test_a_page_that_no_run_can_make_removes_that_of_before_and_is_no_mistake(tmp_path, monkeypatch):
    folder = run("model-selection-mine", tmp_path)
    monkeypatch.setattr(papers, "paper_of", fails(InputError("nothing can be compared")))
    (folder / "paper.html").write_text("of before", "utf-8")
    found = CliRunner().invoke(app, ["study", "report", str(folder)])
    assert found.exit_code == 0
    assert "nothing can be compared (paper.html of before removed)" in " ".join(found.output.split())
    assert not (folder / "paper.html").exists()


def test_the_commands_write_the_page_beside_the_report(tmp_path):
    found = CliRunner().invoke(app, ["study", "report", str(run("fixed-seed-mine", tmp_path))])
    assert found.exit_code == 0, found.output
    assert f"in the shape of the paper: {tmp_path / 'paper.html'}" in found.output
    assert "<h2>Table 4 in shape</h2>" in (tmp_path / "paper.html").read_text("utf-8")
    assert (tmp_path / "paper" / "tables" / "spread-di.csv").is_file()
    assert (tmp_path / "paper" / "figures" / "runs.svg").is_file()


def test_every_head_says_whether_it_is_of_runs_in_small():
    none = np.zeros(0, bool)
    for smoke in (None, {}):
        frame = SimpleNamespace(
            study={"smoke": smoke}, columns={"seed": []}, done=none, failed=none, trained=none
        )
        assert page_head(frame, "k", "t")["small"] is (smoke is None)

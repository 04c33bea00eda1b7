"""The tables of a study in three formats, the folder of a report, and the short summary."""

import csv
import importlib.util
import io
import json
import re
import shutil
import subprocess

import pytest
from rich.console import Console

from evenhand.errors import InputError
from evenhand.report import study_files
from evenhand.report.study import render
from evenhand.report.study_files import write_study_report
from evenhand.report.study_markdown import summary_markdown
from evenhand.report.study_table_files import latex_escaped, to_csv, to_latex, to_markdown
from evenhand.report.study_tables import Table, tables
from evenhand.report.terminal_study import study_table

ALL = "leaders runs overall numbers budget failures groups classes levelling variance ranks cost spearman"
NAMES = [*ALL.split(), "settings"]


def read(table):
    return list(csv.DictReader(io.StringIO(to_csv(table))))


def test_every_table_is_there_with_rows_of_one_length(study):
    made = tables(study)
    assert list(made) == NAMES
    for name, table in made.items():
        assert all(len(row) == len(table.heads) for row in table.rows), name


def test_an_empty_study_has_no_tables(empty_study):
    assert tables(empty_study) == {}


def test_the_csv_of_all_numbers_holds_them_unrounded(study):
    rows = read(tables(study)["numbers"])
    assert len(rows) == 2 * 5 * 5
    entry = next(e for e in study["problems"][0]["methods"] if e["method"] == "gap")
    row = next(
        r for r in rows if (r["problem"], r["method"], r["metric"]) == ("adult by sex", "gap", "fpr.gap")
    )
    assert float(row["mean"]) == entry["numbers"]["fpr.gap"]["mean"]
    assert float(row["low"]) == entry["numbers"]["fpr.gap"]["low"]
    assert float(row["difference low"]) == entry["against"]["fpr.gap"]["low"]
    assert row["verdict"] == "lower"
    base = next(r for r in rows if r["method"] == "erm")
    assert (base["difference"], base["verdict"]) == ("", "")


def test_the_leader_table_reads_as_on_the_page(study):
    table = tables(study)["leaders"]
    assert table.heads[:4] == ("Problem", "Method", "Setting", "Accuracy")
    found = next(e for e in study["problems"][0]["methods"] if e["method"] == "gap")["numbers"]["acc"]
    row = next(row for row in table.rows if row[1] == "gap")
    assert row[3] == f"{found['mean']:.3f} [{found['low']:.3f}, {found['high']:.3f}] ▼"
    assert "against erm" in table.note


def test_a_study_of_one_problem_has_no_column_for_it(study_samples):
    made = tables(study_samples.study(problems=1))
    assert made["leaders"].heads[0] == "Method"
    assert "overall" not in made


def test_the_oracle_is_noted_under_what_it_chose(study_samples):
    made = tables(study_samples.study(oracle=True))
    for name in ("leaders", "settings"):
        for text in (to_markdown(made[name]), to_latex(made[name])):
            assert "Oracle: settings chosen on the test part itself." in text


def test_classes_only_where_there_are_more_than_two(study):
    rows = read(tables(study)["classes"])
    assert {row["problem"] for row in rows} == {"synthetic by a × b"}
    assert {row["class"] for row in rows} == {"c0", "c1", "c2"}


def test_names_cannot_break_a_table():
    table = Table("t", ("name", "value"), (("a|b\nc & d_e %", None), ("[x]", 0.25)))
    markdown = to_markdown(table).splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in markdown] == [3, 3, 3, 3]
    assert to_latex(table).count("\\\\\n") == 3
    assert "a|b c \\& d\\_e \\% & -- \\\\" in to_latex(table)
    assert "\n{[}x] & 0.250" in to_latex(table)  # a bracket after a line break would be its argument
    assert list(csv.reader(io.StringIO(to_csv(table))))[1] == ["a|b\nc & d_e %", ""]


@pytest.mark.parametrize("letter", list("\\&%$#_{}~^<>*["))
def test_each_letter_that_means_something_to_latex_is_escaped(letter):
    escaped = latex_escaped(f"a{letter}b")
    assert escaped != f"a{letter}b"
    assert re.fullmatch(r"a(\\[&%$#_{}]|\\text\w+\{\}|\{[*\[]\})b", escaped)


def test_latex_accepts_the_tables(study, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX")
    body = "\n\n".join(to_latex(table) for table in tables(study).values())
    text = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{body}\n\\end{{document}}"
    (tmp_path / "t.tex").write_text(text, "utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=batchmode", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True
    )


def test_the_folder_holds_the_page_the_tables_the_figures_and_the_dictionary(study, tmp_path):
    study["problems"][0]["methods"][0]["numbers"]["acc"]["row_std"] = float("nan")
    written = write_study_report(study, tmp_path / "new" / "report")
    folder = tmp_path / "new" / "report"
    assert all(path.is_file() for path in written)
    assert {path.name for path in folder.iterdir()} == {"report.html", "study.json", "tables", "figures"}
    assert {path.name for path in (folder / "tables").iterdir()} == {
        f"{name}.{ending}" for name in NAMES for ending in ("md", "csv", "tex")
    }
    assert len(list((folder / "figures").glob("*.svg"))) > 20
    assert json.loads((folder / "study.json").read_text("utf-8"))["kind"] == "study"
    assert write_study_report(study, folder)  # a report is written again over the old one


def test_figures_as_bitmaps(study_samples, tmp_path):
    if importlib.util.find_spec("cairosvg") is None:
        pytest.skip("evenhand[png] is not installed")
    written = write_study_report(study_samples.study(problems=1), tmp_path, png=True)
    bitmaps = [path for path in written if path.suffix == ".png"]
    assert len(bitmaps) == len([path for path in written if path.suffix == ".svg"])
    assert all(path.read_bytes()[1:4] == b"PNG" for path in bitmaps)


def test_bitmaps_without_the_extra_are_refused_in_a_sentence(study, tmp_path, monkeypatch):
    def missing(svg):
        raise ImportError("PNG figures need cairosvg: pip install 'evenhand[png]'")

    monkeypatch.setattr(study_files, "to_png", missing)
    with pytest.raises(InputError, match="no PNG could be made: PNG figures need cairosvg"):
        write_study_report(study, tmp_path, png=True)


def test_mean_deviation_and_range_over_runs_are_told_of_every_method(study):
    """The rule of S0's survey: all three, for every number; a method with one run has no deviation."""
    table, entry = tables(study)["runs"], study["problems"][0]["methods"][0]
    row = next(row for row in table.rows if row[1] == entry["method"])
    found = entry["numbers"]["acc"]
    assert row[4] == (f"{found['mean']:.3f} ± {found['std']:.3f} ({found['min']:.3f} to {found['max']:.3f})")
    rows = read(tables(study)["variance"])
    assert all(float(r["min"]) <= float(r["mean"]) <= float(r["max"]) for r in rows if r["mean"])
    assert all(r[key] for r in rows for key in ("mean", "min", "max", "maxdiff") if r["seed std"])
    for method in study["problems"][0]["methods"]:
        method["n"] = 1
    assert len(tables(study)["runs"].rows) < len(table.rows)


def test_the_page_and_the_terminal_tell_the_range_as_well(study):
    found = study["problems"][0]["methods"][0]["numbers"]["acc"]
    ends = f"{found['min']:.3f} to {found['max']:.3f}"
    out = io.StringIO()
    one = {**study, "problems": study["problems"][:1]}
    Console(file=out, width=200).print(study_table(one))
    assert ends in out.getvalue()
    assert "below it the range" in out.getvalue()
    table = render(study).split('id="variance-table"')[1].split("</table>")[0]
    assert all(f">{head}<" in table for head in ("Mean", "Min", "Max"))
    assert f"{found['min']:.4f}" in table


def test_the_summary_is_short_and_says_what_the_page_says(study, empty_study):
    text = summary_markdown(study)
    assert text.startswith("# Five methods, two tasks\n")
    assert "- On adult by sex, gap lowered the true positive rate gap by " in text
    assert "176 of 177 runs done, 1 failed; 14 min of training. evenhand 0.3.0." in text
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Methods", "## Over runs", "## Over all problems",
        "## Change of the worst and the best group",
        "## Cost of mitigation", "## What each method was given", "## Runs that failed, by reason",
        "## How it was made",
    ]  # fmt: skip
    assert len(text) < 10_000
    assert "Nothing can be told." in summary_markdown(empty_study)

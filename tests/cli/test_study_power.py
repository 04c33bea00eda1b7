"""`evenhand study power`: the plan of every comparison, from published runs and from a folder."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evenhand.statistics.planning import plan_runs

RESULTS = Path(__file__).parents[2] / "studies" / "results"
ASKED = ("study", "power", str(RESULTS / "ci-mnist-smallest"), "--metric", "eqodd", "--difference", "0.2")


def test_the_plan_is_that_of_the_published_values(run):
    body = run(*ASKED, "--json", "--draws", "400").json
    assert [line["method"] for line in body["comparisons"]] == ["w-erm", "w-sqrt-erm", "resample", "gdro"]
    table = pl.read_parquet(RESULTS / "ci-mnist-smallest" / "runs.parquet").filter(pl.col("split") == "test")
    values = {
        method: table.filter(pl.col("method") == method)["eqodd"].to_numpy() for method in ("mlp", "gdro")
    }
    (line,) = [line for line in body["comparisons"] if line["method"] == "gdro"]
    wanted = plan_runs(values["mlp"], values["gdro"], 0.2, draws=400).to_dict()
    assert {key: line[key] for key in wanted} == wanted
    assert line["observed"] == pytest.approx(float(np.mean(values["gdro"]) - np.mean(values["mlp"])))
    assert [point["runs"] for point in line["curve"]][:2] == [2, 3]
    assert body["test"] == "mann-whitney"


def test_the_table_and_the_figure(run, tmp_path):
    figure = tmp_path / "power.svg"
    ran = run(*ASKED, "--draws", "400", "--figure", str(figure), "--test", "welch", "--paired")
    assert ran.code == 0
    for words in ("gdro / mlp", "needed", "paired t", "could see"):
        assert words in ran.out
    assert figure.read_text().count("<polyline") == 4


def test_what_cannot_be_asked_is_told_in_a_sentence(run, tmp_path):
    for arguments, words in (
        ((*ASKED[:-1], "-1"), "must be a number above 0"),
        ((*ASKED[:4], "eqod", *ASKED[5:]), "did you mean 'eqodd'"),
        ((*ASKED, "--base", "mpl"), "did you mean 'mlp'"),
        ((*ASKED, "--figure", str(tmp_path / "x.png")), "writes an .svg file"),
        ((*ASKED, "--draws", "3"), "at least 100 draws"),
        ((*ASKED, "--draws", "100000000"), "at most 100,000"),
        ((*ASKED, "--power", "0.999999"), "0.9999 with --draws 100000"),
        ((*ASKED, "--part", "tset"), "no run of the study was measured on a part 'tset'"),
        (("study", "power", str(tmp_path), *ASKED[3:]), "is not the folder of a study"),
    ):
        ran = run(*arguments)
        assert ran.code == 2
        assert words in ran.err


def test_techniques_are_listed(run):
    rows = {row["name"]: row for row in run("list", "techniques", "--json").json}
    assert len(rows) == 27
    assert rows["S-DD3"]["shared"] == ["S-DD1", "S-DD2", "S-DD3", "S-DD4"]
    out = run("list", "techniques").out
    assert all(name in out for name in rows)
    assert "with S-DI1" in out
    one = run("list", "techniques", "a-l2").out
    assert all(words in one for words in ("lam=0.1", "lam=20.0", "A-Base", "celeba, with resnet18"))
    assert json.loads(run("list", "techniques", "A-L2", "--json").out)["published"] == {"lam": 20.0}
    ran = run("list", "techniques", "A-L3")
    assert (ran.code, "did you mean 'A-L2'" in ran.err) == (2, True)

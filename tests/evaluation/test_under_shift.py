"""Gaps under shift: a small study against its own runs, and the committed page against its file."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InputError
from evenhand.evaluation.under_shift import compute
from evenhand.evaluation.under_shift.__main__ import main
from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, ReportSpec, ShiftSpec, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.validate import check_study

NAME = "equalized-robustness-fairface"
ROOT = Path(__file__).parents[2]
FILE = ROOT / "studies" / "results" / NAME / "under-shift.csv"
PAGE = ROOT / "docs" / "studies" / f"{NAME}.md"


def trained(folder, **values):
    study = Study(
        "small",
        tasks=(TaskSpec("titanic"),),
        groupings=(GroupingSpec(("sex",)),),
        nets=(NetEntry("mlp", options={"widths": (8,)}),),
        methods=(MethodSpec("erm"), MethodSpec("w-erm")),
        recipe={"epochs": 2, "batch_size": 128, "rate": 0.02},
        seeds=(0, 1, 2),
        report=ReportSpec(metrics=("accuracy.gap", "tpr.gap"), base="erm"),
        **values,
    )
    run_study(check_study(study), Options(folder, backend="inline", device="cpu"))
    return Store.open(folder, readonly=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    shifts = (ShiftSpec("gaussian", (0.5, 2.0), draws=2),)
    return trained(tmp_path_factory.mktemp("shifted"), shifts=shifts, numbers=("delta_er",))


def read(file):
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def told(body, method, quantity):
    (row,) = [row for row in body["rows"] if row["method"] == method]
    return row["numbers"][quantity]


def test_means_intervals_and_differences_are_those_of_the_runs(store):
    frame, body = Frame(store), compute(store)
    values = frame.mean_over_draws("gaussian", 2.0, "accuracy.gap")
    methods = np.array(frame.columns["method"])
    own, base = values[methods == "w-erm"], values[methods == "erm"]
    found = told(body, "w-erm", "accuracy.gap, gaussian 2")
    assert found["mean"] == pytest.approx(own.mean())
    expected = stats.t.interval(0.95, 2, loc=own.mean(), scale=stats.sem(own))
    assert (found["low"], found["high"]) == pytest.approx(expected)
    assert (found["least"], found["most"]) == (own.min(), own.max())
    apart = own - base  # seeds stand in the same order
    assert found["difference"]["mean"] == pytest.approx(apart.mean())
    expected = stats.t.interval(0.95, 2, loc=apart.mean(), scale=stats.sem(apart))
    assert (found["difference"]["low"], found["difference"]["high"]) == pytest.approx(expected)
    assert told(body, "erm", "accuracy.gap, gaussian 2")["difference"] is None


def test_what_stands_there(store):
    body = compute(store)
    names = list(body["rows"][0]["numbers"])
    assert names[:3] == ["accuracy, clean", "accuracy.gap, clean", "delta_er"]
    assert names[3:5] == ["accuracy, gaussian 0.5", "accuracy.gap, gaussian 0.5"]
    assert (body["done"], body["runs"], body["base"]) == (6, 6, "erm")


def test_a_study_without_shifts_is_refused(tmp_path):
    with pytest.raises(InputError, match="measured nothing under a shift"):
        compute(trained(tmp_path))


def test_the_program_fills_the_page_and_writes_every_number(store, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- numbers: begin -->\n<!-- numbers: end -->\nafter\n", encoding="utf-8")
    assert main([str(store.folder), "--page", str(page), "--results", str(tmp_path)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "6 of 6 runs are done" in text
    rows = read(tmp_path / "under-shift.csv")
    assert len(rows) == 2 * 7
    assert f"{float(rows[0]['mean']):.3f}" in text
    page.write_text("nothing to fill\n", encoding="utf-8")
    assert main([str(store.folder), "--page", str(page), "--results", str(tmp_path)]) == 2
    assert "once each" in capsys.readouterr().err


def test_the_committed_page_says_what_its_file_says():
    text = PAGE.read_text(encoding="utf-8")
    rows = read(FILE)
    assert len(rows) == 8 * 27
    for row in rows:
        mean = f"{float(row['mean']):.3f} ({float(row['low']):.3f} to {float(row['high']):.3f})"
        (line,) = [
            line
            for line in text.split(f"**{row['task']} by")[1].split("**")[1].splitlines()
            if line.startswith(f"| {row['quantity']} |")
        ]
        assert mean in line


def test_the_words_of_the_committed_page_are_those_of_its_file():
    rows = {(row["task"], row["method"], row["quantity"]): row for row in read(FILE)}
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for task in ("gender", "age"):
        before, after = (float(rows[task, method, "delta_er"]["mean"]) for method in ("normal", "cuma"))
        assert f"{before:.3f} to {after:.3f} ({task})" in text
        clean = rows[task, "cuma", "accuracy.gap, clean"]
        numbers = [float(clean[f"difference{end}"]) for end in ("", "_low", "_high")]
        assert "{:+.3f}, {:+.3f} to {:+.3f}".format(*numbers).replace("-", "−") in text
    lower = [
        key
        for key, row in rows.items()
        if key[1] == "cuma" and "gap" in key[2] and float(row["difference_high"]) < 0
    ]
    assert lower == []

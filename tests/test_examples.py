"""Every example runs offline, in seconds, and prints what it is meant to show."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import torch

from evenhand.methods import Batch, Nets, Problem

EXAMPLES = Path(__file__).parents[1] / "examples"
# make_titanic_predictions.py trains models; tests/data/test_packaged.py runs it.
# timm_predictions.py needs timm and ImageNet; tests/cli/test_many_models.py tries what does not.
# my_method.py is a method, which method_in_a_study.py runs.
SHOWN = {
    "audit_predictions": r"1309 rows, 263 of unknown group.*sex=female · age_group=child.*tpr\.gap +0\.561",
    "compare_models": r"small: accuracy 0\.694 \(base 0\.722\).*selection\.gap +0\.239 -> 0\.181",
    "gate_in_ci": r"FAIL  tpr\.gap\.high > 0\.2",
    "method_in_a_study": r"mlp +accuracy 0\.\d+, parity 0\.\d+\ncfair.*\nmine \(lam=10?\) +accuracy 0\.\d+",
    "own_loop": r"gap of the true positive rate 0\.\d+ between (Female and Male|Male and Female)",
    "several_runs": r"5 runs of 1309 passengers.*tpr\.gap +0\.152",
    "streaming_batches": r"the same as counting all rows at once: True.*class 3: true positive rate 0\.171",
    "whom_did_pruning_hurt": r"accuracy 0\.9\d+ -> 0\.\d+.*paid: heavy .*not shown to have.*heavy: CEV",
    "under_shift": r"262 passengers, 5 runs, 5 draws.*acc .*: moved down.*with more women: acc moved",
}


def run(name: str, monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    """Exit status and output of an example."""
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    try:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        status = 0
    except SystemExit as done:
        status = int(done.code or 0)
    return status, capsys.readouterr().out


def test_every_example_is_listed_here():
    files = {path.stem for path in EXAMPLES.glob("*.py")}
    assert files == {*SHOWN, "make_titanic_predictions", "my_method", "timm_predictions"}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_an_example_shows_what_it_is_about(name, monkeypatch, capsys):
    status, output = run(name, monkeypatch, capsys)
    assert re.search(SHOWN[name], output, flags=re.DOTALL), output
    assert status == (1 if name == "gate_in_ci" else 0)


@pytest.mark.parametrize("name", ["audit_predictions", "compare_models"])
def test_an_example_writes_the_report_it_is_asked_for(name, monkeypatch, capsys, tmp_path):
    page = tmp_path / "report.html"
    status, output = run(name, monkeypatch, capsys, "--html", str(page))
    assert (status, str(page) in output) == (0, True)
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_the_method_of_the_examples_keeps_the_rules_of_methods():
    found = runpy.run_path(str(EXAMPLES / "my_method.py"))
    problem = Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 1, -1])
    logits = torch.tensor([[0.0, 0.0], [0.0, 0.0], [20.0, -20.0], [0.0, 9.0]])  # scores 0.5, 0.5 and 0
    for lam, g in ((0.0, problem.g), (4.0, problem.g), (4.0, torch.tensor([0, 0, 0, -1]))):
        method = found["MeanDifference"](lam=lam)
        method.check(problem)
        nets = Nets({"model": lambda x: (x, None)}, problem.sizes)
        out = method.loss(nets, Batch(logits, problem.y, g), method.init(problem))
        mean = torch.nn.functional.cross_entropy(logits, problem.y)
        both = bool((g == 1).any())  # where a batch lacks a group there is nothing to compare
        assert float(out.losses["model"]) == pytest.approx(float(mean) + lam * 0.25 * both, rel=1e-6)

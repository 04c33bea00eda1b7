"""`evenhand study init FILE.toml`: an explained study to begin with, or one of the package to be changed."""

from __future__ import annotations

from pathlib import Path

import typer

from evenhand.cli import study_choices as given
from evenhand.cli.study_copy import like_packaged
from evenhand.errors import InputError

EXAMPLE = """\
# A study: every task x grouping x network x method x setting x seed is one run.
#   evenhand study show {file}            what it will run
#   evenhand study run {file} --smoke     the same in small, in a minute
#   evenhand study run {file}             all of it; the same command goes on after a stop

name = "{name}"
title = "What four methods change about the gaps between groups"
seeds = 8                      # 0 to 7; or a list, [3, 7, 11]
parts = ["validation", "test"] # settings are chosen on the first, reported on the second

[recipe]                       # the budget of every run: see docs/training.md
epochs = 10
batch_size = 256

[[task]]                       # 'evenhand list datasets' shows what there is
data = "titanic"
validation = 0.2               # any other key is a knob of the data set: 'evenhand data titanic'

[[task]]
data = "synthetic"             # made from a seed, so the right answer is known
n_train = 2000
n_validation = 1000
n_test = 2000

# [[task]]                     # a table of yours
# file = "loans.csv"
# label = "repaid"

[[grouping]]                   # whose groups the methods see, and the metrics compare
attributes = ["sex"]
tasks = ["titanic"]

[[grouping]]
attributes = ["a0"]
tasks = ["synthetic"]

[[net]]                        # 'evenhand list nets'
net = "mlp"
widths = [32]

# Three settings for each method: one that may try more finds more. 'evenhand list methods' shows all.
[[method]]
key = ["erm", "resample"]      # several with the same values
recipe.rate = {{ grid = [0.001, 0.003, 0.01] }}

[[method]]
key = "gdro"
eta = {{ grid = [0.01, 0.1, 1.0] }} # every one of these

[[method]]
key = "gap"
draws = 3                      # so many points are drawn
lam = {{ low = 0.1, high = 10.0, log = true }}

# [[shift]]                    # the same runs, measured under a shift too: docs/study-files.md
# kind = "gaussian"            # noise on the test inputs
# severities = [0.03, 0.06]
# draws = 5                    # each with noise of its own

# [[method]]                   # a method of yours: docs/training.md
# key = "mine.py:MyMethod"

[selection]                    # which setting of a method is reported
rule = "best-mean"
metric = "odds.max"
part = "validation"

[report]                       # 'evenhand list metrics'
metrics = ["tpr.gap", "fpr.gap", "odds.max"]
accuracy = "acc"
base = "erm"                   # whom the others are compared with

[smoke]                        # the small form
seeds = 2
settings = 2
recipe = {{ epochs = 1 }}
"""


def init(file: given.NewFile, like: given.Like = None) -> None:
    """Write a commented study to begin with, or one of the package; it can be run as it is."""
    if file.suffix != ".toml":
        raise InputError(f"a study is a TOML file; name it {file.with_suffix('.toml')}")
    if not file.parent.is_dir():
        raise InputError(f"{file} cannot be written: there is no folder {file.parent}")
    text = example(file) if like is None else like_packaged(like, file)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise InputError(f"{file} is already there; name another, or remove it first") from None
    typer.echo(f"{file} written; 'evenhand study show {file}' tells what it will run")
    if like is not None:
        typer.echo(where_it_runs(like, file))


def where_it_runs(like: str, file: Path) -> str:
    """Whether the runs of a copy stay apart from those of the study that it was made of.

    >>> where_it_runs("first-look", Path("mine.toml"))
    "its name is 'mine': its runs go into runs/mine, apart from those of 'first-look'"
    """
    if file.stem == like:
        return f"its name is '{like}' too: before you change what it runs, change 'name', or give --out"
    return f"its name is '{file.stem}': its runs go into runs/{file.stem}, apart from those of '{like}'"


def example(file: Path) -> str:
    """The text of the example, named after its file."""
    return EXAMPLE.format(name=file.stem, file=file)

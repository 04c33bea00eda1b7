"""`evenhand train` by careless hands: wrong flags, odd terminals, the folder of another training."""

import json

import pytest
import torch
from typer.testing import CliRunner

from evenhand.cli.app import app


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny products on several threads are slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(*arguments, **environment):
    """Run `evenhand train ...` within this process."""
    return CliRunner(env=environment).invoke(app, ["train", *map(str, arguments)])


WRONG = {
    "": "missing argument 'DATASET'",
    "titanic": "missing option '--method'",
    "titanic -m": "requires an argument",
    "titanic -m erm --sedes 3": "--seeds",
    "titanic -m erm --epoch 3": "--epochs",
    "titanic -m erm titanic": "unexpected extra argument",
    "titanic -m erm --seeds 0": "'--seeds'",
    "titanic -m erm --seeds -1": "'--seeds'",
    "titanic -m erm --seeds 1.5": "'--seeds'",
    "titanic -m erm --epochs -1": "'epochs' must be a whole number of at least 1",
    "titanic -m erm --epochs 1e3": "'--epochs'",
    "titanic -m erm --batch-size 0": "'batch_size'",
    "titanic -m erm --rate nan": "'rate'",
    "titanic -m erm --rate inf": "'rate'",
    "titanic -m erm --rate x": "'--rate'",
    "titanic -m erm --patience -1": "'patience'",
    "titanic -m erm --schedule cos": "did you mean 'cosine'?",
    "titanic -m erm --recipe x": "NAME=VALUE",
    "titanic -m erm --recipe =3": "NAME=VALUE",
    "titanic -m erm --recipe clip=abc": "--recipe clip takes a number",
    "titanic -m erm --recipe betas=0.9": "two numbers",
    "titanic -m erm --recipe compile=maybe": "True or False, or None",
    "titanic -m erm --recipe deterministic=maybe": "--recipe deterministic takes true or false",
    "titanic -m erm --recipe precision=half": "'precision'",
    "titanic -m gdro --set eta=": "--set eta takes a number",
    "titanic -m gdro --set =1": "NAME=VALUE",
    "titanic -m gdro --set eta=nan": "takes a number",
    "titanic -m gdro --set eta=1e999": "not inf",
    "titanic -m gdro --set eta=true": "takes a number",
    "titanic -m gdro --set by=nothing": "label-group, group",
    "titanic -m gdro --set balanced=perhaps": "true or false",
    "titanic -m gdro --set eta=__import__('os').abort()": "takes a number",
    "titanic -m gdro --set erm.eta=1": "none of gdro",
    "titanic -m ERM": "did you mean 'erm'",
    "titanic -m erm,gdro": "did you mean",
    "TITANIC -m erm": "did you mean 'titanic'?",
    "titanic -m erm --net mlp --net-set widths=a,b": "a list of whole numbers",
    "titanic -m erm --net mlp --net-set widths=0": "at least 1",
    "titanic -m erm --net mlp --net-set dropout=2": "dropout",
    "titanic -m erm --net mlp --net-set activation=foo": "activation 'foo'",
    "titanic -m erm --net resnet50": "reads images",
    "titanic -m erm --protect sex,sex": "twice",
    "titanic -m erm --data-set test=0": "no rows for the test",
    "titanic -m erm --data-set test=abc": "--data-set test takes a number",
    "titanic -m erm --data-set seed=-1": "seed=-1",
    "adult -m erm --data-set validation=abc": "validation='abc'",
    "adult -m erm --data-set age_ratio=0.1,0.1": "preparation='s3'",
    "synthetic -m erm --data-set n_train=0": "no rows for training",
    "ci-mnist -m erm --data-set variant=C": "A or B",
    "titanic -m erm --watch auc": "did you mean acc",
    "titanic -m erm --device meta": "'meta'",
    "titanic -m erm --device cuda:99": "CUDA device",
    "titanic -m erm --json /nowhere/x.json": "no folder /nowhere",
    "titanic -m erm --json - --html -": "each its own",
    "titanic -m erm --out /dev/null": "is a file",
}


@pytest.mark.parametrize("arguments", WRONG, ids=str)
def test_what_is_wrong_is_one_sentence(arguments):
    ran = run(*arguments.split())
    assert ran.exit_code == 2, ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("error: ")
    assert WRONG[arguments] in ran.stderr
    assert ran.stdout == ""


def test_a_json_that_is_a_folder(tmp_path):
    ran = run("titanic", "-m", "erm", "--json", tmp_path)
    assert ran.exit_code == 2
    assert "is a folder; name a file in it" in ran.stderr


@pytest.mark.parametrize(
    "other", [["--rate", "0.5"], ["--epochs", "2"], ["--data-set", "seed=1"], ["-m", "sd"]]
)
def test_the_folder_of_another_training_is_not_written_into(tmp_path, other):
    command = ["titanic", "--epochs", "1", "--out", tmp_path]
    method = [] if "-m" in other else ["-m", "erm"]
    assert run(*command, "-m", "erm").exit_code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = [part for part in command if part not in ("--epochs", "1")] if "--epochs" in other else command
    ran = run(*kept, *method, *other)
    assert ran.exit_code == 2
    assert "of other runs" in ran.stderr.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_list_of_one_is_a_list():
    ran = run("titanic", "-m", "erm", "--epochs", "1", "--net", "mlp", "--net-set", "widths=8", "--json", "-")
    assert json.loads(ran.stdout)["fit"]["net"]["options"]["widths"] == [8]


def test_a_training_that_went_astray_is_told_on_the_screen():
    command = ("titanic", "-m", "erm", "-m", "sd", "--epochs", "1", "--rate", "1e30", "--optimizer", "sgd")
    ran = run(*command, COLUMNS="200")
    assert ran.exit_code == 0
    for name in ("erm", "sd"):
        assert f"! {name}: the model of seed 0 gives no number for 262 rows" in ran.stdout


@pytest.mark.parametrize("methods", [["erm"], ["erm", "gdro"]])
def test_tables_fit_a_small_terminal(methods):
    chosen = [part for name in methods for part in ("-m", name)]
    ran = run("titanic", *chosen, "--epochs", "1", "--seeds", "2", COLUMNS="40")
    assert ran.exit_code == 0
    wide = [line for line in ran.stdout.splitlines() if len(line) > 40]
    assert not [line for line in wide if "─" in line or "›" in line]  # sentences may run on, tables may not
    assert len(wide) <= 2


def test_colours_only_where_they_are_wanted():
    ran = run("titanic", "-m", "erm", "--epochs", "1", NO_COLOR="1", FORCE_COLOR="")
    assert ran.exit_code == 0
    assert "\x1b[3" not in ran.stdout

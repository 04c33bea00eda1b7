"""A study file is read as it is written, and every key is found on its line."""

import json
import textwrap
import tomllib
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.plain import plain, study_from_dict, study_to_dict
from evenhand.study.read import read_study
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Search, Study, TaskSpec
from evenhand.study.toml_lines import key_lines

WHOLE = """
title = "Everything"
about = '''
Two
lines.'''
seeds = [3, 5]
search_seed = 7
parts = ["test"]
score_bins = 50
claims = ["S0.1"]

[recipe]
epochs = 2

[[task]]
data = "titanic"
seeded = ["seed"]
test = 0.3
recipe = {batch_size = 32}

[[task]]
data = "adult"
name = "census"

[[grouping]]
attributes = ["sex"]
measure = [["pclass"], []]
tasks = "titanic"

[[grouping]]
first = ["sex", "race", "marital"]
counts = [1, 3]
name = "first"
tasks = ["census"]

[[net]]
net = "mlp"
name = "wide"
widths = [128]

[[method]]
key = ["erm", "sd"]
recipe.rate = {grid = [0.1, 0.01]}

[[method]]
key = "gap"
name = "gap by odds"
target = "odds"
lam = {search = true}
momentum = {low = 0.5, high = 0.9, log = false}
draws = 3
tasks = ["census"]

[selection]
part = "test"

[report]
metrics = ["tpr.gap", "auc.gap"]
base = "sd"
"""


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def test_every_block_is_read(tmp_path):
    study = read_study(write(tmp_path, WHOLE))
    assert (study.name, study.title, study.about) == ("mine", "Everything", "Two\nlines.")
    assert (study.seeds, study.search_seed, study.parts) == ((3, 5), 7, ("test",))
    assert (study.score_bins, study.claims, study.recipe) == (50, ("S0.1",), {"epochs": 2})
    assert study.tasks == (
        TaskSpec("titanic", "titanic", {"test": 0.3}, ("seed",), {"batch_size": 32}),
        TaskSpec("adult", "census"),
    )
    assert study.groupings == (
        GroupingSpec(("sex",), "sex", ("titanic",), (("pclass",), ())),
        GroupingSpec(("sex",), "first 1", ("census",)),
        GroupingSpec(("sex", "race", "marital"), "first 3", ("census",)),
    )
    assert study.nets == (NetEntry("mlp", "wide", {"widths": [128]}),)
    rate = {"rate": Grid((0.1, 0.01))}
    searched = {"target": "odds", "lam": Search(), "momentum": Search(0.5, 0.9, False)}
    assert study.methods == (
        MethodSpec("erm", "erm", {}, rate),
        MethodSpec("sd", "sd", {}, rate),
        MethodSpec("gap", "gap by odds", searched, {}, 3, ("census",)),
    )
    assert study.selection.part == "test"
    assert (study.report.metrics, study.report.base) == (("tpr.gap", "auc.gap"), "sd")
    assert study.source == str(tmp_path / "mine.toml")


def test_a_study_goes_through_json_and_back(tmp_path):
    study = read_study(write(tmp_path, WHOLE))
    values = study_to_dict(study)
    assert values["methods"][2]["fields"]["lam"] == {"search": {"low": None, "high": None, "log": None}}
    assert values["methods"][0]["recipe"]["rate"] == {"grid": [0.1, 0.01]}
    assert values["smoke"]["smoke"] is None
    assert study_from_dict(json.loads(json.dumps(values))) == study


def test_a_dictionary_of_an_older_version_gets_the_defaults():
    assert study_from_dict({"name": "old", "seeds": [1]}) == Study("old", seeds=(1,))


def test_numbers_of_numpy_become_plain_ones():
    import numpy as np

    found = plain({"rate": np.float64(0.5), "n": np.int64(3)})
    assert json.dumps(found) == '{"rate": 0.5, "n": 3}'


def test_files_of_ones_own_are_found_beside_the_study(tmp_path):
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "from evenhand.methods.erm import ERM\n"
        "@dataclass(frozen=True)\n"
        "class Mine(ERM):\n    weight: float = 1.0\n"
        "def people(seed: int = 0):\n    raise NotImplementedError\n",
        encoding="utf-8",
    )
    (tmp_path / "loans.csv").write_text("age,sex,paid\n20,f,no\n30,m,yes\n", encoding="utf-8")
    text = """
        [[task]]
        file = "loans.csv"
        label = "paid"
        attributes = ["sex"]
        [[task]]
        data = "own.py:people"
        [[grouping]]
        attributes = ["sex"]
        [[method]]
        key = "own.py:Mine"
        weight = {grid = [1, 2]}
    """
    study = read_study(write(tmp_path, text))
    assert [task.data for task in study.tasks] == [f"table:{tmp_path}/loans.csv", f"{tmp_path}/own.py:people"]
    assert [task.name for task in study.tasks] == ["loans", "people"]
    assert study.tasks[0].knobs == {"label": "paid", "attributes": ["sex"]}
    assert (study.methods[0].key, study.methods[0].name) == (f"{tmp_path}/own.py:Mine", "Mine")


SMALL = """
    seeds = 5
    recipe = {epochs = 30, rate = 0.1}
    [[task]]
    data = "titanic"
    recipe = {epochs = 40, batch_size = 32}
    [[task]]
    data = "synthetic"
    [[grouping]]
    attributes = ["sex"]
    tasks = ["titanic"]
    [[grouping]]
    attributes = ["a0"]
    tasks = ["synthetic"]
    [[method]]
    key = "erm"
    recipe = {epochs = 50}
    [[method]]
    key = "gdro"
    eta = {grid = [0.1, 0.2, 0.3]}
    [report]
    base = "erm"
"""


def test_every_study_has_a_smoke_form(tmp_path):
    small = read_study(write(tmp_path, SMALL)).smoke
    assert small is not None
    assert (small.name, small.seeds, small.options) == ("mine", (0, 1), {"settings": 2})
    assert small.recipe == {"epochs": 1, "rate": 0.1}
    assert small.tasks[0].recipe == {"batch_size": 32}  # the epochs of the small form count, not its own
    assert small.methods[0].recipe == {}
    assert [task.name for task in small.tasks] == ["titanic", "synthetic"]


def test_a_smoke_form_can_be_told(tmp_path):
    more = """
    [smoke]
    seeds = [9]
    tasks = ["synthetic"]
    methods = ["gdro"]
    settings = 1
    [smoke.recipe]
    epochs = 3
    [smoke.task.synthetic]
    n_train = 100
    """
    small = read_study(write(tmp_path, SMALL + more)).smoke
    assert small is not None
    assert (small.seeds, small.recipe["epochs"], small.options) == ((9,), 3, {"settings": 1})
    assert [task.knobs for task in small.tasks] == [{"n_train": 100}]
    assert [grouping.name for grouping in small.groupings] == ["a0"]  # the other has no task left
    assert [method.name for method in small.methods] == ["gdro"]
    assert small.report.base == ""  # its base is not there; the first method is


NASTY = """\
# [[method]] in a comment
top = "a # b" # c
text = \"\"\"
[[method]]
key = "no"  \\"\"\" ""
\"\"\"
'quoted.key' = '''
x = ]'''
a.b."c d" = 1

[[method]]
key = ["one", # first
  'two]', [1,
   2],

  "four"]
inner = {x = {grid = [1, 2]}, y.z = "}"}
[[method]]  # the second
"eta" = 0.1
[method.recipe]
rate = 1e-3
[[method.more]]
q = 1979-05-27T07:32:00Z
[[method.more]]
q = -inf
[other.deep.table]
k = {}
[ spaced . "key" ]
v=[ ]
"""
EXPECTED = {
    ("top",): 2,
    ("text",): 3,
    ("quoted.key",): 7,
    ("a",): 9,
    ("a", "b", "c d"): 9,
    ("method", 0): 11,
    ("method", 0, "key"): 12,
    ("method", 0, "key", 1): 13,
    ("method", 0, "key", 2, 1): 14,
    ("method", 0, "key", 3): 16,
    ("method", 0, "inner", "x", "grid", 1): 17,
    ("method", 0, "inner", "y", "z"): 17,
    ("method", 1): 18,
    ("method", 1, "eta"): 19,
    ("method", 1, "recipe", "rate"): 21,
    ("method", 1, "more", 0, "q"): 23,
    ("method", 1, "more", 1): 24,
    ("method", 1, "more", 1, "q"): 25,
    ("other", "deep"): 26,
    ("other", "deep", "table", "k"): 27,
    ("spaced", "key", "v"): 29,
}


def paths(value, path=()):
    """The paths of all keys and elements of a value that tomllib made."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from paths(each, (*path, key))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_of_a_nasty_file(ending):
    lines = key_lines(NASTY.replace("\n", ending))
    assert {path: lines[path] for path in EXPECTED} == EXPECTED
    assert set(lines) == set(paths(tomllib.loads(NASTY)))  # every key that tomllib knows, and no other


@pytest.mark.parametrize("text", [NASTY, WHOLE, SMALL, "", "# nothing", "a=1", 'a=""""""', "a = ''''x'''''"])
def test_lines_agree_with_tomllib_about_what_there_is(text):
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


def test_syntax_errors_have_their_line(tmp_path):
    path = write(tmp_path, "seeds = 2\nparts = [\n'test'\n[recipe]\n")
    with pytest.raises(InputError, match=rf"^{path}:4: this is no TOML: .*column 1"):
        read_study(path)
    with pytest.raises(InputError, match=r"mine\.toml:2: this is no TOML: .*end of document"):
        read_study(write(tmp_path, 'seeds = 2\ntitle = """no end'))
    with pytest.raises(InputError, match=r"mine\.toml:3: .*Cannot overwrite"):
        read_study(write(tmp_path, "seeds = 2\n\nseeds = 3\n"))

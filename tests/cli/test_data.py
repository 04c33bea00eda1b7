"""`evenhand data`: the card in words and in JSON, knobs from the command line, and clear refusals."""

import json
import runpy
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from evenhand.cli.app import Commands
from evenhand.cli.data import data
from evenhand.cli.knobs import parse_knobs, parse_value
from evenhand.data.cache import CHECKSUMS
from evenhand.errors import InputError

DEFAULTS = {"seed": 0, "share": 0.5, "strict": True, "without": "", "shares": None}


@pytest.fixture
def run(monkeypatch):
    """Run the command as the program does: an error is a sentence on stderr and an exit code."""
    app = typer.Typer(cls=Commands)
    app.command("data")(data)
    app.callback()(lambda: None)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["data", *arguments])

    return invoke


def test_the_card_for_people(run):
    found = run("titanic")
    assert found.exit_code == 0, found.stderr
    for words in (
        "The passengers of the Titanic",
        "OpenML data set 40945",
        "1,047",
        "female (466), male (843)",
        "263",  # unknown ages
        "validation",
        f"verified titanic.csv.gz SHA-256 {CHECKSUMS['titanic.csv.gz']}",
    ):
        assert words in found.stdout


def test_the_card_for_programs(run):
    found = json.loads(run("adult", "--json", "--set", "preparation=s3", "--set", "age_ratio=.01,.01").stdout)
    assert found["parts"]["test"] == {"rows": 208, "classes": {"<=50K": 104, ">50K": 104}}
    assert found["knobs"]["age_ratio"] == "0.01,0.01"
    assert found["defaults"]["preparation"] == "s4"
    assert found["protect"] == ["sex"]
    assert found["files"] == {"adult.csv.gz": CHECKSUMS["adult.csv.gz"]}
    assert found["inputs"] == [112]


def test_knobs_reach_the_generator(run):
    given = [
        "synthetic",
        "--set",
        "attributes=2",
        "--set",
        "shares=[0.1, 0.9]",
        "--set",
        "n_test=50",
        "--json",
    ]
    found = json.loads(run(*given).stdout)
    assert found["parts"]["test"]["rows"] == 50
    assert [attribute["name"] for attribute in found["attributes"]] == ["a0", "a1"]
    assert found["attributes"][0]["levels"]["0"] < found["attributes"][0]["levels"]["1"] / 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("adlut",), "did you mean 'adult'?"),
        (("titanic", "--set", "sead=1"), "did you mean 'seed'? Its knobs: seed, test, validation"),
        (("titanic", "--set", "seed"), "--set seed has no value; write it as seed=VALUE"),
        (("titanic", "--set", "seed=1", "--set", "seed=2"), "--set seed was given twice"),
        (("titanic", "--set", "seed=x"), "--set seed takes a whole number, not 'x'"),
        (("titanic", "--set", "test=2"), "test=2.0 must be a share"),
        (("synthetic", "--set", "balanced_test=maybe"), "takes true or false, not 'maybe'"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(run, arguments, words):
    found = run(*arguments)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert words in found.stderr
    assert found.stderr.count("\n") == 1


def test_data_that_is_not_here_says_what_to_do(run, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    monkeypatch.setattr("evenhand.data.fetch.PAUSE", 0.0)

    def nobody(*_, **__):
        raise OSError("the network is unreachable")

    monkeypatch.setattr("evenhand.data.fetch.urlopen", nobody)
    found = run("communities-crime")
    assert found.exit_code == 2
    for words in ("the network is unreachable", "archive.ics.uci.edu", "EVENHAND_DATA", str(tmp_path)):
        assert words in found.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seed=3", 3),
        ("share=1", 1.0),
        ("share=1e-3", 0.001),
        ("strict=No", False),
        ("without=1", "1"),
        ("shares=((0.1, 0.9), (0.5, 0.5))", ((0.1, 0.9), (0.5, 0.5))),
        ("shares=none", None),
        ("shares=some words", "some words"),
    ],
)
def test_values_have_the_type_of_their_default(text, expected):
    (value,) = parse_knobs([text], DEFAULTS, "it").values()
    assert value == expected
    assert type(value) is type(expected)


def test_a_number_is_no_truth_value():
    with pytest.raises(InputError, match="whole number, not 'True'"):
        parse_value("seed", "true", 0)
    with pytest.raises(InputError, match=r"whole number, not '1\.5'"):
        parse_value("seed", "1.5", 0)


def test_pictures_are_written_on_one_sheet(run, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "digits.png"
    found = run("ci-mnist", "--set", "limit=30", "--pictures", str(path))
    assert found.exit_code == 0, found.stderr
    assert "30 pictures written to" in found.stderr
    with image.open(path) as sheet:
        assert sheet.size == (2 + 12 * 34, 2 + 3 * 34)


def test_a_table_has_no_pictures(run, tmp_path):
    found = run("titanic", "--pictures", str(tmp_path / "x.png"))
    assert found.exit_code == 2
    assert "is a table: it has no pictures" in found.stderr


def test_only_files_are_called_verified(run):
    told = run("faces", "--set", "n=100").output
    assert "verified celeba_statistics.json" in told
    assert "known by a drawn sample" in told


def test_a_file_that_was_compared_with_nothing_is_not_called_verified(run, tmp_path):
    pytest.importorskip("PIL")
    made = runpy.run_path(str(Path(__file__).parents[1] / "data" / "tiny_celeba.py"))["make"](tmp_path / "c")
    found = run("celeba", "--set", f"folder={made}", "--set", "split=official", "--set", "size=8")
    assert found.exit_code == 0, found.stderr
    assert "read, not verified: list_attr_celeba.txt" in found.output
    assert not any(line.startswith("verified") for line in found.output.splitlines())


def test_a_knob_with_a_number_for_each_name(run):
    found = run("faces", "--set", "n=100", "--set", 'noise={"Male": 0.1}', "--json")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.output)["knobs"]["noise"] == {"Male": 0.1}
    refused = run("faces", "--set", 'difficulty={"Male": 0.1}')
    assert refused.exit_code == 2
    assert "the knob difficulty={'Male': 0.1} must be a number" in refused.stderr

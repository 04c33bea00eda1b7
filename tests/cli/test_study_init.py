"""`evenhand study init FILE.toml --like NAME`: the file of a packaged study, under a name of its own."""

import tomllib

import pytest

from evenhand.study.library import packaged_study, study_names
from evenhand.study.read import read_study

PROGRAMS = ("fixed-seed-replay", "titanic-fairness")


@pytest.mark.parametrize("name", sorted(set(study_names()) - {*PROGRAMS}))
def test_a_copy_is_the_study_under_another_name(run, tmp_path, name):
    file = tmp_path / "mine.toml"
    assert run("study", "init", file, "--like", name).code == 0
    text = packaged_study(name).text
    changed = [
        (a, b) for a, b in zip(text.splitlines(), file.read_text().splitlines(), strict=True) if a != b
    ]
    assert changed == [(f'name = "{name}"', 'name = "mine"')]
    assert tomllib.loads(file.read_text()) == {**tomllib.loads(text), "name": "mine"}


def test_it_can_be_read_and_says_where_its_runs_go(run, tmp_path):
    ran = run("study", "init", tmp_path / "mine.toml", "--like", "compression-cifar10")
    assert "runs/mine, apart from those of 'compression-cifar10'" in ran.out
    found = read_study(tmp_path / "mine.toml")
    assert (found.name, found.tasks[0].knobs["form"]) == ("mine", "jpeg75")
    assert run("study", "show", tmp_path / "mine.toml").code == 0


def test_a_copy_of_the_same_name_says_that_it_is(run, tmp_path):
    ran = run("study", "init", tmp_path / "first-look.toml", "--like", "first-look")
    assert "its name is 'first-look' too" in ran.out


@pytest.mark.parametrize(
    ("like", "words"),
    [
        ("frist-look", "did you mean 'first-look'"),
        ("first-look.toml", "did you mean 'first-look'"),
        ("titanic-fairness", "nothing that could be changed"),
        ("fixed-seed-replay", "nothing that could be changed"),
    ],
)
def test_what_cannot_be_copied_is_told_and_leaves_no_file(run, tmp_path, like, words):
    ran = run("study", "init", tmp_path / "mine.toml", "--like", like)
    assert ran.code == 2
    assert words in ran.err
    assert not (tmp_path / "mine.toml").exists()

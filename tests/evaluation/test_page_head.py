"""The head of a study's page says how much was run, and that it was the small form where it was."""

from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.evaluation.page_head import page_head
from evenhand.study.plain import study_to_dict
from evenhand.study.read import read_study
from evenhand.study.smoke import IN_SMALL


def frame_of(study):
    done, failed = np.array([True, True, False, False]), np.array([False, False, True, False])
    trained = np.array([True, False, True, True])  # the second row is the first run under another grouping
    return SimpleNamespace(
        study=study, columns={"seed": [4, 4, 3, 3]}, done=done, failed=failed, trained=trained
    )


def test_trainings_are_counted_and_not_rows():
    head = page_head(frame_of({"name": "s", "smoke": {}, "recipe": {"epochs": 3}}), "kind", "A title")
    assert (head["planned"], head["done"], head["failed"]) == (3, 1, 1)
    assert (head["seeds"], head["title"], head["recipe"]) == ([3, 4], "A title", {"epochs": 3})


@pytest.mark.parametrize("name", ["ci-mnist", "equalized-robustness", "many-attributes-faces"])
def test_the_small_form_says_so_in_the_title_once(name):
    study = read_study(name)
    whole, small = (
        page_head(frame_of(study_to_dict(one)), "kind", "A title") for one in (study, study.smoke)
    )
    assert whole["title"] == "A title"
    assert small["title"] == f"A title {IN_SMALL}"
    again = page_head(frame_of(study_to_dict(study.smoke)), "kind", small["title"])
    assert again["title"] == small["title"]

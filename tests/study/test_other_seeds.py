"""Studies that ask another one's question of other seeds: nothing else may differ."""

import pytest

from evenhand.study.plain import study_to_dict
from evenhand.study.read import read_study

OWN = {"name", "title", "about", "seeds", "smoke", "source"}


@pytest.mark.parametrize("name", ["compression-mnist", "model-selection"])
def test_twenty_other_seeds_and_nothing_else(name):
    first, again = (study_to_dict(read_study(told)) for told in (name, f"{name}-twenty"))
    assert len(set(again["seeds"])) == 20
    assert not set(first["seeds"]) & set(again["seeds"])
    shared, shared_again = ({k: v for k, v in one.items() if k not in OWN} for one in (first, again))
    assert shared == shared_again

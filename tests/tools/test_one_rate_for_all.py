"""The choice of a rate for all methods: the rule, what failed, what is not run, and the file it goes into."""

import runpy
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "one_rate_for_all.py")))


def frame(*runs):
    """Runs as (method, rate, clip, accuracy): nothing for one that failed, "" for one that is not there."""
    methods, rates, clips, values = zip(*runs, strict=True)
    recipes = [{"recipe": {"rate": rate, "clip": clip}} for rate, clip in zip(rates, clips, strict=True)]
    numbers = np.array([value if isinstance(value, float) else np.nan for value in values])
    return SimpleNamespace(
        n=len(runs), columns={"method": list(methods), "spec": recipes}, values=lambda part, key: numbers,
        done=np.isfinite(numbers), failed=np.array([value is None for value in values]),
    )  # fmt: skip


def test_the_highest_mean_is_chosen_and_a_failed_training_is_chance():
    found = tool.accuracies(
        frame(("base", 0.1, 0.0, 0.9), ("at", 0.1, 0.0, None), ("base", 0.02, 0.0, 0.5),
              ("at", 0.02, 0.0, 0.4), ("base, clipped", 0.1, 1.0, 0.7), ("at, clipped", 0.1, 1.0, 0.4))
    )  # fmt: skip
    assert found[0.1, 0.0] == {"base": 0.9, "at": 0.1}  # 0.5 on average, as much as one half
    assert found[0.1, 1.0] == {"base": 0.7, "at": 0.4}
    assert tool.chosen(found) == (0.1, 1.0)


def test_of_equals_the_lower_rate():
    assert tool.chosen({(0.1, 0.0): {"a": 0.5}, (0.05, 0.0): {"a": 0.5}}) == (0.05, 0.0)


def test_nothing_is_chosen_before_everything_is_run_or_where_methods_differ():
    with pytest.raises(SystemExit, match="not there yet"):
        tool.accuracies(frame(("base", 0.1, 0.0, 0.9), ("base", 0.2, 0.0, "")))
    with pytest.raises(SystemExit, match="different methods"):
        tool.accuracies(frame(("base", 0.1, 0.0, 0.9), ("at", 0.2, 0.0, 0.9)))


@pytest.mark.parametrize("setting", [(0.1, 1.0), (0.02, 0.0)])
def test_it_goes_into_the_recipe_of_the_study_and_nothing_else_changes(setting):
    text = (ROOT / "src/evenhand/studies/compression-cifar10.toml").read_text("utf-8")
    before, after = tomllib.loads(text), tomllib.loads(tool.with_setting(text, setting, "rates"))
    rate, clip = after["recipe"].pop("rate"), after["recipe"].pop("clip", 0.0)
    assert (rate, clip) == setting
    before["recipe"].pop("rate")
    before["recipe"].pop("clip", None)
    assert before == after
    again = tool.with_setting(tool.with_setting(text, (0.1, 1.0), "others"), setting, "rates")
    assert again == tool.with_setting(text, setting, "rates")
    assert again.count("  # studies/rates.toml\n") == 1


@pytest.mark.parametrize("name", ["compression-cifar10", "compression-cifar10-small"])
def test_the_study_of_rates_is_the_study_of_compression_but_for_rate_clip_methods_and_seed(name):
    studies = (f"src/evenhand/studies/{name}.toml", f"studies/rate-of-{name}.toml")
    one, rates = (tomllib.loads((ROOT / path).read_text("utf-8")) for path in studies)
    for recipe in (one["recipe"], rates["recipe"]):
        recipe.pop("rate", None)
        recipe.pop("clip", None)
    assert one["recipe"] == rates["recipe"]
    assert one["task"] == rates["task"]
    assert one["net"] == rates["net"]
    assert not set(rates["seeds"]) & set(range(one["seeds"]))
    pruned = [method for method in rates["method"] if str(method["key"]) != "erm"]
    assert {(method["share"], method["every"]) for method in pruned} == {(0.45, 1)}

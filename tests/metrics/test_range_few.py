"""Very many groups: those that may decide are kept, and intervals of changes hold as with few."""

import numpy as np
import pytest

import evenhand
from evenhand.metrics.range_change import change_deviations
from evenhand.metrics.range_few import MOST_ALONE, MOST_PAIRED, Compare, few_groups


def world(groups, how, seed=0, replicates=100):
    rng = np.random.default_rng(seed)
    before = rng.uniform(0.4, 0.6, (2, groups))
    after = before + rng.normal(0, 0.02, (2, groups))
    after[:, 7] -= 0.3
    e, f = 0.02 * rng.normal(size=(2, replicates, 2, groups))
    observed = ([Compare(before, how)], [Compare(after, how)])
    return observed, observed, ([Compare(before + e, how)], [Compare(after + f, how)])


@pytest.mark.parametrize(("how", "groups", "kept"), [
    ("gap", MOST_PAIRED, None), ("gap", 60, MOST_PAIRED), ("ratio", 60, MOST_PAIRED),
    ("most", 60, None), ("least", 600, MOST_ALONE),
])  # fmt: skip
def test_few_are_kept_and_those_are_the_ends_of_both_models(how, groups, kept):
    given = world(groups, how)
    found = few_groups(*given)
    for model in (0, 1):
        own, all_of_them = found[0][model][0].quantity, given[0][model][0].quantity
        assert own.shape == (2, kept or groups)
        assert np.array_equal(own.max(axis=-1), all_of_them.max(axis=-1))
        assert np.array_equal(own.min(axis=-1), all_of_them.min(axis=-1))
        errors = found[2][model][0].quantity - own
        place = [[int(np.flatnonzero(all_of_them[k] == value)[0]) for value in own[k]] for k in (0, 1)]
        whole = given[2][model][0].quantity - all_of_them
        for k in (0, 1):
            assert np.allclose(errors[:, k], whole[:, k][:, place[k]])  # every group keeps its own errors


def test_groups_without_a_value_are_kept_last():
    observed, centre, drawn = world(60, "gap")
    for both in (observed, drawn):
        for (part,) in both:
            part.quantity[..., ::2] = np.nan
    found = few_groups(observed, centre, drawn)[0][0][0].quantity
    assert np.isfinite(found).all()


def test_few_groups_give_nearly_the_interval_of_all(monkeypatch):
    given = world(60, "gap", replicates=400)
    few = [np.quantile(side, 0.975, axis=0) for side in change_deviations(*given)]
    monkeypatch.setattr("evenhand.metrics.range_few.MOST_PAIRED", 60)
    whole = [np.quantile(side, 0.975, axis=0) for side in change_deviations(*given)]
    assert np.allclose(few, whole, rtol=0.1, atol=0.005)


@pytest.mark.parametrize("key", ["tpr.gap", "tpr.worst", "tpr.spread"])
def test_a_change_in_one_of_thirty_groups_is_covered(key):
    """Redrawn rows covered 57, 57 and 15 of 100."""
    rng, groups, held = np.random.default_rng(5), 30, []
    g = np.repeat(np.arange(groups), 150)
    lost = np.where(np.arange(groups) == 3, 0.2, 0.0)
    truth = {"tpr.gap": 0.2, "tpr.worst": -0.2, "tpr.spread": float(np.std(lost))}[key]
    for _ in range(40):
        y, luck = rng.integers(0, 2, len(g)), rng.random(len(g))
        again = np.where(rng.random(len(g)) < 0.9, luck, rng.random(len(g)))
        first, second = luck < np.where(y == 1, 0.8, 0.2), again < np.where(y == 1, 0.8 - lost[g], 0.2)
        models = {"a": first.astype(int), "b": second.astype(int)}
        found = evenhand.compare(y, models, g, metrics=[key], replicates=100).differences["b"][key]
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) >= 0.85

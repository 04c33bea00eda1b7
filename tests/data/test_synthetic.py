"""The synthetic task: drawn as its knobs say, and its right answers hold in large samples."""

import time

import numpy as np
import pytest
import torch

from evenhand.data import load
from evenhand.data.synthetic import synthetic
from evenhand.data.synthetic_truth import truth
from evenhand.errors import InputError

MANY = {"n_train": 10, "n_validation": 60_000, "n_test": 60_000}
WORLDS = {
    "default": {},
    "everything": {
        "attributes": 2,
        "shares": ((0.2, 0.8), (0.3, 0.3, 0.4)),
        "correlation": 0.5,
        "turn": 40.0,
        "signal_gap": 0.7,
        "label_shift": 0.8,
        "positive": 0.4,
        "leak": 0.7,
        "balanced_test": True,
    },
    "four classes": {"classes": 4, "signal": 2.0, "attributes": 2, "label_shift": 1.0, "turn": 30.0, "d": 14},
    "three labels": {"labels": 3, "attributes": 2, "correlation": 0.4, "positive": 0.3, "signal_gap": -0.5},
}


def part_of(task, part):
    """Inputs, labels and group ids of one part."""
    rows = task.rows(part).numpy()
    return task.x.numpy()[rows], task.y.numpy()[rows], task.groups().ids[rows]


def assert_within(found, expected, n, sigmas=5.0):
    """Shares found among n cases are those expected, within the noise of sampling."""
    room = sigmas * np.sqrt(np.asarray(expected) * (1 - np.asarray(expected)) / n) + 1e-12
    assert (np.abs(np.asarray(found) - expected) <= room).all()


@pytest.fixture(scope="module", params=list(WORLDS))
def world(request):
    """A large task with nothing recorded wrong, and the truth behind it."""
    task = synthetic(**MANY, **WORLDS[request.param])
    return task, truth(task)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_groups_and_base_rates_are_those_of_the_population(world, part):
    task, known = world
    _, y, group = part_of(task, part)
    count = np.bincount(group, minlength=len(known.group_shares()))
    assert known.group_shares(part).sum() == pytest.approx(1.0, abs=1e-12)
    assert_within(count / len(group), known.group_shares(part), len(group))
    for place, shares in enumerate(known.class_shares(part)):
        of_group = y[group == place]
        for label in range(task.n_classes if task.multi_label else 1):
            values = of_group[:, label] if task.multi_label else of_group
            found = np.bincount(values, minlength=len(shares)) / len(values)
            assert_within(found, shares, len(values))


@pytest.mark.parametrize("part", ["validation", "test"])
def test_the_best_classifier_has_the_rates_of_the_closed_form(world, part):
    task, known = world
    x, y, group = part_of(task, part)
    predicted = known.predict(x, group, part)
    expected = known.confusion(part)
    assert expected.sum(axis=2) == pytest.approx(1.0, abs=1e-9)
    for label in range(task.n_classes if task.multi_label else 1):
        true, said = (v[:, label] if task.multi_label else v for v in (y, predicted))
        found = np.zeros_like(expected)
        np.add.at(found, (group, true, said), 1)
        cases = found.sum(axis=2, keepdims=True)
        assert_within(found / cases, expected, cases)


def test_probabilities_are_calibrated_and_beaten_by_nobody(world):
    task, known = world
    x, y, group = (values[:20_000] for values in part_of(task, "test"))
    blind, aware = known.probabilities(x), known.probabilities(x, group)
    if task.multi_label:
        outcome, blind, aware = y.ravel(), blind.ravel(), aware.ravel()
    else:
        assert blind.sum(axis=1) == pytest.approx(1.0)
        outcome, blind, aware = (y == 1), blind[:, 1], aware[:, 1]
    for told in (blind, aware):
        for low in np.arange(0, 1, 0.25):
            among = (told >= low) & (told < low + 0.25)
            noise = 5 * np.sqrt((told[among] * (1 - told[among])).sum())
            assert abs(outcome[among].sum() - told[among].sum()) <= noise
    brier = [((outcome - told) ** 2).mean() for told in (aware, blind)]
    assert brier[0] <= brier[1] + 1e-3  # who knows the group can only know more


def test_rates_by_hand():
    """One attribute, no leak, sigmoid(2) = .88: the threshold lies at -/+ log(.88/.12) / 2 = -/+ 1."""
    known = truth(synthetic(leak=0.0))
    phi = {0: 0.5, 1: 0.8413447, 2: 0.9772499}  # of the normal distribution
    assert known.class_shares("train")[1, 1] == pytest.approx(1 / (1 + np.exp(-2.0)))
    np.testing.assert_allclose(known.rates("train")["tpr"], [phi[0], phi[2]], atol=1e-6)
    np.testing.assert_allclose(known.rates("train")["fpr"], [1 - phi[2], 0.5], atol=1e-6)
    np.testing.assert_allclose(known.rates("test")["tpr"], phi[1], atol=1e-6)
    np.testing.assert_allclose(known.rates("test")["accuracy"], phi[1], atol=1e-6)
    np.testing.assert_allclose(known.rates("test")["positive"], 0.5, atol=1e-12)


def test_a_correlation_of_bins_by_hand():
    """Two halves of normals with correlation r agree with probability 1/2 + asin(r)/pi (Sheppard)."""
    shares = truth(synthetic(attributes=2, correlation=0.5)).group_shares()
    assert shares[0] + shares[3] == pytest.approx(0.5 + np.arcsin(0.5) / np.pi, abs=1e-9)
    assert truth(synthetic(attributes=3)).group_shares() == pytest.approx(1 / 8)


def test_flipped_labels_are_recorded_and_the_test_is_true():
    knobs = {"n_train": 40_000, "label_flip": 0.3, "spurious": 0.0}
    told, clean = synthetic(**knobs), synthetic(**{**knobs, "label_flip": 0.0})
    train, group = told.rows("train"), told.groups().ids
    positive = (clean.y[train] == 1).numpy()
    flipped = (told.y[train] != clean.y[train]).numpy()
    for place, expected in ((0, 0.3), (1, 0.0)):  # all of it for the first level, none for the last
        among = positive & (group[train] == place)
        assert_within(flipped[among].mean(), expected, among.sum())
    assert not flipped[~positive].any()
    assert torch.equal(told.y[told.rows("test")], clean.y[clean.rows("test")])


def test_noise_and_scarcity_touch_only_what_is_recorded_of_the_attributes():
    plain = synthetic(attributes=2, levels=3)
    noisy = synthetic(attributes=2, levels=3, attribute_noise=0.2, scarcity=0.5)
    assert torch.equal(plain.x, noisy.x)
    assert torch.equal(plain.y, noisy.y)
    train, test = plain.rows("train").numpy(), plain.rows("test").numpy()
    codes = np.stack([attribute.codes for attribute in noisy.attributes])
    true = np.stack([attribute.codes for attribute in plain.attributes])
    unknown = codes[:, train] == -1
    assert (unknown[0] == unknown[1]).all()  # a row has all of its attributes or none
    assert_within(unknown[0].mean(), 0.5, len(train))
    wrong = (codes != true)[:, train][:, ~unknown[0]]
    assert_within(wrong.mean(axis=1), 0.2, wrong.shape[1])
    assert (codes[:, test] == true[:, test]).all()
    more = synthetic(attributes=2, levels=3, attribute_noise=0.2)
    assert (
        np.stack([a.codes for a in more.attributes])[:, train][:, ~unknown[0]]
        == codes[:, train][:, ~unknown[0]]
    ).all()


def test_parts_do_not_depend_on_each_other():
    small, large = synthetic(n_train=10), synthetic(n_train=500)
    assert torch.equal(small.x[small.rows("test")], large.x[large.rows("test")])
    assert torch.equal(small.y[small.rows("validation")], large.y[large.rows("validation")])
    assert not torch.equal(small.x[small.rows("test")], synthetic(seed=1, n_train=10).x[small.rows("test")])


def test_a_shortcut_that_holds_only_in_training():
    """A logistic regression takes the group for the class: its test rates are those of the closed form."""
    from sklearn.linear_model import LogisticRegression

    task = synthetic(leak=10.0, n_train=20_000)  # the inputs tell the group without a doubt
    (x, y, _), (held, true, group) = part_of(task, "train"), part_of(task, "test")
    said = LogisticRegression().fit(x, y).predict(held)
    rates = [said[(group == place) & (true == 1)].mean() for place in (0, 1)]
    np.testing.assert_allclose(rates, truth(task).rates("train")["tpr"], atol=0.06)
    assert rates[1] - rates[0] > 0.4


def test_ten_thousand_rows_are_drawn_at_once():
    synthetic()
    start = time.perf_counter()
    for _ in range(5):
        assert len(synthetic()) == 10_000
    assert (time.perf_counter() - start) / 5 < 0.1


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"attributes": 0}, "attributes=0 must be at least 1"),
        ({"shares": [0.5, 0.6]}, r"shares=\[0.5, 0.6\] must be positive and add up to 1"),
        ({"shares": [[0.5, 0.5]], "attributes": 2}, "one for each of 2 attributes"),
        ({"correlation": 1.0}, "correlation=1.0 must be a share"),
        ({"scarcity": -0.1}, "scarcity=-0.1"),
        ({"positive": 1.0}, "positive=1.0 must be between 0 and 1"),
        ({"signal": 0.0}, "signal must be positive"),
        ({"classes": 1}, "choose two or more classes"),
        ({"classes": 3, "labels": 2}, "choose two or more classes"),
        ({"d": 3, "classes": 4}, "d=3 is too small: these knobs need at least 5 inputs"),
        ({"n_test": -1}, "n_test=-1"),
        ({"n_train": 0}, "no rows for training"),
    ],
)
def test_wrong_knobs_are_refused(knobs, words):
    with pytest.raises(InputError, match=words):
        load("synthetic", **knobs)


def test_only_synthetic_tasks_have_a_known_answer():
    with pytest.raises(InputError, match="'synthetic' made"):
        truth(load("titanic"))

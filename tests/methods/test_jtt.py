"""Just train twice: its phases, its error set, and the weights that come of it."""

from __future__ import annotations

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.jtt import JTT, errors
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Phase

PROBLEM = Problem.from_labels([0, 1, 1, 0, 2])
SCORES = torch.tensor([[0.8, 0.1, 0.1], [0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.0, 0.2, 0.8]])
LABELS = Problem.from_labels([[0, 1], [1, 1], [1, 0], [0, 0]])
LABEL_SCORES = torch.tensor([[0.2, 0.7], [0.5, 0.4], [0.9, 0.6], [0.1, 0.9]])


def fixed(logits, problem):
    return Nets({"model": lambda x: (logits, None)}, problem.sizes)


def everyone(problem):
    n = len(problem)
    return Batch(torch.zeros(n, 1), problem.y, torch.full((n,), -1), index=torch.arange(n))


def weights_of(method, problem, scores):
    return method.after("identify", problem, scores, method.init(problem))["weights"]


def test_a_short_training_then_a_fresh_one():
    short, real = JTT(identify_epochs=3).phases()
    assert short == Phase("identify", epochs=3, select=False)
    assert (real.epochs, real.fresh) == (None, ("model",))


def test_errors_are_wrong_classes_or_wrong_labels():
    assert errors(SCORES, PROBLEM.y).tolist() == [False, True, False, True, False]
    wrong = errors(LABEL_SCORES, LABELS.y)  # 0.5 predicts the label
    assert wrong.tolist() == [[False, False], [False, True], [False, True], [False, True]]


def test_weights_of_spec_d9():
    plain = weights_of(JTT(lambda_up=5.0, normalise=False), PROBLEM, SCORES)
    assert plain.tolist() == [1, 5, 1, 5, 1]
    copied = weights_of(JTT(lambda_up=5.0, normalise=False, copies=True), PROBLEM, SCORES)
    assert copied.tolist() == [1, 6, 1, 6, 1]
    scaled = weights_of(JTT(lambda_up=6.0), PROBLEM, SCORES)
    assert scaled.tolist() == pytest.approx([1 / 3, 2, 1 / 3, 2, 1 / 3])


def test_weights_of_labels_have_the_mean_one_for_each_label():
    weights = weights_of(JTT(lambda_up=5.0), LABELS, LABEL_SCORES)
    assert weights.tolist() == [[1, 0.25], [1, 1.25], [1, 1.25], [1, 1.25]]


@pytest.mark.parametrize("copies", [False, True])
def test_the_loss_is_that_of_data_with_the_errors_repeated(copies):
    logits = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    method = JTT(lambda_up=4.0, copies=copies)
    state = method.after("identify", PROBLEM, SCORES, {"weights": torch.ones(5, dtype=torch.float64)})
    ours = method.loss(fixed(logits, PROBLEM), everyone(PROBLEM), state).losses["model"]
    times = torch.where(errors(SCORES, PROBLEM.y), 5 if copies else 4, 1)
    repeated = row_losses(logits.repeat_interleave(times, 0), PROBLEM.y.repeat_interleave(times)).mean()
    torch.testing.assert_close(ours, repeated, atol=1e-14, rtol=0)


def test_weights_are_read_by_the_place_of_the_row():
    logits = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    index = torch.tensor([4, 1, 1])
    state = {"weights": torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])}
    batch = Batch(torch.zeros(3, 1), PROBLEM.y[index], torch.full((3,), -1), index=index)
    ours = JTT().loss(fixed(logits, PROBLEM), batch, state)
    expected = (row_losses(logits, PROBLEM.y[index]) * torch.tensor([5.0, 2.0, 2.0])).mean()
    assert ours.losses["model"].dtype == torch.float64
    torch.testing.assert_close(ours.losses["model"], expected)
    assert ours.state is state
    with pytest.raises(InputError, match="index"):
        JTT().loss(fixed(logits, PROBLEM), batch._replace(index=None), state)


@pytest.mark.parametrize("neutral", [JTT(lambda_up=1.0), JTT(lambda_up=0.0, copies=True)])
@pytest.mark.parametrize(("problem", "scores"), [(PROBLEM, SCORES), (LABELS, LABEL_SCORES)])
def test_the_first_training_and_a_neutral_weight_are_erm(neutral, problem, scores):
    logits = torch.randn(scores.shape, generator=torch.Generator().manual_seed(2))
    nets, batch = fixed(logits, problem), everyone(problem)
    erm = ERM().loss(nets, batch, {}).losses["model"]
    before = neutral.init(problem)
    after = neutral.after("identify", problem, scores, before)
    for method, state in ((JTT(), before), (neutral, after)):
        assert torch.equal(method.loss(nets, batch, state).losses["model"], erm)


@pytest.mark.parametrize(("problem", "scores"), [(PROBLEM, SCORES), (LABELS, LABEL_SCORES)])
def test_the_state_keeps_its_shape_and_only_the_first_phase_changes_it(problem, scores):
    before = JTT().init(problem)
    after = JTT().after("identify", problem, scores, before)
    assert (after["weights"].shape, after["weights"].dtype) == (
        before["weights"].shape,
        before["weights"].dtype,
    )
    assert before["weights"].eq(1).all()
    assert JTT().after("train", problem, scores, after) is after


def test_all_rows_wrong_and_weighing_nothing_stays_finite():
    wrong = 1 - torch.nn.functional.one_hot(PROBLEM.y, 3).float()
    assert weights_of(JTT(lambda_up=0.0), PROBLEM, wrong).tolist() == [0] * 5
    assert weights_of(JTT(lambda_up=9.0), PROBLEM, wrong).tolist() == [1] * 5

"""Scores of whole parts and the numbers watched while training, against hand and audit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

import evenhand
from evenhand.methods.erm import ERM
from evenhand.methods.terms import probabilities
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.records import Needs, Sizes
from evenhand.train import evaluate
from evenhand.train.evaluate import attributes_of, decide
from evenhand.train.watching import counts_of, log_loss, watched


def test_log_loss_by_hand():
    scores = torch.tensor([[[0.5, 0.5], [0.1, 0.9]], [[1.0, 0.0], [0.8, 0.2]]])
    y = torch.tensor([0, 1])
    expected = [-(math.log(0.5) + math.log(0.9)) / 2, -(math.log(1.0) + math.log(0.2)) / 2]
    assert log_loss(scores, y, False).tolist() == pytest.approx(expected)
    own = torch.tensor([[0, 1], [0, 0]])  # each run its own labels
    assert log_loss(scores, own, False)[1].item() == pytest.approx(-math.log(0.8) / 2)


def test_log_loss_of_labels_by_hand():
    scores = torch.tensor([[[0.5, 0.9], [0.2, 0.5]]])
    y = torch.tensor([[1, 0], [0, 1]])
    expected = -(math.log(0.5) + math.log(0.1) + math.log(0.8) + math.log(0.5)) / 4
    assert log_loss(scores, y, True).tolist() == pytest.approx([expected])


def test_a_score_of_zero_for_the_truth_is_large_and_finite():
    found = log_loss(torch.tensor([[[0.0, 1.0]]]), torch.tensor([0]), False)
    assert 80 < found < 100
    assert torch.isnan(log_loss(torch.tensor([[[math.nan, 1.0]]]), torch.tensor([0]), False))


def test_decide():
    assert decide(torch.tensor([[0.2, 0.8], [0.5, 0.5]]), False).tolist() == [1, 0]
    assert decide(torch.tensor([[0.2, 0.5]]), True).tolist() == [[0, 1]]


@pytest.mark.parametrize("knobs", [{}, {"classes": 3}, {"labels": 2}, {"scarcity": 0.5}, {"attributes": 2}])
def test_watched_metrics_are_those_of_an_audit(kit, knobs):
    task = kit.task(**knobs)
    keys = ("tpr.gap", "accuracy.worst", "selection.gap")
    trainer = kit.trainer(task, [0, 1], watch=keys, epochs=2).fit()
    rows = task.rows("validation")
    guesses = decide(trainer.scores(trainer.validation), task.multi_label).numpy()
    groups = task.groups([a.name for a in task.attributes]).keep(rows.numpy())
    for run in range(2):
        found = evenhand.audit(
            task.y[rows], guesses[run], groups, metrics=keys, replicates=0,
            classes=None if task.multi_label else range(task.n_classes),
        )  # fmt: skip
        for key in keys:
            assert trainer.history[-1][key][run] == pytest.approx(found.metrics[key].value, nan_ok=True)
        wrong = np.mean(guesses[run] != task.y[rows].numpy())
        assert trainer.history[-1]["error"][run] == pytest.approx(wrong)


def test_counts_with_shared_and_own_labels_agree():
    source = torch.Generator().manual_seed(0)
    guesses, y, g = (torch.randint(0, n, (3, 50), generator=source) for n in (2, 2, 3))
    sizes = Sizes((1,), 2, 3)
    own = counts_of(guesses, y[:1].expand(3, -1), g[:1].expand(3, -1), sizes)
    shared = counts_of(guesses, y[0], g[0], sizes)
    assert np.array_equal(own.cells, shared.cells)
    assert shared.table.shape == (3, 3, 2, 2)
    expected = np.zeros((3, 2, 2), dtype=int)
    np.add.at(expected, (g[0].numpy(), y[0].numpy(), guesses[1].numpy()), 1)
    assert np.array_equal(shared.table[1], expected)


@dataclass(frozen=True)
class Peeking(ERM):
    """Scores that tell what the batch held: its groups, attributes and labels."""

    peek: bool = False

    def asks(self):
        return Needs(groups_at_test=self.peek)

    def predict(self, nets, batch, state):
        codes = torch.stack([batch.g, batch.y, *batch.a.unbind(-1)], -1).to(batch.x.dtype)
        return codes + 0 * probabilities(nets["model"](batch.x)[0], nets.sizes)[:, :1]


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_groups_are_hidden_from_prediction_unless_they_are_asked_for(kit, seeds):
    task = kit.task(attributes=2, scarcity=0.3)
    blind = kit.trainer(task, seeds, Peeking())
    assert (blind.scores(blind.train) == -1).all()
    seeing = kit.trainer(task, seeds, Peeking(peek=True))
    part = seeing.train
    for run in range(len(seeds)):
        g, y, *a = seeing.scores(part)[run].unbind(-1)
        assert g.tolist() == part.g.tolist()
        assert (y == -1).all()  # labels never
        known = part.g >= 0
        assert torch.equal(torch.stack(a, 1)[known].long(), part.a[known])
        assert (torch.stack(a, 1)[~known] == -1).all()


def test_attributes_from_groups():
    sizes = Sizes((), 2, 12, (2, 3, 2))
    g = torch.arange(-1, 12)
    codes = attributes_of(g, sizes)
    assert codes[0].tolist() == [-1, -1, -1]
    assert torch.equal(codes[1:, 0] * 6 + codes[1:, 1] * 2 + codes[1:, 2], torch.arange(12))
    assert attributes_of(g, sizes._replace(n_groups=7)) is None


def test_batch_statistics_are_used_and_not_moved_by_evaluation(kit):
    trainer = kit.trainer(kit.images(), [0], net=NetSpec("cifar-resnet18"), epochs=1, batch_size=8).fit()
    template = trainer.stack.templates["model"]
    assert template.training
    before = kit.numbers(trainer)
    scores = trainer.scores(trainer.train)
    kit.assert_same(before, kit.numbers(trainer))
    assert template.training
    task = kit.images()
    x = task.scaling(task.x[task.rows("train")])
    with torch.no_grad():
        expected = torch.softmax(template.eval()(x)[0], -1)
        other = torch.softmax(template.train()(x)[0], -1)
    assert torch.allclose(scores[0], expected, atol=1e-6)
    assert not torch.allclose(scores[0], other, atol=1e-3)


def test_evaluation_is_put_back_to_training_even_after_an_error(kit):
    class Broken(ERM):
        def predict(self, nets, batch, state):
            raise KeyError

    trainer = kit.trainer(kit.images(), [0], Broken(), net=NetSpec("cifar-resnet18"))
    with pytest.raises(KeyError):
        trainer.scores(trainer.train)
    assert trainer.stack.templates["model"].training


def test_a_module_left_in_evaluation_mode_is_trained_as_one_that_was_not(kit):
    @dataclass
    class Source:
        training: bool

        def build(self, shape, outputs):
            norm = torch.nn.BatchNorm1d(192)
            module = torch.nn.Sequential(torch.nn.Flatten(), norm, torch.nn.Linear(192, 2))
            return as_net(module.train(self.training))

    one, other = (
        kit.trainer(kit.images(), [0], net=Source(training), epochs=1, batch_size=8).fit()
        for training in (True, False)
    )
    kit.assert_same(kit.numbers(one), kit.numbers(other))


def test_there_is_no_dropout_in_scores(kit):
    trainer = kit.trainer(kit.task(), [0], net=NetSpec("mlp", widths=(16,), dropout=0.5)).fit()
    scores = trainer.scores(trainer.validation)
    assert torch.equal(scores, trainer.scores(trainer.validation))
    task, template = kit.task(), trainer.stack.templates["model"]
    own = {key: value.detach() for key, value in trainer.stack.parameters["model"].items()}
    logits, _ = torch.func.functional_call(template, own, (task.x[task.rows("validation")],))
    assert torch.allclose(scores[0], torch.softmax(logits, -1), atol=1e-6)


@pytest.mark.parametrize("several", [False, True])
def test_pieces_do_not_change_the_scores(kit, monkeypatch, several):
    tasks = [kit.task(n_train=333), kit.task(seed=1, n_train=333)]
    options = {"tasks": [0, 1]} if several else {}
    trainer = kit.trainer(tasks if several else tasks[0], [0, 1], **options)
    whole = trainer.scores(trainer.train)
    monkeypatch.setattr(evaluate, "MOST_NUMBERS", 64)
    sizes = [len(g.flatten()) for _, g in trainer.predictor._pieces(trainer.train, trainer.batches.tasks)]
    assert len(sizes) == 6  # pieces of 64 rows
    assert torch.equal(trainer.scores(trainer.train), whole)
    assert whole.shape == (2, 333, 2)


def test_the_scores_of_one_run_of_a_stack(kit):
    trainer = kit.trainer(kit.task(), [0, 1, 2]).fit()
    x, _, g, _ = trainer.validation.take(torch.arange(40))
    for run in range(3):
        alone = trainer.predictor.piece(x, g, trainer.state, run=run)
        assert torch.allclose(alone[0], trainer.predictor.piece(x, g, trainer.state)[run], atol=1e-6)


def test_watched_numbers_of_a_part_without_known_groups_are_undefined(kit):
    task = kit.task()
    trainer = kit.trainer(task, [0], protect=[], watch=("tpr.gap",)).fit()
    assert math.isnan(trainer.history[-1]["tpr.gap"][0])
    assert trainer.history[-1]["loss"][0] > 0
    assert set(watched(trainer.scores(trainer.validation), trainer.validation, trainer.sizes, ())) == {
        "loss",
        "error",
    }


def test_an_empty_validation_part_is_none(kit):
    task = kit.task()
    trainer = kit.trainer(
        replace(task, split={**task.split, "validation": torch.empty(0, dtype=torch.int64)}), [0]
    )
    assert trainer.validation is None
    assert "loss" not in trainer.fit().history[0]

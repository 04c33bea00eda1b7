"""Curvatures of trained networks: one run, a stack, runs on tasks of their own, every kind of method."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.registry import METHODS
from evenhand.methods.terms import score_losses
from evenhand.metrics.curvature import one_shot, spectral_norm, two_logit_curvature
from evenhand.nets import NetSpec
from evenhand.train import curvatures
from evenhand.train.curvatures import curvatures_of, in_precision, measure_of
from evenhand.train.own_net import OwnNet
from evenhand.train.parts import Part

CPU = torch.device("cpu")


def part_of(trainer, name: str = "test") -> Part:
    return Part(trainer.tasks, trainer.protect, name, CPU, trainer.stack.dtype)


def measured(trainer, name: str = "test", **options):
    return curvatures_of(
        trainer.predictor, part_of(trainer, name), trainer.state, trainer.batches.tasks, **options
    )


def single_network(trainer, run: int = 0):
    """The model of one run in float64, from its tensors alone."""
    values = {key: v[run].detach().double() for key, v in trainer.stack.parameters["model"].items()}
    return partial(torch.func.functional_call, trainer.stack.templates["model"], values)


@pytest.mark.parametrize("how", ["one-shot", "power"])
def test_a_stack_is_the_estimate_of_each_network(kit, how, assert_close):
    task = kit.task()
    trainer = kit.trainer(task, [0, 1, 2], rate=0.05)
    trainer.fit()
    found = measured(trainer, how=how, h=0.5)
    assert found.shape == (3, 56)
    assert found.dtype == torch.float64
    rows = task.rows("test")
    x, y = task.scaling(task.x[rows]).double(), task.y[rows]
    for run in range(3):
        net = single_network(trainer, run)

        def loss(inputs, net=net):
            return functional.cross_entropy(net((inputs,))[0], y, reduction="none")

        expected = one_shot(loss, x, 0.5) if how == "one-shot" else spectral_norm(loss, x)
        assert_close(found[run], expected, 1e-6)  # inputs of the part are float32
    assert not torch.allclose(found[0], found[1], rtol=0.01)


def test_power_iteration_is_the_closed_form_of_two_logits(kit, assert_close):
    task = kit.task()
    trainer = kit.trainer(task, [0, 1], net=NetSpec("mlp", widths=(16,)), rate=0.05)
    trainer.fit()
    found = measured(trainer, how="power")
    x = task.scaling(task.x[task.rows("test")]).float().double()
    for run in range(2):
        net = single_network(trainer, run)
        expected = two_logit_curvature(lambda v, net=net: net((v,))[0], x)
        assert_close(found[run], expected, 1e-9)


@pytest.mark.parametrize("how", ["one-shot", "power"])
def test_stacked_runs_are_single_runs(kit, how, assert_close):
    task = kit.task()
    alone = [measured(kit.trainer(task, [seed], precision="float64").fit(), how=how) for seed in (0, 1)]
    together = measured(kit.trainer(task, [0, 1], precision="float64").fit(), how=how)
    assert_close(together, torch.cat(alone), 1e-11)


def test_runs_on_tasks_of_their_own(kit, assert_close):
    tasks = [kit.task(seed=0), kit.task(seed=1)]
    trainer = kit.trainer(tasks, [0, 1, 2], tasks=[0, 1, 1], precision="float64").fit()
    found = measured(trainer)
    for run, place in enumerate((0, 1, 1)):
        single = kit.trainer(tasks[place], [run], precision="float64").fit()
        assert_close(found[run], measured(single)[0], 1e-10)


def test_pieces_are_the_whole(kit, monkeypatch, assert_close):
    trainer = kit.trainer(kit.task(n_test=150), [0, 1]).fit()
    whole = measured(trainer)
    sizes = []
    pieces = curvatures._pieces

    def watched(*arguments):
        for piece in pieces(*arguments):
            sizes.append(len(piece[0]))
            yield piece

    monkeypatch.setattr(curvatures, "SMALLER", 1 << 30)
    monkeypatch.setattr(curvatures, "_pieces", watched)
    assert_close(measured(trainer), whole, 1e-12)
    assert sizes == [64, 64, 22]


def test_a_piece_has_whole_blocks_of_rows_so_that_neighbours_do_not_matter(kit):
    trainer = kit.trainer(kit.task(), [0, 1, 2])
    for n_runs in (3, 50, 700, 90_000):
        trainer.predictor.stack.n_runs = n_runs
        assert trainer.predictor.rows_at_a_time(1, curvatures.SMALLER) % 64 == 0


def test_dropout_is_off_and_the_networks_stay_in_training_mode(kit):
    net = NetSpec("mlp", widths=(16,), dropout=0.5)
    for seeds in ([0], [0, 1]):
        trainer = kit.trainer(kit.task(), seeds, net=net).fit()
        before = {name: value.clone() for name, value in kit.numbers(trainer).items()}
        assert torch.equal(measured(trainer), measured(trainer))
        assert all(template.training for template in trainer.stack.templates.values())
        kit.assert_same(kit.numbers(trainer), before)


@pytest.mark.parametrize("knobs", [{}, {"classes": 3}, {"labels": 2}])
@pytest.mark.parametrize("key", sorted(METHODS))
def test_every_method_can_be_asked(kit, key, knobs):
    task = kit.task(**knobs)
    short = {"ffvae": {"represent_epochs": 1}, "nifr": {"flow_epochs": 1}}.get(key, {})
    method, seeds = METHODS[key](**short), [0, 1] if METHODS[key].needs.stackable else [0]
    try:
        trainer = kit.trainer(task, seeds, method, epochs=1)
    except InputError:
        pytest.skip("the method does not fit this task")
    trainer.fit()
    found = measured(trainer)
    assert found.shape == (len(trainer.runs), 56)
    assert torch.isfinite(found).all()
    assert (found > 1e-5).any(1).all()


def test_the_loss_is_of_the_methods_own_scores(kit, assert_close):
    """By the scores that `predict` gives, differentiated by hand in small steps."""
    task = kit.task(classes=3)
    trainer = kit.trainer(task, [0], METHODS["ind"](), precision="float64", rate=0.05).fit()
    found = measured(trainer)[0]
    part = part_of(trainer)
    x, y, g, _ = part.take(torch.arange(4))

    def gradient(inputs):
        step, columns = 1e-5, []
        for column in range(inputs.shape[1]):
            move = torch.zeros_like(inputs)
            move[:, column] = step
            up, down = (trainer.predictor.piece(inputs + s * move, g, trainer.state)[0] for s in (1, -1))
            change = up.gather(1, y[:, None]).log() - down.gather(1, y[:, None]).log()
            columns.append(-change[:, 0] / (2 * step))
        return torch.stack(columns, 1)

    here = gradient(x)
    there = gradient(x + here.sign() / x.shape[1] ** 0.5)
    assert_close((there - here).norm(dim=1), found[:4], 1e-5)


def test_a_single_run_with_batch_statistics(kit, assert_close):
    """Statistics rest, so that a row does not see the rows beside it."""
    made = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
    trainer = kit.trainer(kit.task(), [0], net=OwnNet(made)).fit()
    before = {name: value.clone() for name, value in trainer.stack.buffers().items()}
    found = measured(trainer)
    assert torch.isfinite(found).all()
    assert all(torch.equal(value, before[name]) for name, value in trainer.stack.buffers().items())
    part = part_of(trainer)
    x, y, *_ = part.take(torch.arange(3))
    net = in_precision(trainer.stack.templates["model"].eval(), torch.float64)
    expected = one_shot(lambda v: functional.cross_entropy(net(v)[0], y, reduction="none"), x.double())
    assert_close(found[0, :3], expected.detach(), 1e-9)


def test_sure_and_wrong_is_finite(kit):
    """One logit of 30 rounds the other class to 0 in float32."""
    made = nn.Linear(6, 1)
    trainer = kit.trainer(kit.task(), [0], net=OwnNet(made), epochs=1).fit()
    with torch.no_grad():
        for value in trainer.stack.parameters["model"].values():
            value.mul_(0).add_(30 if value.ndim == 1 else 0.3)
    found = measured(trainer)
    assert torch.isfinite(found).all()
    y = part_of(trainer).y
    low = measured(trainer, dtype=torch.float32)
    assert torch.isfinite(low).all()
    assert (found[0, y == 0] > 0).all()


def test_images(kit):
    trainer = kit.trainer(kit.images(), [0, 1], net=NetSpec("convnet", widths=(4,)), epochs=1).fit()
    assert trainer.predictor.convolves()
    found = measured(trainer)
    assert found.shape == (2, 16)
    assert (found > 0).all()
    assert torch.allclose(found, measured(trainer, dtype=torch.float64), rtol=0.05, atol=1e-3)


def test_losses_of_scores_by_hand(assert_close):
    scores = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.9, 0.1]])
    assert_close(score_losses(scores, torch.tensor([1, 0]))[:1], [1.3862944], 1e-6)
    assert torch.isfinite(score_losses(scores, torch.tensor([1, 0]))).all()
    labels = score_losses(torch.tensor([[0.5, 0.25]]), torch.tensor([[1, 0]]))
    assert_close(labels, [(0.6931472 + 0.2876821) / 2], 1e-6)


def test_what_cannot_be_meant_is_refused(kit):
    with pytest.raises(InputError, match=r"no way 'hessian'.*one-shot, power"):
        measure_of("hessian")
    for wrong in (0.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="must be a number other than 0"):
            measure_of("one-shot", wrong)

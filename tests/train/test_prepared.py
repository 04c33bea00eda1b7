"""Inputs that networks at rest made once: the same models as with inputs made anew at every step."""

from __future__ import annotations

import pytest
import torch

from evenhand.data.synthetic import synthetic
from evenhand.methods.ffvae import FFVAE
from evenhand.nets import NetSpec
from evenhand.train import trainer as module
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

RECIPE = Recipe(epochs=3, batch_size=32, precision="float64", patience=2)
NET = NetSpec("mlp", widths=(8,))


def ready(removal="delete", n_tasks=1, n_runs=3, **options) -> Trainer:
    tasks = [synthetic(seed, n_train=200, n_validation=60, n_test=50) for seed in range(n_tasks)]
    method = FFVAE(latent=6, hidden=8, critic=8, represent_epochs=1, removal=removal)
    runs = [Run(method, seed, task=seed % n_tasks) for seed in range(n_runs)]
    protect = [tasks[0].attributes[0].name]
    return Trainer(runs, tasks, NET, options.pop("recipe", RECIPE), protect=protect, **options)


def weights(trainer: Trainer) -> list[torch.Tensor]:
    return [leaf.detach().clone() for leaf in trainer.stack.parameters["model"].values()]


@pytest.mark.parametrize("removal", ["delete", "noise"])
@pytest.mark.parametrize(("n_tasks", "n_runs"), [(1, 3), (2, 4), (1, 1)])
def test_the_models_are_those_of_inputs_made_at_every_step(monkeypatch, removal, n_tasks, n_runs):
    once = ready(removal, n_tasks, n_runs)
    assert once.prepares(once.phases[1])
    assert not once.prepares(once.phases[0])
    once.fit()
    monkeypatch.setattr(module, "room", lambda device: 0)
    again = ready(removal, n_tasks, n_runs)
    assert not again.prepares(again.phases[1])
    again.fit()
    for a, b in zip(weights(once), weights(again), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    for a, b in zip(once.history[1:], again.history[1:], strict=True):
        assert a["loss"] == pytest.approx(b["loss"], abs=1e-12)
    part = once.part("test")
    torch.testing.assert_close(once.scores(part), again.scores(part), rtol=0, atol=1e-12)


def test_the_encoder_rests_while_the_model_learns(monkeypatch):
    trainer, seen = ready(), []
    encode = FFVAE.encode

    def counted(self, nets, x):
        seen.append(nets.phase)
        return encode(self, nets, x)

    monkeypatch.setattr(FFVAE, "encode", counted)
    trainer.fit()
    assert seen.count("represent") == trainer.train.n // RECIPE.batch_size
    assert seen.count("classify") == 2  # training rows and validation rows, each in one piece


def test_it_goes_on_in_the_middle_of_the_second_phase(tmp_path):
    whole, cut = ready().fit(), ready()
    path, told = tmp_path / "there.npz", []

    def stop(progress):
        told.append(progress)
        if progress.phase == "classify":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.fit(stop, path)
    resumed = ready().fit(None, path)
    for a, b in zip(weights(whole), weights(resumed), strict=True):
        assert torch.equal(a, b)


def test_there_must_be_room_for_the_pieces_and_all_of_them_joined(monkeypatch):
    """Three runs, 200 rows to train on and 60 to validate on, six numbers of eight bytes; twice."""
    trainer = ready()
    monkeypatch.setattr(module, "room", lambda device: 2 * 3 * 260 * 6 * 8)
    assert trainer.prepares(trainer.phases[1])
    monkeypatch.setattr(module, "room", lambda device: 2 * 3 * 260 * 6 * 8 - 1)
    assert not trainer.prepares(trainer.phases[1])


@pytest.mark.parametrize("n_runs", [1, 2])
def test_inputs_that_are_streamed_are_prepared_all_the_same(n_runs):
    whole, streamed = ready(n_runs=n_runs).fit(), ready(n_runs=n_runs, resident=False).fit()
    for a, b in zip(weights(whole), weights(streamed), strict=True):
        assert torch.equal(a, b)


def test_batches_that_are_shared_are_not_prepared():
    trainer = ready(recipe=Recipe(epochs=1, batch_size=32, share_batches=True))
    assert not trainer.prepares(trainer.phases[1])
    trainer.fit()

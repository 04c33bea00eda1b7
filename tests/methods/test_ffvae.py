"""FFVAE: the terms of its loss, who moves when, what the classifier is not shown, and what probes find."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

import evenhand
from evenhand.data.synthetic import synthetic
from evenhand.errors import InputError
from evenhand.methods.ffvae import FFVAE
from evenhand.methods.ffvae_probes import audit_code, codes_of, probe
from evenhand.methods.ffvae_terms import (
    Layout,
    Posterior,
    attribute_loss,
    discriminator_loss,
    divergence,
    noise_of_rows,
    permuted,
    reconstruction_loss,
    sampled,
)
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.nets import NetSpec
from evenhand.records import Batch, Needs
from evenhand.study.measure import history_of, went_astray
from evenhand.train.building import networks_of
from evenhand.train.fit import stack_size_for
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

SMALL = {"latent": 6, "hidden": 12, "critic": 8, "represent_epochs": 2}
NET = NetSpec("mlp", widths=(8,))


def problem_of(inputs=(5,), levels=(2, 3), n=24, seed=0) -> Problem:
    source = torch.Generator().manual_seed(seed)
    a = torch.stack([torch.randint(-1, k, (n,), generator=source) for k in levels], dim=1)
    a[: max(levels)] = torch.stack([torch.arange(max(levels)) % k for k in levels], dim=1)
    g = torch.where((a < 0).any(1), -1, a[:, 0] * (levels[1] if len(levels) > 1 else 1))
    y = torch.randint(0, 2, (n,), generator=source)
    return Problem.from_labels(y, g, a, n_classes=2, inputs=inputs)


def setting(method: FFVAE, phase="represent", **options) -> tuple[Problem, Nets, Batch]:
    """Networks and a batch of a small problem, with the noise that the method asks for, in float64."""
    problem = problem_of(**options)
    torch.manual_seed(0)
    networks = {name: net.double() for name, net in networks_of(NET, method, problem).items()}
    n = len(problem)
    noise = {
        name: torch.randperm(n) if spec.kind == "permutation" else torch.randn(n, *spec.shape).double()
        for name, spec in method.noise(problem).items()
    }
    x = torch.rand(n, *problem.sizes.inputs).double() * 2 - 1
    batch = Batch(x, problem.y, problem.g, problem.a, torch.arange(n), noise)
    return problem, Nets(networks, problem.sizes, phase=phase), batch


def parameters_of(nets: Nets, name: str) -> list[torch.Tensor]:
    return list(nets._networks[name].parameters())


# -- terms ---------------------------------------------------------------------------------------------------


def test_shuffled_codes_keep_every_marginal_and_no_pairing():
    torch.manual_seed(0)
    layout, n = Layout(7, (2, 3)), 400
    code = torch.randn(n, 1).expand(n, 7) + 0.01 * torch.randn(n, 7)  # all numbers of a row go together
    noise = {name: torch.randperm(n) for name in ("order_z", "order_b0", "order_b1")}
    found = permuted(code, layout, noise)
    assert torch.equal(found.sort(0).values, code.sort(0).values)
    together = np.corrcoef(found.T.numpy())
    blocks = [range(3), range(3, 4), range(4, 7)]
    for one in range(3):
        for other in range(3):
            part = together[np.ix_(list(blocks[one]), list(blocks[other]))]
            assert (np.abs(part) > 0.99).all() if one == other else (np.abs(part) < 0.2).all()
    rows = {tuple(row) for row in code[:, :3].tolist()}
    assert all(tuple(row) in rows for row in found[:, :3].tolist()), "z is shuffled as one block"


def test_the_divergence_does_not_know_b():
    posterior = Posterior(*(torch.randn(9, k).requires_grad_() for k in (3, 3, 2)))
    grads = torch.autograd.grad(divergence(posterior), posterior, allow_unused=True)
    assert grads[2] is None
    assert torch.allclose(grads[0], posterior.mean / 9)
    by_torch = torch.distributions.kl_divergence(
        torch.distributions.Normal(posterior.mean, torch.exp(posterior.log_variance / 2)),
        torch.distributions.Normal(0.0, 1.0),
    )
    assert torch.allclose(divergence(posterior), by_torch.sum(1).mean())


def test_b_enters_the_code_as_it_is_and_z_is_drawn():
    posterior = Posterior(torch.ones(2, 3), torch.full((2, 3), 2 * math.log(0.5)), torch.full((2, 1), 7.0))
    code = sampled(posterior, torch.full((2, 3), 2.0))
    assert code.tolist() == [[2.0, 2.0, 2.0, 7.0]] * 2


def test_the_reconstruction_is_summed_over_inputs_and_averaged_over_rows():
    x, decoded = torch.rand(4, 3, 5, 5), torch.rand(4, 3, 5, 5)
    expected = -torch.distributions.Normal(decoded, 1.0).log_prob(x).sum((1, 2, 3)).mean()
    constant = 75 / 2 * math.log(2 * math.pi)
    assert torch.allclose(reconstruction_loss(decoded, x), expected - constant, atol=1e-4)


def test_attributes_are_learnt_each_in_its_own_numbers_and_unknown_ones_are_masked():
    layout = Layout(8, (2, 3))
    b = torch.randn(6, 4).double().requires_grad_()
    a = torch.tensor([[0, 2], [1, -1], [-1, 1], [1, 0], [-1, -1], [0, 0]])
    bce = torch.nn.functional.binary_cross_entropy_with_logits
    known = [0, 1, 3, 5], [0, 2, 3, 5]
    hot = torch.nn.functional.one_hot(a[known[1], 1], 3).double()
    expected = (bce(b[known[0], 0], a[known[0], 0].double()) + bce(b[known[1], 1:], hot)) / 2
    found = attribute_loss(b, a, layout)
    assert torch.allclose(found, expected)
    (grad,) = torch.autograd.grad(found, b)
    assert grad[4].eq(0).all()
    assert grad[1, 1:].eq(0).all()
    assert attribute_loss(b, torch.full_like(a, -1), layout) == 0


def test_the_discriminator_at_chance_is_at_ln_2():
    zeros = torch.zeros(5, 2)
    assert discriminator_loss(zeros, zeros).item() == pytest.approx(math.log(2))
    sure = torch.tensor([[20.0, 0.0]])
    assert discriminator_loss(sure, -sure + torch.tensor([[0.0, 20.0]])).item() < 1e-6


# -- the two phases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [(5,), (2, 16, 16)], ids=["table", "image"])
def test_the_loss_is_the_sum_of_its_terms(inputs):
    method = FFVAE(alpha=7.0, gamma=3.0, **SMALL)
    _, nets, batch = setting(method, inputs=inputs, levels=(2, 2))
    out = method.loss(nets, batch, {})
    terms = out.logs
    expected = terms["reconstruction"] + terms["divergence"] + 7 * terms["attributes"]
    assert torch.allclose(out.losses["vae"], expected + 3 * terms["correlation"])
    code = sampled(method.encode(nets, batch.x), batch.noise["latent"])
    told = nets["discriminator"](code)
    assert torch.allclose(terms["correlation"], (told[:, 0] - told[:, 1]).mean())
    decoded = nets["decoder"](code)
    x = batch.x if len(inputs) == 1 else (batch.x + 1) / 2
    decoded = decoded if len(inputs) == 1 else torch.sigmoid(decoded)
    assert torch.allclose(terms["reconstruction"], ((x - decoded) ** 2).flatten(1).sum(1).mean() / 2)


def test_every_number_of_the_code_is_decoded_and_discriminated():
    """S3's code feeds zeros to the decoder for half of them."""
    method = FFVAE(**SMALL)
    _, nets, _ = setting(method)
    code = torch.randn(8, 6).double().requires_grad_()
    for name in ("decoder", "discriminator"):
        (grad,) = torch.autograd.grad(nets[name](code)[:, 0].sum(), code)
        assert (grad.abs().amax(0) > 0).all()


def test_the_discriminators_loss_does_not_reach_the_encoder():
    method = FFVAE(**SMALL)
    _, nets, batch = setting(method)
    losses = method.loss(nets, batch, {}).losses
    own = torch.autograd.grad(
        losses["discriminator"], parameters_of(nets, "discriminator"), retain_graph=True
    )
    assert all(grad.abs().max() > 0 for grad in own)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(losses["discriminator"], parameters_of(nets, "encoder"))
    assert torch.autograd.grad(losses["vae"], parameters_of(nets, "encoder"))[0].abs().max() > 0


def test_a_discriminator_step_lowers_its_loss_and_the_encoder_raises_it():
    method = FFVAE(alpha=0.0, gamma=1000.0, **SMALL)
    _, nets, batch = setting(method)

    def step(player, names, rate):
        leaves = [leaf for name in names for leaf in parameters_of(nets, name)]
        grads = torch.autograd.grad(method.loss(nets, batch, {}).losses[player], leaves, allow_unused=True)
        before = method.loss(nets, batch, {}).logs["discriminator"].item()
        with torch.no_grad():
            for leaf, grad in zip(leaves, grads, strict=True):
                leaf -= rate * (torch.zeros_like(leaf) if grad is None else grad)
        after = method.loss(nets, batch, {}).logs
        return before, after

    before, after = step("discriminator", ["discriminator"], 0.1)
    assert after["discriminator"] < before
    correlated = after["correlation"].item()
    _, after = step("vae", ["encoder"], 1e-6)
    assert after["correlation"] < correlated


def test_the_classifier_moves_alone_and_on_codes_without_gradient():
    method = FFVAE(**SMALL)
    _, nets, batch = setting(method, "classify")
    out = method.loss(nets, batch, {})
    assert set(out.losses) == {"model"}
    assert not method.code(nets, batch).requires_grad
    with pytest.raises(RuntimeError):
        torch.autograd.grad(out.losses["model"], parameters_of(nets, "encoder"))


def test_training_moves_the_players_of_each_phase_only():
    task = evenhand.load("synthetic", n_train=96, n_validation=32, n_test=32, d=6, seed=0)
    method, recipe = FFVAE(**SMALL), Recipe(epochs=2, batch_size=16, precision="float64")
    trainer = Trainer([Run(method)], [task], NET, recipe, protect=["a0"])

    def snapshot():
        return {
            name: torch.cat([leaf.detach().flatten() for leaf in leaves.values()])
            for name, leaves in trainer.stack.parameters.items()
        }

    seen = [snapshot()]
    after = FFVAE.after
    try:
        FFVAE.after = lambda self, *args: seen.append(snapshot()) or after(self, *args)
        trainer.fit()
    finally:
        FFVAE.after = after
    seen.append(snapshot())
    moved = [{name for name in old if not torch.equal(old[name], new[name])} for old, new in pairwise(seen)]
    assert moved == [{"encoder", "decoder", "discriminator"}, {"model"}]


# -- what the classifier is not shown ------------------------------------------------------------------------


def shifted(nets: Nets, layout: Layout, by: float) -> Nets:
    """The same networks, with an encoder whose b are all larger."""
    inner = nets._networks["encoder"]

    def encoder(x):
        found = inner(x)
        return torch.cat([found[:, : -layout.n_b], found[:, -layout.n_b :] + by], dim=1)

    return Nets({**nets._networks, "encoder": encoder}, nets.sizes, phase="classify")


@pytest.mark.parametrize("removal", ["delete", "noise"])
def test_what_is_taken_out_has_no_effect_on_predictions(removal):
    method = FFVAE(removal=removal, **SMALL)
    _, nets, batch = setting(method, "classify")
    first = method.predict(nets, batch, {})
    assert torch.equal(first, method.predict(nets, batch, {})), "a prediction can be repeated"
    other = shifted(nets, method.layout(nets.sizes), 5.0)
    assert torch.equal(first, method.predict(other, batch, {}))
    assert torch.equal(
        method.loss(nets, batch, {}).losses["model"], method.loss(other, batch, {}).losses["model"]
    )


@pytest.mark.parametrize(
    ("without", "zero"), [("all", [2, 3, 4, 5]), ("none", []), ("0", [2]), ("1", [3, 4, 5])]
)
def test_any_subset_of_the_attributes_is_taken_out(without, zero):
    method = FFVAE(without=without, **SMALL)
    _, nets, batch = setting(method, "classify")
    code = method.code(nets, batch, training=False)
    assert [j for j in range(6) if code[:, j].eq(0).all()] == zero
    whole = replace(method, without="none").code(nets, batch)
    kept = [j for j in range(6) if j not in zero]
    assert torch.equal(code[:, kept], whole[:, kept])
    scores = method.predict(nets, batch, {})
    moved = method.predict(shifted(nets, method.layout(nets.sizes), 5.0), batch, {})
    assert torch.equal(scores, moved) == (without == "all")


def test_noise_in_place_of_b_has_no_effect_on_average():
    """The classifier sees numbers of mean 0 that know nothing of b: the correlation is that of chance."""
    method = FFVAE(removal="noise", **SMALL)
    _, nets, batch = setting(method, "classify", n=4000, levels=(2,))
    b = method.encode(nets, batch.x).b[:, 0].detach()
    for training in (True, False):
        stand_in = method.code(nets, batch, training=training)[:, -1].detach()
        assert abs(float(stand_in.mean())) < 0.06
        assert abs(float(stand_in.std()) - 1) < 0.05
        assert abs(np.corrcoef(stand_in.numpy(), b.numpy())[0, 1]) < 0.06


def test_the_noise_of_a_row_is_its_own():
    x = torch.randn(500, 3, 4, 4)
    noise = noise_of_rows(x, 3)
    order = torch.randperm(500)
    assert torch.equal(noise_of_rows(x[order], 3), noise[order])
    assert torch.equal(
        torch.func.vmap(lambda part: noise_of_rows(part, 3))(x.view(5, 100, 3, 4, 4)).flatten(0, 1), noise
    )
    assert len(noise.unique()) == 1500
    assert torch.corrcoef(noise.T).triu(1).abs().max() < 0.15
    near = x.clone()
    near[:, 0, 0, 0] += 0.01
    assert abs(np.corrcoef(noise_of_rows(near, 3).flatten(), noise.flatten())[0, 1]) < 0.1


# -- refusals ------------------------------------------------------------------------------------------------


def test_what_cannot_be_served_is_told():
    problem = problem_of()
    with pytest.raises(InputError, match="nothing is left for z"):
        FFVAE(latent=4).check(problem)
    with pytest.raises(InputError, match="'without' of 'ffvae' must be all, none"):
        FFVAE(without="2").check(problem)
    with pytest.raises(InputError, match="'without' of 'ffvae'"):
        FFVAE(without="sex").check(problem)
    with pytest.raises(InputError, match="form='conv' is for images"):
        FFVAE(form="conv").check(problem)
    with pytest.raises(InputError, match=r"'ffvae'.*reads a code.*such as mlp or s3-mlp"):
        networks_of(NetSpec("convnet"), FFVAE(), problem_of(inputs=(3, 32, 32)))
    method = FFVAE(**SMALL)
    _, nets, batch = setting(method)
    with pytest.raises(InputError, match="give the noise 'latent'"):
        method.loss(nets, batch._replace(noise={}), {})
    with pytest.raises(InputError, match="Batch\\(a="):
        method.loss(nets, batch._replace(a=None), {})


def test_a_stack_is_sized_by_all_of_its_networks():
    task = evenhand.load("ci-mnist")
    sized = stack_size_for([Run(FFVAE())], [task], NET, ["colour"], torch.device("cpu"))
    assert sized == 1, "convolutions on a CPU are trained one after the other"


# -- training ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    """320 packaged CI-MNIST images."""
    task = evenhand.load("ci-mnist")
    parts = {"train": 320, "validation": 64, "test": 128}
    return replace(task, split={name: task.split[name][:n] for name, n in parts.items()})


def test_on_images_reconstruction_falls_and_b_is_the_colour(digits):
    method = FFVAE(alpha=100.0, gamma=10.0, represent_epochs=5)
    net = NetSpec("mlp", widths=(32, 32), activation="leaky_relu")
    recipe = Recipe(epochs=1, batch_size=32, clip=5.0)
    trainer = Trainer([Run(method)], [digits], net, recipe, protect=["colour"]).fit()
    first = [entry for entry in trainer.history if entry["phase"] == "represent"]
    fallen = [entry["method.reconstruction"][0] for entry in first]
    assert fallen[-1] < fallen[0] / 2
    assert all(np.isfinite(entry["train"]).all() for entry in trainer.history)
    assert went_astray({}, history_of(trainer, 0), trainer.phases) is None, (
        "the first phase has a loss to be told"
    )
    (found,) = audit_code(trainer.predictor, digits, ["colour"])
    assert found.on_b > 0.95
    assert trainer.stack.templates["model"].sizes == (16, 32, 32, 2)


def test_on_images_a_stack_equals_its_runs(digits):
    task = replace(digits, split={name: rows[:24] for name, rows in digits.split.items()})
    recipe = Recipe(epochs=1, batch_size=12, precision="float64", clip=5.0)

    def trained(runs, stacked):
        return Trainer(runs, [task], NET, recipe, protect=["colour", "lines"], stacked=stacked).fit()

    runs = [
        Run(FFVAE(alpha=a, represent_epochs=1, removal="noise"), seed) for a, seed in ((10.0, 3), (90.0, 4))
    ]
    together = trained(runs, True)
    for place, run in enumerate(runs):
        alone = trained([run], False)
        for name, leaves in alone.stack.parameters.items():
            for key, leaf in leaves.items():
                assert (together.stack.parameters[name][key][place] - leaf).abs().max() <= 1e-10
        assert (together.scores(together.train)[place] - alone.scores(alone.train)[0]).abs().max() <= 1e-10


@pytest.fixture(scope="module")
def table():
    """Inputs that tell two attributes and the label, each in a direction of its own."""
    source = torch.Generator().manual_seed(0)
    task = evenhand.load(
        "synthetic", n_train=1000, n_validation=100, n_test=500, attributes=2, spurious=0, d=6, seed=3
    )
    signs = torch.stack([torch.as_tensor(task.attribute(f"a{j}").codes) * 2.0 - 1 for j in range(2)], dim=1)
    label = task.y[:, None] * 2.0 - 1
    x = torch.cat([3 * signs, 3 * label, 3 * torch.randn(len(task), 3, generator=source)], dim=1)
    return replace(task, x=x + 0.3 * torch.randn(x.shape, generator=source))


def test_each_b_tells_its_attribute_and_the_rest_tells_less(table):
    method = FFVAE(alpha=100.0, gamma=10.0, latent=8, hidden=32, represent_epochs=60)
    runs = [Run(method, 0), Run(replace(method, gamma=0.0), 0)]
    recipe = Recipe(epochs=10, batch_size=50, rate=2e-3, clip=5.0)
    trainer = Trainer(runs, [table], NET, recipe, protect=["a0", "a1"]).fit()
    for found in audit_code(trainer.predictor, table, ["a0", "a1"]):
        assert found.on_b > 0.95
        assert found.on_drawn_z < 0.7
        assert found.on_others < 0.7
        assert found.on_drawn_z <= found.on_z < found.on_b
    last = [entry for entry in trainer.history if entry["phase"] == "represent"][-1]
    with_term, without = last["method.discriminator"]
    assert abs(with_term - math.log(2)) < 0.02, "b and z cannot be told from shuffled ones"
    assert without < with_term - 0.02, "and that is gamma's doing"
    scores = trainer.scores(trainer.part("test"))[0]
    assert (scores.argmax(1) == table.y[table.rows("test")]).float().mean() > 0.9


def test_codes_of_a_run_are_those_of_the_run_alone(table):
    method = FFVAE(**SMALL)
    recipe = Recipe(epochs=1, batch_size=100, precision="float64")
    trainers = [
        Trainer([Run(method, s) for s in seeds], [table], NET, recipe, protect=["a0"]).fit()
        for seeds in ([4, 5], [5])
    ]
    rows = table.rows("test")
    one, other = (codes_of(t.predictor, table, rows, run) for t, run in zip(trainers, (1, 0), strict=True))
    assert all((a - b).abs().max() < 1e-10 for a, b in zip(one, other, strict=True))


def test_a_probe_learns_what_is_there_and_no_more():
    torch.manual_seed(0)
    codes = torch.randn(600, 3)
    inside = (codes[:, 0] * codes[:, 1] > 0).long()  # no straight line tells it
    assert probe(codes[:400], inside[:400], codes[400:], inside[400:]) > 0.85
    assert probe(codes[:400], inside[:400], codes[400:], inside[400:], hidden=0) < 0.65
    assert probe(codes[:400], torch.randint(0, 2, (400,)), codes[400:], torch.randint(0, 2, (200,))) < 0.65
    unknown = torch.where(torch.rand(600) < 0.3, -1, inside)
    assert probe(codes[:400], unknown[:400], codes[400:], unknown[400:]) > 0.8
    assert probe(codes[:400, :0], inside[:400], codes[400:, :0], inside[400:]) >= 0.5
    with pytest.raises(InputError, match="rows of known level"):
        probe(codes, torch.full((600,), -1), codes, inside)


def test_the_audit_is_for_this_method_only(table):
    trainer = Trainer([Run(evenhand.methods.METHODS["erm"]())], [table], NET, Recipe(), protect=["a0"])
    with pytest.raises(InputError, match="has no sensitive part"):
        audit_code(trainer.predictor, table, ["a0"])


def test_one_backward_pass_gives_each_player_its_own_gradient():
    class InTwo(FFVAE):
        needs = Needs(groups=True)

    task = synthetic(n_train=200, n_validation=40, n_test=40)
    recipe = Recipe(epochs=1, batch_size=32, precision="float64")
    found = []
    for kind in (FFVAE, InTwo):
        method = kind(latent=6, hidden=8, critic=8, represent_epochs=2, gamma=50.0)
        runs = [Run(method, seed) for seed in (0, 1)]
        trainer = Trainer(runs, [task], NetSpec("mlp", widths=(8,)), recipe, protect=["a0"]).fit()
        found.append(trainer.stack.parameters)
    for name, values in found[0].items():
        for key, value in values.items():
            torch.testing.assert_close(value, found[1][name][key], rtol=0, atol=1e-12)

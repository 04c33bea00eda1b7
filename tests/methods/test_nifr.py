"""Null-sampling: what the flow reads, who is moved which way, what is left of s, and who begins anew."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

import evenhand
from evenhand.errors import InputError
from evenhand.methods import METHODS, Nets, NullSampling, Problem, method_of
from evenhand.methods.nifr_samples import null_samples
from evenhand.methods.nifr_terms import as_bins, as_image, committee_loss, null_sampled, sensitive_places
from evenhand.nets import NetSpec
from evenhand.nets.flow import nll_per_dimension
from evenhand.records import Batch
from evenhand.train.building import networks_of
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

SMALL = {"blocks": 2, "width": 8, "critic": 6, "discriminators": 2, "flow_epochs": 2}
NET = NetSpec("mlp", widths=(8,))


def setting(method: NullSampling, inputs=(6,), phase="represent", n=20) -> tuple[Problem, Nets, Batch]:
    """Networks whose couplings do something, and a batch with the noise that the method asks for."""
    torch.manual_seed(0)
    g = torch.randint(-1, 3, (n,))
    g[:4] = torch.tensor([0, 1, 2, -1])
    problem = Problem.from_labels(torch.randint(0, 2, (n,)), g, n_classes=2, inputs=inputs)
    networks = {name: net.double() for name, net in networks_of(NET, method, problem).items()}
    for leaf in networks["flow"].parameters():
        if leaf.requires_grad:
            leaf.data += 0.05 * torch.randn_like(leaf)
    noise = {
        name: (torch.randn if spec.kind == "normal" else torch.rand)(n, *spec.shape).double()
        for name, spec in method.noise(problem).items()
    }
    x = torch.rand(n, *inputs).double() * 2 - 1
    return problem, Nets(networks, problem.sizes, phase=phase), Batch(x, problem.y, g, problem.a, None, noise)


def leaves_of(nets: Nets, name: str) -> list[torch.Tensor]:
    return [leaf for leaf in nets._networks[name].parameters() if leaf.requires_grad]


# -- terms ---------------------------------------------------------------------------------------------------


def test_every_grey_goes_to_its_bin_of_five_bits():
    greys = torch.arange(256, dtype=torch.float64)
    for low, high in ((-1.0, 1.0), (0.0, 1.0), (-2.0, 3.0)):
        x = (low + (high - low) * greys / 255).float()
        middle = as_bins(x, low, high, 5)
        assert torch.equal((middle + 1) * 16, (greys // 8).float() + 0.5)
        noise = torch.rand(256)
        assert torch.allclose(
            (as_bins(x, low, high, 5, noise) + 1) * 16, (greys // 8).float() + noise, atol=1e-5
        )
        back = as_image(middle, low, high)
        assert (back - x).abs().max() <= (high - low) / 64 + (high - low) / 255  # half a bin, and half a grey
    assert torch.equal((as_bins(x, low, high, 8) + 1) * 128, greys.float() + 0.5)


def test_the_gradient_passes_the_bins_as_if_they_were_not_there():
    x = torch.rand(7, requires_grad=True)
    (grad,) = torch.autograd.grad(as_bins(x, -1.0, 1.0, 5).sum(), x)
    assert torch.allclose(grad, torch.ones(7))


def test_s0_has_twelve_numbers_for_s():
    assert NullSampling().n_sensitive(12288) == 12
    assert NullSampling().n_sensitive(10) == 1
    places = torch.vmap(lambda share: sensitive_places(share, torch.zeros(1, 8)))(
        torch.tensor([0.0, 0.5, 1.0])
    )
    assert places.sum(1).tolist() == [1, 4, 8]
    at_the_edge = [
        sensitive_places(share, torch.zeros(1, 100).to(kind)).sum()
        for share in (0.015, torch.tensor(0.015), torch.tensor(0.015).double())
        for kind in (torch.float32, torch.float64)
    ]
    assert len(set(map(int, at_the_edge))) == 1
    assert torch.equal(null_sampled(torch.ones(2, 8), 0.25)[0], torch.tensor([1.0] * 6 + [0.0] * 2))


def test_the_committees_loss_is_the_mean_of_cross_entropies_of_known_rows():
    logits, g = torch.randn(3, 5, 4), torch.tensor([3, -1, 0, 2, -1])
    known = [0, 2, 3]
    each = [torch.nn.functional.cross_entropy(one[known], g[known]) for one in logits]
    assert torch.allclose(committee_loss(logits, g, 4), torch.stack(each).mean())
    assert committee_loss(logits, torch.full((5,), -1), 4) == 0


# -- the first phase -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [(6,), (2, 8, 8)], ids=["table", "image"])
def test_discriminators_follow_the_gradient_and_the_flow_goes_against_it(inputs):
    method = NullSampling(weight=0.3, share=0.3, levels=1, **SMALL)
    problem, nets, batch = setting(method, inputs)
    out = method.loss(nets, batch, method.init(problem))
    z, log_det = nets["flow"](method.noisy(batch))
    nll = nll_per_dimension(z, log_det).mean()
    told = nets["discriminators"](null_sampled(z, 0.3))
    spotting = committee_loss(told, batch.g, 3)
    assert torch.allclose(out.logs["nll"], nll)
    assert torch.allclose(out.logs["spotting"], spotting)

    def gradient(loss, name):
        return torch.autograd.grad(loss, leaves_of(nets, name), retain_graph=True, allow_unused=True)

    for found, own in zip(
        gradient(out.losses["flow"], "discriminators"), gradient(spotting, "discriminators"), strict=True
    ):
        assert torch.allclose(found, own)
    flow = zip(*(gradient(loss, "flow") for loss in (out.losses["flow"], nll, spotting)), strict=True)
    for found, likelier, telling in flow:
        assert torch.allclose(found, likelier - 0.3 * telling, atol=1e-12)


def test_discriminators_do_not_see_z_s_and_unknown_groups_serve_the_likelihood_only():
    method = NullSampling(share=0.5, **SMALL)
    problem, nets, batch = setting(method)
    nobody = batch._replace(g=torch.full_like(batch.g, -1))
    out = method.loss(nets, nobody, method.init(problem))
    assert out.logs["spotting"] == 0
    assert torch.equal(out.losses["flow"], out.logs["nll"])
    seen = []
    watching = Nets(
        {**nets._networks, "discriminators": lambda z: seen.append(z) or nets["discriminators"](z)},
        nets.sizes, phase="represent",
    )  # fmt: skip
    method.loss(watching, batch, method.init(problem))
    assert seen[0][:, 3:].eq(0).all()
    assert seen[0][:, :3].ne(0).all()


def test_noise_is_asked_for_in_the_first_phase_only():
    method = NullSampling(**SMALL)
    problem, nets, batch = setting(method)
    with pytest.raises(InputError, match="'nifr' draws nothing: give the noise 'density'"):
        method.loss(nets, batch._replace(noise={}), method.init(problem))
    assert all(spec.phases == ("represent",) for spec in method.noise(problem).values())


# -- null-samples --------------------------------------------------------------------------------------------


def test_a_null_sample_has_the_same_z_y_and_no_z_s():
    method = NullSampling(share=0.3, jitter=0.0, **SMALL)
    _, nets, batch = setting(method, phase="classify")
    z, _ = nets["flow"](batch.x)
    again, _ = nets["flow"](method.null_sample(nets, batch.x))
    assert torch.allclose(again[:, :4], z[:, :4], atol=1e-10)
    assert again[:, 4:].abs().max() < 1e-10
    assert z[:, 4:].abs().max() > 0.1


def test_the_noise_of_a_table_is_there_in_prediction_too_and_can_be_repeated():
    method = NullSampling(share=0.3, jitter=0.5, **SMALL)
    _, nets, batch = setting(method, phase="classify", n=3000)
    found = method.null_sample(nets, batch.x)
    assert torch.allclose(found[5:9], method.null_sample(nets, batch.x[5:9]), atol=1e-12)
    plain = NullSampling(share=0.3, jitter=0.0, **SMALL).null_sample(nets, batch.x)
    assert 0.2 < (found - plain).std() < 0.6


def test_predictions_do_not_know_z_s():
    method = NullSampling(share=0.3, jitter=0.0, **SMALL)
    _, nets, batch = setting(method, phase="classify")
    z, _ = nets["flow"](batch.x)
    shift = torch.cat([torch.zeros(20, 4), torch.randn(20, 2)], 1)
    other = batch._replace(x=nets["flow"](z + shift, inverse=True))
    assert (other.x - batch.x).abs().max() > 0.1
    assert torch.allclose(method.predict(nets, batch, {}), method.predict(nets, other, {}), atol=1e-10)
    kept = torch.cat([torch.randn(20, 4), torch.zeros(20, 2)], 1)
    moved = batch._replace(x=nets["flow"](z + kept, inverse=True))
    assert (method.predict(nets, batch, {}) - method.predict(nets, moved, {})).abs().max() > 1e-3


def test_null_samples_of_images_are_images():
    method = NullSampling(share=0.4, levels=1, low=0.0, **SMALL)
    _, nets, batch = setting(method, (2, 8, 8), phase="classify")
    found = method.prepare(nets, batch._replace(x=(batch.x + 1) / 2))
    assert found.shape == batch.x.shape
    assert found.min() >= 0
    assert found.max() <= 1
    assert not found.requires_grad


def train(methods, seeds, *, stacked, task=None, epochs=2, net=NET, **recipe) -> Trainer:
    task = task or evenhand.load("synthetic", n_train=96, n_validation=32, n_test=32, d=6, seed=0)
    how = {"batch_size": 16, "precision": "float64", "rate": 0.01, "epochs": epochs} | recipe
    runs = [Run(method, seed) for method, seed in zip(methods, seeds, strict=True)]
    protect = [task.attributes[0].name]
    return Trainer(runs, [task], net, Recipe(**how), protect=protect, stacked=stacked).fit()


def test_runs_of_a_stack_may_differ_in_every_number():
    numbers = [{}, {"share": 0.5, "weight": 1.0}, {"reset": 0.5, "jitter": 0.3, "share": 0.2}]
    methods = [NullSampling(**SMALL, **own) for own in numbers]
    stack = train(methods, [3, 4, 5], stacked=True)
    for place, (method, seed) in enumerate(zip(methods, [3, 4, 5], strict=True)):
        single = train([method], [seed], stacked=False)
        for network, values in single.stack.parameters.items():
            for name, value in values.items():
                found = stack.stack.parameters[network][name][place]
                assert (found - value).abs().max() <= 1e-10, f"{network}.{name}"
        (task,), rows = stack.tasks, stack.tasks[0].rows("test")
        one, other = (null_samples(t.predictor, task, rows, run) for t, run in ((stack, place), (single, 0)))
        assert (one - other).abs().max() <= 1e-10


def test_a_stack_of_image_flows_equals_its_runs():
    task = evenhand.load("faces", n=60, seed=0)
    method = NullSampling(**SMALL | {"flow_epochs": 1}, levels=2, reset=0.3)
    how = {"task": task, "epochs": 1}
    stack = train([method] * 2, [1, 2], stacked=True, **how)
    single = train([method], [2], stacked=False, **how)
    for network, values in single.stack.parameters.items():
        for name, value in values.items():
            found = stack.stack.parameters[network][name][1]
            assert (found - value).abs().max() <= 1e-10, f"{network}.{name}"


# -- who moves, and who begins anew --------------------------------------------------------------------------


def snapshots(method: NullSampling) -> list[dict[str, torch.Tensor]]:
    """The networks before training, after the first phase and after the second."""
    task = evenhand.load("synthetic", n_train=96, n_validation=32, n_test=32, d=6, seed=0)
    recipe = Recipe(epochs=2, batch_size=16)
    trainer = Trainer([Run(method)], [task], NET, recipe, protect=["a0"])
    seen = []

    def look() -> None:
        seen.append({
            name: torch.cat([leaf.detach().flatten() for leaf in leaves.values() if leaf.requires_grad])
            for name, leaves in trainer.stack.parameters.items()
        })  # fmt: skip

    look()
    finish = trainer.finish
    trainer.finish = lambda phase: (look(), finish(phase))
    trainer.fit()
    return seen


@pytest.mark.parametrize("reset", [0.0, 1.0])
def test_training_moves_the_players_of_each_phase_only(reset):
    """Also where discriminators begin anew at every step: nobody does in the second phase."""
    seen = snapshots(NullSampling(**SMALL, reset=reset))
    moved = [{name for name in old if not torch.equal(old[name], new[name])} for old, new in pairwise(seen)]
    assert moved == [{"flow", "discriminators"}, {"model"}]


def test_a_discriminator_begins_anew_as_often_as_asked():
    method = NullSampling(
        reset=0.25, discriminators=4, **{k: v for k, v in SMALL.items() if k != "discriminators"}
    )
    problem, nets, batch = setting(method, n=4000)
    drawn = batch.noise["reset"]
    counts = torch.zeros(4)
    for start in range(0, 4000, 10):
        noise = {name: value[start : start + 10] for name, value in batch.noise.items()}
        part = Batch(*(value[start : start + 10] for value in batch[:4]), None, noise)
        state = method.loss(nets, part, method.init(problem)).state
        assert torch.equal(state["reset"], (drawn[start] < 0.25).double())
        assert torch.equal(state["fresh"], batch.noise["fresh"][start])
        counts += state["reset"]
    assert ((counts / 400 - 0.25).abs() < 0.08).all()
    before = {"discriminators": dict(nets._networks["discriminators"].named_parameters())}
    state = {"reset": torch.tensor([1.0, 0.0, 0.0, 1.0]), "fresh": torch.rand(4)}
    after = method.constrain(before, state)["discriminators"]
    changed = [
        not torch.equal(after["weights.0"][k], before["discriminators"]["weights.0"][k]) for k in range(4)
    ]
    assert changed == [True, False, False, True]


# -- what it does --------------------------------------------------------------------------------------------


def told(x: torch.Tensor, s: torch.Tensor) -> float:
    """How many held-out rows a linear probe names rightly, fitted by least squares to the others."""
    x = torch.cat([x.double(), torch.ones(len(x), 1)], 1)
    half = len(x) // 2
    solved = torch.linalg.lstsq(x[:half], 2 * s[:half, None].double() - 1).solution
    return ((x[half:] @ solved)[:, 0] > 0).eq(s[half:] > 0).double().mean().item()


def test_null_samples_tell_s_less_than_inputs_do_and_still_the_label():
    task = evenhand.load(
        "synthetic", seed=7, n_train=3000, n_validation=1000, n_test=2000, leak=2.0, spurious=0.0
    )
    method = NullSampling(weight=1.0, flow_epochs=8, blocks=2, width=16, critic=32)
    trainer = train([method], [0], stacked=False, task=task, batch_size=128, precision="float32", epochs=1)
    nets = Nets(trainer.stack.templates, trainer.sizes, phase="classify")
    rows = task.rows("test")
    x = task.x[rows]
    with torch.no_grad():
        without = null_samples(trainer.predictor, task, rows)
        assert torch.allclose(without, method.null_sample(nets, x), atol=1e-5)
        error = (nets["flow"](nets["flow"](x)[0], inverse=True) - x).abs().max()
    s, y = torch.as_tensor(task.attributes[0].codes)[rows], task.y[rows]
    assert error < 1e-5
    assert told(x, s) > 0.75
    assert told(without, s) < told(x, s) - 0.15
    assert told(without, y) > told(x, y) - 0.05
    spotting = [entry["method.spotting"][0] for entry in trainer.history if entry["phase"] == "represent"]
    assert spotting[-1] > 0.6  # ln 2 is chance


def test_adult_takes_seconds():
    task = evenhand.load("adult")
    task = task.with_split(train=task.rows("train")[:3000], test=task.rows("test")[:1000])
    method = NullSampling(weight=0.1, blocks=2, critic=16, flow_epochs=2)
    trainer = train([method], [0], stacked=False, task=task, precision="float32", batch_size=64, rate=1e-3)
    nll = [entry["method.nll"][0] for entry in trainer.history if entry["phase"] == "represent"]
    assert nll[-1] < nll[0] - 0.05
    nets = Nets(trainer.stack.templates, trainer.sizes, phase="classify")
    x = task.scaling(task.x[task.rows("test")])
    with torch.no_grad():
        z, _ = nets["flow"](x.double())
        assert (nets["flow"](z, inverse=True).to(x.dtype) - x).abs().max() < 1e-5
    right = trainer.scores(trainer.part("test"))[0].argmax(1) == task.y[task.rows("test")]
    assert right.double().mean() > 0.78


def test_faces_of_32_pixels_take_seconds():
    task = evenhand.load("faces", n=400, seed=0)
    method = NullSampling(levels=2, blocks=1, width=8, critic=16, discriminators=2, flow_epochs=3)
    trainer = train(
        [method], [0], stacked=False, task=task, net=NetSpec("convnet", widths=(8, 8)), precision="float32",
        batch_size=32, rate=1e-3,
    )  # fmt: skip
    nll = [entry["method.nll"][0] for entry in trainer.history if entry["phase"] == "represent"]
    assert nll[-1] < nll[0] - 0.05
    nets = Nets(trainer.stack.templates, trainer.sizes, phase="classify")
    x = task.scaling(task.x[task.rows("test")])
    with torch.no_grad():
        read = as_bins(x, -1.0, 1.0, 5)
        assert (nets["flow"](nets["flow"](read)[0], inverse=True) - read).abs().max() < 1e-5
        seen = method.null_sample(nets, x)
    assert seen.shape == x.shape
    assert seen.min() >= -1
    assert seen.max() <= 1
    assert trainer.scores(trainer.validation).shape == (1, 40, 2)


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "inputs", "message"),
    [
        ({"share": 0.95}, (10,), "all 10 numbers are z_s"),
        ({"low": 1.0}, (3, 32, 32), "'low' of 'nifr' must be less than 'high'"),
        ({}, (1, 28, 28), "use levels=2"),
        ({"share": 1.5}, (10,), "'share' of 'nifr' must be a number"),
        ({"bits": 9}, (3, 32, 32), "'bits' of 'nifr' must be a whole number"),
        ({}, (4, 4), "images have the shape"),
    ],
)
def test_what_cannot_be_had_is_refused(fields, inputs, message):
    problem = Problem.from_labels([0, 1], g=[0, 1], inputs=inputs)
    with pytest.raises(InputError, match=message):
        NullSampling(**fields).check(problem)


def test_rules_that_need_the_inputs_themselves_are_refused():
    problem = Problem.from_labels([0, 1], g=[0, 1], inputs=(6,))
    assert METHODS["nifr"] is NullSampling
    for key in ("pre+nifr", "nifr+cm"):
        with pytest.raises(InputError, match="its model reads a code"):
            method_of(key).check(problem)
    task = evenhand.load("synthetic", n_train=96, n_validation=32, n_test=32, d=6, seed=0)
    erm = Trainer([Run(METHODS["erm"]())], [task], NET, Recipe(), protect=["a0"])
    with pytest.raises(InputError, match="'erm' has no flow"):
        null_samples(erm.predictor, task, task.rows("test"))

"""Curvature against closed forms, autograd's own Hessians and hand-made surfaces."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional

from evenhand.metrics.curvature import one_shot, spectral_norm, two_logit_curvature
from evenhand.metrics.mmd import mmd2

NAMES = ["logistic_1", "logistic_2", "relu2logit_11", "relu2logit_12", "relu2logit_dead_sample"]


@pytest.fixture
def case(golden, request):
    """A golden case as (logits of x, loss of x, x, what is expected), in float64."""
    name = f"curvature_{request.param}"
    found = next(case for case in golden("12_cuma_closed_forms")["cases"] if case["name"] == name)
    given = {key: double(value) for key, value in found["inputs"].items()}
    y = torch.tensor(found["inputs"]["y"])
    if "weight" in given:
        return logistic(given, y), given["x"], found["expected"]
    logits = partial(relu_logits, given)
    return (
        (logits, lambda x: functional.cross_entropy(logits(x), y, reduction="none")),
        given["x"],
        found["expected"],
    )


def logistic(given: dict[str, Tensor], y: Tensor):
    def logits(x: Tensor) -> Tensor:
        return x @ given["weight"] + given["bias"]

    def loss(x: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(logits(x), y.double(), reduction="none")

    return logits, loss


def relu_logits(given: dict[str, Tensor], x: Tensor) -> Tensor:
    hidden = functional.relu(x @ given["w1"].T + given["b1"])
    return hidden @ given["w2"].T + given["b2"]


def double(value: object) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def network(classes: int = 3, seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    made = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, classes))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2.5)  # curvatures of about 1
    return made.double()


def batch(rows: int = 7, classes: int = 3) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 5, generator=source, dtype=torch.float64)
    return x, torch.randint(0, classes, (rows,), generator=source)


def still(values: Tensor) -> Tensor:
    return values.detach()


def losses(net, y: Tensor):
    return lambda x: functional.cross_entropy(net(x), y, reduction="none")


# -- the closed forms of the golden file --------------------------------------------------------------------
@pytest.mark.parametrize("case", NAMES, indirect=True)
def test_exact_curvature(case, assert_close):
    (logits, loss), x, expected = case
    assert_close(two_logit_curvature(logits, x), expected["curvature_exact"], 1e-9)
    assert_close(spectral_norm(loss, x), expected["curvature_exact"], 1e-9)


@pytest.mark.parametrize("case", NAMES[:4], indirect=True)
@pytest.mark.parametrize(("key", "h"), [("one_shot_h1", 1.0), ("one_shot_h0.01", 0.01)])
def test_one_shot(case, key, h, assert_close):
    (_, loss), x, expected = case
    assert_close(one_shot(loss, x, h), expected[key], 1e-9)
    assert_close(one_shot(loss, x, torch.tensor(h, dtype=torch.float64)), expected[key], 1e-9)


@pytest.mark.parametrize("case", NAMES[:4], indirect=True)
def test_small_steps_tend_to_the_norms_of_the_logit_gradient(case, assert_close):
    """C ||w||_1 / (sqrt(d) ||w||_2): the sign direction sees that much of the one curved direction."""
    (logits, loss), x, expected = case
    assert_close(one_shot(loss, x, 1e-6), expected["one_shot_limit_h_to_0"], 1e-5)
    w = torch.autograd.functional.jacobian(lambda x: difference(logits(x)).sum(), x)
    ratio = w.abs().sum(1) / (x.shape[1] ** 0.5 * w.norm(dim=1))
    assert_close(one_shot(loss, x, 1e-6) / double(expected["curvature_exact"]), ratio, 1e-4)


def difference(logits: Tensor) -> Tensor:
    return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]


@pytest.mark.parametrize("case", ["relu2logit_11", "relu2logit_12"], indirect=True)
def test_distance_of_the_halves(case, assert_close):
    (_, loss), x, expected = case
    found = one_shot(loss, x)
    key = "mmd2_of_one_shot_h1_between_first_half_and_second_half"
    assert_close(mmd2(found[:3], found[3:]), expected[key], 1e-9)


@pytest.mark.parametrize("case", ["relu2logit_dead_sample"], indirect=True)
def test_a_row_without_gradient_has_no_curvature_and_a_finite_training_gradient(case):
    (_, loss), x, _ = case
    assert 0 <= one_shot(loss, x)[0] < 1e-5
    scale = torch.ones((), dtype=torch.float64, requires_grad=True)
    one_shot(lambda inputs: loss(scale * inputs), x).sum().backward()
    assert torch.isfinite(scale.grad)
    assert scale.grad != 0


# -- any network ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_power_iteration_finds_the_largest_eigenvalue(classes, assert_close):
    net, (x, y) = network(classes), batch(classes=classes)
    found = spectral_norm(losses(net, y), x, steps=400)
    for row in range(len(x)):
        own = y[row : row + 1]
        hessian = torch.autograd.functional.hessian(
            lambda v, own=own: losses(net, own)(v[None]).sum(), x[row]
        )
        assert_close(found[row].item(), torch.linalg.eigvalsh(hessian).abs().max().item(), 1e-6)


def test_thirty_steps_are_near_and_never_above():
    net, (x, y) = network(6), batch(classes=6)
    long, short = (spectral_norm(losses(net, y), x, steps) for steps in (400, 30))
    assert (short <= long * (1 + 1e-9)).all()
    assert (short >= long * 0.99).all()


def test_power_iteration_sees_negative_curvature(assert_close):
    found = spectral_norm(lambda x: x[:, 0] ** 2 - 4 * x[:, 1] ** 2 + x[:, 2], torch.zeros(3, 3))
    assert_close(found, [8.0] * 3, 1e-5)


def test_a_plane_has_no_curvature():
    plane = torch.tensor([1.0, -2.0])
    assert (one_shot(lambda x: x @ plane, torch.zeros(3, 2)) <= 1e-5).all()
    assert (spectral_norm(lambda x: x @ plane, torch.zeros(3, 2)) == 0).all()


def test_rows_do_not_see_each_other(assert_close):
    """The sum of losses: of a mean, the curvature of a row would be smaller in a larger batch."""
    net, (x, y) = network(), batch()
    for measure in (one_shot, spectral_norm):
        whole = measure(losses(net, y), x)
        alone = torch.cat([measure(losses(net, y[i : i + 1]), x[i : i + 1]) for i in range(len(x))])
        assert_close(still(whole), still(alone), 1e-10)


def test_images_are_vectors(assert_close):
    net, (x, y) = network(), batch(8)
    pictures = nn.Sequential(nn.Flatten(), net)
    for measure in (one_shot, spectral_norm):
        found = measure(losses(pictures, y), x.view(8, 1, 5, 1))
        assert_close(still(found), still(measure(losses(net, y), x)), 1e-10)
    closed = two_logit_curvature(nn.Sequential(nn.Flatten(), network(2)), x.view(8, 1, 5, 1))
    assert_close(still(closed), still(two_logit_curvature(network(2), x)), 1e-12)


def test_a_negative_step_looks_the_other_way(assert_close):
    cube = torch.ones(1, 1, dtype=torch.float64)
    assert_close(one_shot(lambda x: (x**3)[:, 0], cube, 0.5), [7.5], 1e-9)  # (3 * 1.5^2 - 3) / 0.5
    assert_close(one_shot(lambda x: (x**3)[:, 0], cube, -0.5), [4.5], 1e-9)  # (3 - 3 * 0.5^2) / 0.5


def test_the_direction_is_held_constant_and_parameters_are_reached(assert_close):
    """Against finite differences of the estimate in a parameter, with the direction kept by its signs."""
    net, (x, y) = network(), batch()
    for parameter in net.parameters():
        parameter.requires_grad_()
    one_shot(losses(net, y), x).sum().backward()
    weight, step = net[0].weight, 1e-6
    found, expected = weight.grad[2, 3].item(), []
    for sign in (1, -1):
        with torch.no_grad():
            weight[2, 3] += sign * step
        expected.append(one_shot(losses(net, y), x).sum().item())
        with torch.no_grad():
            weight[2, 3] -= sign * step
    assert_close(found, (expected[0] - expected[1]) / (2 * step), 1e-5)


def test_a_stack_of_runs_is_each_run_alone(assert_close):
    nets, (x, y) = [network(seed=seed) for seed in range(3)], batch()
    parameters, _ = stack_module_state(nets)

    def own(values, h):
        return one_shot(losses(lambda inputs: functional_call(nets[0], values, (inputs,)), y), x, h)

    steps = torch.tensor([0.1, 1.0, 2.0], dtype=torch.float64)
    together = vmap(own)(parameters, steps)
    alone = torch.stack([one_shot(losses(net, y), x, h.item()) for net, h in zip(nets, steps, strict=True)])
    assert_close(still(together), still(alone), 1e-12)
    found = torch.autograd.grad(together.sum(), parameters["0.weight"])[0]
    for run, net in enumerate(nets):
        expected = torch.autograd.grad(alone[run].sum(), net[0].weight, retain_graph=True)[0]
        assert_close(found[run], expected, 1e-10)
    power = vmap(lambda values: spectral_norm(losses(lambda v: functional_call(nets[0], values, (v,)), y), x))
    each = torch.stack([spectral_norm(losses(net, y), x) for net in nets])
    assert_close(still(power(parameters)), still(each), 1e-10)


def test_nothing_is_kept_of_the_inputs(assert_close):
    net, (x, y) = network(), batch()
    asked = x.clone().requires_grad_()
    assert_close(one_shot(losses(net, y), asked).detach(), one_shot(losses(net, y), x).detach(), 0)
    with torch.no_grad():  # an evaluation may forbid gradients outside
        assert_close(one_shot(losses(net, y), x), one_shot(losses(net, y), x).detach(), 0)

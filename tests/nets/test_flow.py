"""Flows: the official layers' numbers, inverses, log-determinants against the whole Jacobian, stacks."""

from __future__ import annotations

import math

import pytest
import torch
from torch.func import functional_call, jacrev, stack_module_state, vmap

from evenhand.errors import InputError
from evenhand.nets.flow import ImageFlow, TableFlow, checked_levels, flow_of, log_normal, nll_per_dimension
from evenhand.nets.flow_coupling import Coupling, MaskedCoupling, scale_of
from evenhand.nets.flow_critics import Critics, bound_of, renewed
from evenhand.nets.flow_layers import ActNorm, Chain, Mixing, Squeeze

CONVOLUTIONS = {
    "first": "net_s_t.sub_blocks.0",
    "inner": "net_s_t.sub_blocks.2",
    "last": "net_s_t.sub_blocks.4",
}
PERCEPTRONS = {
    "scale_first": "net_scale.0", "scale_last": "net_scale.2",
    "shift_first": "net_shift.0", "shift_last": "net_shift.2",
}  # fmt: skip
OFFICIAL_SCALES = {"exp": "exp", "sigmoid0.5": "bounded", "add2_sigmoid": "sigmoid", "none": "none"}


@pytest.fixture(scope="module")
def cases(golden):
    return {case["name"]: case for case in golden("10_flow_layers")["cases"]}


def names(prefix: str) -> list[str]:
    import json
    from pathlib import Path

    path = Path(__file__).parents[1] / "golden" / "10_flow_layers.json"
    return [case["name"] for case in json.loads(path.read_text())["cases"] if case["name"].startswith(prefix)]


def double(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def filled(layer, parts: dict[str, str], given: dict):
    """The layer with the official parameters."""
    for own, official in parts.items():
        module = getattr(layer, own)
        module.weight.data = double(given[f"{official}.weight"])
        module.bias.data = double(given[f"{official}.bias"])
    return layer.double()


def shaken(module: torch.nn.Module, by: float = 0.2, seed: int = 0):
    """The module with all that it learns moved at random: couplings begin as the identity."""
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for leaf in module.parameters():
            if leaf.requires_grad:
                fan_in = max(leaf[0].numel(), 4)
                leaf += by * torch.randn(leaf.shape, generator=source).to(leaf) / math.sqrt(fan_in)
    return module


# -- golden --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names("affine_coupling"))
def test_affine_coupling_is_the_official_one(name, cases, assert_close):
    case = cases[name]
    x, expected = double(case["inputs"]["x"]), case["expected"]
    given = case["inputs"]["parameters"]
    layer = filled(Coupling(x.shape[1], len(given["net_s_t.sub_blocks.0.bias"])), CONVOLUTIONS, given)
    y, log_det = layer(x)
    assert layer.kept == case["parameters"]["untouched_channels"]
    assert_close(y.detach(), expected["output"], case["tolerance"])
    assert_close(log_det.detach(), expected["log_abs_det_jacobian"], case["tolerance"])
    assert_close(layer.inverse(y).detach(), x, 1e-12)
    assert torch.allclose(layer._by_products(x[:, : layer.kept]), layer._by_convolutions(x[:, : layer.kept]))


@pytest.mark.parametrize("name", names("invertible_1x1_lu"))
def test_mixing_in_lu_form_is_the_official_one(name, cases, assert_close):
    case = cases[name]
    given, expected = case["inputs"], case["expected"]
    x = double(given["x"])
    layer = Mixing(x.shape[1]).double()
    official = {"permutation": "p", "lower": "l", "upper": "u", "log_scale": "log_s", "sign": "sign_s"}
    for own, theirs in official.items():
        getattr(layer, own).data = double(given[theirs])
    y, log_det = layer(x)
    assert_close(layer.weight().detach(), expected["weight"], case["tolerance"])
    assert_close(y.detach(), expected["output"], case["tolerance"])
    assert_close(log_det.detach(), expected["log_abs_det_jacobian"], case["tolerance"])
    assert_close(torch.linalg.slogdet(layer.weight())[1].item(), expected["weight_logabsdet"], 1e-12)
    assert_close(layer.inverse(y).detach(), x, 1e-12)


@pytest.mark.parametrize("name", names("invertible_1x1_plain"))
def test_a_given_matrix_is_taken_apart(name, cases, assert_close):
    case = cases[name]
    x, weight = double(case["inputs"]["x"]), double(case["inputs"]["weight"])
    layer = Mixing.of(weight)
    y, log_det = layer(x)
    assert_close(layer.weight().detach(), weight, 1e-12)
    assert_close(y.detach(), case["expected"]["output"], case["tolerance"])
    assert_close(log_det.detach(), case["expected"]["log_abs_det_jacobian"], case["tolerance"])


@pytest.mark.parametrize("name", names("masked_coupling"))
def test_masked_coupling_is_the_official_one(name, cases, assert_close):
    case = cases[name]
    given, expected = case["inputs"], case["expected"]
    x, scale = double(given["x"]), OFFICIAL_SCALES[case["parameters"]["scaling"]]
    layer = filled(MaskedCoupling(double(given["mask"]), 4, scale=scale), PERCEPTRONS, given["parameters"])
    y, log_det = layer(x)
    assert_close(y.detach(), expected["output"], case["tolerance"])
    assert_close(log_det.detach(), expected["log_abs_det_jacobian"], case["tolerance"])
    assert_close(layer.inverse(y).detach(), x, 1e-12)


def test_squeeze_is_the_official_one(cases, assert_close):
    case = cases["squeeze_41"]
    x = double(case["inputs"]["x"])
    y, log_det = Squeeze()(x)
    assert_close(y, case["expected"]["output"], 0)
    assert log_det.tolist() == [0.0]
    assert torch.equal(Squeeze().inverse(y), x)


def test_actnorm_begins_as_the_official_one_and_its_inverse_is_one(cases, assert_close):
    """The official inverse returns what it was given."""
    case = cases["actnorm_init_51"]
    x, expected = double(case["inputs"]["x"]), case["expected"]
    layer = ActNorm.fitted(x)
    y, log_det = layer(x)
    assert_close(layer.log_scale.detach(), expected["log_scale"], case["tolerance"])
    assert_close(layer.shift.detach(), expected["shift"], case["tolerance"])
    assert_close(y.detach(), expected["output"], case["tolerance"])
    assert_close(log_det.detach(), expected["log_abs_det_jacobian"], case["tolerance"])
    assert_close(layer.inverse(y).detach(), x, 1e-12)
    assert (layer.inverse(y) - y).abs().max() > 0.1


@pytest.mark.parametrize("name", names("flow_nll"))
def test_the_likelihood_of_a_small_flow_is_the_official_one(name, cases, assert_close):
    case = cases[name]
    given, expected = case["inputs"], case["expected"]
    x = double(given["x"])
    coupling = filled(Coupling(4, 3), CONVOLUTIONS, given["coupling_parameters"])
    z, log_det = Chain([Mixing.of(double(given["conv1x1_weight"])), coupling])(x)
    for found, key in (
        (z, "z"),
        (log_det, "log_abs_det"),
        (log_normal(z), "log_prob_z"),
        (log_normal(z) + log_det, "log_prob_x"),
        (nll_per_dimension(z, log_det).mean(), "nll_per_dimension_mean"),
    ):
        assert_close(found.detach(), expected[key], case["tolerance"])


# -- identities ----------------------------------------------------------------------------------------------

FLOWS = {
    "image": lambda: ImageFlow((3, 4, 4), levels=2, blocks=2, width=6, norm=True),
    "odd channels": lambda: ImageFlow((1, 8, 4), levels=2, blocks=1, width=5),
    "one level": lambda: ImageFlow((3, 6, 2), levels=1, blocks=2, width=4),
    "table": lambda: TableFlow(7, blocks=3, width=9),
    "table with norms": lambda: TableFlow(4, blocks=2, width=5, norm=True),
    "one column": lambda: TableFlow(1, blocks=2, width=3),
}
SHAPES = {
    "image": (3, 4, 4), "odd channels": (1, 8, 4), "one level": (3, 6, 2),
    "table": (7,), "table with norms": (4,), "one column": (1,),
}  # fmt: skip


@pytest.mark.parametrize("kind", FLOWS)
def test_the_log_determinant_is_that_of_the_whole_jacobian(kind):
    torch.manual_seed(1)
    flow = shaken(FLOWS[kind]().double())
    x = torch.randn(3, *SHAPES[kind], dtype=torch.float64)
    _, log_det = flow(x)
    assert log_det.abs().max() > 1e-2
    for row, found in zip(x, log_det, strict=True):
        jacobian = jacrev(lambda one: flow(one[None])[0][0])(row).reshape(row.numel(), row.numel())
        assert torch.linalg.slogdet(jacobian)[1].item() == pytest.approx(found.item(), abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 28), (40,)], ids=str)
def test_the_inverse_is_exact_to_1e_5_in_float32(shape, seed):
    torch.manual_seed(seed)
    flow = shaken(flow_of(shape, levels=2, blocks=6, width=16, norm=seed % 2 == 1), seed=seed)
    x = torch.rand(8, *shape) * 2 - 1
    with torch.no_grad():
        z, _ = flow(x)
        assert z.shape == (8, math.prod(shape))
        assert (flow(z, inverse=True) - x).abs().max() < 1e-5
        again = flow(torch.randn_like(z), inverse=True)  # from the other side, anywhere
        assert torch.isfinite(again).all()


@pytest.mark.parametrize("shape", [(3, 16, 16), (12,)], ids=str)
def test_the_inverse_is_exact_after_training_and_likelihood_rises(shape):
    torch.manual_seed(0)
    flow = flow_of(shape, levels=2, blocks=3, width=16)
    optimizer = torch.optim.Adam(flow.parameters(), 3e-3)
    seen = []
    for _ in range(60):
        colour, grain = torch.randn(64, shape[0], *[1] * (len(shape) - 1)), torch.randn(64, *shape)
        x = torch.tanh(colour[:, :1] + 0.3 * colour + 0.1 * grain)  # neighbours are alike
        loss = nll_per_dimension(*flow(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    assert seen[-1] < seen[0] - 0.2
    with torch.no_grad():
        assert (flow(flow(x)[0], inverse=True) - x).abs().max() < 1e-5


@pytest.mark.parametrize("shape", [(3, 16, 16), (12,)], ids=str)
def test_in_64_bits_a_flow_of_32_is_undone_wherever_it_leads(shape):
    torch.manual_seed(0)
    flow = shaken(flow_of(shape, levels=2, blocks=3, width=16), by=0.6)
    x = 60 * torch.randn(5, *shape)
    with torch.no_grad():
        z, log_det = flow(x.double())
        assert z.dtype == log_det.dtype == torch.float64
        assert torch.allclose(z.float(), flow(x)[0], rtol=1e-3, atol=1e-2)
        assert (flow(z, inverse=True).float() - x).abs().max() < 1e-5
    assert all(leaf.dtype == torch.float32 for leaf in flow.parameters())


def test_a_fitted_flow_has_the_density_of_what_it_was_fitted_to():
    """Of a Gaussian the best likelihood is known: minus its entropy."""
    torch.manual_seed(0)
    cover = torch.tensor([[1.0, 0.0], [1.5, 0.5]])
    flow = TableFlow(2, blocks=2, width=8)
    optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
    for _ in range(400):
        loss = nll_per_dimension(*flow(torch.randn(256, 2) @ cover.T)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    entropy = math.log(2 * math.pi * math.e) / 2 + math.log(0.5) / 2
    with torch.no_grad():
        found = nll_per_dimension(*flow(torch.randn(20_000, 2) @ cover.T)).mean().item()
    assert entropy - 0.02 < found < entropy + 0.03


@pytest.mark.parametrize("kind", FLOWS)
def test_flows_begin_as_rotations(kind):
    torch.manual_seed(3)
    flow = FLOWS[kind]()
    x = torch.randn(5, *SHAPES[kind])
    z, log_det = flow(x)
    assert torch.allclose(z.norm(dim=1), x.flatten(1).norm(dim=1), atol=1e-4)
    assert torch.allclose(log_det, torch.zeros(5), atol=1e-4)


@pytest.mark.parametrize("kind", ["image", "table with norms"])
def test_a_stack_is_its_flows_one_by_one_both_ways(kind):
    """Permutations and signs differ from flow to flow, so they must be stacked as well."""
    flows = []
    for seed in range(3):
        torch.manual_seed(seed)
        flows.append(shaken(FLOWS[kind]().double(), seed=seed))
    assert any(not torch.equal(a, b) for a, b in zip(*(
        [leaf for leaf in flow.parameters() if not leaf.requires_grad] for flow in flows[:2]
    ), strict=True))  # fmt: skip
    parameters, buffers = stack_module_state(flows)
    x = torch.randn(3, 4, *SHAPES[kind], dtype=torch.float64)

    def call(own, kept, rows, **how):
        return functional_call(flows[0], (own, kept), (rows,), how)

    z, log_det = vmap(call)(parameters, buffers, x)
    back = vmap(lambda *given: call(*given, inverse=True))(parameters, buffers, z)
    for place, flow in enumerate(flows):
        one, other = flow(x[place])
        assert torch.allclose(z[place], one, atol=1e-12)
        assert torch.allclose(log_det[place], other, atol=1e-12)
    assert torch.allclose(back, x, atol=1e-10)


def test_what_goes_through_all_levels_is_last():
    """z has the first level's numbers in front, and these do not change with the last level."""
    torch.manual_seed(0)
    flow, x = ImageFlow((3, 8, 8), levels=3, blocks=1, width=4), torch.randn(2, 3, 8, 8)
    before = flow(x)[0]
    shaken(flow.levels[2], by=1.0)
    moved = (flow(x)[0] != before).any(0)
    assert not moved[: 96 + 48].any()
    assert moved[96 + 48 :].float().mean() > 0.5


def test_what_no_flow_takes_is_refused():
    with pytest.raises(InputError, match="use levels=1"):
        checked_levels((3, 30, 32), 2)
    with pytest.raises(InputError, match="even sides"):
        ImageFlow((3, 5, 8), levels=1)
    with pytest.raises(InputError, match="did you mean 'bounded'"):
        scale_of("bouned")


# -- critics -------------------------------------------------------------------------------------------------


def test_critics_are_perceptrons_side_by_side():
    torch.manual_seed(0)
    critics, z = Critics(3, 5, 2, width=4, blocks=1).double(), torch.randn(7, 5, dtype=torch.float64)
    for k, found in enumerate(critics(z)):
        layers = [(w[k], b[k]) for w, b in zip(critics.weights, critics.biases, strict=True)]
        (w0, b0), (w1, b1), (w2, b2), (w3, b3) = layers
        h = z @ w0.T + b0
        h = h + torch.relu(torch.relu(h) @ w1.T + b1) @ w2.T + b2
        assert torch.allclose(found, torch.relu(h) @ w3.T + b3)


def test_critics_in_a_stack_have_the_gradients_they_have_alone_to_the_bit():
    """All read one z: were it a batch of products, its gradient would be summed in another order alone."""
    torch.manual_seed(0)
    several, z = [Critics(3, 10, 2, width=64) for _ in range(4)], torch.randn(4, 256, 10)
    parameters, _ = stack_module_state(several)
    together = z.clone().requires_grad_()
    told = vmap(lambda own, rows: functional_call(several[0], own, (rows,)))(parameters, together)
    (found,) = torch.autograd.grad(told.square().sum(), together)
    for place, critics in enumerate(several):
        alone = z[place].clone().requires_grad_()
        (own,) = torch.autograd.grad(critics(alone).square().sum(), alone)
        assert torch.equal(own, found[place])


def test_a_flow_keeps_nothing_that_a_stack_has_once():
    """What is not a parameter would be told of a run alone and not of one in a stack: two digests."""
    assert not any(list(make().named_buffers()) for make in FLOWS.values())


def test_renewed_critics_look_like_new_ones_and_the_others_stay():
    critics = Critics(3, 200, 2, width=50)
    parameters = {name: value + 5 for name, value in critics.named_parameters()}
    which = torch.tensor([True, False, True])
    after = renewed(parameters, which, torch.tensor([0.25, 0.5, 0.25]))
    for name, value in after.items():
        assert torch.equal(value[1], parameters[name][1])
        bound = bound_of(value)
        assert value[which].abs().max() <= bound
    weight = after["weights.0"]
    bound = bound_of(weight)
    assert abs(weight[0].mean().item()) < 0.03 * bound
    assert weight[0].std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    pairs = torch.stack([weight[0].flatten(), weight[2].flatten(), weight[0].roll(1, 1).flatten()])
    assert torch.corrcoef(pairs).triu(1).abs().max() < 0.04  # neither network nor neighbour tells a weight
    other = renewed(parameters, which, torch.tensor([0.26, 0.5, 0.25]))
    assert (
        abs(torch.corrcoef(torch.stack([other["weights.0"][0].flatten(), weight[0].flatten()]))[0, 1]) < 0.04
    )
    assert torch.equal(other["weights.0"][2], weight[2])

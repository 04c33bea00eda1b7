"""Attribute decomposition: numbers by hand, one attribute is the plain method, and partly known rows."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

import evenhand
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods import METHODS, Problem, method_of
from evenhand.methods.decomposed import IndependentByAttribute, WeightedERMByAttribute
from evenhand.methods.decomposed_discriminative import DiscriminativeByAttribute
from evenhand.methods.decomposed_dro import GroupDROByAttribute
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.irm_forms import IRMByAttribute, UniformIRM
from evenhand.methods.nets import Nets
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.records import Batch
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.sampler import sampler_of
from evenhand.train.streams import Streams
from evenhand.train.trainer import Trainer

PAIRS = {
    "w-erm-ad": "w-erm", "ind-ad": "ind", "gdro-ad": "gdro", "irm-ad": "irm", "disc-ad": "disc",
    "a-cens-ad": "a-cens", "ind-ad-kd": "ind-kd",
}  # fmt: skip
SHIFTED = {"disc-ad": {"inference": "sum-prob-shift"}, "gdro-ad": {"by": "group", "eta": 0.5}}


def nets_of(logits, sizes) -> Nets:
    return Nets({"model": lambda x: (logits, None)}, sizes)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def people() -> Problem:
    """Spec D2: 10 rows, (M,Y) 5, (M,O) 3, (F,Y) 0, (F,O) 2."""
    a = torch.tensor([[0, 0]] * 5 + [[0, 1]] * 3 + [[1, 1]] * 2)
    return Problem.from_labels([0, 1] * 5, a[:, 0] * 2 + a[:, 1], a, n_groups=4)


def test_the_weights_of_spec_d2_are_products(people, tools) -> None:
    method = WeightedERMByAttribute(by="group", normalise=False)
    rows = Batch(people.y, people.y, people.g, people.a)
    weights, _ = method.weights(rows, method.init(people), people.sizes)
    assert weights[[0, 9], 0].tolist() == [2.5, 10.0]
    unseen = Batch(torch.zeros(1), torch.tensor([0]), torch.tensor([2]), torch.tensor([[1, 0]]))  # (F, Y)
    assert method.weights(unseen, method.init(people), people.sizes)[0].tolist() == [[10.0]]


@pytest.mark.parametrize("key", [*PAIRS, "irm-uniform"])
def test_what_the_key_says_is_no_choice(key) -> None:
    plain = {item.name for item in fields(METHODS[PAIRS.get(key, "irm")])}
    own = {item.name for item in fields(METHODS[key])}
    assert own <= plain
    assert not own & {"decompose", "uniform"}
    with pytest.raises(InputError, match="has no field"):
        method_of(key, decompose=False)
    assert replace(METHODS[key]()) == METHODS[key]()


def one_attribute(kind: str) -> Task:
    """Some groups unknown; a third of the rows has no second level, which is left to be rare."""
    options = {"binary": {}, "classes": {"classes": 3}, "labels": {"labels": 3}}[kind]
    return evenhand.load(
        "synthetic", n_train=150, n_validation=10, n_test=20, attributes=1, scarcity=0.3, seed=4, **options
    )


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", PAIRS)
def test_with_one_attribute_it_is_the_plain_method_to_the_bit(key, kind) -> None:
    """Two epochs through the trainer, in float64: the same numbers of every network, and the same scores."""
    task, found = one_attribute(kind), []
    values = {} if kind == "labels" and key == "disc-ad" else SHIFTED.get(key, {})
    recipe = Recipe(epochs=2, batch_size=32, precision="float64", rate=0.01)
    for name in (key, PAIRS[key]):
        method, net = method_of(name, **values), NetSpec("mlp", widths=(8,), dropout=0.2)
        found.append(Trainer([Run(method, 5)], [task], net, recipe, protect=["a0"], stacked=False).fit())
    one, other = (trainer.stack.parameters for trainer in found)
    assert one.keys() == other.keys()
    for network, numbers in one.items():
        for name, value in numbers.items():
            assert torch.equal(value, other[network][name]), f"{network}.{name}"
    assert torch.equal(*(trainer.scores(trainer.train) for trainer in found))


def test_seven_binary_attributes_have_14_heads_and_14_weights() -> None:
    codes = torch.arange(128)
    a = torch.stack([codes // 2**place % 2 for place in range(7)], dim=1)
    many = Problem.from_labels(codes % 2, codes, a)
    assert METHODS["ind-ad"]().outputs(many) == 14 * 2
    assert METHODS["ind"]().outputs(many) == 128 * 2
    assert METHODS["ind-ad-kd"]().siblings(many) == {"teacher": 28}
    assert METHODS["disc-ad"]().outputs(many) == 14 * 2
    assert METHODS["gdro-ad"](by="group").init(many)["q"].tolist() == [0.5] * 14
    assert METHODS["w-erm-ad"](by="group").init(many)["table"].shape == (7, 1, 1, 2)
    assert len(METHODS["a-cens-ad"]().extra(many, 4)["adversary"].heads) == 7


def test_dro_steps_q_within_each_attribute_spec_d3() -> None:
    """D3's numbers for the first attribute; the second has three values, one absent from the batch."""
    a = torch.tensor([[0, 0], [1, 1], [0, 2]])
    problem = Problem.from_labels([0, 1, 0], torch.tensor([0, 4, 2]), a)
    method = GroupDROByAttribute(eta=0.1, by="group")
    state = {name: value.double() for name, value in method.init(problem).items()}
    losses = torch.tensor([1.0, 2.0], dtype=torch.float64)
    logits = torch.stack([torch.zeros(2).double(), (losses.exp() - 1).log()], 1)  # cross-entropy of class 0
    batch = Batch(torch.zeros(2, 1), torch.tensor([0, 0]), torch.tensor([0, 4]), a[:2])
    assert torch.allclose(row_losses(logits, batch.y), losses)
    out = method.loss(nets_of(logits, problem.sizes), batch, state)
    assert out.state["q"][:2].tolist() == pytest.approx([0.47502, 0.52498], abs=1e-5)
    raised = torch.tensor([0.1, 0.2, 0.0], dtype=torch.float64).exp()
    second = raised / raised.sum()
    torch.testing.assert_close(out.state["q"][2:], second)
    by_hand = (1.5249792 + float(second[0] + 2 * second[1])) / 2
    assert float(out.losses["model"]) == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("by", ["group", "label-group"])
def test_dro_draws_every_value_of_every_attribute_equally_often(by) -> None:
    a = torch.tensor([[0, 0]] * 6 + [[0, 1]] * 3 + [[1, -1]] + [[-1, -1]] * 2)
    y = torch.tensor([0, 1] * 6)
    problem = Problem.from_labels(y, torch.where((a < 0).any(1), -1, a[:, 0] * 2 + a[:, 1]), a, n_groups=4)
    weights = GroupDROByAttribute(by=by).sampling(problem, 0).weights
    expected = torch.zeros(12, dtype=torch.float64)
    for column in a.T:
        for row in range(12):
            alike = (column == column[row]) & ((y == y[row]) | (by == "group"))
            expected[row] += 1 / int(alike.sum()) if column[row] >= 0 else 0
    torch.testing.assert_close(weights, expected)
    assert GroupDROByAttribute(balanced=False).sampling(problem, 0).rows.tolist() == list(range(10))
    assert GroupDRO(balanced=False).sampling(problem, 0).rows.tolist() == list(range(9))


def test_environments_of_irm_are_values(tools) -> None:
    """The mean risk and penalty over the five values, each computed on its own rows alone."""
    problem = tools.problem(n_classes=3, seed=2)
    logits = drawn(len(problem), 3)
    batch = Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)
    out = IRMByAttribute(lam=2.0, form="squared").loss(nets_of(logits, problem.sizes), batch, {})
    risks, penalties = [], []
    for column, n in zip(problem.a.T, (2, 3), strict=True):
        for value in range(n):
            rows = column == value
            scale = torch.ones((), dtype=torch.float64, requires_grad=True)
            risk = torch.nn.functional.cross_entropy(scale * logits[rows], problem.y[rows])
            risks.append(risk.detach())
            penalties.append(torch.autograd.grad(risk, scale)[0].square())
    expected = torch.stack(risks).mean() + 2 * torch.stack(penalties).mean()
    torch.testing.assert_close(out.losses["model"], expected, atol=1e-12, rtol=0)
    known = (problem.a >= 0).any(1)
    assert IRMByAttribute().sampling(problem, 0).rows.tolist() == known.nonzero()[:, 0].tolist()


def test_uniform_irm_has_16_groups_in_a_batch_equally_often() -> None:
    g = torch.arange(64).repeat_interleave(torch.arange(64) % 5 + 1)  # one to five rows each
    problem = Problem.from_labels(torch.arange(len(g)) % 2, g)
    sampling = UniformIRM().sampling(problem, 0)
    sampler = sampler_of([sampling], len(g), 64, Streams([0]))
    seen = torch.zeros(64)
    for step in range(400):
        counts = torch.bincount(g[sampler.rows(0, step)[0]], minlength=64)
        assert sorted(counts[counts > 0].tolist()) == [4] * 16
        seen += counts > 0
    assert 60 < seen.min() <= seen.max() < 145  # 100 on average, 8.7 the deviation: five of them


def test_heads_of_pairs_are_told_apart_by_attribute_and_summed(tools) -> None:
    problem = tools.problem(n_classes=3, seed=5)
    logits = drawn(len(problem), 15)
    batch = Batch(torch.zeros(len(problem), 1), problem.y, problem.g, problem.a)
    method = DiscriminativeByAttribute()
    out = method.loss(nets_of(logits, problem.sizes), batch, {})
    expected, scores = torch.zeros(()).double(), torch.zeros(len(problem), 3).double()
    for column, part in zip(problem.a.T, (logits[:, :6], logits[:, 6:]), strict=True):
        known = column >= 0
        pairs = (column * 3 + problem.y)[known]
        expected = expected + torch.nn.functional.cross_entropy(part[known], pairs)
        scores += part.softmax(-1).view(len(problem), -1, 3).sum(1) / 2
    torch.testing.assert_close(out.losses["model"], expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(method.predict(nets_of(logits, problem.sizes), batch, {}), scores)


@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize("rule", ["sum-logit", "sum-prob"])
def test_heads_by_value_are_summed_over_all_that_were_trained(tools, labels, rule) -> None:
    problem = tools.problem(seed=1, labels=labels)
    problem = replace(problem, a=torch.where(problem.a == 2, -1, problem.a))  # no row has the last value
    width = labels or 2
    logits = drawn(len(problem), 5 * width)
    batch = Batch(torch.zeros(len(problem), 1), problem.y, torch.full_like(problem.g, -1))
    method = IndependentByAttribute(rule)
    scores = method.predict(nets_of(logits, problem.sizes), batch, method.init(problem))
    heads = logits.view(len(problem), 5, width)[:, :4]
    link = torch.sigmoid if labels else lambda z: z.softmax(-1)
    expected = link(heads.mean(1)) if rule == "sum-logit" else link(heads).mean(1)
    torch.testing.assert_close(scores, expected)


@pytest.mark.parametrize("shape", [{"n_classes": 2}, {"n_classes": 3}, {"labels": 3}])
@pytest.mark.parametrize(
    "method",
    [
        WeightedERMByAttribute(), WeightedERMByAttribute(by="group", unknown="keep"), GroupDROByAttribute(),
        GroupDROByAttribute(by="group", adjustment=1.0),
        IRMByAttribute(), IRMByAttribute(form="squared"), UniformIRM(), DiscriminativeByAttribute(),
    ],
    ids=repr,
)  # fmt: skip
def test_stacked_equals_single_with_attributes_partly_known(tools, method, shape) -> None:
    values = {name: [0.1, 0.5, 1.0] for name in ("eta", "lam") if hasattr(method, name)}
    tools.assert_stacks(method, tools.problem(**shape), values)


@pytest.mark.parametrize("kind", ["binary", "labels"])
@pytest.mark.parametrize("key", [*PAIRS, "irm-uniform", "ind-kd", "w-sqrt-erm-kd"])
def test_with_one_group_label_in_twenty_training_is_finite(key, kind) -> None:
    """95 % of the rows of unknown group: the batches of most methods are made of the rest."""
    options = {} if kind == "binary" else {"labels": 3}
    task = evenhand.load(
        "synthetic", n_train=400, n_validation=20, n_test=40, attributes=2, scarcity=0.95, seed=2, **options
    )
    recipe = Recipe(epochs=1, batch_size=32)
    runs = [Run(METHODS[key](), seed) for seed in (0, 1)]
    trainer = Trainer(runs, [task], NetSpec("mlp", widths=(8,)), recipe, protect=["a0", "a1"]).fit()
    known = int((trainer.train.problems[0].g >= 0).sum())
    assert known < 40
    scores = trainer.scores(trainer.train)
    assert torch.isfinite(scores).all()
    assert all(torch.isfinite(v).all() for net in trainer.stack.parameters.values() for v in net.values())


@pytest.mark.parametrize("key", ["gdro-ad", "irm-ad", "disc-ad", "ind-ad", "a-cens-ad", "w-erm-ad"])
def test_a_batch_without_attributes_is_told(key, tools) -> None:
    problem = tools.problem()
    method = METHODS[key]()
    batch = tools.batch(problem, torch.arange(6), 0)._replace(a=None)
    logits = drawn(6, method.outputs(problem))
    nets = Nets(
        {"model": lambda x: (logits, logits), **method.extra(problem, logits.shape[1])}, problem.sizes
    )
    with pytest.raises(InputError, match=r"Batch\(a|the batch's 'a'"):
        method.loss(nets, batch, method.init(problem))
    bare = Problem(problem.sizes._replace(n_levels=()), problem.y, problem.g, problem.a[:, :0])
    with pytest.raises(InputError, match="name at least one"):
        method.check(bare)

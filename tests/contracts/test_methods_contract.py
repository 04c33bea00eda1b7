"""What every registered method owes: rules R1 to R7, one result alone and in a stack, its own target moved.

A new method is tested by being registered. It must also say here what it is meant to move (TARGETS) and, if
it has one, at which value it does nothing (NEUTRAL).
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

import evenhand
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.methods import METHODS, Batch, Nets, Problem
from evenhand.nets import NetSpec
from evenhand.records import Needs
from evenhand.train.building import networks_of
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import SWITCH, Recorded
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

KEYS = sorted(METHODS)

# method: fields at which its loss is ERM's, exactly
NEUTRAL = {
    "erm": {},
    "gap": {"lam": 0.0},
    "fairalm": {"eta": 0.0, "inner_steps": 1},
    "jtt": {"lambda_up": 1.0},
    "a-cens": {"alpha": 0.0},
    "advdebias": {"alpha": 0.0, "form": "reversal"},
    "grl": {"lam": 0.0, "width": 16},
    "laftr-dp": {"gamma": 0.0},
    "laftr-eqodd": {"gamma": 0.0},
    "laftr-eqopp0": {"gamma": 0.0},
    "laftr-eqopp1": {"gamma": 0.0},
    "cfair-eo": {"gamma": 0.0},
    "cuma": {"alpha": 0.0, "gamma": 0.0},
    "sd": {"lam": 0.0, "form": "simple"},
    "a-cens-ad": {"alpha": 0.0},
    "ind-kd": {"lam": 0.0},
    "ind-ad-kd": {"lam": 0.0},
    "kd": {"gamma": 1.0, "alpha": 0.0},
    **{key: {"beta": 0.0} for key in ("at", "pkt", "sp", "fsp")},
    **{key: {"beta": 0.0, "alpha": 0.0} for key in ("at-kd", "pkt-kd", "sp-kd", "fsp-kd")},
}
# weights, heads and environments: no value of a field turns these into the mean over all rows
WITHOUT_NEUTRAL = {
    "w-erm",
    "w-sqrt-erm",
    "erm-posneg",
    "resample",
    "resample-posneg",
    "grl-conv",
    "gdro",
    "irm",
    "ind",
    "disc",
    "disc-rba",
    "cfair",
    "ffvae",
    "nifr",
    "gradproj",
    "w-erm-ad",
    "w-sqrt-erm-kd",
    "gdro-ad",
    "irm-uniform",
    "irm-ad",
    "ind-ad",
    "disc-ad",
}

# method: fields, what it is meant to move, and which way
TARGETS = {
    "erm": ({}, "nothing", 0),
    "w-erm": ({}, "tpr gap", -1),
    "w-sqrt-erm": ({}, "tpr gap", -1),
    "resample": ({}, "tpr gap", -1),
    "resample-posneg": ({}, "tpr gap", -1),
    "erm-posneg": ({}, "positives", +1),  # of which training has fewer
    "gdro": ({"eta": 0.1}, "worst cell", +1),
    "irm": ({"lam": 100.0}, "slope", -1),
    "sd": ({"form": "simple", "lam": 1.0}, "logit size", -1),
    "jtt": ({"lambda_up": 5.0}, "worst cell", +1),
    "ind": ({}, "tpr gap", -1),
    "disc": ({"inference": "sum-prob-shift"}, "tpr gap", -1),
    "disc-rba": ({"rate": 0.1}, "parity gap", -1),
    "gap": ({"target": "parity", "lam": 3.0}, "parity gap", -1),
    "fairalm": ({"eta": 2.0}, "tpr gap", -1),
    "a-cens": ({"alpha": 10.0}, "parity gap", -1),
    "grl": ({"depth": 1, "width": 32}, "tpr gap", -1),
    "grl-conv": ({"rate_share": 1.0, "head_epochs": 1, "width": 32}, "tpr gap", -1),
    "gradproj": ({"alpha": 0.03}, "tpr gap", -1),
    "advdebias": ({"alpha": 3.0, "form": "reversal"}, "tpr gap", -1),
    "laftr-dp": ({"gamma": 0.4}, "parity gap", -1),
    "laftr-eqodd": ({"gamma": 1.0}, "tpr gap", -1),
    "laftr-eqopp0": ({"gamma": 0.3}, "fpr gap", -1),
    "laftr-eqopp1": ({"gamma": 2.0}, "tpr gap", -1),
    "cfair": ({"gamma": 1.0}, "tpr gap", -1),
    "cfair-eo": ({"gamma": 1.0}, "tpr gap", -1),
    "nifr": ({"weight": 0.1, "blocks": 2, "width": 16, "critic": 16, "flow_epochs": 6}, "parity gap", -1),
    "ffvae": ({"represent_epochs": 12, "gamma": 3.0, "latent": 4}, "tpr gap", -1),
    "cuma": ({"gamma": 30.0}, "delta er", -1),
    "w-erm-ad": ({}, "tpr gap", -1),
    "w-sqrt-erm-kd": ({}, "tpr gap", -1),
    "gdro-ad": ({"eta": 0.1}, "worst cell", +1),
    "irm-uniform": ({"lam": 30.0, "form": "squared"}, "slope", -1),
    "irm-ad": ({"lam": 100.0}, "slope", -1),
    "ind-ad": ({}, "tpr gap", -1),
    "ind-kd": ({}, "divergence", -1),
    "ind-ad-kd": ({}, "divergence", -1),
    "disc-ad": ({"inference": "sum-prob-shift"}, "tpr gap", -1),
    "a-cens-ad": ({"alpha": 10.0}, "parity gap", -1),
    "kd": ({"gamma": 1.0, "alpha": 10.0}, "divergence", -1),
    **{key: ({}, "features", -1) for key in ("at", "pkt", "sp", "fsp", "at-kd", "pkt-kd", "sp-kd", "fsp-kd")},
}
# method: fields of what it is compared with instead of ERM, itself without the part that moves the target
TWINS = {
    "cuma": {"gamma": 0.0},
    "ind-kd": {"lam": 0.0},
    "ind-ad-kd": {"lam": 0.0},
    **{key: {"alpha": 0.0} for key in ("kd",)},
    **{key: {"beta": 0.0} for key in ("at", "pkt", "sp", "fsp", "at-kd", "pkt-kd", "sp-kd", "fsp-kd")},
}


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny products: two threads that wait for each other take longer than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    """Two classes, four, and three labels at once; in each some groups are unknown."""
    return {
        "binary": evenhand.load(
            "synthetic", n_train=312, n_test=200, n_validation=100, attributes=2, scarcity=0.2, seed=1
        ),
        "classes": evenhand.load(
            "synthetic",
            n_train=312,
            n_test=200,
            n_validation=100,
            attributes=2,
            classes=4,
            scarcity=0.2,
            seed=1,
        ),
        "labels": evenhand.load(
            "synthetic",
            n_train=312,
            n_test=200,
            n_validation=100,
            attributes=2,
            labels=3,
            scarcity=0.2,
            seed=1,
        ),
    }


def serves(key: str, task: Task) -> bool:
    """Whether a method takes a task: it may be for one label a row, or for two classes."""
    needs, binary = METHODS[key].needs, not task.multi_label and task.n_classes == 2
    seen = len(task.input_shape) == 3 or not needs.maps
    return seen and not (needs.single_label and task.multi_label) and (binary or not needs.binary)


def seen_by(key: str, task: Task) -> Task:
    """The task itself, or pictures that mix its columns for a method that compares feature maps."""
    if not METHODS[key].needs.maps:
        return task
    mixing = torch.randn(task.x.shape[1], 64, generator=torch.Generator().manual_seed(0))
    return replace(task, x=(task.x @ mixing / 3).view(-1, 1, 8, 8), columns=())


def net_for(key: str, **options) -> NetSpec:
    """A perceptron, or a network with maps for a method that compares them."""
    return NetSpec("convnet", widths=(12, 12)) if METHODS[key].needs.maps else NetSpec("mlp", **options)


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
def test_what_cannot_be_served_is_refused_by_name(key, kind, tasks):
    problem = Problem.of(tasks[kind], protect_of(tasks[kind]))
    if serves(key, tasks[kind]):
        METHODS[key]().check(problem)
    else:
        with pytest.raises(InputError, match=key):
            METHODS[key]().check(problem)


def protect_of(task: Task) -> list[str]:
    return [attribute.name for attribute in task.attributes][:2]


def brief(key: str):
    """The method with short first phases: as many epochs as all others train in all."""
    method = METHODS[key]()
    return replace(method, **{item.name: 2 for item in fields(method) if item.name.endswith("_epochs")})


def trainer(key: str, task: Task, seeds, numbers, stacked: bool) -> Trainer:
    base = brief(key)
    searched = [item.name for item in fields(base) if item.metadata.get("search")]
    methods = [replace(base, **{name: getattr(base, name) * f for name in searched}) for f in numbers]
    runs = [Run(method, seed) for method, seed in zip(methods, seeds, strict=True)]
    recipe = Recipe(epochs=2, batch_size=32, precision="float64", rate=0.01, weight_decay=1e-3, clip=2.0)
    net = net_for(key, widths=(12, 8), dropout=0.2)
    return Trainer(runs, [task], net, recipe, protect=protect_of(task), stacked=stacked).fit()


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
def test_a_stack_equals_its_runs_one_by_one(key, kind, tasks):
    task = seen_by(key, tasks[kind])
    if not serves(key, task):
        pytest.skip("is not meant for such a task")
    if not METHODS[key].needs.stackable:
        pytest.skip("says of itself that it cannot be stacked")
    seeds, numbers = (3, 4, 9), (1.0, 0.5, 1.7)  # each run has its own seed and its own numbers
    stack = trainer(key, task, seeds, numbers, stacked=True)
    assert stack.stack.stacked
    for place, (seed, number) in enumerate(zip(seeds, numbers, strict=True)):
        single = trainer(key, task, [seed], [number], stacked=False)
        for network, values in single.stack.parameters.items():
            for name, value in values.items():
                apart = (stack.stack.parameters[network][name][place] - value).abs().max().item()
                assert apart <= 1e-10, f"{network}.{name} differs by {apart}"
        for name, value in single.state.items():
            assert torch.allclose(stack.state[name][place].double(), value.double(), atol=1e-10, rtol=0)
        one, many = single.scores(single.train)[0], stack.scores(stack.train)[place]
        assert (one - many).abs().max().item() <= 1e-10


@pytest.mark.gpu
@pytest.mark.parametrize("stacked", [False, True], ids=["alone", "stacked"])
@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
def test_recorded_steps_end_where_plain_ones_do(key, kind, stacked, tasks, monkeypatch):
    task = seen_by(key, tasks[kind])
    if not serves(key, task):
        pytest.skip("is not meant for such a task")
    if stacked and not METHODS[key].needs.stackable:
        pytest.skip("says of itself that it cannot be stacked")
    made: list[Recorded] = []
    begin = Recorded.__init__
    monkeypatch.setattr(Recorded, "__init__", lambda own, *a, **k: made.append(own) or begin(own, *a, **k))
    ends = []
    for switch in ("0", "1"):
        monkeypatch.setenv(SWITCH, switch)
        runs = [Run(brief(key), seed) for seed in ((3, 4) if stacked else (3,))]
        recipe = Recipe(epochs=3, batch_size=16, precision="float64", rate=0.01, compile=False)
        net = net_for(key, widths=(12, 8), dropout=0.2)
        ends.append(Trainer(runs, [task], net, recipe, protect=protect_of(task), device="cuda").fit())
        assert bool(made) is (switch == "1")
    assert [own.refused for own in made if own.refused] == []
    assert any(own.replays for own in made)
    for network, values in ends[0].stack.parameters.items():
        for name, value in values.items():
            apart = (ends[1].stack.parameters[network][name] - value).abs().max().item()
            assert apart <= 1e-9, f"{network}.{name} differs by {apart}"


def batch_of(
    task: Task, method, rows: torch.Tensor, groups: torch.Tensor | None = None
) -> tuple[Problem, Batch]:
    problem = Problem.of(task, protect_of(task))
    g = problem.g[rows] if groups is None else groups
    a = problem.a[rows] if groups is None else torch.full_like(problem.a[rows], -1)
    x = task.x[task.rows("train")][rows].double()
    y = problem.y[rows]
    return problem, Batch(x, y, g, a, rows)


def nets_for(method, problem: Problem) -> tuple[Nets, torch.nn.Module]:
    torch.manual_seed(0)
    made = networks_of(net_for(method.key, widths=(6,)), method, problem)
    networks = {name: module.double() for name, module in made.items()}
    return Nets(networks, problem.sizes, phase=method.phases()[-1].name), networks["model"]


def doubled(state):
    return {key: value.double() if value.is_floating_point() else value for key, value in state.items()}


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("lacking", ["nothing", "one group", "all groups but one", "every group known"])
def test_the_loss_is_finite_whatever_a_batch_lacks(key, kind, lacking, tasks):
    task, method = seen_by(key, tasks[kind]), METHODS[key]()
    if not serves(key, task):
        pytest.skip("is not meant for such a task")
    problem = Problem.of(task, protect_of(task))
    everyone = torch.arange(len(problem))
    rows = {
        "nothing": everyone[:48],
        "one group": everyone[problem.g != 0][:32],
        "all groups but one": everyone[problem.g == 1][:16],
        "every group known": everyone[:24],
    }[lacking]
    unknown = torch.full((len(rows),), -1) if lacking == "every group known" else None  # none of them is
    problem, batch = batch_of(task, method, rows, unknown)
    nets, net = nets_for(method, problem)
    out = method.loss(nets, batch, doubled(method.init(problem)))
    for player, loss in out.losses.items():
        assert loss.ndim == 0
        assert torch.isfinite(loss), f"{player}: {loss}"
        grads = torch.autograd.grad(loss, list(net.parameters()), allow_unused=True, retain_graph=True)
        assert all(torch.isfinite(grad).all() for grad in grads if grad is not None)
    assert all(torch.isfinite(value).all() for value in out.state.values() if value.is_floating_point())


@pytest.mark.parametrize("key", KEYS)
def test_nothing_that_comes_in_is_changed(key, tasks):
    task, method = seen_by(key, tasks["binary"]), METHODS[key]()
    problem, batch = batch_of(task, method, torch.arange(40))
    nets, _ = nets_for(method, problem)
    state = doubled(method.init(problem))
    before = [value.clone() for value in (*batch[:5], *state.values())]
    seen = replace(method)
    first = method.loss(nets, batch, state)
    again = method.loss(nets, batch, state)
    scores = method.predict(nets, batch, state)
    after = [*batch[:5], *state.values()]
    assert all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    assert method == seen
    assert all(torch.equal(first.losses[player], again.losses[player]) for player in first.losses)
    assert set(first.state) == set(state), "a state must keep its names"
    assert all(first.state[name].shape == state[name].shape for name in state)
    assert torch.isfinite(scores).all()


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
def test_scores_are_probabilities(key, kind, tasks):
    task, method = seen_by(key, tasks[kind]), METHODS[key]()
    if not serves(key, task):
        pytest.skip("is not meant for such a task")
    problem, batch = batch_of(task, method, torch.arange(60))
    nets, _ = nets_for(method, problem)
    scores = method.predict(
        nets, batch._replace(g=torch.full_like(batch.g, -1)), doubled(method.init(problem))
    )
    assert scores.shape == (60, task.n_classes)
    assert ((scores >= 0) & (scores <= 1)).all()
    if not task.multi_label:
        assert torch.allclose(scores.sum(1), torch.ones(60, dtype=scores.dtype))


@pytest.mark.parametrize("kind", ["binary", "classes", "labels"])
@pytest.mark.parametrize("key", KEYS)
def test_rows_of_unknown_group_are_settled_as_each_is_predicted(key, kind, tasks):
    task, method = seen_by(key, tasks[kind]), METHODS[key]()
    if not serves(key, task):
        pytest.skip("is not meant for such a task")
    problem, batch = batch_of(task, method, torch.arange(60), torch.full((60,), -1))
    nets, _ = nets_for(method, problem)
    state = doubled(method.init(problem))
    evidence = method.evidence(nets, batch, state)
    before = evidence.clone()
    settled = method.settle(evidence, batch.g, problem.sizes)
    torch.testing.assert_close(settled, method.predict(nets, batch, state), atol=1e-12, rtol=0)
    assert torch.equal(before, evidence)


@pytest.mark.parametrize("key", KEYS)
def test_what_is_trained_in_a_methods_place_has_its_networks_rows_and_losses(key, tasks):
    """Bit for bit after two epochs; what it trains as trains as itself."""
    task, method = seen_by(key, tasks["binary"]), METHODS[key]()
    trained = method.trains_as()
    assert trained.trains_as() == trained
    if trained == method:
        return
    found = [
        Trainer(
            [Run(each, 5)], [task], NetSpec("mlp", widths=(8,)), Recipe(epochs=2, batch_size=64),
            protect=protect_of(task),
        ).fit()
        for each in (method, trained)
    ]  # fmt: skip
    one, other = (each.stack.parameters["model"] for each in found)
    assert set(one) == set(other)
    assert all(torch.equal(one[name], other[name]) for name in other)


@pytest.mark.parametrize("key", [key for key in KEYS if METHODS[key]().first_as()])
def test_what_is_trained_first_is_the_method_s_first_phase(key, tasks):
    """To the bit: with dropout, and with networks that begin alike."""
    task, method = seen_by(key, tasks["binary"]), brief(key)
    net, recipe = net_for(key, widths=(8,), dropout=0.2), Recipe(epochs=2)
    first, whole = (
        Trainer([Run(each, 5)], [task], net, recipe, protect=["a0"]) for each in (method.first_as(), method)
    )
    assert first.phases == whole.phases[:1]
    assert set(first.stack.parameters) <= set(whole.stack.parameters)
    first.fit()
    whole.fit()
    moving = [who for phase in whole.phases[1:] for turn in phase.turns for who in turn]
    later = {name for who in moving for name in method.players()[who]}
    resting = set(first.stack.parameters) - later
    assert resting
    for name in resting:
        one, other = (each.stack.parameters[name] for each in (first, whole))
        assert all(torch.equal(one[part], other[part]) for part in one)


@pytest.mark.parametrize("key", [key for key in KEYS if METHODS[key]().whole_as()])
def test_what_a_method_is_as_a_whole_trains_another_network_to_the_same_bits(key, tasks):
    """The same batches and losses, epoch by epoch."""
    task, method = seen_by(key, tasks["binary"]), METHODS[key]()
    other, network = method.whole_as()
    own, whole = (
        Trainer([Run(each, 5)], [task], net_for(key, widths=(8,)), Recipe(epochs=2), protect=["a0"]).fit()
        for each in (method, other)
    )
    assert [entry["train"] for entry in own.history] == [entry["train"] for entry in whole.history]
    for name, value in own.stack.parameters["model"].items():
        assert torch.equal(value, whole.stack.parameters[network][name])


def test_every_method_says_where_it_does_nothing_and_what_it_moves():
    assert set(NEUTRAL) | WITHOUT_NEUTRAL == set(METHODS)
    assert not set(NEUTRAL) & WITHOUT_NEUTRAL
    assert set(TARGETS) == set(METHODS)


@pytest.mark.parametrize("key", sorted(NEUTRAL))
def test_at_its_neutral_value_a_method_is_erm_exactly(key, tasks):
    """Through the trainer: the same parameters to the last bit after two epochs (of JTT's second phase)."""
    task, neutral = seen_by(key, tasks["binary"]), replace(METHODS[key](), **NEUTRAL[key])
    recipe = Recipe(epochs=2, batch_size=64)

    def parameters(method, phase_only: bool = False):
        found = Trainer(
            [Run(method, 5)], [task], NetSpec("mlp", widths=(8,)), recipe, protect=protect_of(task)
        )
        return found.fit().stack.parameters["model"]

    if len(neutral.phases()) > 1:  # a fresh network and later batches: compare the losses instead
        problem, batch = batch_of(task, neutral, torch.arange(50))
        nets, _ = nets_for(neutral, problem)
        state = doubled(neutral.init(problem))
        erm = METHODS["erm"]().loss(nets, batch, {}).losses["model"]
        assert torch.equal(neutral.loss(nets, batch, state).losses["model"], erm)
        return
    one, other = parameters(neutral), parameters(METHODS["erm"]())
    if neutral.outputs(Problem.of(task, protect_of(task))) != 2:
        pytest.fail("compare with ERM needs as many outputs as ERM has")
    assert all(torch.equal(one[name], other[name]) for name in other)


@pytest.mark.parametrize("key", KEYS)
def test_what_a_method_says_of_itself_is_complete(key):
    kind = METHODS[key]
    assert kind.key == key
    assert kind.title
    assert kind.citation
    assert isinstance(kind.needs, Needs)
    assert "Objective" in (kind.__doc__ or ""), "a docstring with the objective as a formula"
    for item in fields(kind):
        assert item.metadata.get("about"), f"{item.name} does not say what it is"
    phases = kind().phases()
    assert len({phase.name for phase in phases}) == len(phases)
    moved = {player for phase in phases for turn in phase.turns for player in turn}
    assert moved <= set(kind().players())


@pytest.mark.parametrize("key", [key for key in KEYS if METHODS[key].needs.groups])
def test_a_method_that_needs_groups_refuses_a_task_without(key, tasks):
    unknown = Attribute("a0", ("0", "1"), np.full(len(tasks["binary"]), -1))
    task = replace(tasks["binary"], attributes=(unknown,))
    with pytest.raises(InputError, match="groups"):
        Trainer([Run(METHODS[key]())], [task], NetSpec("mlp"), Recipe(), protect=["a0"])


SEEDS = range(10)


@pytest.fixture(scope="module")
def skewed() -> Task:
    """The label goes with the group in training and does not in the test: a real gap, which can be closed."""
    return evenhand.load("synthetic", seed=7)


@pytest.fixture(scope="module")
def baseline(skewed):
    return evenhand.fit("mlp", "erm", skewed, seeds=SEEDS, epochs=8, batch_size=128)


def measured(fitted, what: str) -> np.ndarray:
    """The target of each run: a penalty's on rows like those it was paid on, all others' on the test rows."""
    task = fitted.tasks[0]
    if what in ("divergence", "features"):  # of the student from its teacher, in the last epoch
        return np.concatenate([stack["epochs"][-1][f"method.{what}"] for stack in fitted.history])
    if what == "delta er":
        return np.asarray(evenhand.equalized_robustness(fitted, protect=protect_of(task)[:1]).values)
    rows = task.rows("validation" if what == "parity gap" else "test")
    y, g = np.asarray(task.y[rows]), task.groups(protect_of(task)[:1]).ids[np.asarray(rows)]
    scores = fitted.scores_of_runs(task.x[rows], g)  # seen by those alone that need groups at test
    guess = scores.argmax(-1)
    z = np.log(scores[..., 1]) - np.log(scores[..., 0])
    if what == "positives":
        return guess.mean(1)
    if what in ("tpr gap", "fpr gap"):
        rates = [guess[:, (g == k) & (y == (what == "tpr gap"))].mean(1) for k in (0, 1)]
        return np.abs(rates[0] - rates[1])
    if what == "parity gap":
        rates = [guess[:, g == k].mean(1) for k in (0, 1)]
        return np.abs(rates[0] - rates[1])
    if what == "worst cell":
        cells = [(g == k) & (y == c) for k in (0, 1) for c in (0, 1)]
        return np.min([(guess[:, cell] == y[cell]).mean(1) for cell in cells], axis=0)
    if what == "logit size":
        return (z**2).mean(1)
    slopes = [(z * (1 / (1 + np.exp(-z)) - y))[:, g == k].mean(1) for k in (0, 1)]  # IRM's derivative
    return np.mean(np.square(slopes), axis=0)


@pytest.mark.parametrize("key", [key for key in KEYS if key != "erm"])
def test_a_method_moves_its_own_target_the_right_way(key, skewed, baseline):
    values, what, way = TARGETS[key]
    method, net, task, recipe = replace(METHODS[key](), **values), "mlp", skewed, {"epochs": 8}
    if what == "features":  # a few rows tell how far apart they are
        few = evenhand.load("synthetic", n_train=600, n_validation=20, n_test=20, seed=7)
        net, task, recipe = net_for(key), seen_by(key, few), {"epochs": 2}
    fitted = evenhand.fit(net, method, task, seeds=SEEDS, batch_size=128, **recipe)
    base = baseline
    if key in TWINS:
        twin = replace(method, **TWINS[key])
        base = evenhand.fit(net, twin, task, seeds=SEEDS, batch_size=128, **recipe)
    moved = way * (measured(fitted, what) - measured(base, what))
    assert (moved > 0).sum() >= 9, f"{what} moved by {np.round(way * moved, 4)}"

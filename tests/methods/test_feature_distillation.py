"""Distillation from a teacher of the model's own kind: who learns what from whom, points, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.methods import METHODS, Batch, Nets, Problem, method_of
from evenhand.methods.distillation_terms import divergences
from evenhand.methods.taught import Teacher
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.nets.resnet import CifarResNet
from evenhand.nets.wrap import as_net
from evenhand.train.own_net import OwnNet
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

KEYS = ("kd", "at", "pkt", "sp", "fsp", "at-kd", "pkt-kd", "sp-kd", "fsp-kd")
NET = NetSpec("convnet", widths=(4, 6, 6))


@pytest.fixture(scope="module")
def task():
    """Pictures of 8 by 8 that mix the synthetic columns; four classes."""
    made = evenhand.load("synthetic", n_train=96, n_validation=40, n_test=40, classes=4, seed=1)
    mixing = torch.randn(made.x.shape[1], 64, generator=torch.Generator().manual_seed(0))
    return replace(made, x=(made.x @ mixing / 3).view(-1, 1, 8, 8), columns=())


def trained(task, *methods, net=NET, stacked=None, seeds=(3,), **recipe) -> Trainer:
    chosen = {"epochs": 1, "batch_size": 32, "precision": "float64", "rate": 0.01, **recipe}
    runs = [Run(method, seed) for method in methods for seed in seeds]
    return Trainer(runs, [task], net, Recipe(**chosen), stacked=stacked).fit()


def parameters(trainer: Trainer, name: str = "model") -> dict[str, torch.Tensor]:
    return {key: value.detach().clone() for key, value in trainer.stack.parameters[name].items()}


def equal(one, other) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def pair(seed: int = 0, build=NET.build):
    torch.manual_seed(seed)
    return build((1, 8, 8), 4).double(), build((1, 8, 8), 4).double()


def rows_of(task, n: int = 24) -> tuple[Problem, Batch]:
    problem = Problem.of(task, [])
    x = task.x[task.rows("train")][:n].double()
    return problem, Batch(x, problem.y[:n], problem.g[:n])


def student_out(key, model, teacher, problem, batch, **values):
    nets = Nets({"model": model, "teacher": teacher}, problem.sizes, phase="student")
    return method_of(key, **values).loss(nets, batch, {})


def test_the_constants_of_the_study() -> None:
    """Spec of S2: gamma, alpha and beta of each loss, T = 4."""
    found = {key: (m.gamma, m.alpha, getattr(m, "beta", None)) for key in KEYS if (m := method_of(key))}
    assert found == {
        "kd": (0.1, 0.9, None),
        "at": (1, 0, 1000), "pkt": (1, 0, 30000), "sp": (1, 0, 3000), "fsp": (1, 0, 50),
        "at-kd": (1, 1, 1000), "pkt-kd": (1, 1, 30000), "sp-kd": (1, 1, 3000), "fsp-kd": (1, 1, 50),
    }  # fmt: skip
    assert {method_of(key).temperature for key in KEYS} == {4.0}
    net = NetSpec("resnet32x4").build((3, 32, 32), 10)
    taps = {key: method_of(key).taps(net.splits, net.maps) for key in ("at", "pkt", "sp", "fsp")}
    expected = {"at": "f1 f2 f3", "pkt": "f4", "sp": "f3", "fsp": "f0 f1 f2 f3"}
    assert taps == {key: tuple(names.split()) for key, names in expected.items()}


@pytest.mark.parametrize("key", KEYS)
def test_the_student_s_loss_is_the_weighted_sum(key, task) -> None:
    problem, batch = rows_of(task)
    model, teacher = pair()
    out = student_out(key, model, teacher, problem, batch)
    method = method_of(key)
    taps = method.taps(model.splits, model.maps)
    logits, ours = model(batch.x, taps=taps) if taps else (model(batch.x)[0], ())
    taught, theirs = teacher(batch.x, taps=taps) if taps else (teacher(batch.x)[0], ())
    expected = method.gamma * row_losses(logits, batch.y).mean()
    expected = expected + method.alpha * divergences(taught, logits, 4.0, multi_label=False).mean()
    if taps:
        expected = expected + method.beta * method.term(ours, theirs)
    torch.testing.assert_close(out.losses["model"], expected, atol=1e-10, rtol=1e-12)
    assert "features" in out.logs if taps else "features" not in out.logs


@pytest.mark.parametrize("key", KEYS)
def test_a_student_like_its_teacher_has_the_labels_loss_alone(key, task) -> None:
    problem, batch = rows_of(task)
    model, other = pair()
    same = student_out(key, model, model, problem, batch)
    assert all(same.logs[name].item() == 0.0 for name in same.logs if name != "task")
    task_loss = method_of(key).gamma * row_losses(model(batch.x)[0], batch.y).mean()
    assert torch.equal(same.losses["model"], task_loss)
    far = student_out(key, model, other, problem, batch)
    assert all(far.logs[name].item() > 0 for name in far.logs)


def test_a_constant_added_to_logits_changes_no_divergence(task) -> None:
    problem, batch = rows_of(task)
    model, teacher = pair()
    moved = [lambda x, net=net, by=by: (net(x)[0] + by, None) for net, by in ((model, 3.0), (teacher, -2.0))]
    plain, shifted = (
        student_out("kd", *nets, problem, batch, gamma=0.0) for nets in ((model, teacher), moved)
    )
    torch.testing.assert_close(shifted.losses["model"], plain.losses["model"], atol=1e-12, rtol=0)
    softer = student_out("kd", model, teacher, problem, batch, gamma=0.0, temperature=8.0)
    assert (softer.losses["model"] - plain.losses["model"]).abs() > 1e-5


@pytest.mark.parametrize("key", KEYS)
def test_gradients_reach_the_student_alone(key, task) -> None:
    problem, batch = rows_of(task)
    model, teacher = pair(build=lambda shape, n: CifarResNet(shape, n, stem=4, widths=(4, 8), blocks=1))
    teacher(batch.x)  # it has statistics of its own
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    student_out(key, model, teacher, problem, batch).losses["model"].backward()
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in teacher.state_dict().items())
    assert teacher.training


@pytest.mark.parametrize("key", ["kd", "fsp-kd"])
def test_the_teacher_is_what_erm_trains_and_then_rests(key, task) -> None:
    """To the bit, with the same seed: so it depends on task, network, recipe and seed alone."""
    whole = trained(task, method_of(key), epochs=2)
    assert equal(parameters(whole, "teacher"), parameters(trained(task, METHODS["erm"](), epochs=2)))
    assert not equal(parameters(whole, "teacher"), parameters(whole))
    assert [entry["phase"] for entry in whole.history] == ["teacher"] * 2 + ["student"] * 2


def test_a_student_that_hears_labels_alone_goes_on_where_the_teacher_stopped(task) -> None:
    """Plain SGD remembers nothing, so that one epoch of each is two epochs of ERM; fresh weights are not."""
    plain = {"optimizer": "sgd", "momentum": 0.0}
    alone = {"gamma": 1.0, "alpha": 0.0}
    twice = parameters(trained(task, METHODS["erm"](), epochs=2, **plain))
    warm = trained(task, method_of("kd", **alone), epochs=1, **plain)
    assert equal(parameters(warm), twice)
    cold = trained(task, method_of("kd", warm=False, **alone), epochs=1, **plain)
    assert not equal(parameters(cold), twice)
    assert equal(parameters(cold, "teacher"), parameters(warm, "teacher"))


def small_resnet(shape, outputs: int) -> CifarResNet:
    return CifarResNet(shape, outputs, stem=4, widths=(4, 8), blocks=1)


def test_batch_statistics_are_copied_with_the_weights(task) -> None:
    whole = trained(task, method_of("at", beta=0.0), net=OwnNet(small_resnet), rate=0.0)
    erm = trained(task, METHODS["erm"](), net=OwnNet(small_resnet), rate=0.0)
    kept, model = whole.stack.buffers(), erm.stack.buffers()
    for name, value in model.items():
        assert torch.equal(kept[name.replace("model.", "teacher.", 1)], value)
    counts = {name: int(value) for name, value in kept.items() if name.endswith("num_batches_tracked")}
    assert {counts[name] for name in counts if name.startswith("teacher.")} == {3}
    assert {counts[name] for name in counts if name.startswith("model.")} == {6}  # three were copied


@pytest.mark.parametrize("key", KEYS)
def test_stacked_students_are_those_trained_alone(key, task) -> None:
    """By SGD: a bias before a norm of one channel has no gradient, and Adam would step by its rounding."""
    method, recipe = method_of(key), {"optimizer": "sgd", "rate": 1e-3, "clip": 2.0, "epochs": 2}
    stack = trained(task, method, seeds=(3, 5), stacked=True, **recipe)
    for place, seed in enumerate((3, 5)):
        alone = trained(task, method, seeds=(seed,), stacked=False, **recipe)
        for name, values in alone.stack.parameters.items():
            for part, value in values.items():
                torch.testing.assert_close(
                    stack.stack.parameters[name][part][place], value, atol=1e-10, rtol=0
                )


COMPILED = [("at-kd", NET, (0, 1)), ("pkt", NET, (0,)), ("fsp", OwnNet(small_resnet), (0,))]


@pytest.mark.parametrize(("key", "net", "seeds"), COMPILED)
def test_a_compiled_step_is_the_plain_one(key, net, seeds, task, monkeypatch) -> None:
    """Stacked, alone, and with batch statistics, which the teacher's call leaves alone."""
    real, graphs = torch.compile, []

    def looked_at(graph, inputs):
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda f, **options: real(f, backend=looked_at, **options))
    recipe = {"optimizer": "sgd", "rate": 1e-3, "net": net}
    compiled = trained(task, method_of(key), seeds=seeds, compile=True, **recipe)
    assert len(graphs) == 2  # one for the teacher, one for the student: no breaks
    plain = trained(task, method_of(key), seeds=seeds, compile=False, **recipe)
    for part, value in parameters(plain).items():
        torch.testing.assert_close(parameters(compiled)[part], value, atol=1e-10, rtol=0)


def test_a_trained_module_of_one_s_own_is_the_teacher(task) -> None:
    """Without epochs of a teacher the network that is given teaches, as it is."""
    torch.manual_seed(1)
    mine = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 4))
    before = {name: value.clone().double() for name, value in mine.named_parameters()}
    whole = trained(task, method_of("kd", teacher_epochs=-1), net=OwnNet(mine))
    kept = {name.removeprefix("module."): value for name, value in parameters(whole, "teacher").items()}
    assert equal(kept, before)
    assert [entry["phase"] for entry in whole.history] == ["student"]
    fitted = evenhand.fit(mine, method_of("kd", teacher_epochs=-1, alpha=1.0, gamma=0.0), task, epochs=1)
    assert fitted.scores_of_runs(task.x[:5]).shape == (1, 5, 4)


def test_one_output_serves_two_classes() -> None:
    """The divergence of one output is that of the pair (0, z)."""
    problem = Problem.from_labels([0, 1, 1, 0])
    z, t = torch.tensor([[1.0], [-2.0], [0.5], [3.0]]), torch.tensor([[0.3], [-1.0], [2.0], [0.0]])

    def out(student, teacher):
        nets = [lambda x, said=said: (said, None) for said in (student, teacher)]
        return student_out("kd", *nets, problem, Batch(z, problem.y, problem.g)).losses["model"]

    both = [torch.cat([torch.zeros(4, 1), each], dim=1) for each in (z, t)]
    torch.testing.assert_close(out(z, t), out(*both))


def test_first_and_later_parts_go_with_other_rules(task) -> None:
    assert method_of("kd", teacher_epochs=3).first_as() == Teacher(3)
    assert method_of("kd+cm").first_as() == Teacher()  # its model rests in the first phase
    assert method_of("pre+kd").first_as() is None
    assert METHODS["erm"]().first_as() is None
    names = [phase.name for phase in method_of("pre+at").phases()]
    assert names == ["pretrain", "teacher", "student"]
    before = trained(task, method_of("pre+kd"))
    assert torch.isfinite(before.scores(before.train)).all()


def bare(shape, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, outputs))


class Pair(nn.Module):
    """Logits and what they are made of."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body, self.last = nn.Sequential(nn.Flatten(), nn.Linear(64, 5)), nn.Linear(5, outputs)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.body(x)
        return self.last(features), features


def with_features(shape, outputs: int) -> nn.Module:
    return as_net(Pair(outputs), n_features=5)


REFUSED = [
    ("at", NetSpec("mlp", widths=(8,)), "'at' compares feature maps .* no maps.*convnet"),
    ("fsp", NetSpec("convnet", widths=(4,)), "'fsp' compares two feature maps or more .* its maps are conv1"),
    ("at", OwnNet(bare), "no maps; use a convolutional network .*, or kd$"),
    ("fsp-kd", OwnNet(with_features), "no maps; use a convolutional network .*, or kd, pkt or sp$"),
    (
        "pkt",
        OwnNet(bare),
        "this network gives none",
    ),
]


@pytest.mark.parametrize(("key", "net", "told"), REFUSED)
def test_networks_without_the_features_are_refused_before_training(key, net, told, task) -> None:
    with pytest.raises(InputError, match=told):
        Trainer([Run(method_of(key))], [task], net, Recipe())


@pytest.mark.parametrize(
    ("keys", "net"), [(("kd",), OwnNet(bare)), (("kd", "pkt", "sp"), OwnNet(with_features))]
)
def test_the_methods_that_are_named_instead_take_the_network(keys, net, task) -> None:
    trainers = [Trainer([Run(method_of(key))], [task], net, Recipe()) for key in keys]
    assert [trainer.method.key for trainer in trainers] == list(keys)


def test_points_are_named_and_misspelt_ones_told(task) -> None:
    maps = ("conv1", "conv2", "conv3")
    assert method_of("at", points="conv1, conv3").taps((*maps, "pooled"), maps) == ("conv1", "conv3")
    with pytest.raises(InputError, match="no split point 'conv9'; did you mean"):
        Trainer([Run(method_of("at", points="conv9"))], [task], NET, Recipe())
    with pytest.raises(InputError, match="compares feature maps"):
        Trainer([Run(method_of("at", points="pooled"))], [task], NET, Recipe())
    other = trained(task, method_of("sp", points="conv2"), net=NET)
    assert not equal(parameters(other), parameters(trained(task, method_of("sp"), net=NET)))


def test_several_labels_a_row_are_refused() -> None:
    problem = Problem.from_labels([[0, 1], [1, 1]], inputs=(1, 8, 8))
    for key in KEYS:
        with pytest.raises(InputError, match=f"'{key}' is for one label a row"):
            method_of(key).check(problem)
    table = Problem.from_labels([0, 1], inputs=(5,))
    for key in ("at", "fsp-kd"):
        with pytest.raises(InputError, match=f"'{key}' compares feature maps of images"):
            method_of(key).check(table)
    with pytest.raises(InputError, match="teacher_epochs"):
        method_of("kd", teacher_epochs=-2).check(table)

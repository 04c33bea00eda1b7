"""Pruning while a method trains: the schedule of S2, zeros that stay, stacks, teachers, stopping, files."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.methods import (
    ERM,
    METHODS,
    Batch,
    FairALM,
    Nets,
    Problem,
    method_of,
    with_pretraining,
    with_pruning,
)
from evenhand.methods.base import Method
from evenhand.methods.pruned import Pruning, pruned
from evenhand.methods.pruned_state import MASK, masks_in
from evenhand.methods.registry import RULES, is_known, kind_of
from evenhand.nets import NetSpec
from evenhand.nets.prunable import filter_layers
from evenhand.nets.pruning import agp, magnitude_masks
from evenhand.nets.resnet import CifarResNet
from evenhand.nets.smallest import pruned_number
from evenhand.records import EpochStart, Phase
from evenhand.study.expand import expand
from evenhand.study.read import read_study
from evenhand.train.building import networks_of
from evenhand.train.own_net import OwnNet

CONVNET = NetSpec("convnet", widths=(8, 16, 16))
WEIGHTS = {"kind": "magnitude", "every": 1}


# -- the schedule --------------------------------------------------------------------------------------------


def test_over_240_epochs_the_share_is_s2s():
    method = method_of("prune+erm")
    shares = [method.share_at(epoch, 240) for epoch in range(240)]
    for epoch, share in enumerate(shares):
        assert share == pytest.approx(agp(0.10, 0.45, min(epoch - epoch % 5, 120), 120))
    assert shares[119] < shares[120] == shares[239] == 0.45


@pytest.mark.parametrize(
    ("fields", "epochs", "expected"),
    [
        ({"every": 4, "until": 0.5}, 20, [0.1] * 4 + [0.3744] * 4 + [0.4472] * 2 + [0.45] * 10),  # 10 is T
        ({"every": 1, "until": 1.0}, 3, [0.1, 0.40625, 0.45]),  # the last epoch has all of it
        ({"every": 5, "until": 0.5}, 1, [0.45]),
        ({"every": 1, "until": 0.0}, 2, [0.45, 0.45]),
    ],
)
def test_the_last_share_is_reached_whatever_the_numbers(fields, epochs, expected):
    method = with_pruning(ERM(), **fields)
    assert [method.share_at(epoch, epochs) for epoch in range(epochs)] == pytest.approx(expected)
    traced = replace(
        method, share=torch.tensor(0.45), share_start=torch.tensor(0.1), until=torch.tensor(method.until)
    )
    found = [traced.share_at(epoch, epochs).item() for epoch in range(epochs)]
    assert found == pytest.approx(expected)
    settled = [epoch for epoch in range(1, epochs + 1) if method.phases()[0].may_choose(epoch, epochs)]
    assert settled == [epoch + 1 for epoch in range(epochs) if expected[epoch] == 0.45]


# -- zeros that stay -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("net", ["convnet", "resnet"])
def test_filters_stay_zero_through_momentum_and_weight_decay(kit, net):
    """After every epoch: as many zeros as the schedule says, none that grew again, norms included."""
    spec = CONVNET if net == "convnet" else NetSpec("resnet32x4")
    method, epochs = with_pruning(ERM(), 0.6, every=1), 4 if net == "convnet" else 2
    made = kit.trainer(
        kit.images(), [3], method, net=spec, epochs=epochs, optimizer="sgd", momentum=0.9, weight_decay=0.1,
        rate=0.1, batch_size=4,
    )  # fmt: skip
    model, seen = made.stack.templates["model"], []

    def look(_):
        seen.append({name: value.detach() == 0 for name, value in model.named_parameters()})

    made.fit(look)
    assert len(seen) == epochs
    layers = filter_layers(model)
    for epoch, zeros in enumerate(seen):
        for name, (weight, *others) in layers.items():
            whole = zeros[weight].flatten(1).all(1)
            expected = pruned_number(method.share_at(epoch, epochs), len(whole))
            assert int(whole.sum()) == expected, (name, epoch)
            assert others
            assert all(bool(zeros[other][whole].all()) for other in others), "scale and shift"
            assert torch.equal(zeros[others[-2]], whole), "the scale of a filter that is there"
            if epoch:
                before = seen[epoch - 1][weight].flatten(1).all(1)
                assert bool((whole | ~before).all()), "a filter grew again"
    touched = {name for names in layers.values() for name in names}
    assert not any(zeros[name].any() for name in zeros if "weight" in name and name not in touched)


def test_gradients_of_what_is_zero_have_no_effect():
    """One's own loop, with torch's optimiser: whatever stands in them, the weights are the same."""
    problem = Problem.from_labels([0, 1] * 20, inputs=(5,))
    method = with_pruning(ERM(), 0.5, **WEIGHTS, share_start=0.3)
    x = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))

    def trained(noise: float) -> tuple[nn.Module, dict[str, torch.Tensor]]:
        torch.manual_seed(1)
        net, state = networks_of(NetSpec("mlp", widths=(6,)), method, problem)["model"], method.init(problem)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
        own = dict(net.named_parameters())
        for epoch in range(8):
            start = EpochStart("train", epoch, 8, {"model": net})
            state = method.each_epoch(start, {"model": own}, state)
            _put(own, method.constrain({"model": own}, state))
            out = method.loss(Nets.of(net, problem.sizes), Batch(x, problem.y, problem.g), state)
            optimizer.zero_grad()
            out.losses["model"].backward()
            for name, mask in masks_in(state).items():
                own[name].grad += noise * (~mask) * torch.randn_like(own[name].grad)
            optimizer.step()
            _put(own, method.constrain({"model": own}, state))
        return net, state

    (one, state), (other, _) = trained(0.0), trained(100.0)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert int((one.layers[0].weight == 0).sum()) == 15
    assert set(masks_in(state)) == {"layers.0.weight", "layers.1.weight"}


def _put(own, changed):
    with torch.no_grad():
        for name, value in changed["model"].items():
            own[name].copy_(value)


@pytest.mark.parametrize("seeds", [[3], [3, 4]], ids=["single", "stacked"])
def test_an_epoch_begins_with_what_it_is_to_have_lost(kit, seeds):
    made = kit.trainer(kit.task(), seeds, with_pruning(ERM(), 0.5, share_start=0.5, **WEIGHTS))
    step = made.new_step(made.phases[0])
    state = step.begin_epoch(EpochStart("train", 0, 3, made.stack.templates), made.state)
    for name, mask in masks_in(state).items():
        assert torch.equal(made.stack.parameters["model"][name] == 0, ~mask)
        assert (~mask).double().mean() == 0.5


def test_nothing_pruned_is_the_method_itself_to_the_bit(kit):
    still = with_pruning(ERM(), 0.0, share_start=0.0)
    one, other = (kit.trainer(kit.images(), [3], m, net=CONVNET).fit() for m in (still, ERM()))
    found, expected = kit.numbers(one), kit.numbers(other)
    kit.assert_same({name: value for name, value in found.items() if MASK not in name}, expected)


# -- stacks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["filter", "magnitude"])
def test_a_stack_equals_its_runs_one_by_one(kit, kind):
    """Each run with its own shares and its own end of pruning."""
    methods = [
        with_pruning(ERM(), share, share_start=0.1 * run, until=0.3 * (run + 1), kind=kind, every=1)
        for run, share in enumerate((0.3, 0.45, 0.8))
    ]
    net = CONVNET if kind == "filter" else NetSpec("mlp", widths=(16,))
    task = kit.images() if kind == "filter" else kit.task()
    facts = {"net": net, "epochs": 4, "precision": "float64", "weight_decay": 0.01, "keep": "best"}
    stack = kit.trainer(task, [3, 4, 9], methods, **facts).fit()
    assert stack.stack.stacked
    for run, (method, seed) in enumerate(zip(methods, [3, 4, 9], strict=True)):
        alone = kit.trainer(task, [seed], method, stacked=False, **facts).fit()
        one, other = kit.numbers(stack, run), kit.numbers(alone)
        kit.assert_same(*({k: v.double() for k, v in found.items()} for found in (one, other)), 1e-10)
        mask = alone.state[f"{MASK}{'convolutions.1.weight' if kind == 'filter' else 'layers.0.weight'}"]
        assert int((~mask).sum()) == pruned_number(method.share, mask.numel())


@pytest.mark.parametrize("kind", [{}, {"classes": 4}, {"labels": 3}])
def test_the_contract_of_a_loss_is_kept(kit, kind):
    """The method's own loss, scores and state: pruning adds nothing before training begins."""
    task, method = kit.task(**kind), method_of("prune+erm", **WEIGHTS)
    problem = Problem.of(task, [])
    method.check(problem)
    torch.manual_seed(0)
    nets = Nets(networks_of(NetSpec("mlp", widths=(6,)), method, problem), problem.sizes)
    batch = Batch(task.x[:30].float(), problem.y[:30], problem.g[:30])
    out, plain = method.loss(nets, batch, method.init(problem)), ERM().loss(nets, batch, {})
    assert out.losses["model"] == plain.losses["model"]
    assert out.state == {}
    assert torch.equal(method.predict(nets, batch, {}), ERM().predict(nets, batch, {}))
    assert method.trains_as() == method


# -- with other methods --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [[3], [3, 4]], ids=["single", "stacked"])
def test_a_teacher_is_left_whole_and_the_student_is_pruned(kit, seeds):
    made = kit.trainer(kit.task(), seeds, method_of("prune+kd", share=0.5, **WEIGHTS), epochs=3).fit()
    zeros = {
        name: (values["layers.0.weight"] == 0).double().mean()
        for name, values in made.stack.parameters.items()
    }
    assert zeros == {"model": 0.5, "teacher": 0.0}
    whole = kit.trainer(kit.task(), seeds, method_of("kd"), epochs=3).fit()
    for name, value in whole.stack.parameters["teacher"].items():
        assert torch.equal(value, made.stack.parameters["teacher"][name])


def test_it_begins_with_the_last_phase_in_which_the_model_moves(kit):
    for method in (method_of("prune+pre+erm", **WEIGHTS), method_of("pre+prune+erm", **WEIGHTS)):
        assert [(phase.name, phase.settled) for phase in method.phases()] == [
            ("pretrain", 0.0),
            ("train", 0.5),
        ]
        made = kit.trainer(kit.task(), [3], method)
        start = EpochStart("pretrain", 0, 3, made.stack.templates)
        assert method.each_epoch(start, made.stack.parameters, {}) == {}
        made.fit()
        mask = made.state[f"{MASK}layers.0.weight"]
        assert int((~mask).sum()) == pruned_number(0.45, mask.numel())
    assert method_of("prune+jtt").phases()[-1].settled == 0.5


@pytest.mark.parametrize("key", [*METHODS, "staged+erm", "laftr-dp+cm"])
def test_every_method_is_pruned_or_says_why_not(kit, key):
    kind = kind_of(key)
    taken = {item.name for item in fields(kind)} & {item.name for item in fields(Pruning)}
    if taken:
        with pytest.raises(InputError, match=f"'{key}' has a field '{taken.pop()}' of its own"):
            kind_of(f"prune+{key}")
        return
    method, images = method_of(f"prune+{key}", **WEIGHTS), kind.needs.maps or key == "grl-conv"
    short = {item.name: 1 for item in fields(method) if item.name.endswith("_epochs")}
    task, net = (kit.images(), CONVNET) if images else (kit.task(), NetSpec("mlp", widths=(16,)))
    made = kit.trainer(task, [3, 4], replace(method, **short), net=net, epochs=2).fit()
    assert made.stack.stacked
    for name in magnitude_masks(made.stack.templates["model"], 0.0):
        value = made.stack.parameters["model"][name]
        assert int((value == 0).sum()) == 2 * pruned_number(0.45, value[0].numel())


# -- stopping, going on, files -------------------------------------------------------------------------------


def test_validation_chooses_no_model_that_is_not_yet_pruned(kit, monkeypatch):
    """The first epochs are the best ones here; what is kept has lost its whole share all the same."""
    losses = iter([0.1, 0.2, 0.3, 0.9, 0.5, 0.7])
    monkeypatch.setattr(
        "evenhand.train.epoch_notes.monitored", lambda *_: torch.tensor([next(losses)]).double()
    )
    made = kit.trainer(
        kit.task(), [3], with_pruning(ERM(), **WEIGHTS), epochs=6, keep="best", patience=2
    ).fit()
    assert made.selection.best_epoch.tolist() == [5]
    mask = made.state[f"{MASK}layers.0.weight"]
    assert int((~mask).sum()) == pruned_number(0.45, mask.numel())
    assert Phase().may_choose(1, 6)


@pytest.mark.parametrize("calls", [2, 3, 4])
def test_a_run_that_was_killed_goes_on_to_the_same_bits(kit, calls, tmp_path):
    left = [calls]

    def tell(_):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    def make():
        return kit.trainer(kit.task(), [0, 1], method_of("prune+kd", **WEIGHTS), epochs=2)

    with pytest.raises(KeyboardInterrupt):
        make().fit(tell, tmp_path / "c.npz", every=1e9)
    resumed, whole = make().fit(None, tmp_path / "c.npz"), make().fit()
    for run in range(2):
        kit.assert_same(kit.numbers(whole, run), kit.numbers(resumed, run))


@pytest.mark.parametrize("calls", [2, 4])
def test_so_does_one_with_batch_statistics_and_filters_in_either_phase(kit, calls, tmp_path):
    """Killed while the teacher learns, or the student: masks and statistics go on as they were."""
    left = [calls]

    def tell(_):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    def make():
        method = method_of("prune+at-kd", every=1, share=0.5)
        return kit.trainer(kit.images(), [3], method, net=OwnNet(small_resnet), epochs=3, batch_size=8)

    with pytest.raises(KeyboardInterrupt):
        make().fit(tell, tmp_path / "c.npz", every=1e9)
    resumed, whole = make().fit(None, tmp_path / "c.npz"), make().fit()
    kit.assert_same(kit.numbers(whole), kit.numbers(resumed))
    for name, value in whole.stack.buffers().items():
        assert torch.equal(value, resumed.stack.buffers()[name]), name
    masks = masks_in(resumed.state)
    assert {int((~mask).sum()) / mask.numel() for mask in masks.values()} == {0.5}
    for name, mask in masks.items():
        assert not resumed.stack.parameters["model"][name][~mask.flatten()].any(), name


def small_resnet(shape, outputs: int) -> CifarResNet:
    return CifarResNet(shape, outputs, stem=4, widths=(4, 8), blocks=1)


def test_a_pruned_model_is_saved_loaded_and_predicts_the_same(kit, tmp_path):
    task = kit.images()
    found = evenhand.fit(CONVNET, "prune+erm", task, seeds=2, epochs=2, batch_size=8)
    found.save(tmp_path / "models")
    again = evenhand.Fitted.load(tmp_path / "models")
    assert (again.scores(task.x) == found.scores(task.x)).all()


# -- keys and refusals ---------------------------------------------------------------------------------------


def test_keys_by_rule_and_what_is_no_key():
    assert method_of("prune+erm", share=0.3, until=0.8) == with_pruning(ERM(), 0.3, until=0.8)
    assert kind_of("prune+fairalm").title == "FairALM, pruned"
    assert issubclass(kind_of("prune+fairalm"), FairALM)
    assert [is_known(name) for name in ("prune+erm", "prune+pre+gdro", "prune+none", "prune+")] == [
        True,
        True,
        False,
        False,
    ]
    assert "prune+KEY" in RULES
    with pytest.raises(InputError, match="pruned already; change its field share"):
        kind_of("prune+prune+erm")
    with pytest.raises(InputError, match="'nifr' has a field 'share' of its own"):
        kind_of("prune+nifr")
    with pytest.raises(InputError, match="put around a method"):
        with_pruning("erm")
    assert with_pretraining(with_pruning(ERM(), 0.2)).share == 0.2
    assert not any(issubclass(kind, Pruning) for kind in METHODS.values())
    assert pruned(ERM) is pruned(ERM)


def test_a_method_without_a_rule_of_its_own_has_none_when_it_is_pruned():
    """Others ask for it: pre-training takes the loss of the outputs themselves where there is no rule."""
    for name in ("predict", "evidence", "settle", "after", "sampling"):
        for key in METHODS:
            if is_known(f"prune+{key}"):
                mine = getattr(kind_of(f"prune+{key}"), name) is getattr(Method, name)
                assert mine == (getattr(METHODS[key], name) is getattr(Method, name)), (key, name)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"share": 0.05}, "'share_start' of 'prune.erm' is 0.1, more than 'share', 0.05"),
        ({"share": 1.5}, "'share' of 'prune.erm' must be a number of at least 0.0 and at most 1.0"),
        ({"every": 0}, "'every' of 'prune.erm' must be a whole number of at least 1"),
        ({"kind": "filters"}, "'kind' of 'prune.erm' must be one of filter, magnitude"),
        ({}, "'prune.erm' prunes filters of 3x3 .* this network has none; give the method kind='magnitude'"),
    ],
)
def test_what_cannot_be_pruned_is_refused_before_training(kit, given, told):
    with pytest.raises(InputError, match=told) as refused:
        kit.trainer(kit.task(), [0], replace(method_of("prune+erm"), **given))
    assert "layers" not in str(refused.value)  # which no method has
    kit.trainer(kit.task(), [0], method_of("prune+erm", kind="magnitude"))  # what is advised works


def test_a_form_that_is_stacked_in_its_place_is_pruned_too():
    for key in ("laftr-dp", "cfair", "erm"):
        method = method_of(f"prune+{key}", share=0.7, **WEIGHTS)
        form = method.stacked_form()
        assert isinstance(form, Pruning)
        assert (form.share, form.kind) == (0.7, "magnitude")
        assert copy.deepcopy(form) == form


def test_a_study_file_names_it_by_its_key(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(
        'seeds = 1\n[[task]]\ndata = "mnist"\n[[grouping]]\nattributes = ["ink"]\n[[net]]\nnet = "convnet"\n'
        '[[method]]\nkey = "prune+erm"\nevery = 1\nshare = {grid = [0.3, 0.45]}\n',
        encoding="utf-8",
    )
    runs = expand(read_study(file))
    assert [(run.spec.method, run.spec.fields["share"], run.spec.fields["every"]) for run in runs] == [
        ("prune+erm", 0.3, 1), ("prune+erm", 0.45, 1)
    ]  # fmt: skip

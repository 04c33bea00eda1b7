"""Curvature matching beside every registered method: at weight 0 the method itself, stacked, and refusals."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
import torch

import evenhand
from evenhand.errors import InputError
from evenhand.methods import ERM, FFVAE, METHODS, Batch, GroupDRO, LaftrDP, LaftrEqOdd, Nets, Problem
from evenhand.methods.base import float_fields
from evenhand.methods.curvature_matching import curvature_matched, with_curvature_matching
from evenhand.methods.curvature_terms import curvature_gap
from evenhand.methods.terms import row_losses, score_losses
from evenhand.nets import NetSpec
from evenhand.study.own import own_method
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

MAPS = {key for key in METHODS if METHODS[key].needs.maps}  # tables have none
KEYS = sorted(set(METHODS) - {"ffvae", "nifr"} - MAPS)
# they sum over a gradient, whose numbers lie in another order in memory where two passes are added up
SUMMED = {"advdebias", "gradproj"}


@pytest.fixture(scope="module")
def task():
    return evenhand.load(
        "synthetic", n_train=130, n_validation=20, n_test=60, attributes=1, scarcity=0.2, seed=1
    )


def brief(key: str):
    method = METHODS[key]()
    return replace(method, **{item.name: 1 for item in fields(method) if item.name.endswith("_epochs")})


def trained(methods, task, seeds, *, stacked: bool) -> Trainer:
    recipe = Recipe(epochs=1, batch_size=32, precision="float64", rate=0.01)
    net = NetSpec("mlp", widths=(8, 6), dropout=0.2)
    runs = [Run(method, seed) for method, seed in zip(methods, seeds, strict=True)]
    return Trainer(runs, [task], net, recipe, protect=["a0"], stacked=stacked).fit()


@pytest.mark.parametrize("key", KEYS)
def test_at_weight_0_it_is_the_method_and_otherwise_not_and_a_stack_is_its_runs(key, task) -> None:
    """One stack of gamma 0, 5 and 5 with another h: the first is the method to the bit."""
    method = brief(key)
    matched = [with_curvature_matching(method, gamma, h) for gamma, h in ((0.0, 1.0), (5.0, 1.0), (5.0, 0.3))]
    stack = trained(matched, task, [4, 4, 4], stacked=True)
    alone = trained([method] * 3, task, [4, 4, 4], stacked=True)
    single = trained(matched[2:], task, [4], stacked=False)
    for network, values in alone.stack.parameters.items():
        for name, value in values.items():
            found = stack.stack.parameters[network][name]
            same = torch.allclose(found[0], value[0], atol=1e-12, rtol=0) if key in SUMMED else None
            assert torch.equal(found[0], value[0]) if same is None else same, f"{network}.{name}"
            assert (found[2] - single.stack.parameters[network][name]).abs().max() < 1e-10
    first, second, third = stack.scores(stack.train)
    assert (first - second).abs().max() > 1e-9
    assert (second - third).abs().max() > 1e-9
    assert [entry["phase"] for entry in stack.history] == [entry["phase"] for entry in alone.history]
    assert "method.curvature_gap" in stack.history[-1]


def test_what_is_added_is_the_gap_of_the_curvatures_of_the_method_s_own_prediction() -> None:
    torch.manual_seed(0)
    method, matched = METHODS["ind"](), with_curvature_matching(METHODS["ind"](), gamma=2.0)
    y, g = torch.randint(0, 3, (20,)), torch.arange(20) % 2
    problem = Problem.from_labels(y, g, inputs=(4,))
    weight = torch.randn(4, method.outputs(problem), dtype=torch.float64)
    nets = Nets({"model": lambda x: (x @ weight, None)}, problem.sizes)
    batch, state = Batch(torch.randn(20, 4, dtype=torch.float64), y, g, g[:, None]), method.init(problem)

    def losses(x):
        unseen = Batch(x, y, torch.full_like(g, -1), None)
        return -method.predict(nets, unseen, state).log().gather(1, y[:, None])[:, 0]

    gap = curvature_gap(losses, batch.x, g, 2)
    more = matched.loss(nets, batch, state).losses["model"] - method.loss(nets, batch, state).losses["model"]
    assert gap.item() > 1e-3
    assert more.item() == pytest.approx(2 * gap.item(), abs=1e-12)


def test_a_prediction_inside_training_is_not_told_groups() -> None:
    told = []

    @dataclass(frozen=True)
    class Looks(ERM):
        def predict(self, nets, batch, state):
            told.append((batch.g, batch.a))
            return super().predict(nets, batch, state)

    g = torch.arange(8) % 2
    nets = Nets({"model": NetSpec("mlp").build((4,), 2)}, Problem.from_labels(g, g, inputs=(4,)).sizes)
    with_curvature_matching(Looks()).loss(nets, Batch(torch.randn(8, 4), g, g, g[:, None]), {})
    assert told
    assert all((ids == -1).all() for pair in told for ids in pair)


def test_losses_of_scores_are_those_of_outputs() -> None:
    logits, y = torch.randn(9, 3, dtype=torch.float64), torch.arange(9) % 3
    assert torch.allclose(score_losses(logits.softmax(-1), y), row_losses(logits, y))
    labels = (logits > 0.2).long()
    assert torch.allclose(score_losses(logits.sigmoid(), labels), row_losses(logits, labels))
    sure = score_losses(torch.tensor([[1.0, 0.0]], requires_grad=True), torch.tensor([1]))
    assert torch.isfinite(sure).all()


def test_the_model_alone_pays_and_only_where_it_moves() -> None:
    method = with_curvature_matching(METHODS["a-cens"]())
    y, g = torch.randint(0, 2, (16,)), torch.arange(16) % 2
    problem = Problem.from_labels(y, g, inputs=(4,))
    model = NetSpec("mlp", widths=(6,)).build((4,), 2)
    networks = {"model": model, **method.extra(problem, 6)}
    batch, state = Batch(torch.randn(16, 4), y, g, g[:, None]), method.init(problem)
    both = method.loss(Nets(networks, problem.sizes, turn=("model",)), batch, state)
    plain = METHODS["a-cens"]().loss(Nets(networks, problem.sizes, turn=("model",)), batch, state)
    assert both.losses["model"] > plain.losses["model"]
    assert torch.equal(both.losses["adversary"], plain.losses["adversary"])
    resting = method.loss(Nets(networks, problem.sizes, turn=("adversary",)), batch, state)
    assert set(resting.losses) == {"adversary"}
    assert "curvature_gap" not in resting.logs


def test_fields_needs_and_forms_are_the_method_s_and_its_own() -> None:
    matched = with_curvature_matching(LaftrEqOdd(gamma=2.0, n_adv=3), 0.5, 2.0, "wide")
    assert type(matched) is curvature_matched(LaftrEqOdd)  # runs of one stack have one class
    assert {"gamma", "cm_gamma", "cm_h"} <= set(float_fields(matched))
    form = matched.stacked_form()
    assert (form.gamma, form.seen, form.cm_gamma, form.cm_h, form.cm_kernels) == (2.0, 1.0, 0.5, 2.0, "wide")
    assert form.phases() == matched.phases() == LaftrEqOdd(n_adv=3).phases()
    assert type(form) is type(with_curvature_matching(LaftrDP()).stacked_form())
    assert with_curvature_matching(ERM()).needs.groups
    assert not ERM().needs.groups
    assert with_curvature_matching(ERM()).asks().groups
    gdro = with_curvature_matching(GroupDRO(eta=0.3))
    assert (gdro.key, gdro.eta, gdro.cm_gamma) == ("gdro+cm", 0.3, 1.0)


def test_it_narrows_the_distance_that_it_is_paid_for(task) -> None:
    """On the rows that it is paid on: the distance of all of them, though it sees a batch at a time."""
    found = [
        evenhand.fit("mlp", with_curvature_matching(ERM(), gamma), task, protect="a0", seeds=4,
                     epochs=15, rate=0.01, batch_size=64)
        for gamma in (0.0, 30.0)
    ]  # fmt: skip
    values = [evenhand.equalized_robustness(each, part="train").values for each in found]
    assert np.mean(values[1]) < 0.5 * np.mean(values[0])


def test_a_study_file_can_name_it(tmp_path) -> None:
    file = tmp_path / "matched.py"
    file.write_text(
        "from evenhand.methods import LaftrDP\n"
        "from evenhand.methods.curvature_matching import curvature_matched\n"
        "MatchedLaftr = curvature_matched(LaftrDP)\n"
    )
    method = own_method(f"{file}:MatchedLaftr", {"gamma": 0.5, "cm_gamma": 3.0})
    assert method == with_curvature_matching(LaftrDP(gamma=0.5), gamma=3.0)


def test_what_cannot_be_matched_is_refused(task) -> None:
    problem = Problem.of(task, ["a0"])
    with pytest.raises(InputError, match="model reads a code"):
        with_curvature_matching(FFVAE()).check(problem)
    with pytest.raises(InputError, match="model reads a code"):  # that is as long as an input
        with_curvature_matching(FFVAE(latent=problem.sizes.inputs[0])).check(problem)
    with pytest.raises(InputError, match="matched already"):
        with_curvature_matching(with_curvature_matching(ERM()))
    with pytest.raises(InputError, match="needs the groups"):
        with_curvature_matching(ERM()).check(Problem.from_labels([0, 1]))
    with pytest.raises(InputError, match="compares groups"):
        with_curvature_matching(ERM()).check(Problem.from_labels([0, 1], g=[0, 0]))
    with pytest.raises(InputError, match="'cm_h' of 'erm\\+cm' must be a number"):
        with_curvature_matching(ERM(), h=0.0).check(problem)


def test_a_name_is_not_yet_a_method() -> None:
    with pytest.raises(InputError, match="added to a method, such as LaftrDP"):
        with_curvature_matching("erm")  # type: ignore[arg-type]

"""AT, PKT, SP, FSP: the numbers and gradients of the reference code, zeros, and what they do not look at."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import vmap
from torch.nn import functional

from evenhand.methods.feature_terms import (
    attention_term,
    flow_term,
    of_one_size,
    pkt_term,
    similarity_term,
)

PKT_TOLERANCE = 1e-9


def cases(golden, name: str) -> list[dict]:
    return [c for c in golden("01_distillation_losses")["cases"] if c["parameters"]["loss"] == name]


def tensor(values) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def maps(seed: int, rows: int = 5) -> list[Tensor]:
    shapes = ((3, 8, 8), (4, 8, 8), (6, 4, 4))
    return [drawn(rows, *shape, seed=seed + place) for place, shape in enumerate(shapes)]


def rotation(n: int) -> Tensor:
    return torch.linalg.qr(drawn(n, n, seed=9))[0]


@pytest.mark.parametrize(("name", "term"), [("AT", attention_term), ("FSP", flow_term)])
def test_terms_of_maps_are_those_of_the_reference_code(name, term, golden, assert_close) -> None:
    found = cases(golden, name)
    assert len(found) == 3
    for case in found:
        ours = [tensor(each).requires_grad_() for each in case["inputs"]["student_features"]]
        theirs = [tensor(each) for each in case["inputs"]["teacher_features"]]
        expected, tolerance = case["expected"], case["tolerance"]
        loss = term(ours, theirs)
        norms = [grad.norm().item() for grad in torch.autograd.grad(loss, ours)]
        assert_close(loss.item(), expected["loss"], tolerance)
        assert_close(norms, expected["grad_norm_student_per_layer"], tolerance)


def test_each_layer_and_each_pair_is_that_of_the_reference_code(golden, assert_close) -> None:
    for name, term, wide in (("AT", attention_term, 1), ("FSP", flow_term, 2)):
        for case in cases(golden, name):
            ours, theirs = (
                [tensor(e) for e in case["inputs"][f"{who}_features"]] for who in ("student", "teacher")
            )
            parts = case["expected"]["loss_per_layer" if wide == 1 else "loss_per_pair"]
            for place, expected in enumerate(parts):
                cut = slice(place, place + wide)
                assert_close(term(ours[cut], theirs[cut]).item(), expected, case["tolerance"])


@pytest.mark.parametrize(("name", "term"), [("PKT", pkt_term), ("SP", similarity_term)])
def test_terms_of_pairs_of_rows_are_those_of_the_reference_code(name, term, golden, assert_close) -> None:
    found = cases(golden, name)
    assert len(found) == 3
    for case in found:
        ours = tensor(case["inputs"]["student_features"]).requires_grad_()
        theirs = tensor(case["inputs"]["teacher_features"])
        loss = term(ours, theirs)
        (gradient,) = torch.autograd.grad(loss, ours)
        expected, tolerance = case["expected"], case["tolerance"]
        if name == "PKT":  # of the order of the tolerance's scale: absolute
            assert abs(loss.item() - expected["loss"]) <= PKT_TOLERANCE
        assert_close(loss.item(), expected["loss"], tolerance)
        if "grad_norm_student" in expected:
            assert_close(gradient.norm().item(), expected["grad_norm_student"], tolerance)
        assert torch.isfinite(gradient).all()  # of a row of zeros too, where the reference code has NaN


def test_equal_features_are_at_no_distance() -> None:
    for dtype in (torch.float32, torch.float64):
        own = [each.to(dtype) for each in maps(0)]
        assert attention_term(own, own).item() == flow_term(own, own).item() == 0.0
        assert pkt_term(own[0], own[0]).item() == similarity_term(own[0], own[0]).item() == 0.0
        other = [each.to(dtype) for each in maps(7)]
        for far in (attention_term(own, other), flow_term(own, other), pkt_term(own[0], other[0])):
            assert far.item() > 0


def test_what_the_terms_do_not_look_at() -> None:
    own, other = maps(0), maps(7)
    shuffled = [each[:, torch.randperm(each.shape[1])] for each in own]
    torch.testing.assert_close(
        attention_term(shuffled, other), attention_term(own, other), atol=1e-14, rtol=0
    )
    assert (flow_term(shuffled, other) - flow_term(own, other)).abs() > 1e-6
    rows, taught = drawn(7, 12), drawn(7, 5, seed=1)
    for term in (pkt_term, similarity_term):
        turned = rows @ rotation(12)
        torch.testing.assert_close(term(turned, taught), term(rows, taught), atol=1e-12, rtol=0)
        skewed = rows @ drawn(12, 12, seed=3)
        assert (term(skewed, taught) - term(rows, taught)).abs() > 1e-4
    lengths = drawn(7, 1, seed=2).exp()  # PKT sees angles alone; SP sees lengths
    torch.testing.assert_close(pkt_term(rows * lengths, taught), pkt_term(rows, taught), atol=1e-8, rtol=0)
    assert (similarity_term(rows * lengths, taught) - similarity_term(rows, taught)).abs() > 1e-4


@pytest.mark.parametrize(("large", "small"), [(8, 4), (7, 4), (5, 2), (4, 4), (3, 1)])
def test_pooling_is_torch_s_adaptive_pooling(large, small) -> None:
    wide, narrow = drawn(2, 3, large, large), drawn(2, 3, small, small)
    pooled, same = of_one_size(wide, narrow)
    expected = functional.adaptive_avg_pool2d(wide, (small, small))
    torch.testing.assert_close(pooled, expected, atol=1e-14, rtol=0)
    assert torch.equal(same, narrow)


def test_gradients_are_right_and_a_stack_is_its_runs() -> None:
    """Against finite differences; vmapped over runs, each is as alone."""
    teacher = [each[:3, :2] for each in maps(7)]
    terms = {
        "at": lambda *own: attention_term(own, teacher),
        "fsp": lambda *own: flow_term(own, teacher),
        "pkt": lambda own, *_: pkt_term(own, teacher[0]),
        "sp": lambda own, *_: similarity_term(own, teacher[0]),
    }
    own = [each[:3, :2].clone().requires_grad_() for each in maps(0)]
    for term in terms.values():
        assert torch.autograd.gradcheck(term, own, fast_mode=True)
        runs = [torch.stack([each.detach(), 2 * each.detach() ** 2]) for each in own]
        alone = torch.stack([term(*(each[run] for each in runs)) for run in range(2)])
        torch.testing.assert_close(vmap(term)(*runs), alone, atol=1e-14, rtol=0)

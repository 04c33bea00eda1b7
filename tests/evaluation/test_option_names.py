"""A misspelt option: told as it was written, with the nearest one, before anything long begins."""

import numpy as np
import pytest
import torch

import evenhand
from evenhand.evaluation.options import Options
from evenhand.metrics.counts import Counts

Y = [0, 1] * 10
COUNTS = Counts.from_predictions([0, 1], [0, 1], [0, 1])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: evenhand.audit(Y, Y, Y, mincount=3),
            "audit has no option 'mincount'; did you mean 'min_count'?",
        ),
        (lambda: evenhand.audit_counts(COUNTS, replicats=9), "audit_counts .* did you mean 'replicates'?"),
        (lambda: evenhand.compare(Y, {"a": Y}, mincount=3), "compare .* did you mean 'min_count'?"),
        (
            lambda: evenhand.compare(Y, {"a": Y}, xyzzy=3),
            r"no option 'xyzzy'\. Its options are: groups, base, weig",
        ),
        (lambda: evenhand.tradeoff({}, partt="test"), "tradeoff has no option 'partt'; did you mean 'part'?"),
        (lambda: evenhand.audit_under_shift(None, draw=2), "audit_under_shift .* did you mean 'draws'?"),
        (lambda: evenhand.Fitted.audit(None, confidense=0.9), r"Fitted\.audit .* did you mean 'confidence'?"),
    ],
)
def test_the_nearest_option_is_named(call, told):
    with pytest.raises(TypeError, match=told):
        call()


class Asked(torch.nn.Module):
    def forward(self, x):
        raise AssertionError("a module was asked")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"foo": 1},
            r"compare_modules has no option 'foo'\. Its options are: y_true, groups, base, batch_size",
        ),
        ({"batchsize": 1}, "did you mean 'batch_size'?"),
        ({"mincount": 1, "groups": iter("ab")}, "did you mean 'min_count'?"),
        ({"weight": 1}, "did you mean 'weights'?"),
    ],
)
def test_modules_are_not_asked_before(options, told):
    with pytest.raises(TypeError, match=told):
        evenhand.compare_modules({"a": Asked(), "b": Asked()}, torch.zeros(2, 2), [0, 1], **options)


def test_every_option_of_an_audit_is_known_to_each():
    chosen = {name: value for name, value in vars(Options(replicates=0)).items() if name != "metrics"}
    assert evenhand.audit(Y, Y, Y, **chosen).n == 20
    assert evenhand.compare(Y, {"a": Y, "b": Y[::-1]}, Y, **chosen).base == "a"
    modules = {"a": torch.nn.Identity(), "b": torch.nn.Identity()}
    x = torch.eye(2).repeat(10, 1)
    found = evenhand.compare_modules(modules, x, x.argmax(1), Y, weights=np.ones(20), **chosen)
    assert found.accuracy["a"] == 1

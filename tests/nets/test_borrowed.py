"""Functions that a module holds and that call the module itself: a copy would not be what is called."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from types import MethodType

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.nets.borrowed import borrowed


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
        self.seen: list[torch.Tensor] = []

    def forward(self, x):
        return self.head(self.body(x))

    def see(self, layer, given, out):
        self.seen.append(out)


def with_attribute():
    net = Net()
    net.short = lambda x: net.head(x)
    return net, "short"


def with_forward():
    net = Net()
    old = net.forward
    net.forward = lambda x: old(x) * 2
    return net, "forward"


def with_decorated_forward():
    net = Net()
    net.forward = torch.no_grad()(net.forward)
    return net, "forward"


def with_weights():
    net = Net()
    net.forward = MethodType(lambda self, x, w=net.head.weight: self.body(x) @ w.T, net)
    return net, "forward"


def with_list():
    net = Net()
    layers = [net.body, net.head]
    net.steps = {"all": lambda x: layers[1](layers[0](x))}
    return net, "steps"


def with_hook():
    net = Net()
    net.body.register_forward_hook(lambda layer, given, out: net.seen.append(out))
    return net, "body._forward_hooks"


WRONG = [with_attribute, with_forward, with_decorated_forward, with_weights, with_list, with_hook]


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", ["magnitude", "int8"])
def test_a_copy_that_would_call_the_module_itself_is_refused(make, kind):
    net, name = make()
    with pytest.raises(InputError, match=f"function in '{name}'.*make it a method"):
        evenhand.compress(net, kind)


def test_a_forward_of_a_script_finds_the_module_by_its_global_name():
    net = Net()
    scope = {"net": net, "old": net.forward}
    for text in ("lambda x: net.head(net.body(x))", "lambda x: old(x)"):
        net.forward = eval(text, scope)
        assert borrowed(deepcopy(net), net) == "forward"


def with_method():
    net = Net()
    net.body.register_forward_hook(net.see)
    return net


def with_partial():
    net = Net()
    net.forward = partial(Net.forward, net)
    return net


def with_function():
    net, seen = Net(), []
    net.scaled = lambda x: x / 2
    net.body.register_forward_hook(lambda layer, given, out: seen.append(out))
    return net


def with_compile():
    return torch.compile(Net(), backend="eager")


@pytest.mark.parametrize("make", [with_method, with_partial, with_function, with_compile])
def test_what_a_copy_has_of_its_own_may_stay(make):
    net, x = make(), torch.randn(8, 4)
    small = evenhand.compress(net, "magnitude", 0.8)
    with torch.no_grad():
        assert not torch.equal(small(x), net(x))

"""The linear layer: torch's numbers, and the same bits alone and in a stack."""

import math
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import vmap

from evenhand.errors import InputError
from evenhand.nets.layers import ACTIVATIONS, Linear, activation_of, checked_dropout, draw_weight

RUNS, ROWS = 8, 128


@pytest.fixture(params=[1, 2])
def threads(request) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def layers_of(inputs: int, outputs: int) -> list[Linear]:
    torch.manual_seed(inputs + outputs)
    return [Linear(inputs, outputs) for _ in range(RUNS)]


def stacked(layers: list[Linear]) -> tuple[Tensor, Tensor]:
    weights = torch.stack([layer.weight.detach() for layer in layers])
    return weights.requires_grad_(), torch.stack([layer.bias.detach() for layer in layers]).requires_grad_()


@pytest.mark.parametrize("own", [True, False], ids=["own rows", "shared rows"])
@pytest.mark.parametrize("outputs", [1, 2, 3, 10, 64])
@pytest.mark.parametrize("inputs", [64, 102, 2352])
@pytest.mark.usefixtures("threads")
def test_a_stack_gives_the_same_bits_as_each_layer_alone(inputs, outputs, own):
    layers = layers_of(inputs, outputs)
    x = torch.randn(RUNS, ROWS, inputs) if own else torch.randn(ROWS, inputs)
    weights, biases = stacked(layers)

    def call(weight: Tensor, bias: Tensor, rows: Tensor) -> Tensor:
        return torch.func.functional_call(layers[0], {"weight": weight, "bias": bias}, (rows,))

    together = vmap(call, in_dims=(0, 0, 0 if own else None))(weights, biases, x)
    of_stack = torch.autograd.grad(together.sin().sum(), (weights, biases))
    for run, layer in enumerate(layers):
        alone = layer(x[run].clone() if own else x)
        weight, bias = torch.autograd.grad(alone.sin().sum(), (layer.weight, layer.bias))
        assert torch.equal(alone, together[run])
        assert torch.equal(weight, of_stack[0][run])
        assert torch.equal(bias, of_stack[1][run])


@pytest.mark.parametrize("outputs", [1, 5, 10, 64])
def test_it_is_the_linear_layer_of_torch(outputs):
    torch.manual_seed(3)
    ours, behind = Linear(30, outputs), torch.rand(1)
    torch.manual_seed(3)
    theirs, also_behind = nn.Linear(30, outputs), torch.rand(1)
    assert torch.equal(ours.weight, theirs.weight)
    assert torch.equal(ours.bias, theirs.bias)
    assert torch.equal(behind, also_behind)  # as many random numbers were drawn
    x = torch.randn(7, 4, 30)
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours(x[0]), theirs(x[0]))


def test_xavier_weights_and_ordinary_biases():
    torch.manual_seed(5)
    layer = Linear(300, 200, init="xavier")
    torch.manual_seed(5)
    assert torch.equal(layer.weight, nn.init.xavier_uniform_(torch.empty(200, 300)))
    bound = math.sqrt(6 / 500)
    assert 0.99 * bound < layer.weight.abs().max() <= bound
    assert 0.9 / math.sqrt(300) < layer.bias.abs().max() <= 1 / math.sqrt(300)


def test_the_gradient_lies_in_memory_as_the_weights_do():
    weights, biases = stacked(layers_of(20, 8))
    x = torch.randn(16, 20)
    layer = Linear(20, 8)

    def call(weight: Tensor, bias: Tensor) -> Tensor:
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (x,))

    (gradient,) = torch.autograd.grad(vmap(call)(weights, biases).square().sum(), weights)
    assert gradient.is_contiguous()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    x = torch.tensor([-2.0, 0.5])
    wanted = {
        "relu": F.relu(x), "leaky_relu": F.leaky_relu(x, 0.2), "tanh": torch.tanh(x), "gelu": F.gelu(x),
        "elu": F.elu(x), "identity": x,
    }  # fmt: skip
    assert torch.equal(activation_of(name, 0.2)(x), wanted[name])


def test_wrong_names_and_numbers_are_told():
    with pytest.raises(InputError, match="there is no activation 'rellu'; did you mean 'relu'"):
        activation_of("rellu")
    with pytest.raises(InputError, match="no initialisation 'xaviar'; did you mean 'xavier'"):
        draw_weight(torch.empty(2, 2), "xaviar")
    with pytest.raises(InputError, match="less than 1, not 1"):
        checked_dropout(1)

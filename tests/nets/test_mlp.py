"""The perceptron and the heads, against networks put together by hand."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from evenhand.errors import InputError
from evenhand.nets.head import Head
from evenhand.nets.layers import Linear
from evenhand.nets.mlp import MLP, s3_mlp, s4_mlp


def by_hand(net: MLP, *after: nn.Module) -> nn.Sequential:
    """The network's own weights in torch's layers, each followed by the module given for it."""
    parts: list[nn.Module] = []
    for layer, following in zip(net.layers, after, strict=True):
        outputs, inputs = layer.weight.shape
        linear = nn.Linear(inputs, outputs)
        linear.load_state_dict(layer.state_dict())
        parts += [linear, following]
    return nn.Sequential(*parts)


def test_the_plain_form_activates_every_hidden_layer():
    net = MLP((3, 4, 4), 5, widths=(20, 10), activation="tanh")
    x = torch.randn(6, 3, 4, 4)
    logits, features = net(x)
    reference = by_hand(net, nn.Tanh(), nn.Tanh(), nn.Identity())
    torch.testing.assert_close(logits, reference(x.flatten(1)))
    torch.testing.assert_close(features, reference[:4](x.flatten(1)))
    assert net.n_features == 10


def test_it_starts_with_the_weights_that_torch_would_draw():
    torch.manual_seed(1)
    net = MLP(7, 2, widths=(5,))
    torch.manual_seed(1)
    reference = [nn.Linear(7, 5), nn.Linear(5, 2)]
    assert all(torch.equal(a.weight, b.weight) for a, b in zip(net.layers, reference, strict=True))


@pytest.mark.parametrize("legacy", [False, True])
def test_the_ci_mnist_network(legacy):
    net = s3_mlp((3, 32, 32), 2, legacy_activation=legacy)
    assert net.sizes == (3072, 32, 32, 16, 32, 32, 2)
    assert (net.split, net.n_features) == ("layer3", 16)
    leaky, end = nn.LeakyReLU(0.01), nn.LeakyReLU(0.01) if legacy else nn.Identity()
    reference = by_hand(net, leaky, leaky, end, leaky, leaky, end)
    x = torch.randn(9, 3, 32, 32)
    logits, latent = net(x)
    torch.testing.assert_close(logits, reference(x.flatten(1)))
    torch.testing.assert_close(latent, reference[:6](x.flatten(1)))
    # 3072-32-32-16-32-32-2 with biases, counted by hand
    assert sum(p.numel() for p in net.parameters()) == 98336 + 1056 + 528 + 544 + 1056 + 66


def test_the_width_of_the_ci_mnist_network():
    assert s3_mlp(112, 2, width=64, latent=8).sizes == (112, 64, 64, 8, 64, 64, 2)


def test_the_equalized_robustness_network():
    net = s4_mlp(102, 2)
    reference = by_hand(net, nn.ReLU(), nn.Identity(), nn.ReLU(), nn.Identity())
    x = torch.randn(50, 102)
    logits, features = net(x)
    torch.testing.assert_close(logits, reference(x))
    torch.testing.assert_close(features, reference[:4](x))
    assert (features < 0).any()  # no activation between encoder and head
    assert {name: (spec.kind, spec.shape, spec.p) for name, spec in net.noise().items()} == {
        "dropout1": ("keep", (100,), 0.25),
        "dropout3": ("keep", (32,), 0.25),
    }


def test_dropout_masks_multiply_what_follows_the_activation():
    net = s4_mlp(10, 2)
    x = torch.randn(4, 10)
    noise = {name: torch.rand(4, *spec.shape) for name, spec in net.noise().items()}
    first, second, third, fourth = net.layers
    z = second(F.relu(first(x)) * noise["dropout1"])
    logits, features = net(x, noise)
    torch.testing.assert_close(features, z)
    torch.testing.assert_close(logits, fourth(F.relu(third(z)) * noise["dropout3"]))


def test_features_are_what_the_next_layer_reads():
    net = MLP(10, 3, widths=(8, 6), dropout=0.5)
    x = torch.randn(4, 10)
    noise = {name: torch.rand(4, *spec.shape) for name, spec in net.noise().items()}
    logits, features = net(x, noise)
    assert torch.equal(logits, net.layers[-1](features))


def test_the_split_point_can_be_chosen():
    net = MLP(10, 3, widths=(8, 6), split=1)
    assert (net.split, net.n_features) == ("layer1", 8)
    assert MLP(10, 3, widths=(8, 6), split="layer0").n_features == 10
    with pytest.raises(InputError, match="no split point 'layer3'"):
        MLP(10, 3, widths=(8, 6), split=3)


def test_a_linear_model_and_a_linear_encoder():
    linear = MLP((2, 3), 2, widths=())
    assert (linear.sizes, linear.split, linear.n_features) == ((6, 2), "layer0", 6)
    shallow = MLP(112, 1, blocks=((8,), ()))  # encoder 112-8, head 8-1
    x = torch.randn(3, 112)
    assert torch.equal(shallow(x)[1], shallow.layers[0](x))
    with pytest.raises(InputError, match="without a width"):
        MLP(112, 1, blocks=((), (8,)))


def test_taps():
    net = MLP(10, 3, widths=(8, 6))
    x = torch.randn(4, 10)
    _, (second, zeroth) = net(x, taps=("layer2", "layer0"))
    assert torch.equal(second, net(x)[1])
    assert torch.equal(zeroth, x)
    with pytest.raises(InputError, match="no split point 'layer7'"):
        net(x, taps=("layer7",))


# -- heads -------------------------------------------------------------------------------------------------
def test_a_head_is_a_perceptron_on_features_and_what_is_beside_them():
    head = Head(17, 2, widths=(32, 32), activation="leaky_relu", slope=0.2, init="xavier")
    z, y = torch.randn(5, 16), torch.tensor([0, 1, 1, 0, 1])
    reference = by_hand(head.body, nn.LeakyReLU(0.2), nn.LeakyReLU(0.2), nn.Identity())
    joined = torch.cat([z, y[:, None].float()], dim=1)
    torch.testing.assert_close(head(z, y), reference(joined))
    torch.testing.assert_close(head(z.view(5, 4, 2, 2), y[:, None]), reference(joined))
    torch.testing.assert_close(head(joined), reference(joined))


def test_a_head_without_widths_is_linear_and_one_with_dropout_says_so():
    head = Head(16, 3)
    assert isinstance(head.body.layers[0], Linear)
    assert len(head.body.layers) == 1
    assert head.noise() == {}
    thinned = Head(64, 2, widths=(32,), dropout=0.25)
    (spec,) = thinned.noise().values()
    z = torch.randn(4, 64)
    kept = {"dropout1": torch.ones(4, *spec.shape)}
    assert torch.equal(thinned(z, noise=kept), thinned(z))
    gone = {"dropout1": torch.zeros(4, *spec.shape)}
    assert torch.equal(thinned(z, noise=gone), thinned.body.layers[1].bias.expand(4, 2))

"""Networks by name, and modules of one's own."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from evenhand.errors import InputError
from evenhand.nets import NetSpec
from evenhand.nets.mlp import MLP
from evenhand.nets.wrap import as_net


def test_specs_are_equal_and_hashable_whatever_the_order_and_the_brackets():
    one = NetSpec("mlp", {"widths": [8, 4], "dropout": 0.5})
    other = NetSpec("mlp", dropout=0.5, widths=(8, 4))
    assert one == other == replace(one)
    assert len({one, other, NetSpec("mlp")}) == 2
    assert one.build((3,), 2).sizes == (3, 8, 4, 2)


def test_unknown_names_and_options_get_the_nearest_ones():
    with pytest.raises(InputError, match="no network 'resnet-50'; did you mean 'resnet50'"):
        NetSpec("resnet-50")
    with pytest.raises(InputError, match="'convnet' has no option 'width'; did you mean 'widths'"):
        NetSpec("convnet", width=3)
    with pytest.raises(InputError, match="'resnet18' has no option 'name'"):
        NetSpec("resnet18", {"name": "resnet50"})


def test_a_network_for_images_refuses_a_table():
    with pytest.raises(
        InputError, match=r"'convnet' reads images.*\(102,\); for a table there are: mlp, s3-mlp, s4-mlp"
    ):
        NetSpec("convnet").build((102,), 2)


def test_listing_does_not_load_torch():
    code = "import sys; from evenhand.nets import NetSpec; NetSpec('mlp'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- modules of one's own -----------------------------------------------------------------------------------
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        z = self.encoder(x)
        return self.head(z), z


def test_a_module_that_gives_logits_and_features():
    net = as_net(Pair(), n_features=3, stackable=True)
    x = torch.randn(5, 4)
    logits, features = net(x, noise={})
    assert torch.equal(logits, net.module(x)[0])
    assert torch.equal(features, net.module(x)[1])
    assert (net.n_features, net.stackable, net.noise(), net.splits) == (3, True, {}, ())


def test_one_of_ours_stays_as_it_is():
    net = MLP(4, 2)
    assert as_net(net) is net


def test_what_a_module_cannot_give_is_told():
    with pytest.raises(InputError, match="no points to tap"):
        as_net(Pair())(torch.zeros(1, 4), taps=("f1",))

    class Odd(nn.Module):
        def forward(self, x):
            return {"logits": x}

    with pytest.raises(InputError, match="Odd returned a dict"):
        as_net(Odd())(torch.zeros(1, 4))

"""torchvision's networks: outputs, split points, heads, and weights that are never random by accident."""

import hashlib
import sys
from urllib.error import URLError

import pytest
import torch
import torch.nn.functional as F

from evenhand.errors import InputError
from evenhand.nets import NetSpec, torchvision_nets, weights

SHAPE = (3, 40, 40)


@pytest.fixture
def no_weights(tmp_path, monkeypatch):
    """No file anywhere, and no network."""

    def download(*_: str) -> None:
        raise URLError("no route")

    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.setattr(weights, "_download", download)
    return tmp_path


def test_it_computes_what_torchvision_computes(torchvision):
    net = NetSpec("resnet18").build(SHAPE, 1000).eval()
    theirs = torchvision.models.resnet18(weights=None).eval()
    state = {key.removeprefix("body."): value for key, value in net.state_dict().items() if "body" in key}
    theirs.load_state_dict({**state, "fc.weight": net.last.weight, "fc.bias": net.last.bias})
    x = torch.randn(2, *SHAPE)
    torch.testing.assert_close(net(x)[0], theirs(x))


@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize(("name", "channels"), [("resnet18", (256, 512)), ("resnet50", (1024, 2048))])
def test_split_points(name, channels):
    with torch.device("meta"):
        x = torch.empty(2, 3, 224, 224)
        for split, size in (("conv4", channels[0] * 14 * 14), ("conv5", channels[1] * 7 * 7)):
            net = NetSpec(name, split=split).build((3, 224, 224), 79)
            logits, features = net(x)
            assert logits.shape == (2, 79)
            assert features.flatten(1).shape == (2, size)
            assert net.n_features == size
    assert net.stackable is False


@pytest.mark.usefixtures("torchvision")
def test_wangs_head():
    net = NetSpec("resnet18", head="wang", dropout=0.5).build(SHAPE, 6).eval()
    x, mask = torch.randn(2, *SHAPE), {"dropout": torch.rand(2, 512)}
    logits, pooled = net(x, mask)
    torch.testing.assert_close(logits, net.last(F.relu(net.hidden(pooled)) * mask["dropout"]))
    assert net.hidden.weight.shape == (512, 512)


@pytest.mark.usefixtures("torchvision")
def test_dropout_of_the_linear_head_thins_the_pooled_vector():
    net = NetSpec("resnet18", dropout=0.5).build(SHAPE, 6).eval()
    x, mask = torch.randn(2, *SHAPE), {"dropout": torch.rand(2, 512)}
    logits, features = net(x, mask)
    assert torch.equal(features, net(x)[1] * mask["dropout"])
    assert torch.equal(logits, net.last(features))


def test_pretrained_weights_are_read(torchvision, no_weights, monkeypatch):
    torch.manual_seed(7)
    published = torchvision.models.resnet18(weights=None).state_dict()
    path = no_weights / "made.pth"
    torch.save(published, path)
    name = f"resnet18-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.pth"
    path.rename(no_weights / name)
    monkeypatch.setitem(torchvision_nets.FILES, ("resnet18", "v1"), name)
    net = NetSpec("resnet18", pretrained=True).build(SHAPE, 3)
    assert torch.equal(net.body.conv1.weight, published["conv1.weight"])
    assert torch.equal(net.body.layer4[1].bn2.running_var, published["layer4.1.bn2.running_var"])
    assert net.last.weight.shape == (3, 512)


@pytest.mark.usefixtures("torchvision", "no_weights")
def test_missing_weights_are_an_error_and_never_random():
    with pytest.raises(InputError, match=r"resnet50-0676ba61\.pth are not on this machine"):
        NetSpec("resnet50", pretrained=True).build(SHAPE, 3)
    with pytest.raises(InputError, match="'resnet18' has no pretrained weights 'v2'; did you mean 'v1'"):
        NetSpec("resnet18", pretrained="v2").build(SHAPE, 3)


@pytest.mark.usefixtures("torchvision")
def test_what_cannot_be_built_is_told():
    with pytest.raises(InputError, match="3 channels, not of 1"):
        NetSpec("resnet18").build((1, 40, 40), 3)
    with pytest.raises(InputError, match="no head 'wong'; did you mean 'wang'"):
        NetSpec("resnet18", head="wong").build(SHAPE, 3)


def test_without_torchvision_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(InputError, match=r"pip install 'evenhand\[vision\]'"):
        NetSpec("resnet18").build(SHAPE, 3)

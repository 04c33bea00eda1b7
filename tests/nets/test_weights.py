"""Published weights: found, verified, downloaded, or refused with what to do."""

import hashlib
import os
from pathlib import Path
from urllib.error import URLError

import pytest
import torch

from evenhand.errors import InputError
from evenhand.nets.weights import ADDRESS, FILES, find_weights

CONTENT = b"weights"
DIGITS = hashlib.sha256(CONTENT).hexdigest()[:8]
NAME = f"net-{DIGITS}.pth"


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """EVENHAND_DATA with two folders, an own cache and an own folder for torch."""
    monkeypatch.setenv("EVENHAND_DATA", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    return tmp_path


def no_network(address: str, target: str, digits: str) -> None:
    raise URLError("no route")


@pytest.mark.parametrize("place", ["a", "b", "cache", "hub/checkpoints"])
def test_found_where_it_lies(folders, place):
    path = folders / place / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert find_weights(NAME, fetch=no_network) == path


def test_a_damaged_file_is_refused(folders):
    path = folders / "a" / NAME
    path.parent.mkdir()
    path.write_bytes(b"other")
    with pytest.raises(InputError, match=f"its SHA-256 is .* should begin with {DIGITS}"):
        find_weights(NAME)


def test_downloaded_and_verified(folders):
    asked = []

    def fetch(address: str, target: str, digits: str) -> None:
        asked.append((address, digits))
        Path(target).write_bytes(CONTENT)

    path = find_weights(NAME, fetch=fetch)
    assert path == folders / "hub" / "checkpoints" / NAME
    assert asked == [(ADDRESS + NAME, DIGITS)]
    assert find_weights(NAME, fetch=no_network) == path


def test_without_a_network_it_says_what_to_do(folders):
    with pytest.raises(InputError) as caught:
        find_weights(NAME, fetch=no_network)
    message = str(caught.value)
    assert ADDRESS + NAME in message
    assert str(folders / "hub" / "checkpoints") in message
    assert "EVENHAND_DATA" in message
    assert "pretrained=False" in message


def test_a_name_without_a_checksum_is_refused():
    with pytest.raises(InputError, match="does not carry its checksum"):
        find_weights("net.pth", fetch=no_network)


def test_every_published_file_carries_its_checksum():
    assert all(len(name.removesuffix(".pth").split("-")[1]) == 8 for name in FILES.values())

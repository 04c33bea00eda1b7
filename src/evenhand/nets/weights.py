"""Published weights: found on disk or downloaded, and never used before their checksum was seen to be right.

The publisher writes the first digits of a file's SHA-256 into its name: `resnet18-f37072fd.pth`.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from evenhand.errors import InputError

ADDRESS = "https://download.pytorch.org/models/"
FILES = {  # trained on ImageNet-1k by torchvision's authors; BSD-3-Clause
    ("resnet18", "v1"): "resnet18-f37072fd.pth",
    ("resnet34", "v1"): "resnet34-b627a593.pth",
    ("resnet50", "v1"): "resnet50-0676ba61.pth",
    ("resnet50", "v2"): "resnet50-11ad3fa6.pth",
}
Fetch = Callable[[str, str, str], object]  # address, target, first digits of the SHA-256


def find_weights(name: str, fetch: Fetch | None = None) -> Path:
    """The verified path of a weight file: from `EVENHAND_DATA`, the caches, or else downloaded.

    Raises `InputError` where the file is damaged, or cannot be had: the message says what to put where.
    """
    for folder in folders():
        if (folder / name).is_file():
            return verified(folder / name)
    target = folders()[-1] / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        (fetch or _download)(ADDRESS + name, str(target), _digits(name))
    except (OSError, RuntimeError) as error:  # no network; a checksum that is not right
        raise InputError(
            f"the pretrained weights {name} are not on this machine and could not be downloaded ({error}). "
            f"Download {ADDRESS}{name} and put it into {target.parent} or a folder that EVENHAND_DATA names; "
            "pretrained=False starts from random weights"
        ) from error
    return verified(target)


def folders() -> list[Path]:
    """Where weights may lie: `EVENHAND_DATA` (several as in PATH), `EVENHAND_CACHE`, torch's own cache."""
    named = [*os.environ.get("EVENHAND_DATA", "").split(os.pathsep), os.environ.get("EVENHAND_CACHE", "")]
    return [*(Path(part).expanduser() for part in named if part), Path(torch.hub.get_dir(), "checkpoints")]


def verified(path: Path) -> Path:
    """The path itself, after checking that the file's SHA-256 begins as its name says."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not found.startswith(_digits(path.name)):
        raise InputError(
            f"{path} is damaged or another file: its SHA-256 is {found}, which should begin with "
            f"{_digits(path.name)}; put the published file in its place, or remove it"
        )
    return path


def _digits(name: str) -> str:
    found = re.search(r"-([0-9a-f]{8,})\.pth$", name)
    if found is None:
        raise InputError(f"the weight file {name!r} does not carry its checksum: it must end in -DIGITS.pth")
    return found[1]


def _download(address: str, target: str, digits: str) -> None:
    torch.hub.download_url_to_file(address, target, digits, progress=sys.stderr.isatty())

"""What a technique was trained on here, and what S0 trained it on: other data make no replication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.fixed_seed.layout import technique_of
from evenhand.evaluation.fixed_seed.trained import ACCURACY, PERFORMANCES, PRECISION, Trained, facts
from evenhand.methods.techniques import TECHNIQUES
from evenhand.study.frame import Frame

Row = dict[str, Any]
# S0's data, its network and what it calls performance (C, I: on validation rows), by family
PAPER = {
    "S": ("CIFAR-10S", "ResNet-18", ACCURACY),
    "C": ("MS-COCO", "ResNet-50 from ImageNet", PRECISION),
    "I": ("imSitu", "ResNet-50 from ImageNet", PRECISION),
    "A": ("CelebA, Attractive", "ResNet-18", ACCURACY),
    "N": ("CelebA, Smiling", "a convolutional network", ACCURACY),
}
NAMES = {
    "mnist10s": "MNIST-10S (digits)", "cifar10s": "CIFAR-10S", "faces": "drawn faces", "adult": "Adult",
    "fairface": "FairFace", "coco-gender": "MS-COCO", "imsitu-gender": "imSitu", "celeba": "CelebA",
    "celeba-mixed": "CelebA",
}  # fmt: skip


FORMS = {"npz32": "32 pixels", "jpeg75": "JPEG"}  # of those that are not the data's own


def origins(frame: Frame, one: Trained) -> dict[str, Row]:
    """For each technique: its data and network here, S0's beside, and whether the data are S0's own."""
    return {name: _origin(frame, one, name) for name in one.techniques}


def _origin(frame: Frame, one: Trained, name: str) -> Row:
    spec = facts(frame, one.rows[name], "spec")[0]
    data, net, performed = PAPER[name[0]]
    return {
        "data": data_words(str(spec.get("data")), spec.get("knobs") or {}),
        "net": str(facts(frame, one.rows[name], "net")[0]),
        "epochs": (spec.get("recipe") or {}).get("epochs"),
        "paper": data, "paper_net": net, "paper_performance": PERFORMANCES[performed],
        "own_data": spec.get("data") == TECHNIQUES[technique_of(name) or ""].data,
    }  # fmt: skip


def data_words(data: str, knobs: Mapping[str, Any]) -> str:
    """A data set with what is asked of it.

    >>> data_words("faces", {"target": "Smiling", "mixing": 0.0}), data_words("adult", {"validation": 0.1})
    ('drawn faces, Smiling, mixing 0', 'Adult')
    """
    target, mixing = knobs.get("target"), knobs.get("mixing")
    asked = f"{len(target)} labels" if isinstance(target, list | tuple) else target
    rows = knobs.get("n_train")
    told = [NAMES.get(data, data), asked, None if mixing is None else f"mixing {mixing:g}",
            FORMS.get(knobs.get("form") or ""), f"{rows:,} training rows" if rows else None]  # fmt: skip
    return ", ".join(str(part) for part in told if part)

"""The 27 techniques of S0 with the constants of its programs, family by family.

S: CIFAR-10S after Wang et al. 2020. C and I: MS-COCO and imSitu after Wang et al. 2019. A: CelebA
(attractive) after FairALM, Lokhande et al. 2020. N: CelebA (smiling) after NIFR, Kehrenberg et al. 2020. "S0"
is Qian et al., Are my deep learning systems fair? An empirical study of fixed-seed training, NeurIPS 2021.
"""

from __future__ import annotations

from typing import Any

from evenhand.methods.technique import Technique

# -- S: ten classes, colour or gray ------------------------------------------------------------------------
_SGD: dict[str, Any] = {
    "epochs": 200, "batch_size": 128, "optimizer": "sgd", "rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4,
    "schedule": "step", "milestones": (0.25, 0.5, 0.75), "decay": 0.1, "augment": "crop-flip", "keep": "last",
}  # fmt: skip
_ADVERSARY: dict[str, Any] = {
    "epochs": 500, "batch_size": 128, "optimizer": "adam", "rate": 1e-4, "weight_decay": 3e-4,
    "schedule": "constant", "augment": "crop-flip", "keep": "last",
}  # fmt: skip
_RBA: dict[str, Any] = {"target": 0.5, "margin": 0.05, "rate": 3.0, "rounds": 100}


def _s(name: str, key: str, about: str, recipe: dict[str, Any] = _SGD, **fields: Any) -> Technique:
    return Technique(name, "S", key, fields, recipe, "cifar10s", "cifar-resnet18", about)


_S = (
    _s("S-Base", "erm", "cross-entropy"),
    _s(
        "S-RS", "resample", "rows of the rarer domain are repeated 18 times more within each class",
        kind="over", by="within-label", fill=False,
    ),
    _s(
        "S-UC", "a-cens", "uniform confusion; of every three epochs one is the model's, two the adversary's",
        _ADVERSARY, alpha=1.0, ratio=2, every="epoch",
    ),
    _s(
        "S-GR", "gradproj", "gradient projection; the adversary moves in all epochs, the model in a third",
        _ADVERSARY, alpha=1.0, ratio=3, every="epoch",
    ),
    _s("S-DD1", "disc", "20 classes; the domain is summed out", inference="sum-prob"),
    _s("S-DD2", "disc", "20 classes; the larger of the weighted domains", inference="max-prob-shift"),
    _s("S-DD3", "disc", "20 classes; the weighted domains are summed", inference="sum-prob-shift"),
    _s("S-DD4", "disc-rba", "20 classes; predicted counts are held to equal shares at test (RBA)", **_RBA),
    _s("S-DI1", "ind", "a head for each domain; the test image's own decides", inference="conditional"),
    _s("S-DI2", "ind", "a head for each domain; their logits are summed", inference="sum-logit"),
)  # fmt: skip


# -- C and I: things and doings, men and women ---------------------------------------------------------------
# Two stages each: a new last layer on a network of ImageNet, then all of it at a twentieth of the rate.
_STAGED = {
    "batch_size": 32, "optimizer": "adam", "rate": 1e-4, "weight_decay": 1e-5, "augment": "crop-flip",
    "keep": "best",
}  # fmt: skip
_SHARE = 0.05  # 5e-6 of 1e-4
_LABELS = {"C": "coco-gender", "I": "imsitu-gender"}
_ABOUT_BASE = (
    "labels weighted by negatives over positives; as all of this family it begins with ImageNet's weights "
    "(say pretrained = true of the network) and keeps the epoch of the least validation loss, S0 that of "
    "the best macro-F1; images are cropped out of a padded frame, S0's out of 256 pixels"
)


def _staged(family: str, name: str, key: str, about: str, first: int, **fields: Any) -> Technique:
    stages = {"head_epochs": first, "rate_share": _SHARE}
    recipe = {**_STAGED, "epochs": first}
    return Technique(
        f"{family}-{name}", family, key, {**stages, **fields}, recipe, _LABELS[family], "resnet50", about
    )


def _of_people(family: str, epochs: int, adversary: tuple[int, int], lam: float) -> tuple[Technique, ...]:
    """The six of a family: `epochs` of each stage, those of A4 and A5, and how strong the reversal is."""
    under = (
        _staged(
            family, f"R{ratio}", "staged+resample-posneg",
            f"at most {ratio} times as many of one gender a label",
            epochs, kind="under", by="within-label", ratio=ratio,
        )
        for ratio in (1, 2, 3)
    )  # fmt: skip
    against = (
        _staged(
            family, f"A{layer}", "grl-conv",
            f"reversal adversary on the map of conv{layer}; balanced batches",
            own, lam=lam, tap=f"conv{layer}",
        )
        for layer, own in zip((4, 5), adversary, strict=True)
    )  # fmt: skip
    base = _staged(family, "Base", "staged+erm-posneg", _ABOUT_BASE, epochs)
    return (base, *under, *against)


_C = _of_people("C", 60, (50, 60), 2.0)
_I = _of_people("I", 15, (15, 15), 1.0)


# -- A: is the face called attractive ------------------------------------------------------------------------
_PLAIN = {
    "epochs": 100, "batch_size": 256, "optimizer": "sgd", "rate": 0.01, "momentum": 0.0,
    "schedule": "constant", "keep": "last",
}  # fmt: skip


def _a(name: str, key: str, about: str, published: dict[str, Any] | None = None, **fields: Any) -> Technique:
    return Technique(name, "A", key, fields, _PLAIN, "celeba", "resnet18", about, published or {})


_A = (
    _a("A-Base", "erm", "cross-entropy"),
    _a(
        "A-L2", "gap",
        "squared difference of the positives' mean losses; S0 left its weight at ALM's 20 (times "
        "1.01 an epoch, which is not kept), where FairALM's authors have 0.001 to 1",
        {"lam": 20.0}, lam=0.1, target="opportunity", form="loss", momentum=0.0,
    ),
    _a(
        "A-ALM", "fairalm",
        "augmented Lagrangian, five steps a batch; S0's program updates one multiplier after "
        "the other, with the first one's new value",
        {"dual": "sequential"}, eta=20.0, growth=1.01, inner_steps=5, dual="simultaneous",
    ),
)  # fmt: skip


# -- N: does the face smile ----------------------------------------------------------------------------------
# S0 has RAdam, which is Adam with another beginning. One recipe serves flow and classifier here: the rate is
# the flow's, S0's classifier has 1e-3.
_N_BASE = {
    "epochs": 40, "batch_size": 128, "optimizer": "adam", "rate": 1e-3,
    "schedule": "constant", "keep": "last",
}  # fmt: skip
_N_FLOW = {**_N_BASE, "batch_size": 32, "rate": 3e-4}
_FLOW = {
    "weight": 0.01, "share": 0.001, "levels": 3, "blocks": 32, "width": 512, "discriminators": 10,
    "critic": 512, "critic_blocks": 1, "reset": 0.0002, "bits": 5,
    "flow_epochs": 30,  # 76,000 batches of 32 of S0's 81,040 images
}  # fmt: skip
_N = (
    Technique(
        "N-Base", "N", "erm", {}, _N_BASE, "celeba-mixed", "convnet",
        "cross-entropy; S0 trains it where gender and smile are one (mixing 0) and N-Flow where they are not "
        "(0.5): train both at one mixing",
    ),
    Technique(
        "N-Flow", "N", "nifr", _FLOW, _N_FLOW, "celeba-mixed", "convnet",
        "a flow whose last dimensions hold the gender; they are set to 0, and a classifier reads the images; "
        "Adam for S0's RAdam, one rate for flow and classifier (S0's classifier: 0.001)",
    ),
)  # fmt: skip

TABLE: tuple[Technique, ...] = (*_S, *_C, *_I, *_A, *_N)

"""What every registered data set promises; one that is not on this machine is skipped, never downloaded."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data import DATASETS, load
from evenhand.data.describe import describe
from evenhand.data.task import PARTS

HERE = Path(__file__).parents[1] / "data"
celebrities = runpy.run_path(str(HERE / "tiny_celeba.py"))["make"]
folders = runpy.run_path(str(HERE / "tiny_folders.py"))
hundred = runpy.run_path(str(HERE / "tiny_cifar100.py"))
situations = runpy.run_path(str(HERE / "tiny_situations.py"))
# images that nobody may pass on: a small copy of the published layout instead
TINY = {
    "celeba": celebrities,
    "celeba-mixed": lambda folder: celebrities(folder.parent / "celeba"),
    "utkface": folders["make_utkface"],
    "imagenet-people": folders["make_imagenet_people"],
    "coco-gender": situations["make_coco"],
    "imsitu-gender": situations["make_imsitu"],
}

# knobs beside the defaults; where the defaults ask for a large official archive, a smaller known form
CHOICES = [
    ("adult", {}),
    ("adult", {"preparation": "s3", "age_ratio": "0.1,0.1"}),
    ("communities-crime", {}),
    ("communities-crime", {"whiten": "zca", "validation": 0.2, "seed": 3}),
    ("titanic", {}),
    ("titanic", {"seed": 4, "validation": 0.1}),
    ("synthetic", {}),
    (
        "synthetic",
        {"attributes": 3, "correlation": 0.3, "labels": 4, "scarcity": 0.5, "attribute_noise": 0.1},
    ),
    ("synthetic", {"classes": 5, "levels": 3, "label_flip": 0.2, "d": 20, "seed": 9}),
    ("mnist", {}),
    ("mnist-under", {}),
    ("mnist-under", {"shares": [0.3], "each": 2, "seed": 3, "limit": 500}),
    ("mnist-numbers", {}),
    ("mnist-numbers", {"n": 1234, "n_validation": 0, "n_test": 300, "seed": 3}),
    ("mnist10s", {}),
    ("mnist10s", {"skew": 0.8, "size": 32, "limit": 1500, "seed": 3, "validation": 0.1}),
    ("ci-mnist", {}),
    ("ci-mnist", {"variant": "B", "clr_ratio": (0.1, 0.9)}),
    ("faces", {"n": 300}),
    ("faces", {"target": "all", "protect": ["Male"], "n": 200, "size": 48, "noise": 0.2, "labelled": 0.5}),
    ("faces", {"target": "Smiling", "n": 400, "mixing": 0.25, "by": "Young"}),
    ("faces", {"target": "wang-34", "n": 2000, "ratio": 2, "labelled": 0.5}),
    ("hair-colour", {"n": 600}),
    ("hair-colour", {"n": 500, "size": 48, "seed": 3, "difficulty": 0.5, "validation": 0.2}),
    ("adult", {"mixing": 0.1}),
    ("fairface", {"form": "npz32", "resident": False}),
    ("fairface", {"target": "age", "form": "npz32", "resident": False, "ratio": 1}),
    ("celeba", {"n_train": 12, "n_test": 6, "size": 16}),
    ("celeba", {"split": "official", "size": 16, "target": "Chubby"}),
    ("celeba", {"split": "official", "size": 16, "target": "all", "protect": ["Male"], "labelled": 0.5}),
    ("celeba-mixed", {"target": "Attractive", "mixing": 0.5, "size": 16}),
    ("celeba-mixed", {"target": "Attractive", "mixing": 0.8, "split": "sequential", "size": 8, "n": 20}),
    ("utkface", {"size": 16, "validation": 0.2, "target": "gender"}),
    ("utkface", {"size": 16, "bands": (18, 60), "labelled": 0.5}),
    ("imagenet-people", {"size": 16}),
    ("imagenet-people", {"size": 16, "synsets": "all", "unsure": "level", "seed": 3}),
    ("coco-gender", {"size": 16, "per_group": 1}),
    ("coco-gender", {"size": 16, "words": "wide", "unknown": "keep", "test": 0.7, "ratio": 2.0}),
    ("imsitu-gender", {"size": 16, "at_least": 1}),
    ("imsitu-gender", {"size": 16, "at_least": 2, "nouns": "wide", "ratio": 1.5, "limit": 4}),
    ("cifar10", {"form": "lossless-4k"}),
    ("cifar10s", {"form": "lossless-4k"}),
    ("cifar10-under", {"form": "lossless-4k"}),
    ("cifar100-under", {}),
    ("cifar100-under", {"shares": [0.5, 0.2], "each": 2, "seed": 3, "validation": 0.1}),
]
NAMES = [f"{name} {' '.join(map(str, knobs.values()))}".strip() for name, knobs in CHOICES]


@pytest.fixture(scope="module", params=range(len(CHOICES)), ids=NAMES)
def loaded(request, tmp_path_factory):
    """The registered entry, its knobs, and the task twice."""
    name, knobs = CHOICES[request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.data.fetch.download", absent)
        if name in TINY:
            pytest.importorskip("PIL")
            folder = TINY[name](tmp_path_factory.mktemp("data") / name).parent
            patch.setenv("EVENHAND_DATA", str(folder))
        if name == "cifar100-under":
            folder = tmp_path_factory.mktemp("data")
            patch.setattr("evenhand.data.cifar100_files.BINARY", hundred["make"](folder / "here"))
            patch.setenv("EVENHAND_DATA", str(folder))
        return DATASETS[name], knobs, load(name, **knobs), load(name, **knobs)


def absent(source, *_):
    pytest.skip(f"{source.name} is not on this machine")


def inputs(task):
    """All inputs, or, where they are decoded one by one, those at some rows."""
    return task.x if isinstance(task.x, torch.Tensor) else task.x.take(torch.arange(0, len(task), 997))


def test_every_registered_data_set_is_tested():
    assert {name for name, _ in CHOICES} == set(DATASETS)


def test_it_passes_its_own_checks(loaded):
    _, _, task, _ = loaded
    assert task.check() is task


def test_the_same_knobs_give_the_same_bytes(loaded):
    _, _, first, second = loaded
    for one, other in ((inputs(first), inputs(second)), (first.y, second.y)):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    assert {part: rows.tolist() for part, rows in first.split.items()} == {
        part: rows.tolist() for part, rows in second.split.items()
    }
    for one, other in zip(first.attributes, second.attributes, strict=True):
        assert (one.name, one.levels) == (other.name, other.levels)
        assert np.array_equal(one.codes, other.codes)
    assert first.card == second.card


def test_the_card_is_complete(loaded):
    dataset, knobs, task, _ = loaded
    card = task.card
    for field in ("title", "about", "origin", "licence", "citation", "target"):
        assert getattr(card, field).strip(), field
    assert all(len(checksum) == 64 for checksum in card.files.values())
    assert bool(card.files) == (dataset.name != "synthetic")
    assert set(card.knobs) <= set(dataset.knobs())
    for knob, value in knobs.items():
        if knob != "resident":  # how inputs are held changes no number
            assert card.knobs[knob] == value
    assert all(note.strip() for note in card.notes)


def test_parts_are_disjoint_and_test_rows_are_there(loaded):
    _, _, task, _ = loaded
    assert {"train", "test"} <= set(task.split)
    assert set(PARTS) >= {part.split("_")[0] for part in task.split}
    rows = torch.cat(list(task.split.values()))
    assert len(rows) == len(set(rows.tolist()))
    for part in task.split:
        assert len(task.rows(part)) > 0
    if not task.multi_label:
        assert len(task.y[task.rows("train")].unique()) == task.n_classes


def test_attributes_are_coded_and_the_protected_ones_exist(loaded):
    dataset, knobs, task, _ = loaded
    if "variant" not in knobs:
        assert set(dataset.protect) <= {attribute.name for attribute in task.attributes}
    for attribute in task.attributes:
        assert attribute.codes.dtype == np.int64
        assert len(attribute.levels) >= 2
        known = attribute.codes[attribute.codes >= 0]
        assert set(np.unique(known)) <= set(range(len(attribute.levels)))
    assert len(dataset.protect) > 0


def test_inputs_are_what_networks_take(loaded):
    dataset, _, task, _ = loaded
    x = inputs(task)
    assert x.shape[1:] == task.input_shape
    if dataset.kind == "image":
        assert x.dtype == torch.uint8
        assert len(task.input_shape) == 3
    else:
        assert x.dtype == torch.float32
        assert len(task.columns) == task.input_shape[0] == len(set(task.columns))
    scaled = task.scaling(x[:256])
    assert scaled.is_floating_point()
    assert torch.isfinite(scaled).all()


def test_it_can_be_described(loaded):
    import json

    dataset, _, task, _ = loaded
    found = describe(task)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["name"] == dataset.name
    for part, rows in task.split.items():
        assert found["parts"][part]["rows"] == len(rows)
    for attribute in found["attributes"]:
        used = sum(len(rows) for rows in task.split.values())
        assert sum(attribute["levels"].values()) + attribute["unknown"] == used

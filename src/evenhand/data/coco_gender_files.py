"""Reading COCO's annotations of 2014: the objects on each image, and its captions.

    annotations/instances_train2014.json, instances_val2014.json
        {"images": [{"id": 9, "file_name": "COCO_train2014_000000000009.jpg"}, ...],
         "annotations": [{"image_id": 9, "category_id": 51}, ...],
         "categories": [{"id": 51, "name": "bowl"}, ...]}
    annotations/captions_train2014.json, captions_val2014.json
        {"images": [...], "annotations": [{"image_id": 9, "caption": "A dish with food"}, ...]}

Other fields are there and not looked at. An object is on an image if one annotation of it is, be it one thing
or a crowd of them (`iscrowd`). What was read is kept as arrays for the next task of the same files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import Stamp, read_json, stamp
from evenhand.data.coco_gender_words import Mentions, mentions
from evenhand.errors import InputError

# outlines are nine tenths of a file: lists of numbers behind these names, up to the next name or brace
OUTLINES = re.compile(rb'"(?:segmentation|counts)":\s*\[[\[\]\s\d.,eE+-]*\]')
PERSON = "person"  # whom it is about, and no label
SETS = ("train", "val")
WHERE = (
    "unpack annotations_trainval2014.zip ('2014 Train/Val annotations'), train2014.zip and val2014.zip of "
    "cocodataset.org into one folder, and name it by folder=... or call it coco inside EVENHAND_DATA"
)
INSTANCES_FORM = (
    '{"images": [{"id", "file_name"}], "annotations": [{"image_id", "category_id"}], '
    '"categories": [{"id", "name"}]}'
)
CAPTIONS_FORM = '{"annotations": [{"image_id", "caption"}]}'
# COCO publishes no checksums. These SHA-256 are those of copies in public repositories: of the first three
# files in two that do not know each other, of the last in one. A file that differs is told, not refused.
KNOWN = {
    "instances_train2014.json": "777ef504abfeba349930485bb32ecd5b6529129a3e010f7852e1437cb049b732",
    "instances_val2014.json": "e1b4d1bc54906827b1a029981b1c77f2088bd4462569b7615db7929070c3ab47",
    "captions_train2014.json": "dd8c9636dc11740f956e36728866ea0c4ebe4988dcbdc5e712b7c2267f152d12",
    "captions_val2014.json": "7da4cc45cb76ee1642d163e846e1e0a33feffac2e841c9c426d585ea499165a4",
}


@dataclass(frozen=True)
class Instances:
    """Images with their numbers and files, and which objects are on each: `y [images, objects]`, 0 or 1."""

    ids: tuple[int, ...] = field(repr=False)
    files: tuple[str, ...] = field(repr=False)
    objects: tuple[str, ...]
    y: IntArray = field(repr=False)


def annotation_path(root: Path, kind: str, part: str) -> Path:
    """`annotations/KIND_PART2014.json`, or beside it; where it is not there, what holds it is told."""
    name = f"{kind}_{part}2014.json"
    for path in (root / "annotations" / name, root / name):
        if path.is_file():
            return path
    raise InputError(f"there is no {name} in {root / 'annotations'}; {WHERE}")


def read_instances(path: Path) -> Instances:
    """The objects on the images of one file, without people; sorted by the number of the category."""
    return _instances(stamp(path))


@lru_cache(maxsize=4)
def _instances(known: Stamp) -> Instances:
    path = known[0]
    lists = _lists(path, ("images", "annotations", "categories"), INSTANCES_FORM)
    try:
        ids = [int(image["id"]) for image in lists["images"]]
        files = tuple(str(image["file_name"]) for image in lists["images"])
        names = {int(kind["id"]): str(kind["name"]) for kind in lists["categories"]}
        shown = [(int(one["image_id"]), int(one["category_id"])) for one in lists["annotations"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _unlike(path, INSTANCES_FORM, error) from error
    if PERSON not in names.values() or len(names) < 2:
        raise InputError(
            f"{path} has no category '{PERSON}' beside others; it is not a file of COCO's objects"
        )
    order = sorted(number for number, name in names.items() if name != PERSON)
    column = {number: place for place, number in enumerate(order)}
    row = _places(path, ids)
    y = np.zeros((len(ids), len(order)), dtype=np.int64)
    _check_ids(path, "image", (image for image, _ in shown), row)
    _check_ids(path, "category", (kind for _, kind in shown), names)
    marked = [(row[image], column[kind]) for image, kind in shown if kind in column]
    y[tuple(np.array(marked, dtype=np.int64).reshape(-1, 2).T)] = 1
    return Instances(tuple(ids), files, tuple(names[number] for number in order), y)


def read_mentions(path: Path, ids: tuple[int, ...], words: str) -> Mentions:
    """Whether the captions of each image mention a man and a woman, by one of the lists of words."""
    return _mentions(stamp(path), ids, words)


@lru_cache(maxsize=4)
def _mentions(known: Stamp, ids: tuple[int, ...], words: str) -> Mentions:
    path = known[0]
    listed = _lists(path, ("annotations",), CAPTIONS_FORM)["annotations"]
    try:
        images = [int(one["image_id"]) for one in listed]
        captions = [one["caption"] + "" for one in listed]  # a caption that is no text is refused here
    except (KeyError, TypeError, ValueError) as error:
        raise _unlike(path, CAPTIONS_FORM, error) from error
    row = _places(path, ids)
    _check_ids(path, "image", images, row)
    return mentions([row[image] for image in images], captions, len(ids), words)


def _lists(path: Path, names: Sequence[str], form: str) -> Mapping[str, list[Any]]:
    content = read_json(path, form, OUTLINES)
    if not isinstance(content, dict) or not all(isinstance(content.get(name), list) for name in names):
        raise InputError(f"{path} is not as COCO gives it out: {form}")
    return content


def _unlike(path: Path, form: str, error: Exception) -> InputError:
    what = f"an entry lacks {error}" if isinstance(error, KeyError) else str(error)
    return InputError(f"{path} is not as COCO gives it out: {form} ({what})")


def _places(path: Path, ids: Sequence[int]) -> dict[int, int]:
    places = {number: place for place, number in enumerate(ids)}
    if len(places) < len(ids):
        twice = next(number for place, number in enumerate(ids) if places[number] != place)
        raise InputError(f"{path} has two images with the number {twice}; numbers must differ")
    return places


def _check_ids(path: Path, what: str, named: Any, known: Mapping[int, Any]) -> None:
    lost = sorted(set(named) - set(known))
    if lost:
        first = ", ".join(map(str, lost[:3]))
        raise InputError(
            f"{path} has annotations of {len(lost):,} unknown {what} numbers, the first {first}; annotations "
            "and images must be of the same release"
        )

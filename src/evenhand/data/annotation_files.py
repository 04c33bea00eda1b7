"""Annotations in JSON files, and what users may put beside them: lists of images for each part, genders.

The loaders of COCO and imSitu read their official files by these functions. Only JSON, CSV and plain text are
read. The lists that Wang et al. (ICCV 2019) give out with their programs are pickles, and opening a pickle
runs whatever it holds; the message that refuses one says how to convert it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from evenhand.data.cache import sha256
from evenhand.data.folder_listing import named_folder
from evenhand.data.label_table import read_label_table
from evenhand.errors import InputError

Stamp = tuple[Path, int, int]  # a file, its time and its size: another file has another
PARTS = {"train": "train", "validation": "validation", "test": "test"} | dict.fromkeys(
    ("val", "dev", "valid"), "validation"
)
GENDERS = ("man", "woman")  # coded 0 and 1
SPELLED = {"man": 0, "woman": 1, "male": 0, "female": 1}
IDENTIFIERS = ("image_id", "image", "file", "id")  # columns that may name the image in a table of genders
PARTS_FORM = '{"train": [image, ...], "validation": [...], "test": [...]}'
CONVERT = (
    "a pickle is not read here, because opening one runs code; where you trust it, convert it: "
    "json.dump([row['image_id'] for row in pickle.load(open(NAME, 'rb'), encoding='latin1')], file)"
)


def annotated_folder(folder: str | Path | None, names: Sequence[str], title: str, where: str) -> Path:
    """The folder that the user names, or one of these names inside EVENHAND_DATA; else what is to be done."""
    return named_folder(folder, names, title, where, why="this package does not fetch it")


def first_folder(root: Path, names: Sequence[str], what: str, where: str) -> Path:
    """The first of these folders inside the root that is there."""
    found = next((root / name for name in names if (root / name).is_dir()), None)
    if found is None:
        raise InputError(f"{what} are not in {root}: there is no folder {' or '.join(names)}; {where}")
    return found


def stamp(path: Path) -> Stamp:
    """What tells whether a file that was read before is still the same."""
    known = path.stat()
    return path, known.st_mtime_ns, known.st_size


@lru_cache(maxsize=32)  # annotations have hundreds of megabytes, and a study loads a task many times
def checksum(known: Stamp) -> str:
    """The SHA-256 of a file, computed once for each state of it."""
    return sha256(known[0])


def read_json(path: Path, form: str, skipped: re.Pattern[bytes] | None = None) -> Any:
    """The content of a JSON file; `form` says in the message what it should be.

    `skipped` finds fields that nobody asks for, which are cut out before the rest is parsed: most of a large
    file may be of such.
    """
    content = path.read_bytes()
    content = content if skipped is None else skipped.sub(b'"skipped":0', content)
    try:
        return json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        pickled = content[:1] == b"\x80" or content[:4] in (b"(lp0", b"(dp0", b"(lp1", b"(dp1")
        hint = CONVERT if pickled else f"it should be {form}"
        raise InputError(f"{path} cannot be read as JSON ({error}); {hint}") from error


def user_file(root: Path, given: str | Path, knob: str) -> Path:
    """A file that a knob names: as it is written, or inside the folder of the data set."""
    for path in (Path(given).expanduser(), root / given):
        if path.is_file():
            return path
    raise InputError(f"the knob {knob} names {given}, which is no file, here or in {root}")


def read_parts(path: Path, places: dict[Any, int], title: str) -> dict[str, list[int]]:
    """Which images are for which part, by their places in the annotations: a split of the user's own."""
    content = read_json(path, PARTS_FORM)
    if not isinstance(content, dict) or not all(isinstance(names, list) for names in content.values()):
        raise InputError(f"{path} does not say which images are for which part: {PARTS_FORM}")
    parts: dict[str, list[int]] = {}
    for name, images in content.items():
        if name not in PARTS:
            near = get_close_matches(name, PARTS, n=1, cutoff=0.3) or ["train"]
            raise InputError(
                f"{path} has a part {name!r}; did you mean {near[0]!r}? It may have: {PARTS_FORM}"
            )
        _check_known(path, images, places, title)
        parts.setdefault(PARTS[name], []).extend(places[image] for image in images)
    lost = [part for part in ("train", "test") if not parts.get(part)]
    if lost:
        raise InputError(f"{path} has no images for the part '{lost[0]}'; it needs {PARTS_FORM}")
    _check_once(path, [place for chosen in parts.values() for place in chosen], places)
    return {part: chosen for part, chosen in parts.items() if chosen}


def read_genders(path: Path, places: dict[Any, int], title: str) -> dict[int, int]:
    """Genders of the user's own by the place of the image: JSON `{image: gender}`, or a CSV file.

    The CSV has a column for the image (image_id, image, file or id) and one called gender. Genders are man
    and woman (or male and female); an empty one is unknown.
    """
    if path.suffix.lower() == ".json":
        content = read_json(path, '{image: "man" or "woman"}')
        if not isinstance(content, dict):
            raise InputError(f"{path} does not give a gender for each image: {{image: 'man' or 'woman'}}")
        pairs = list(content.items())
    else:
        pairs = _table_of_genders(path)
    numbered = next(iter(places), None).__class__ is int  # JSON has only texts as keys
    images = [int(i) if numbered and str(i).isdecimal() else i for i, _ in pairs]
    _check_known(path, images, places, title)
    _check_once(path, [places[image] for image in images], places)
    return {places[i]: _gender(path, i, value) for i, (_, value) in zip(images, pairs, strict=True)}


def _table_of_genders(path: Path) -> list[tuple[Any, Any]]:
    columns = read_label_table(path)
    image = next((name for name in IDENTIFIERS if name in columns), None)
    if image is None or "gender" not in columns:
        raise InputError(
            f"{path} needs a column 'gender' and one of {', '.join(IDENTIFIERS)}; it has {', '.join(columns)}"
        )
    return list(zip(columns[image].tolist(), columns["gender"].tolist(), strict=True))


def _gender(path: Path, image: Any, value: Any) -> int:
    if value is None or value == "":
        return -1
    if str(value).strip().lower() not in SPELLED:
        raise InputError(
            f"{path} gives {image} the gender {value!r}; it must be man, woman or empty (unknown)"
        )
    return SPELLED[str(value).strip().lower()]


def _check_known(path: Path, images: Sequence[Any], places: dict[Any, int], title: str) -> None:
    lost = [image for image in images if isinstance(image, (list, dict)) or image not in places]
    if lost:
        first = ", ".join(repr(image) for image in lost[:3])
        raise InputError(
            f"{len(lost):,} of {len(images):,} images in {path} are not in the annotations of {title}; the "
            f"first: {first}"
        )


def _check_once(path: Path, chosen: Sequence[int], places: dict[Any, int]) -> None:
    seen: set[int] = set()
    for place in chosen:
        if place in seen:
            image = next(image for image, found in places.items() if found == place)
            raise InputError(f"{path} names the image {image!r} twice; name it once")
        seen.add(place)

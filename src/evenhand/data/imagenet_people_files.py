"""Reading ImageNet's People subtree: folders of images by synset, and who is on some of the images.

The annotations (Yang, Qinami, Fei-Fei, Deng, Russakovsky 2020) are given out by ImageNet on request, as one
JSON file. What is read, and how sure that is:

    [{"url": "n10001217_123.JPEG", "gender": ["male"], "skin": ["light", "dark"], "age": ["adult"]}, ...]

Known from programs that read it: a list of objects; `url` is the name of the image, which begins with its
synset; `gender` is a list of "male", "female" and "unsure", with several where several people are seen.
Assumed: the other two are alike, each under a key that is "skin" or "age" or alone begins with it. A lone
text is taken as a list of one. The names of the values are taken as they are; what is no text is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.arrays import Array
from evenhand.data.images import EXTENSIONS
from evenhand.data.label_table import read_label_table
from evenhand.data.table_columns import check_columns
from evenhand.errors import InputError

ATTRIBUTES = ("gender", "skin", "age")
SAFETY, IMAGEABILITY = "synsets_safety.csv", "imageability_scores.csv"
IMAGEABLE = 4.0  # Yang et al. leave out what annotators find harder to picture than this
SYNSET = re.compile(r"n\d{8}")
FORM = 'a list of {"url": image, "gender": [...], "skin": [...], "age": [...]}'

Values = Mapping[str, frozenset[str]]  # of one image: the values of each attribute


def annotation_file(root: Path, where: str) -> Path:
    """The one JSON file with "demographics" in its name."""
    found = sorted(path for path in root.glob("*.json") if "demographic" in path.name.lower())
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(f"{root} must hold one file *demographics*.json, and has {names}; {where}")
    return found[0]


def read_annotations(path: Path) -> dict[str, Values]:
    """The values of gender, skin and age by the name of the image, in small letters.

    An image that is listed twice has the values of both, like one on which several people are seen.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error})") from error
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path} is not as ImageNet gives it out: {FORM}")
    found: dict[str, Values] = {}
    for number, entry in enumerate(entries, start=1):
        image, values = _entry(path, number, entry)
        before = found.get(image, {})
        found[image] = {name: values[name] | before.get(name, frozenset()) for name in ATTRIBUTES}
    return found


def _entry(path: Path, number: int, entry: Any) -> tuple[str, Values]:
    keys = entry if isinstance(entry, dict) else {}
    image = Path(str(keys.get("url", ""))).name
    chosen = {name: _key(keys, name) for name in ATTRIBUTES}
    values = {name: _values(keys[key]) for name, key in chosen.items() if key is not None}
    if not SYNSET.match(image) or any(values.get(name) is None for name in ATTRIBUTES):
        raise InputError(
            f"entry {number} of {path} is not as ImageNet gives it out: {FORM}, not {entry!r:.120}"
        )
    return image, {name: value for name, value in values.items() if value is not None}


def _key(keys: Mapping[str, Any], name: str) -> str | None:
    """The key of that name, or the only one that begins with it; None where that is not one."""
    found = [key for key in keys if key.lower() == name]
    found = found or [key for key in keys if key.lower().startswith(name)]
    return found[0] if len(found) == 1 else None


def _values(given: Any) -> frozenset[str] | None:
    """The values of a list, or a lone one, in small letters; None where one of them is no text."""
    several = [value for value in (given if isinstance(given, list) else [given]) if value is not None]
    if not all(isinstance(value, str) for value in several):
        return None
    return frozenset(value.strip().lower() for value in several if value.strip())


def synset_images(root: Path) -> dict[str, list[Path]]:
    """The images of each synset, `root/images/SYNSET/` or `root/SYNSET/`, in the order of their names."""
    base = root / "images" if (root / "images").is_dir() else root
    folders = sorted(path for path in base.iterdir() if path.is_dir() and SYNSET.fullmatch(path.name))
    found = {folder.name: sorted(path for path in folder.iterdir() if _is_image(path)) for folder in folders}
    if not any(found.values()):
        raise InputError(
            f"there are no images in {base}/SYNSET/ (such as n10001217/n10001217_1.JPEG); unpack ImageNet's "
            "archive of each synset into a folder of its name"
        )
    for path in (path for paths in found.values() for path in paths):
        named = SYNSET.match(path.name)
        if named and named.group() != path.parent.name:  # its annotation would be used for two images
            raise InputError(f"{path} is in the folder of another synset; move it to {named.group()}/")
    return {synset: paths for synset, paths in found.items() if paths}


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in EXTENSIONS and path.name[0] != "."  # macOS packs "._" files beside images


def safe_synsets(root: Path) -> tuple[set[str], list[Path]]:
    """The synsets that Yang et al. find safe and imageable, and the two files that say so."""
    files = [root / SAFETY, root / IMAGEABILITY]
    for path in files:
        if not path.is_file():
            raise InputError(f"synsets='safe' needs {path.name} of image-net.org in {root}")
    safety, scores = (read_label_table(path) for path in files)
    check_columns(safety, ["wnid", "safety"], f"synsets in {SAFETY}")
    check_columns(scores, ["wnid", "imageability.score"], f"synsets in {IMAGEABILITY}")
    safe = {w for w, is_safe in zip(safety["wnid"], safety["safety"], strict=True) if is_safe == "safe"}
    clear = _at_least(scores["wnid"], scores["imageability.score"])
    return safe & clear, files


def _at_least(synsets: Array, scores: Array) -> set[str]:
    try:
        return {w for w, score in zip(synsets, scores, strict=True) if float(score) >= IMAGEABLE}
    except (TypeError, ValueError) as error:
        raise InputError(f"{IMAGEABILITY} has a score that is no number ({error})") from error

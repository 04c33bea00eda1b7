"""Reading imSitu's annotations: a verb for each image, and the nouns that fill its roles.

    train.json, dev.json, test.json
        {"clinging_250.jpg": {"verb": "clinging", "frames": [{"agent": "n01882714", "place": ""}, ...]}, ...}
    imsitu_space.json
        {"nouns": {"n02129165": {"gloss": ["lion", ...], "def": "..."}, ...},
         "verbs": {"clinging": {...}, ...}}

An image has three frames, one an annotator; a role without a noun is the empty text. No checksums of these
files are publicly documented, so none are demanded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import Stamp, read_json, stamp
from evenhand.data.imsitu_gender_nouns import NOUNS
from evenhand.errors import InputError

FILES = {"train": "train.json", "validation": "dev.json", "test": "test.json"}
SPACE = "imsitu_space.json"
IMAGES = ("of500_images_resized", "of_500_images_resized", "resized_256", "of500_images")
WHERE = (
    f"put {', '.join(FILES.values())} and {SPACE} of github.com/my89/imSitu and the folder {IMAGES[0]} of "
    f"{IMAGES[0]}.tar into one folder, and name it by folder=... or call it imsitu inside EVENHAND_DATA"
)
FRAMES_FORM = '{image: {"verb": verb, "frames": [{role: noun}, ...]}}'
SPACE_FORM = '{"nouns": {synset: {"gloss": [words]}}, "verbs": {verb: {...}}}'


@dataclass(frozen=True)
class Situations:
    """Images with the verb of each, and the nouns that annotators gave its agent."""

    images: tuple[str, ...] = field(repr=False)
    verbs: tuple[str, ...] = field(repr=False)
    agents: tuple[tuple[str, ...], ...] = field(repr=False)


def annotation_path(root: Path, name: str) -> Path:
    """One of the published files, in the folder or in `data` or `annotations` inside it."""
    for path in (root / name, root / "annotations" / name, root / "data" / name):
        if path.is_file():
            return path
    raise InputError(f"there is no {name} in {root}; {WHERE}")


def read_situations(path: Path) -> Situations:
    """The images of one of the three files, in its order."""
    return _situations(stamp(path))


@lru_cache(maxsize=6)
def _situations(known: Stamp) -> Situations:
    path = known[0]
    content = read_json(path, FRAMES_FORM)
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path} is not as imSitu gives it out: {FRAMES_FORM}")
    pairs = [_entry(path, image, entry) for image, entry in content.items()]
    return Situations(tuple(content), tuple(verb for verb, _ in pairs), tuple(agents for _, agents in pairs))


def _entry(path: Path, image: str, entry: Any) -> tuple[str, tuple[str, ...]]:
    """The verb of an image, and what each annotator says of its agent ("" for nothing)."""
    verb, frames = (entry.get("verb"), entry.get("frames")) if isinstance(entry, dict) else (None, None)
    if not isinstance(verb, str) or not isinstance(frames, list) or not all(map(_is_frame, frames)):
        raise InputError(
            f"{path} is not as imSitu gives it out: {FRAMES_FORM}, but has {image!r}: {entry!r:.120}"
        )
    return verb, tuple(frame.get("agent", "") for frame in frames)


def _is_frame(frame: Any) -> bool:
    return isinstance(frame, dict) and isinstance(frame.get("agent", ""), str)


def read_verbs(path: Path, nouns: str) -> frozenset[str]:
    """All verbs of imsitu_space.json, after looking whether the nouns of the rule are what they should be."""
    return _space(stamp(path), nouns)


@lru_cache(maxsize=4)
def _space(known: Stamp, nouns: str) -> frozenset[str]:
    path = known[0]
    content = read_json(path, SPACE_FORM)
    content = content if isinstance(content, dict) else {}
    entries, verbs = content.get("nouns"), content.get("verbs")
    if not isinstance(entries, dict) or not isinstance(verbs, dict) or not verbs:
        raise InputError(f"{path} is not as imSitu gives it out: {SPACE_FORM}")
    for synset, word in (pair for listed in NOUNS[nouns] for pair in listed.items()):
        _check_noun(path, synset, word, entries)
    return frozenset(verbs)


def _check_noun(path: Path, synset: str, word: str, entries: Mapping[str, Any]) -> None:
    """A number of another version of WordNet would give other people another gender, in silence."""
    entry = entries.get(synset)
    gloss = entry.get("gloss") if isinstance(entry, dict) else None
    if not isinstance(gloss, list) or word not in gloss:
        told = "lacks it" if entry is None else f"has {gloss!r:.80} there"
        raise InputError(f"the noun {synset} must be '{word}' (WordNet 3.0), but {path} {told}")


def check_verbs(path: Path, used: Sequence[str], known: frozenset[str]) -> None:
    """Raise `InputError` if a file names a verb that imSitu does not have, with the nearest that it has."""
    lost = sorted(set(used) - known)
    if lost:
        near = get_close_matches(lost[0], sorted(known), n=2, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(
            f"{path} has {len(lost):,} verbs that {SPACE} does not have, the first {lost[0]!r}{hint}"
        )


def listed_verbs(path: Path, known: frozenset[str]) -> tuple[str, ...]:
    """The verbs of a user's list, in its order: a text with one a line, or a JSON list."""
    text = path.read_text(encoding="utf-8", errors="replace")
    is_json = text.lstrip().startswith("[")
    verbs = read_json(path, "a list of verbs") if is_json else [line.strip() for line in text.splitlines()]
    verbs = [verb for verb in map(str, verbs) if verb]
    check_verbs(path, verbs, known)
    twice = next((verb for verb in verbs if verbs.count(verb) > 1), None)
    if twice is not None or len(verbs) < 2:
        told = f"names {twice!r} twice" if twice is not None else f"names {len(verbs)} verbs"
        raise InputError(f"{path} {told}; it must name at least two verbs, each once")
    return tuple(verbs)


def frequent_verbs(verbs: Sequence[str], codes: IntArray, at_least: int) -> tuple[str, ...]:
    """The verbs with at least so many images of men and so many of women, sorted.

    >>> frequent_verbs(["cook", "cook", "fish", "cook"], np.array([0, 1, 0, -1]), 1)
    ('cook',)
    """
    names, place = np.unique(np.asarray(verbs), return_inverse=True)
    counts = [np.bincount(place[codes == code], minlength=len(names)) for code in (0, 1)]
    return tuple(str(name) for name in names[np.minimum(*counts) >= at_least])

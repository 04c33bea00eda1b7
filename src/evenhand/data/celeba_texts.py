"""CelebA's three text files: what they say, whether they are the published ones, and which line is wrong."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.cache import digest
from evenhand.errors import InputError

LABELS, PARTITION, PERSONS = "list_attr_celeba.txt", "list_eval_partition.txt", "identity_CelebA.txt"
PUBLISHED = {  # MD5, as torchvision and other readers of CelebA know them
    LABELS: "75e246fa4810816ffd6ee81facbd244c",
    PARTITION: "d32c9cbf5e040fd4025c592c306e6668",
    PERSONS: "32bd1bd63d3c78cd57e08160ec5ed1e2",
}
LABELS_FORM = (
    "a line with the number of images, one with the names of the attributes, then for each image its file "
    "and -1 or 1 for every name"
)
NUMBERS_FORM = "a file and its number on each line"
WORDS = frozenset({"-1", "1"})


@dataclass(frozen=True)
class Labels:
    """The file of every image, the names of the attributes, and codes `[images, attributes]`, 0 or 1."""

    files: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...]
    codes: IntArray = field(repr=False)


def read_labels(path: Path) -> Labels:
    """`list_attr_celeba.txt`: the number of images, the names, then a file and -1 or 1 for each name."""
    lines = _lines(path)
    head = [*(line for _, line in lines[:2]), "", ""]
    names, rows = tuple(head[1].split()), lines[2:]
    if not rows or head[0].strip() != str(len(rows)):
        said = f"its first line is {head[0].strip()[:40]!r}, and {len(rows):,} images follow"
        raise InputError(_other(path, LABELS_FORM, said))
    _check_once(path, LABELS_FORM, names, "the attribute")
    files, codes = list[str](), np.zeros((len(rows), len(names)), dtype=np.int64)
    for place, (number, line) in enumerate(rows):
        file, *words = line.split()
        if len(words) != len(names) or not WORDS.issuperset(words):
            said = f"line {number} is {line.strip()[:60]!r}, and there are {len(names)} names"
            raise InputError(_other(path, LABELS_FORM, said))
        files.append(file)
        codes[place] = [word == "1" for word in words]
    _check_once(path, LABELS_FORM, files, "the image")
    return Labels(tuple(files), names, codes)


def read_numbers(path: Path, files: Sequence[str], known: Container[int] | None = None) -> IntArray:
    """A whole number, one of `known`, for each of the files: a text with a file and its number on each line.

    Files that nobody asks for may be there too: labels of some images may lie beside the whole text.
    """
    found = dict[str, int]()
    for number, line in _lines(path):
        words = line.split()
        whole = len(words) == 2 and words[1].removeprefix("-").isdecimal()
        if not whole or (known is not None and int(words[1]) not in known):
            raise InputError(_other(path, NUMBERS_FORM, f"line {number} is {line.strip()[:60]!r}"))
        if words[0] in found:
            raise InputError(_other(path, NUMBERS_FORM, f"the image {words[0]!r} is there twice"))
        found[words[0]] = int(words[1])
    lost = [file for file in files if file not in found]
    if lost:
        said = f"{len(lost):,} of the {len(files):,} images of {LABELS} are not there; the first: {lost[0]}"
        raise InputError(_other(path, NUMBERS_FORM, said))
    return np.array([found[file] for file in files], dtype=np.int64)


def unpublished(paths: Mapping[str, Path]) -> tuple[str, ...]:
    """Which of the files are not the published ones, by their MD5."""
    return tuple(name for name, path in paths.items() if digest(path, "md5") != PUBLISHED.get(name))


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, each with its number; a byte-order mark is none of them."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text ({error}); fetch it again") from error
    return [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _check_once(path: Path, form: str, names: Sequence[str], what: str) -> None:
    if len(set(names)) == len(names):
        return
    seen: set[str] = set()
    twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    raise InputError(_other(path, form, f"{what} {twice!r} is there twice"))


def _other(path: Path, form: str, said: str) -> str:
    return f"{path} is not as it was published: {said}; it should have {form}"

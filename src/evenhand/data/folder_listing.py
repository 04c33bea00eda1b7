"""Folders of images that come without a file of labels: finding them, and a checksum of what they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from evenhand.data.cache import check_data_folders, data_folders
from evenhand.data.images import EXTENSIONS
from evenhand.errors import InputError

LISTING = "names and sizes of the images"  # under which a card keeps the checksum


def named_folder(
    folder: str | Path | None,
    names: Sequence[str],
    title: str,
    where: str,
    why: str = "its terms do not let a program fetch it",
) -> Path:
    """The folder that the user names, or one of these names inside EVENHAND_DATA; else what is to be done."""
    if folder is not None:
        if not Path(folder).is_dir():
            raise InputError(f"there is no folder {folder}; to have {title}, {where}")
        return Path(folder)
    for place in (base / name for base in data_folders() for name in names):
        if place.is_dir():
            return place
    check_data_folders(title)
    raise InputError(f"{title} is not here, and {why}. To have it, {where}")


def images_below(root: Path) -> list[Path]:
    """The images in a folder and in those inside it, in the order of their names; hidden ones are none."""
    found = [path for path in root.rglob("*") if path.suffix.lower() in EXTENSIONS and path.is_file()]
    shown = [path for path in found if not any(part[0] == "." for part in path.relative_to(root).parts)]
    return sorted(shown, key=lambda path: path.relative_to(root).as_posix())


def listing_checksum(root: Path, paths: Sequence[Path]) -> str:
    """SHA-256 over the name and size of each file: another copy of the images has another, unread."""
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(root).as_posix()}\t{path.stat().st_size}\n".encode())
    return found.hexdigest()

"""A task from a folder of images: a table says what each shows, or the folder of each class has its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evenhand.arrays import as_array
from evenhand.data.card import DataCard
from evenhand.data.from_table import Split, _split
from evenhand.data.images import EXTENSIONS, FolderRows, check_present, materialise, pillow
from evenhand.data.label_table import read_label_table
from evenhand.data.splits import as_split
from evenhand.data.table_columns import check_columns, code_attribute, code_label, columns_of
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError


def task_from_folder(
    folder: str | Path,
    labels: Any = None,
    *,
    image: str = "file",
    label: str = "label",
    attributes: Sequence[str] | str = (),
    size: int = 64,
    split: Split = 0.2,
    validation: float = 0.0,
    seed: int = 0,
    positive: object = None,
    resident: bool = False,
    name: str | None = None,
) -> Task:
    """Images of any format and mode, as RGB squares of `size` cut from the middle; decoded when asked for.

    labels: the path of a CSV file, or named columns (a dict, a data frame). `image` names the column of the
    files, relative to the folder, `label` that of the classes, `attributes` those of the protected
    attributes (an empty field is unknown). Without labels, `folder/CLASS/*.jpg` gives the classes.
    split, validation, seed, positive: as in `Task.from_table`.
    resident: decode all images now, for those that fit into memory.
    """
    pillow()  # where it is not installed, say so before anything is read
    if not isinstance(size, int) or size < 1 or isinstance(size, bool):
        raise InputError(f"size={size!r} must be a whole number of pixels")
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"there is no folder {root}; name the one that holds the images")
    columns = _columns(root, labels, image, label)
    protected = [attributes] if isinstance(attributes, str) else list(attributes)
    for wanted, part in (([image], "images"), ([label], "label"), (protected, "attributes")):
        check_columns(columns, wanted, part)
    paths = _paths(root, columns[image], image)
    check_present(paths)
    classes, y = code_label(columns[label], label, positive)
    title = name or root.resolve().name
    rows = FolderRows(paths, size)
    knobs = {
        "size": size,
        "split": split if isinstance(split, (int, float, str)) else "given",
        "validation": validation,
        "seed": seed,
        "positive": positive,
    }
    return Task(
        name=title,
        x=materialise(rows, name=title) if resident else rows,
        y=torch.from_numpy(np.asarray(y, dtype=np.int64)),
        attributes=tuple(code_attribute(columns[attribute], attribute) for attribute in protected),
        split=as_split(_split(columns, split, validation, seed, y)),
        card=_card(title, root, label, classes, knobs),
        classes=classes,
        scaling=Scaling(127.5, 127.5),
    ).check()


def _columns(root: Path, labels: Any, image: str, label: str) -> dict[str, Any]:
    if labels is None:
        return _class_folders(root, image, label)
    return columns_of(read_label_table(Path(labels)) if isinstance(labels, str | Path) else labels)


def _class_folders(root: Path, image: str, label: str) -> dict[str, Any]:
    seen = sorted(root.glob("[!.]*/[!.]*"))  # hidden files belong to the system
    paths = [path for path in seen if path.suffix.lower() in EXTENSIONS]
    if not paths:
        raise InputError(
            f"there are no images in {root}/CLASS/; name a table of labels, or put the images of each class "
            "into a folder with its name"
        )
    return {
        image: [path.relative_to(root).as_posix() for path in paths],
        label: [path.parent.name for path in paths],
    }


def _paths(root: Path, column: Any, name: str) -> list[Path]:
    files = [str(file) if isinstance(file, (int, Path)) else file for file in as_array(column).tolist()]
    empty = [row for row, file in enumerate(files) if not isinstance(file, str) or not file]
    if empty:
        raise InputError(
            f"the column '{name}' names no file in {len(empty):,} rows, the first of them row {empty[0]}; "
            "leave such rows out"
        )
    return [root / file for file in files]


def _card(
    title: str, root: Path, label: str, classes: tuple[str, ...], knobs: Mapping[str, object]
) -> DataCard:
    return DataCard(
        title=title,
        about="Images given by their user.",
        origin=f"the user's own folder {root}",
        licence="as the user's images",
        target=f"{label}: {', '.join(classes)}",
        knobs=knobs,
    )

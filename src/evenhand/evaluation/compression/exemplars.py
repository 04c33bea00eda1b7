"""The exemplars of a population, and some of them as pictures: what compression changed its mind about."""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.registry import DATASETS, MADE, PACKAGED
from evenhand.evaluation.compression.measures import Against
from evenhand.metrics.cie import modal_labels

SHOWN = 24
COLUMNS = 8
SCALE = 64  # pixels that a shown picture has at least


def exemplar_rows(one: Against) -> list[dict[str, Any]]:
    """Every exemplar: its row in the data, its class, both modal labels, and how many runs hold each."""
    names, world = one.world.classes, one.world
    base, other = (each.of_seeds(one.seeds) for each in (world.base, one.population))
    usual = [modal_labels(runs, len(names)) for runs in (base, other)]
    found = []
    for place in one.exemplars.indices.tolist():
        votes = [int((runs[:, place] == label[place]).sum())
                 for runs, label in zip((base, other), usual, strict=True)]  # fmt: skip
        found.append({"row": int(world.rows[place]), "truth": names[int(world.y[place])],
                      "base": names[int(usual[0][place])], "compressed": names[int(usual[1][place])],
                      "base_votes": votes[0], "compressed_votes": votes[1]})  # fmt: skip
    return found


def most_decided(found: list[dict[str, Any]], shown: int = SHOWN) -> list[dict[str, Any]]:
    """The exemplars to be shown: those on which both populations are most of one mind, then by row.

    >>> rows = [{"row": 3, "base_votes": 3, "compressed_votes": 5},
    ...         {"row": 9, "base_votes": 5, "compressed_votes": 4}]
    >>> [one["row"] for one in most_decided(rows, 1)]
    [9]
    """

    def rank(one: dict[str, Any]) -> tuple[int, int, int]:
        return -min(one["base_votes"], one["compressed_votes"]), -one["base_votes"], one["row"]

    return sorted(found, key=rank)[:shown]


def pictured(one: Against) -> dict[str, Any] | None:
    """A sheet of exemplars as PNG data (base64), with their labels in the sheet's order; None for tables.

    `shareable` says whether the pictures may be passed on (`to_publish`).
    """
    task = one.world.data
    import torch

    numbers = isinstance(task.x, torch.Tensor) and task.x.dtype != torch.uint8
    if len(task.input_shape) != 3 or task.input_shape[0] not in (1, 3) or numbers:
        return None
    chosen = most_decided(exemplar_rows(one))
    if not chosen:
        return None
    sheet = sheet_of(task, np.array([each["row"] for each in chosen]))
    return {"method": one.population.method, "level": one.population.level, "count": one.exemplars.count,
            "columns": min(COLUMNS, len(chosen)), "rows": chosen,
            "shareable": shareable(task.name, task.card.knobs),
            "png": base64.b64encode(sheet).decode()}  # fmt: skip


def shareable(name: str, knobs: Mapping[str, object]) -> bool:
    """Whether pictures of a data set may stand on a public page: those that the package has, or makes.

    All others belong to somebody else, data sets of one's own to whoever has them. `hair-colour` is drawn, or
    of CelebA, as its knob says.

    >>> [shareable(name, {}) for name in ("mnist-under", "cifar10-under", "my photographs")]
    [True, False, False]
    """
    known = DATASETS.get(name)
    return known is not None and known.origin in (PACKAGED, MADE) and knobs.get("source", "faces") == "faces"


def to_publish(body: Mapping[str, Any]) -> dict[str, Any]:
    """The studies without the pictures that may not be passed on; their rows and labels stay."""
    made = copy.deepcopy(dict(body))
    for study in made["studies"]:
        for problem in study["problems"]:
            for sheet in problem["sheets"]:
                if not sheet.get("shareable", True):
                    sheet["png"] = None
    return made


def sheet_of(task: Any, rows: IntArray) -> bytes:
    """The pictures of these rows side by side, enlarged by whole pixels, as a PNG."""
    import torch

    from evenhand.data.contact_sheet import contact_sheet
    from evenhand.report.bitmap import png_bytes

    places = torch.from_numpy(rows)
    pictures = task.x[places] if isinstance(task.x, torch.Tensor) else task.x.take(places)
    times = max(1, SCALE // int(pictures.shape[-1]))
    larger = pictures.repeat_interleave(times, dim=-1).repeat_interleave(times, dim=-2)
    return png_bytes(contact_sheet(larger, COLUMNS).permute(1, 2, 0).contiguous().numpy())

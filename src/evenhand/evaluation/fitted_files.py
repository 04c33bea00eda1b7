"""A fit as a folder: fit.json, parameters.npz, history.json, predictions.csv.gz, audit.json. No pickles."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.data.encoding import TableEncoding
from evenhand.data.task import Scaling
from evenhand.errors import InputError
from evenhand.evaluation.fitted_subject import part_groups, part_scores, predictions
from evenhand.methods.registry import is_known, method_of
from evenhand.nets import NetSpec
from evenhand.records import Sizes
from evenhand.train.checkpoint import load_tensors, save_tensors, usable_folder, written_whole
from evenhand.train.fit import device_of
from evenhand.train.own_net import buildable
from evenhand.train.trained import pack, unpack

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted

FORMAT = 1


def save(fitted: Fitted, folder: Path) -> Path:
    """Write everything; the audit and the predictions only where the task is at hand."""
    usable_folder(folder)
    tensors, stacks = pack(fitted.models)
    facts = plain({
        "format": FORMAT, **fitted.facts, "classes": fitted.classes, "protect": fitted.protect,
        "scalings": [[each.shift, each.scale] for each in fitted.scalings],
        "encodings": [each.to_dict() for each in fitted.encodings],
        "sizes": fitted.models[0].predictor.sizes._asdict(), "stacks": stacks,
    })  # fmt: skip
    save_tensors(folder / "parameters.npz", tensors, facts)
    _write_json(folder / "fit.json", facts)
    _write_json(folder / "history.json", plain(fitted.history))
    if fitted.tasks and "test" in fitted.tasks[0].split:
        with written_whole(folder / "audit.json") as path:
            path.write_text(fitted.audit().to_json(), encoding="utf-8")
        with (
            written_whole(folder / "predictions.csv.gz") as path,
            gzip.open(path, "wt", encoding="utf-8", newline="") as file,
        ):
            csv.writer(file).writerows(_prediction_rows(fitted))
    return folder


def plain(value: Any) -> Any:
    """A value as JSON can hold it: what is undefined is null, what JSON does not know is its text.

    >>> plain({"loss": (0.5, math.nan), "file": Path("a")})
    {'loss': [0.5, None], 'file': 'a'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _write_json(path: Path, value: object) -> None:
    with written_whole(path) as partial:
        partial.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _prediction_rows(fitted: Fitted) -> Iterator[list[object]]:
    """A line for each row and run of the test part, as `evenhand audit` reads them."""
    binary = not fitted.multi_label and len(fitted.classes) == 2
    labels = [f"{kind}_{name}" for name in fitted.classes for kind in ("label", "prediction")]
    head = labels if fitted.multi_label else ["label", "prediction", *(["score"] if binary else [])]
    taken = {"run", "row", *head}  # an attribute may be called so: two columns must not be
    yield ["run", "row", *(f"attribute {name}" if name in taken else name for name in fitted.protect), *head]
    several = len(fitted.tasks) > 1
    shared = None if several else part_scores(fitted, fitted.tasks[0], "test")
    for run, seed in enumerate(fitted.seeds):
        task = fitted.tasks[run if several else 0]
        scores = part_scores(fitted, task, "test", run)[0] if shared is None else shared[run]
        guesses, truth = predictions(scores, fitted.multi_label), np.asarray(task.y[task.rows("test")])
        who = _group_columns(fitted, run if several else 0)
        for place, row in enumerate(task.rows("test").tolist()):
            said: list[object]
            if fitted.multi_label:
                said = [int(v) for pair in zip(truth[place], guesses[place], strict=True) for v in pair]
            else:
                said = [fitted.classes[truth[place]], fitted.classes[guesses[place]]]
                said += [f"{scores[place, 1]:.6g}"] if binary else []
            yield [seed, row, *(column[place] for column in who), *said]


def _group_columns(fitted: Fitted, task: int) -> list[list[str]]:
    """The levels of each protected attribute for the rows of the test part; unknown is the empty text."""
    if not fitted.protect:
        return []
    groups = part_groups(fitted.tasks[task], fitted.protect, "test")
    return [[(*one.levels, "")[code] for code in one.codes.tolist()] for one in groups.attributes]


def load(folder: Path, net: Any, method: Any, device: str) -> Fitted:
    """Build the networks again and put the saved parameters in."""
    from evenhand.evaluation.fitted import Fitted

    file = folder / "parameters.npz"
    if not file.is_file():
        raise InputError(f"there is no saved fit in {folder}: parameters.npz is missing")
    tensors, facts = load_tensors(file)
    if "stacks" not in facts:
        raise InputError(f"{file} is no saved fit; a folder that Fitted.save wrote is needed")
    if facts.get("format") != FORMAT:
        raise InputError(f"{folder} was written by another version of evenhand; fit again")
    told = facts["sizes"]
    shapes = tuple(told["inputs"]), told["n_classes"], told["n_groups"], tuple(told["n_levels"])
    sizes = Sizes(*shapes, multi_label=told["multi_label"])
    source, way = _net_of(facts, net), _method_of(facts, method)
    models = unpack(tensors, facts["stacks"], source, way, facts["seeds"], sizes, device_of(device))
    scalings = tuple(
        Scaling(*(tuple(v) if isinstance(v, list) else v for v in pair)) for pair in facts["scalings"]
    )
    encodings = tuple(TableEncoding.from_dict(each) for each in facts.get("encodings", ()))
    apart = ("format", "sizes", "stacks", "scalings", "encodings")
    kept = {key: v for key, v in facts.items() if key not in apart}
    history = _history(folder / "history.json")
    classes, protect = tuple(facts["classes"]), tuple(facts["protect"])
    return Fitted(models, classes, protect, scalings, kept, history, encodings=encodings)


def _history(path: Path) -> tuple[Mapping[str, Any], ...]:
    try:
        return tuple(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is missing or damaged; a saved fit is the whole folder") from error


def _net_of(facts: Mapping[str, Any], net: Any) -> Any:
    if net is not None:
        return buildable(net)
    described = facts["net"]
    if described["name"] is None:
        raise InputError("this fit has a network of your own: give it again, Fitted.load(folder, net=...)")
    return NetSpec(described["name"], described["options"])


def _method_of(facts: Mapping[str, Any], method: Any) -> Any:
    if method is not None:
        return method_of(method) if isinstance(method, str) else method
    described = facts["method"]
    if not is_known(described["key"]):
        raise InputError("this fit has a method of your own: give it again, Fitted.load(folder, method=...)")
    return method_of(described["key"], **described["fields"])

"""What a first phase has left of a run, so that another run that begins alike goes on from there.

The run that goes on has the same networks, rows, recipe and seed, and a first phase that is the whole
training of `Method.first_as`; everything random follows from seeds and position, so that it goes on to the
bit as if it had trained the phase itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from evenhand.train.trainer import Trainer

PARAMETER, BUFFER = "parameter", "buffer"
ENDED = ("stopped", "best_epoch")  # where validation ended a run, by the names that `Selection` gives them
Left = tuple[Mapping[str, Tensor], Mapping[str, Any]]  # tensors by name, and facts as JSON values


def left_of(trainer: Trainer, place: int) -> Left:
    """The networks that a trained run of one phase has moved, and how its epochs went and ended."""
    stack, (phase,) = trainer.stack, trainer.phases
    moved = {net for turn in phase.turns for who in turn for net in trainer.method.players()[who]}
    tensors = {
        f"{PARAMETER}/{net}/{key}": (leaf[place] if stack.stacked else leaf).detach()
        for net in sorted(moved)
        for key, leaf in stack.parameters[net].items()
    }
    if not stack.stacked:
        kept = {net: dict(stack.templates[net].named_buffers()) for net in moved}
        tensors |= {f"{BUFFER}/{net}/{key}": value for net, own in kept.items() for key, value in own.items()}
    ended = {name: getattr(trainer.selection, name)[place].item() for name in ENDED}
    return tensors, {"history": [_own(entry, place) for entry in trainer.history], **ended}


def go_on_from(trainer: Trainer, left: Sequence[Left]) -> None:
    """Set a new trainer to the end of its first phase, as each of its runs has it."""
    phase = trainer.phases[0]
    trainer.set_networks(phase)
    for place, (tensors, facts) in enumerate(left):
        _put(trainer, place, tensors)
        for name in ENDED:  # forgotten where a phase follows; else a run's history ends where it stopped
            getattr(trainer.selection, name)[place] = facts.get(name, 0)
    trainer.history = _joined([list(facts["history"]) for _, facts in left])
    trainer.finish(phase)


def renamed(left: Left, network: str, name: str, phase: str) -> Left:
    """The same with another name for a network, in another phase.

    >>> tensors, facts = renamed(({"buffer/teacher/n": torch.ones(1)}, {"history": [{"phase": "teacher"}]}),
    ...     "teacher", "model", "train")
    >>> list(tensors), facts
    (['buffer/model/n'], {'history': [{'phase': 'train'}]})
    """
    tensors = {}
    for key, value in left[0].items():
        kind, net, rest = key.split("/", 2)
        tensors["/".join((kind, name if net == network else net, rest))] = value
    return tensors, {**left[1], "history": [{**entry, "phase": phase} for entry in left[1]["history"]]}


@torch.no_grad()
def _put(trainer: Trainer, place: int, tensors: Mapping[str, Tensor]) -> None:
    stack = trainer.stack
    for name, value in tensors.items():
        kind, net, key = name.split("/", 2)
        if kind == BUFFER:
            dict(stack.templates[net].named_buffers())[key].copy_(value)
        else:
            leaf = stack.parameters[net][key]
            (leaf[place] if stack.stacked else leaf).copy_(value)


def _own(entry: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {name: value[place] if isinstance(value, list) else value for name, value in entry.items()}


def _joined(histories: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The histories of the runs side by side; one that stopped earlier has its last numbers again.

    >>> _joined([[{"epoch": 1, "train": 0.5}], [{"epoch": 1, "train": 0.7}, {"epoch": 2, "train": 0.6}]])
    [{'epoch': 1, 'train': [0.5, 0.7]}, {'epoch': 2, 'train': [0.5, 0.6]}]
    """
    longest = max(histories, key=len)
    common = ("phase", "epoch", "seconds")
    found = []
    for place, entry in enumerate(longest):
        rows = [own[min(place, len(own) - 1)] for own in histories]
        told = {name: entry[name] for name in common if name in entry}
        found.append(told | {name: [row[name] for row in rows] for name in entry if name not in common})
    return found

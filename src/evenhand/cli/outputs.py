"""The files a command writes: checked before the work begins, written when it is done."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

STDOUT = Path("-")


@dataclass(frozen=True)
class Outputs:
    """Where each kind of output goes; '-' is stdout, which then holds nothing else."""

    json: Path | None = None
    html: Path | None = None
    markdown: Path | None = None
    figures: Path | None = None

    @property
    def chosen(self) -> dict[str, Path]:
        """The files that were asked for."""
        return {kind: path for kind, path in vars(self).items() if path is not None and kind != "figures"}

    @property
    def to_stdout(self) -> bool:
        """Whether stdout is taken by one of the outputs."""
        return STDOUT in self.chosen.values()

    def check(self, inputs: Sequence[Path]) -> None:
        """Refuse what could not be written after minutes of work, or would destroy what is being read."""
        if self.figures is not None and self.figures.exists() and not self.figures.is_dir():
            raise InputError(f"--figures {self.figures} is a file; name a folder")
        paths = list(self.chosen.values())
        for kind, path in self.chosen.items():
            if paths.count(path) > 1:
                raise InputError(f"--{kind} and another output both go to '{path}'; give each its own")
            if path == STDOUT:
                continue
            if any(path.exists() and other.exists() and path.samefile(other) for other in inputs):
                raise InputError(f"--{kind} {path} would overwrite a file that is read; name another")
            _refuse_unwritable(kind, path)

    def write(self, texts: Mapping[str, str]) -> list[str]:
        """Write what was asked for, and tell what was written in lines for people."""
        told = []
        for kind, path in self.chosen.items():
            if path == STDOUT:
                sys.stdout.write(texts[kind])
                continue
            write_whole(path, texts[kind])
            told.append(f"{kind.upper() if kind != 'markdown' else 'Markdown'} written to {path}")
        return told


def write_whole(path: Path, text: str) -> None:
    """All of the text or nothing: a run that is stopped half-way leaves what was there before."""
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():  # a pipe or a device is written into, never replaced
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _refuse_unwritable(kind: str, path: Path) -> None:
    if path.is_dir():
        raise InputError(f"--{kind} {path} is a folder; name a file in it, such as {path / f'report.{kind}'}")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"--{kind} {path} cannot be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"--{kind} {path} cannot be written: permission denied")


def as_json(body: Mapping[str, Any]) -> str:
    """JSON text as reports keep it: readable, in UTF-8, without NaN."""
    return json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """An earlier result."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not a JSON file that can be read: {error}") from error
    if not isinstance(body, dict):
        raise InputError(f"{path} does not hold an audit; give a file that 'evenhand audit --json' wrote")
    return body

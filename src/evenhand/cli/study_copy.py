"""The file of a study of the package as one of one's own, with its comments, named after the new file."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from evenhand.errors import InputError

NAME = re.compile(r"^name = .*$", re.MULTILINE)


def like_packaged(name: str, file: Path) -> str:
    """The text of a packaged study whose `name` is that of the file, so that runs of both stay apart.

    >>> like_packaged("first-look", Path("mine.toml")).splitlines()[2]
    'name = "mine"'
    """
    from evenhand.study.library import packaged_study

    text = packaged_study(name).text
    kind = tomllib.loads(text).get("kind", "train")
    if kind != "train":  # what it computes is a program's, found by the study's name, and not in its file
        raise InputError(
            f"'{name}' is of the kind '{kind}': its file has nothing that could be changed. "
            f"'evenhand study run {name}' computes it"
        )
    return NAME.sub(lambda _: f"name = {json.dumps(file.stem, ensure_ascii=False)}", text, count=1)

"""Templates into one HTML file that opens offline and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from evenhand.report import palette
from evenhand.report.definitions import define
from evenhand.report.emphasis import emphasised
from evenhand.report.numbers import count, defined, interval, number, p_value, percent, probability

METHOD = ("confidence", "resampling", "replicates", "seed", "min_count", "convention", "scores", "created")
RECORDS = ("versions", "files", "privileged", "smoothing")


def render(
    template: str, *, scripts: tuple[str, ...] = ("script.js",), pictures: bool = False, **context: Any
) -> str:
    """The page, with its style and `scripts` inside and a policy that forbids every request.

    `pictures`: it holds bitmaps, as data inside the page.

    Style and script are allowed by their hashes, so that markup in a group's name could not run even if the
    escaping failed.
    """
    style = palette.stylesheet() + _asset("style.css")
    script = "".join(_asset(name) for name in scripts)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        f"{'img-src data:; ' if pictures else ''}base-uri 'none'; form-action 'none'"
    )
    page = (
        _environment()
        .get_template(template)
        .render(style=Markup(style), script=Markup(script), policy=Markup(policy), **context)
    )
    # a lone surrogate in a name could not be written to a file
    return page.encode("utf-8", "replace").decode()


def method_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The method note of a result, with None for what an older one did not record.

    >>> method_of({"method": {"seed": 3}})["seed"], method_of({})["files"]
    (3, None)
    """
    return dict.fromkeys(METHOD + RECORDS) | dict(result.get("method") or {})


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    return resources.files("evenhand.report").joinpath("templates", name).read_text("utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        number=number, interval=interval, count=count, percent=percent, p_value=p_value,
        probability=probability, svg=Markup, emphasised=emphasised
    )  # fmt: skip
    environment.tests["known"] = defined
    environment.globals["define"] = define
    return environment

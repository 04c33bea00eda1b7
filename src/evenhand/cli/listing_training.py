"""`evenhand list methods|datasets|nets|files`: what can be trained, on what, with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.listing_parts import AsJson, print_entry, print_json, print_table

if TYPE_CHECKING:
    from evenhand.nets.registry import NetKind

MethodKey = Annotated[
    str | None, typer.Argument(metavar="[KEY]", help="One method, with objective and fields.")
]
NetName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One network, with its options.")]


def methods(key: MethodKey = None, json: AsJson = False) -> None:
    """The methods: whether each needs groups, reweights, has an adversary, and can be stacked."""
    from evenhand.methods.reference import entry
    from evenhand.methods.registry import METHODS, RULES, method_of

    if key is not None:
        found = entry(type(method_of(key)))
        print_json(found) if json else _print_method(found)
        return
    rows = [entry(method) for method in METHODS.values()]
    if json:
        print_json(rows)
        return
    heads = ("key", "title", "needs groups", "reweights", "adversarial", "stackable")
    print_table([{head: _yes(row[head.removeprefix("needs ")]) for head in heads} for row in rows], heads)
    typer.echo(RULES)


def _print_method(entry: Mapping[str, Any]) -> None:
    asked = ("groups", "groups_at_test", "reweights", "adversarial", "stackable")
    facts = {"title": entry["title"], **{key.replace("_", " "): _yes(entry[key]) for key in asked}}
    print_entry(entry["key"], {**facts, "source": entry["citation"]})
    typer.echo(f"\n{entry['about']}")
    if entry["fields"]:
        rows = [{**row, "default": _spelled(row["default"])} for row in entry["fields"]]
        print_table(rows, ("name", "default", "allowed", "about"))


def datasets(json: AsJson = False) -> None:
    """The data sets; `evenhand data NAME` shows one with its card, rows and knobs."""
    from evenhand.data.registry import DATASETS

    rows = [
        {
            "name": d.name,
            "kind": d.kind,
            "protected": list(d.protect),
            "origin": d.origin,
            "summary": d.summary,
        }
        for d in DATASETS.values()
    ]
    if json:
        print_json(rows)
        return
    shown = [{**row, "protected": ", ".join(row["protected"]) or "none"} for row in rows]
    print_table(shown, ("name", "kind", "protected", "origin", "summary"))


def nets(name: NetName = None, json: AsJson = False) -> None:
    """The networks: what each reads and whether many can be trained side by side."""
    from evenhand.nets.registry import NETS, NetSpec

    if name is not None:
        kind = NETS[NetSpec(name).name]
        entry = {**_net(kind), "options": {key: _plain(value) for key, value in kind.options().items()}}
        print_json(entry) if json else _print_net(entry)
        return
    rows = [_net(kind) for kind in NETS.values()]
    if json:
        print_json(rows)
        return
    shown = [{**row, "inputs": ", ".join(row["inputs"]), "stackable": _yes(row["stackable"])} for row in rows]
    print_table(shown, ("name", "inputs", "stackable", "summary"))


def _net(kind: NetKind) -> dict[str, Any]:
    known = {key: getattr(kind, key) for key in ("name", "summary", "stackable", "citation")}
    return {**known, "inputs": list(kind.inputs)}


def _print_net(entry: Mapping[str, Any]) -> None:
    options = {key: _spelled(value) for key, value in entry["options"].items()}
    facts = {
        "summary": entry["summary"],
        "inputs": ", ".join(entry["inputs"]),
        "stackable": _yes(entry["stackable"]),
    }
    print_entry(entry["name"], {**facts, "source": entry["citation"]})
    if options:
        print_table(
            [{"option": key, "default": value} for key, value in options.items()], ("option", "default")
        )


def files(json: AsJson = False) -> None:
    """The data files that come with the package."""
    from evenhand.data.cache import CHECKSUMS, packaged

    rows = [
        {"file": name, "path": str(packaged(name)), "sha256": CHECKSUMS[name], **_table(name)}
        for name in sorted(CHECKSUMS)
    ]
    if json:
        print_json(rows)
        return
    shown = [
        {
            "file": row["file"],
            "rows": f"{row['rows']:,}" if row["rows"] else "",
            "columns": ", ".join(row["columns"] or []),
        }
        for row in rows
    ]
    print_table(shown, ("file", "rows", "columns"))
    typer.echo(f"in {packaged('titanic.csv.gz').parent}")


def _table(name: str) -> dict[str, Any]:
    """Rows and columns of a packaged table; an archive of arrays has none."""
    import csv
    import gzip

    from evenhand.data.cache import packaged

    if not name.endswith(".csv.gz"):
        return {"rows": None, "columns": None}
    with gzip.open(packaged(name), "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {"rows": len(rows), "columns": header}


def _yes(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _spelled(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return {"True": "true", "False": "false", "None": "unset"}.get(str(value), str(value))

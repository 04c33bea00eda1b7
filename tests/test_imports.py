"""Imports point one way, heavy packages stay where they belong, and `import evenhand` stays light."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
FILES = sorted((SOURCE / "evenhand").rglob("*.py"))

# Lowest first. A part imports from lower layers and from itself; parts of one layer do not know each other.
LAYERS = [
    {"records", "arrays", "errors"},
    {"levels", "kinds"},
    {"groups"},
    {"metrics", "data", "nets", "shifts"},
    {"methods"},
    {"train"},
    {"study", "compress"},
    {"statistics", "tables", "report"},  # the report reads plain dictionaries, so it needs no audit
    {"evaluation"},  # the audit itself: counts in, the dictionary out
    {"api"},
    {"cli", "adapters"},
]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

TORCH_PARTS = {"data", "nets", "methods", "train", "study", "shifts", "compress"}
ALLOWED = {  # third-party packages that a part may import when it is itself imported
    **{part: {"numpy"} for part in RANK},
    **{part: {"numpy", "torch", "scipy"} for part in TORCH_PARTS},
    "statistics": {"numpy", "polars"},
    "tables": {"numpy", "polars"},
    "report": {"numpy", "jinja2", "markupsafe"},  # markupsafe: the escaped text that jinja2 passes around
    "adapters": {"numpy", "torch", "torchmetrics"},  # each for the users of the library it is named after
    "cli": {"numpy", "typer", "rich"},
}
# what looks at a model itself and not at its predictions; an audit of arrays loads none of these
OF_A_MODEL = {f"evenhand.metrics.{name}" for name in ("curvature", "kernel_waves", "mmd", "robustness")}
OF_A_MODEL |= {f"evenhand.evaluation.{name}" for name in ("robustness", "robustness_rows")}
HEAVY = ["torch", "scipy", "polars", "typer", "rich", "jinja2", "pandas"]


def module_name(path: Path) -> str:
    """`src/evenhand/metrics/counts.py` as `evenhand.metrics.counts`; a package by its own name."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The part of the house that a module belongs to: `metrics` of `evenhand.metrics.counts`."""
    return [*module.split("."), ""][1]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def statements(node: ast.AST, into_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements under a node; those for the type checker alone are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif is_type_checking(child):
            for other in child.orelse:
                yield from statements(other, into_functions)
        elif into_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(child, into_functions)


def targets(path: Path, into_functions: bool) -> Iterator[str]:
    """The full names that a file imports: `from ..groups import Groups` is evenhand.groups.Groups."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in statements(ast.parse(path.read_text(encoding="utf-8")), into_functions):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            continue
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{base}.{alias.name}" for alias in node.names)


def against_the_direction(path: Path) -> list[str]:
    """The imports of our own modules that point up or sideways."""
    here = part_of(module_name(path))
    found = []
    for target in targets(path, into_functions=True):
        there = part_of(target)
        if target.split(".")[0] != "evenhand" or there in {here, "__version__"}:
            continue
        # A public name taken from the package itself would go through the top of the house.
        if RANK.get(there, len(LAYERS)) >= RANK[here]:
            found.append(f"{here} imports {target}")
    return found


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_one_way(path):
    here = part_of(module_name(path))
    if here in {"", "__main__"}:
        return  # the front door may open every room
    assert here in RANK, f"give the new part {here!r} its place in LAYERS"
    assert against_the_direction(path) == []


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_module_level_imports_are_within_the_allowed_list(path):
    outside = {target.split(".")[0] for target in targets(path, into_functions=False)}
    outside -= set(sys.stdlib_module_names) | {"evenhand"}
    allowed = ALLOWED.get(part_of(module_name(path)), set())
    allowed = allowed | {"torch"} if module_name(path) in OF_A_MODEL else allowed
    assert outside <= allowed, f"{module_name(path)} imports {sorted(outside)} when it is imported"


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running the code."""
    code = f"import sys; {code}; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_evenhand_is_light():
    assert modules_after("import evenhand") & set(HEAVY) == set()


def test_an_audit_of_arrays_loads_no_trainer_and_no_table_library():
    code = "import evenhand; evenhand.audit([0, 1, 1, 0], [0, 1, 0, 1], groups=['a', 'a', 'b', 'b'])"
    assert modules_after(code) & {"torch", "pandas", "polars", "jinja2", "typer"} == set()


def test_the_direction_test_sees_what_it_should(tmp_path, monkeypatch):
    """The guard itself: upward, sideways, relative and hidden imports are all found."""
    file = tmp_path / "evenhand" / "metrics" / "bad.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "from evenhand.groups import Groups\n"
        "from .counts import Counts\n"
        "from ..api import audit\n"
        "if TYPE_CHECKING:\n    from evenhand.report import names\n"
        "def hidden():\n    from evenhand import cli, nets, __version__\n    import torch\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    assert against_the_direction(file) == [
        "metrics imports evenhand.api.audit",
        "metrics imports evenhand.cli",
        "metrics imports evenhand.nets",
    ]
    assert "torch" not in set(targets(file, into_functions=False))
    assert "torch" in set(targets(file, into_functions=True))

"""What the paper's page leaves in a folder: paper.html, paper.json, and the rest under paper/."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report.ci_mnist import render
from evenhand.report.ci_mnist_figures import figures
from evenhand.report.ci_mnist_markdown import results_markdown
from evenhand.report.ci_mnist_tables import tables
from evenhand.report.study_files import write_tables


def write_paper(body: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write every file; the page comes first."""
    drawn = folder / "paper" / "figures"
    drawn.mkdir(parents=True, exist_ok=True)
    texts = {folder / "paper.html": render(body)}
    texts[folder / "paper.json"] = json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n"
    texts[folder / "paper" / "results.md"] = results_markdown(body)
    texts |= {drawn / f"{name}.svg": svg for name, svg in figures(body).items()}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return [*texts, *write_tables(tables(body), folder / "paper" / "tables")]

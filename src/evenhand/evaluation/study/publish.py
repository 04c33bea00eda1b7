"""publish: what is committed of a study that was run: its runs as a table, a summary, and a few figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.study.summary import summarise
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.export_rows import TOLD_BY
from evenhand.study.results import RUNS
from evenhand.study.store import Store

MOST_FIGURES = 8


def publish(
    store: Store, folder: Path, progress: Callable[[str], None] | None = None
) -> tuple[list[Path], dict[str, Any]]:
    """Write runs.parquet, summary.md and figures/ into the folder; what was written, and the summary.

    The runs carry their counts, so that `study run --reuse` and `--add` can take them over.
    """
    from evenhand.report.exports import figures
    from evenhand.report.study_markdown import summary_markdown
    from evenhand.study.export import export_runs

    tell = progress or (lambda words: None)
    body = summarise(store, progress=tell)
    if not body["state"]["done"]:
        raise InputError("no run of this study is done: there is nothing to publish")
    tell("writing the runs")
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    keys = [metric["key"] for metric in body["metrics"] if metric["key"] != body["accuracy"]]
    told = [key for key in (body["accuracy"], *keys) if CATALOGUE[key].needs in TOLD_BY]
    export_runs(store, folder / RUNS, metrics=told)  # a number of the model has a column of its own
    written = [folder / RUNS]
    drawn = {name: svg for name, svg in figures(body).items() if _chosen(name, keys)}
    for name, svg in list(drawn.items())[:MOST_FIGURES]:
        written.append(_text(folder / "figures" / f"{name}.svg", svg))
    shown = [path for path in written if path.suffix == ".svg"]
    pictures = "".join(f"\n![{path.stem}](figures/{path.name})\n" for path in shown)
    text = f"{summary_markdown(body).rstrip()}\n\n## Figures\n{pictures}"
    written.append(_text(folder / "summary.md", text))
    return written, body


def _chosen(name: str, keys: list[str]) -> bool:
    """The frontier of the first metric, the ranks by it, and the price of mitigation: enough to look at."""
    first = keys[0].replace(".", "-") if keys else ""
    return name.startswith((f"frontier-{first}", f"ranks-{first}", "cost", "levelling"))


def _text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path

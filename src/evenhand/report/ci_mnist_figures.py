"""The figures of S3 from the study's dictionary: bars, deviations, correlations, digits, frontiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.ci_mnist_body import Cells, model_names, present
from evenhand.report.figures.bars import Bar, Panel, bars
from evenhand.report.figures.deviation_map import deviation_map
from evenhand.report.figures.digits import digits
from evenhand.report.figures.frontier import Mean, Run, Trail, frontier
from evenhand.report.numbers import number

Json = Mapping[str, Any]


def figures(body: Json) -> dict[str, str]:
    """Every figure as an SVG text, by the name of its file."""
    drawn = {f"figure-05-{row['task']}": sample_figure(row) for row in body["samples"]}
    for width in body["widths"]:
        for setting in body["settings"]:
            name, place = setting["name"], f"{setting['name']}-{width}"
            drawn[f"figure-{setting['pair_figure']:02d}-pair-{place}"] = pair_figure(body, width, setting)
            drawn[f"figure-{setting['all_figure']:02d}-all-{place}"] = models_figure(body, width, setting)
            drawn[f"figure-10-{place}"] = spread_figure(body, width, name)
            drawn[f"figure-11-{place}"] = knob_figure(body, width, name)
    for view in body["pareto"]:
        drawn[f"pareto-{view['head']}-{view['setting']}-{view['width']}"] = pareto_figure(body, view)
    return {name.replace(" ", "-").replace(".", "").lower(): svg for name, svg in drawn.items()}


def pair_figure(body: Json, width: str, setting: Json, size: float = 760) -> str:
    """All models before and after the knob is turned: a panel for each, a group of bars for each metric."""
    rows = [setting["rows"][place] for place in setting["pair"]]
    cells, models = Cells(body), present(body)
    panels = [
        Panel(
            f"{setting['knob']} {row['label']}" if "=" not in row["label"] else row["label"],
            tuple(tuple(_bar(cells, width, row, model, key, models[model], head) for model in models)
                  for key, head in body["metrics"].items()),
        )
        for row in rows
    ]  # fmt: skip
    title = f"{setting['title']}: before and after, {width}"
    return bars(panels, list(body["metrics"].values()), list(models.values()), title=title, width=size)


def models_figure(body: Json, width: str, setting: Json, size: float = 760) -> str:
    """Every model by itself: a panel for each, and in each group of bars all rows of the setting."""
    cells, models = Cells(body), present(body)
    panels = [
        Panel(
            name,
            tuple(tuple(_bar(cells, width, row, model, key, name, head) for row in setting["rows"])
                  for key, head in body["metrics"].items()),
        )
        for model, name in models.items()
    ]  # fmt: skip
    labels = [row["label"] for row in setting["rows"]]
    title = f"{setting['title']}: all models, all rows, {width}"
    return bars(panels, list(body["metrics"].values()), labels, title=title, width=size)


def _bar(cells: Cells, width: str, row: Json, model: str, key: str, name: str, head: str) -> Bar:
    entry = cells.get(width, row["task"], model, key)
    if entry is None:
        return Bar(None)
    told = f"{name} · {head}\n{row['label']}\n{number(entry['mean'])} ± {number(entry['std'])}"
    setting = f"\n{entry['setting']}" if entry["setting"] else ""
    return Bar(entry["mean"], entry["std"], f"{told}{setting}")


def spread_figure(body: Json, width: str, setting: str) -> str:
    """Figure 10: the deviation over seeds, models by metrics, on the paper's scale."""
    return _map(body, "deviations", width, setting, model_names(body, True), "Deviation over seeds", 0.2)


def knob_figure(body: Json, width: str, setting: str) -> str:
    """Figure 11: |Spearman| between the knob and each metric over all runs of a model."""
    return _map(body, "correlations", width, setting, model_names(body), "Correlation with the knob", 1.0)


def _map(
    body: Json, part: str, width: str, setting: str, names: Mapping[str, str], title: str, top: float
) -> str:
    rows = [row for row in body[part] if (row["width"], row["setting"]) == (width, setting)]
    known = [row for row in rows if any(value is not None for value in row["values"])]
    return deviation_map(
        [row["values"] for row in known], [names[row["model"]] for row in known],
        list(body["metrics"].values()), title=f"{title}: {setting}, {width}", top=top,
    )  # fmt: skip


def sample_figure(row: Json, heads: Sequence[str] = ()) -> str:
    """Training images of one task, even digits first."""
    return digits(row["images"], title=f"Training images: {row['task']}", heads=heads)


def pareto_figure(body: Json, view: Json) -> str:
    """Every setting of every model with both its numbers; the line joins those that none beats."""
    places = {model: place for place, model in enumerate(body["models"])}
    trails, index = [], 0
    for model, name in body["models"].items():
        points = [point for point in view["points"] if point["model"] == model]
        best = next((point for point in points if point["named"]), None)
        runs = tuple(
            Run(index + i, point["x"], point["y"], point["unbeaten"]) for i, point in enumerate(points)
        )
        index += len(points)
        if best is not None:
            told = f"{name} {best['words']}\nacc {number(best['x'])}, {view['head']} {number(best['y'])}"
            trails.append(Trail(name, runs, Mean(name, (), best["x"], best["y"], words=told), places[model]))
    line = _rising([(point["x"], point["y"]) for point in view["points"] if point["unbeaten"]])
    title = f"acc against {view['head']}: {view['setting']} {view['row']}, {view['width']}"
    return frontier(trails, line, title=title, x_axis="acc", y_axis=view["head"], higher=True)


def _rising(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those that none of them beats where they are shown: a line through others would go back and forth."""
    return [
        one for one in points
        if not any(other != one and other[0] >= one[0] and other[1] >= one[1] for other in points)
    ]  # fmt: skip

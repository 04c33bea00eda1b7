"""`evenhand study list` and `evenhand study show NAME`: what can be run, before it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from evenhand.cli import study_choices as given
from evenhand.cli import study_file
from evenhand.cli.listing_parts import print_json, print_table
from evenhand.cli.study_outline import number_of_runs, outline

if TYPE_CHECKING:
    from evenhand.study.spec import Study

# what studies of a kind need that is no data set
NEEDED = {"replay": ("published runs in EVENHAND_DATA",), "program": ("scikit-learn",)}
# knobs by which a data set that is here reads files that are not
AWAY_BY_KNOB = {("part", "full"): "mnist in full", ("source", "celeba"): "celeba"}


def list_studies(json: given.AsJson = False) -> None:
    """The studies that come with the package: what each runs, how much, and what data it needs."""
    from evenhand.study.library import study_names

    rows = [summary(study_file.read(name)) for name in study_names()]
    if json:
        print_json(rows)
        return
    if not rows:
        typer.echo("no study comes with this package; 'evenhand study init FILE.toml' begins one")
        return
    shown = [
        {**row, "runs": _runs(row), "data": ", ".join(row["needs"]) or "here",
         "smoke": f"{row['smoke']:,}" if row["smoke"] else "–"}
        for row in rows
    ]  # fmt: skip
    print_table(shown, ("name", "title", "kind", "runs", "smoke", "data"))
    typer.echo("data: what is not in the package; 'evenhand study show NAME' tells the rest")


def _runs(row: dict[str, Any]) -> str:
    """How many runs, and how many of them are to be identical."""
    told = f"{row['runs']:,}" if row["runs"] else "–"
    return f"{told}, {row['repeats']} identical each" if row["repeats"] else told


def summary(study: Study) -> dict[str, Any]:
    """A study in a few values; `needs` names what its data is not in the package."""
    return {
        "name": study.name,
        "title": study.title,
        "kind": study.kind,
        "tasks": len(study.tasks),
        "methods": len(study.methods),
        "seeds": len(study.seeds),
        "repeats": study.repeats,
        "runs": number_of_runs(study),
        "smoke": number_of_runs(study.smoke) if study.smoke is not None else None,
        "needs": needed_data(study),
    }


def needed_data(study: Study) -> list[str]:
    """What the study reads that neither comes with the package nor is made from a seed."""
    from evenhand.data.registry import AWAY, DATASETS

    used = dict.fromkeys(task.data for task in study.tasks)
    away = [name for name in used if name not in DATASETS or DATASETS[name].origin in AWAY]
    chosen = [
        AWAY_BY_KNOB.get((knob, str(value))) for task in study.tasks for knob, value in task.knobs.items()
    ]
    by_knob = dict.fromkeys(name for name in chosen if name is not None)
    return [*dict.fromkeys([*away, *by_knob]), *NEEDED.get(study.kind, ())]


def show(name: given.Name, smoke: given.Smoke = False, json: given.AsJson = False) -> None:
    """What a study will run: tasks, groupings, methods with their settings, seeds, runs in all."""
    study = study_file.read(name)
    if smoke:
        study = study_file.smoke_of(study)
    if json:
        from evenhand.study.plain import study_to_dict

        print_json({**study_to_dict(study), "runs": number_of_runs(study), "needs": needed_data(study)})
        return
    print_outline(study)


def print_outline(study: Study) -> None:
    """The outline on stdout, folded to the terminal."""
    from rich.padding import Padding

    from evenhand.cli import messages
    from evenhand.report.terminal_parts import safe, words

    printer = messages.console(unbound=200)
    title = f"  {safe(study.title)}" if study.title else ""
    printer.print(words((safe(study.name), "bold cyan"), title))
    if study.about:
        printer.print(Padding(words(safe(study.about)), (0, 0, 1, 0), expand=False))
    for heading, lines in outline(study):
        printer.print(words((heading, "bold")))
        for told in lines:
            printer.print(Padding(words(safe(told)), (0, 0, 0, 2), expand=False))
    needs = needed_data(study)
    if needs:
        printer.print(words(("needs ", "bold"), safe(", ".join(needs))))

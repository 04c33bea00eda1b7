"""The end of a command: outputs written, summary printed, gates told."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from evenhand.cli import messages
from evenhand.cli.outputs import Outputs, as_json


def finish(body: dict[str, Any], outputs: Outputs, quiet: bool) -> None:
    """Write the outputs, print the summary, tell what became of the gates; exit with 1 if one failed."""
    told = outputs.write(_texts(body, outputs))
    if outputs.figures is not None:
        from evenhand.report.exports import write_figures

        told.append(f"{len(write_figures(body, outputs.figures))} figures written to {outputs.figures}")
    if not quiet and not outputs.to_stdout:
        printer = messages.console()
        printer.print(_summary(body))
        for line in told:
            printer.print(line, markup=False)
    gate = body.get("gate")
    if gate is None:
        return
    from evenhand.report.terminal_gate import gate_table

    messages.console(stderr=True).print(gate_table(gate))
    if gate["failed"]:
        raise typer.Exit(1)


def _summary(body: dict[str, Any]) -> Any:
    """What rich prints of a result."""
    if body["kind"] == "tradeoff":
        from evenhand.report.terminal_tradeoff import tradeoff_table

        return tradeoff_table(body)
    if body["kind"] == "shift":
        from evenhand.report.terminal_shift import shift_table

        return shift_table(body)
    from evenhand.report import terminal

    return (terminal.comparison_table if body["kind"] == "comparison" else terminal.audit_table)(body)


def _texts(body: dict[str, Any], outputs: Outputs) -> dict[str, str]:
    """Only what was asked for is made."""
    texts = {"json": as_json(body)} if outputs.json else {}
    if outputs.html:
        texts["html"] = import_module(f"evenhand.report.{body['kind']}").render(body)
    if outputs.markdown:
        home = "shift_markdown" if body["kind"] == "shift" else "model_card"
        texts["markdown"] = import_module(f"evenhand.report.{home}").render(body)
    return texts

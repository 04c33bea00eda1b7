"""The end of a command: outputs written, summary printed, gates told."""

from __future__ import annotations

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
        from evenhand.report import terminal

        show = terminal.comparison_table if body["kind"] == "comparison" else terminal.audit_table
        printer = messages.console()
        printer.print(show(body))
        for line in told:
            printer.print(line, markup=False)
    gate = body.get("gate")
    if gate is None:
        return
    from evenhand.report.terminal_gate import gate_table

    messages.console(stderr=True).print(gate_table(gate))
    if gate["failed"]:
        raise typer.Exit(1)


def _texts(body: dict[str, Any], outputs: Outputs) -> dict[str, str]:
    """Only what was asked for is made."""
    texts = {"json": as_json(body)} if outputs.json else {}
    if outputs.html:
        from evenhand.report import audit as audit_page
        from evenhand.report import comparison as comparison_page

        texts["html"] = (comparison_page if body["kind"] == "comparison" else audit_page).render(body)
    if outputs.markdown:
        from evenhand.report.model_card import render

        texts["markdown"] = render(body)
    return texts

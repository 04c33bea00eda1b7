"""`evenhand study run|status|report|list|show|diff|export|publish|power|init`: many runs, in one file."""

from __future__ import annotations

import typer

from evenhand.cli import (
    study_diff,
    study_export,
    study_init,
    study_list,
    study_power,
    study_publish,
    study_report,
    study_run,
    study_status,
)

HELP = "Run a study: tasks x groupings x methods x settings x seeds, declared in one file."

app = typer.Typer(help=HELP, add_completion=False)
app.command("run")(study_run.run)
app.command("status")(study_status.status)
app.command("report")(study_report.report)
app.command("list")(study_list.list_studies)
app.command("show")(study_list.show)
app.command("diff")(study_diff.diff)
app.command("export")(study_export.export)
app.command("publish")(study_publish.publish)
app.command("power")(study_power.power)
app.command("init")(study_init.init)


@app.callback(invoke_without_command=True)
def _overview(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())

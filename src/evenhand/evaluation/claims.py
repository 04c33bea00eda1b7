"""The claims of the papers and what became of them: a CSV that studies fill, and the page made from it.

python -m evenhand.evaluation.claims docs/claims.csv > docs/claims.md
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

Row = dict[str, str]
COLUMNS = (
    "id", "paper", "claim", "verdict", "effect", "interval", "runs", "study", "command", "note",
)  # fmt: skip
VERDICTS = {
    "holds": "the runs show what the paper says",
    "does not": "the runs show otherwise",
    "cannot tell": "it was run, and the runs do not decide it",
    "not yet run": "the study that will answer it is named",
}
DECIDED = ("holds", "does not")
PAPERS = {
    "S0": "Are My Deep Learning Systems Fair? An Empirical Study of Fixed-Seed Training (2021)",
    "S1": "Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes",
    "S2": "Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks",
    "S3": "Benchmarking Bias Mitigation Algorithms in Representation Learning through Fairness Metrics",
    "S4": "Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts",
}


def read_claims(path: Path | str) -> list[Row]:
    """The rows of a claims file, checked; `InputError` names the row that is wrong."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = [dict(row) for row in reader]
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise InputError(f"{path} must have the columns {', '.join(COLUMNS)}")
    twice = [name for name, times in Counter(row["id"] for row in rows).items() if times > 1]
    if twice:
        raise InputError(f"{path} has the claim {twice[0]} more than once")
    for row in rows:
        check(row)
    return rows


def check(row: Mapping[str, str]) -> None:
    """`InputError` for a claim of an unknown paper or verdict, and for a decision without its evidence."""
    name = row["id"]
    if row["paper"] not in PAPERS or not name.startswith(f"{row['paper']}."):
        raise InputError(f"claim {name!r}: its id must begin with its paper, one of {', '.join(PAPERS)}")
    if row["verdict"] not in VERDICTS:
        raise InputError(
            f"claim {name}: the verdict {row['verdict']!r} is none of {', '.join(map(repr, VERDICTS))}"
        )
    wanted = ("effect", "interval", "runs", "command") if row["verdict"] in DECIDED else ()
    missing = [column for column in ("claim", "study", *wanted) if not row[column]]
    if missing:
        raise InputError(f"claim {name}: {row['verdict']!r} needs {', '.join(missing)}")


def refuse_small(study: Mapping[str, Any]) -> None:
    """Refuse to answer claims from the smoke form of a study, which has no smaller form itself.

    >>> refuse_small({"name": "ci-mnist", "smoke": None})
    Traceback (most recent call last):
    evenhand.errors.InputError: these are runs of 'ci-mnist' in small (--smoke), which answer no claim;
    give the folder of the whole study
    """
    if study.get("smoke") is None:  # what does not say that it is the whole is not taken for it
        raise InputError(
            f"these are runs of '{study['name']}' in small (--smoke), which answer no claim; "
            "give the folder of the whole study"
        )


def update(path: Path | str, answers: Mapping[str, Mapping[str, str]]) -> None:
    """Fill the rows of a claims file with what a study found: `answers` maps an id to columns.

    All other rows stay as they are. An id that the file does not have is an `InputError`.
    """
    rows = read_claims(path)
    unknown = answers.keys() - {row["id"] for row in rows}
    if unknown:
        raise InputError(f"{path} has no claim {sorted(unknown)[0]}")
    filled = [row | dict(answers.get(row["id"], {})) for row in rows]
    for row in filled:
        check(row)
    Path(path).write_text(as_csv(filled), encoding="utf-8", newline="\n")


def as_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """The rows as the text of a claims file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """The page of the claims: how many stand how, then every paper with its claims."""
    counted = Counter(row["verdict"] for row in rows)
    lines = [
        "# What the papers claim, and what runs show",
        "",
        "Made from `claims.csv`, which the studies fill; do not edit this page, run",
        "`python -m evenhand.evaluation.claims docs/claims.csv > docs/claims.md`.",
        "",
        "| Verdict | Meaning | Claims |",
        "|---|---|---:|",
        *(f"| **{name}** | {meaning} | {counted[name]} |" for name, meaning in VERDICTS.items()),
        "",
        "A claim is put in our words. Differences of metrics are fractions (0.126: 12.6 percentage points).",
        "An interval is a confidence interval unless it says otherwise; runs are trainings, not test rows.",
    ]
    for paper, title in PAPERS.items():
        lines += _section(paper, title, [row for row in rows if row["paper"] == paper])
    return "\n".join(lines) + "\n"


def _section(paper: str, title: str, rows: Sequence[Mapping[str, str]]) -> list[str]:
    head = ["", f"## {paper}: {title}", "", "| | Claim | Verdict | Effect | Interval | Runs | Study |"]
    lines = [*head, "|---|---|---|---|---|---:|---|"]
    for row in rows:
        study = f"`{row['command'] or row['study']}`"
        cells = (
            row["id"],
            row["claim"],
            f"**{row['verdict']}**",
            row["effect"],
            row["interval"],
            row["runs"],
        )
        lines.append(f"| {' | '.join(_escaped(cell) for cell in cells)} | {study} |")
    notes = [f"- {row['id']}: {row['note']}" for row in rows if row["note"]]
    return lines + (["", *notes] if notes else [])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Print the page of a claims file; 2 for wrong arguments or a file that is wrong."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m evenhand.evaluation.claims CLAIMS.csv > CLAIMS.md\n")
        return 2
    try:
        page = markdown(read_claims(arguments[0]))
    except (InputError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.buffer.write(page.encode("utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

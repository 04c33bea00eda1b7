"""What studies in the shape of S0 say, in sentences; every number in them is read from the dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.fixed_seed_cautions import alike, out_of_reach, own_ways, shared
from evenhand.report.fixed_seed_tables import cell
from evenhand.report.numbers import defined
from evenhand.report.paper_warning import SMALL
from evenhand.report.replay_words import METRIC_NAMES

Json = Mapping[str, Any]
SIXTEEN = 16  # runs of each technique in S0
KINDS = {
    "identical": "The runs of a technique share seed, code, data and order: only the implementation differs.",
    "control": "The runs of a technique are identical and deterministic: nothing may differ.",
    "varied": "The runs of a technique share their seed, except for what is let loose",
    "seeds": "The runs of a technique differ in their seed.",
}
BEST = {
    "holds": "is shown lowest by every metric",
    "does not": "is not the best: another technique is shown lower by at least one metric",
    "cannot tell": "is not shown lowest by every metric, and no other is shown lower by any",
}


def state(study: Json) -> str:
    """What was run, on what, and what sets runs apart."""
    failed = f", {study['failed']:,} failed" if study["failed"] else ""
    where = ", ".join(study["devices"]) or "an unknown device"
    library = f"torch {', '.join(study['torch'])}; precision: {', '.join(study['precision'])}"
    told = KINDS[study["runs_differ_by"]]
    loose = f": {', '.join(study['loose'])}." if study["runs_differ_by"] == "varied" else ""
    return (
        f"{study['done']:,} of {study['planned']:,} runs are done{failed}; made on {where} with {library}. "
        f"{told}{loose}"
    )


def notes(study: Json, one: Json) -> list[str]:
    """What must be known before the numbers are read."""
    found = [SMALL] if study["small"] else []
    if one["short"]:
        fewest, most = min(one["short"].values()), max(one["short"].values())
        runs = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        found.append(
            f"{len(one['short'])} of {len(one['techniques'])} techniques have fewer runs than S0's "
            f"{SIXTEEN}: {runs}; their MaxDiff is the smaller for it."
        )
    if one["left_out"]:
        told = ", ".join(f"{name} ({n})" for name, n in one["left_out"].items())
        found.append(f"Left out for want of two finished runs: {told}.")
    if one["without_base"]:
        found.append(f"Compared with nothing, their baseline was not run: {', '.join(one['without_base'])}.")
    found += own_ways(one)
    if study["others"]:
        found.append(f"Methods that are no techniques of S0 are not shown: {', '.join(study['others'])}.")
    if not study["published"]:
        found.append("Of S0's numbers only the printed Table 4 was at hand.")
    return [*found, f"Metrics by the convention `{one['convention']}`."]


def sentences(one: Json) -> list[str]:
    """What a set of techniques shows, the most important first."""
    told = [*_variation(one), *_equal(one), *_moved(one), *out_of_reach(one), *alike(one)]
    return [*told, *_paid(one), *_best(one)]


def widest_change(one: Json) -> tuple[str, str] | None:
    """The largest MaxDiff of an overall bias as S0 prints it, and whose it is; None where nothing varies."""
    known = [row for row in one["variance"] if defined(row["max_diff"]) and row["max_diff"]]
    widest = max(known, default=None, key=lambda row: row["max_diff"])
    return (cell(widest, "max_diff"), _place(widest)) if widest else None


def _variation(one: Json) -> list[str]:
    widest = widest_change(one)
    if widest is None:
        return ["No bias of any technique varies over its runs: every MaxDiff is exactly 0, and no test of "
                "variation is made."]  # fmt: skip
    known = [row for row in one["variance"] if defined(row["max_diff"])]
    still = sorted({row["technique"] for row in known} - {r["technique"] for r in known if r["max_diff"]})
    told = f" Exactly constant: {', '.join(still)}." if still else ""
    single = max((row for row in known if defined(row["class_max_diff"])), default=None,
                 key=lambda row: row["class_max_diff"])  # fmt: skip
    of_class = (
        f", that of one class by up to {cell(single, 'class_max_diff')} percentage points ({_place(single)}, "
        f"{single['class']})"
        if single else ""
    )  # fmt: skip
    points, whose = widest
    return [
        f"Over the runs of one technique the overall bias moves by up to {points} percentage points "
        f"({whose}){of_class}.{told}"
    ]


def _place(row: Json) -> str:
    return f"{row['technique']}, {METRIC_NAMES[row['metric']]}"


def _equal(one: Json) -> list[str]:
    known = [row for row in one["varying"] if row["weights"] is not None]
    if not known:
        return ["The digests of the trained networks are not known."]
    return [*_equal_runs(known), *shared(known)]


def _equal_runs(known: list[Json]) -> list[str]:
    same = [row["technique"] for row in known if row["weights"] == 1]
    if len(same) == len(known):
        return ["All runs of each technique ended in the same weights, to the bit."]
    if not same:
        most = sum(row["weights"] == row["runs"] for row in known)
        return [f"No technique's runs ended in the same weights; for {most} of {len(known)} no two runs did."]
    return [f"All runs ended in the same weights for {', '.join(same)}, and did not for the others."]


def _moved(one: Json) -> list[str]:
    tested = [row for row in one["tests"] if not row["note"]]
    untested = len(one["tests"]) - len(tested)
    aside = f" {untested} were not tested: their runs are equal, or too few have a value." if untested else ""
    if not tested:
        return [f"No comparison with a baseline was tested.{aside}"] if one["tests"] else []
    official, proper = (Counter(row[key] for row in tested) for key in ("direction", "holm"))
    wider, sure = (Counter(row[key] for row in tested) for key in ("variance_direction", "variance_holm"))
    return [
        f"Of {len(tested)} comparisons with a baseline, bias fell in {official['-']} and rose in "
        f"{official['+']} by S0's tests ({proper['-']} and {proper['+']} two-sided with Holm); its "
        f"variation rose in {wider['+']} and fell in {wider['-']} ({sure['+']} and {sure['-']} with Holm)."
        f"{aside}"
    ]


def _paid(one: Json) -> list[str]:
    counts = {row["region"]: row["pairs"] for row in one["venn"]}
    if not counts["all pairs"]:
        return []
    return [
        f"Of the {counts['all pairs']} falls, {counts['any']} were paid for: performance fell "
        f"({counts['accuracy_down']}), the bias varies more ({counts['bias_variance_up']}) or performance "
        f"does ({counts['accuracy_variance_up']}); {counts['free']} came without."
    ]


def _best(one: Json) -> list[str]:
    if not one["best"]:
        return []
    lowest = sum(row["lowest"] == row["technique"] for row in one["best"])
    name = one["best"][0]["technique"]
    return [
        f"{name} {BEST[one['best_verdict']]}; its mean is the lowest by {lowest} of {len(one['best'])} "
        "metrics."
    ]

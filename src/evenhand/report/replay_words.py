"""What a replay found, in sentences: every number in them is read from the dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.numbers import percent

Json = Mapping[str, Any]
METRIC_NAMES = {
    "dp": "DP", "di": "DI\u0305", "spsf": "SPSF", "fpsf": "FPSF", "eofp": "EOFP", "eotp": "EOTP", "ba": "BA",
}  # fmt: skip


def sentences(body: Json) -> list[str]:
    """The findings, the most important first."""
    widest = max(body["variance"], key=lambda row: row["max_diff"])
    single = max(body["variance"], key=lambda row: row["class_max_diff"])
    moved = Counter(row["direction"] for row in body["tests"])
    varied = Counter(row["variance_direction"] for row in body["tests"])
    venn = {row["region"]: row["pairs"] for row in body["venn"]}
    kept = {row["test"]: row["kept"] for row in body["sensitivity"] if row["correction"] == "holm"}
    same = len(body["table4"]) - len({cell.split(",")[0] for cell in body["table4_differs"]})
    return [
        f"Training again with the same seed, code and data moves the overall bias by up to "
        f"{points(widest['max_diff'])} ({widest['technique']}, "
        f"{METRIC_NAMES[widest['metric']]}), and the bias of a single class by up to "
        f"{points(single['class_max_diff'])} ({single['technique']}, {METRIC_NAMES[single['metric']]}).",
        f"Of {len(body['tests'])} comparisons of a mitigation with its baseline, the bias fell in "
        f"{moved['-']}, rose in {moved['+']} and did not change significantly in {moved['NS']}; its "
        f"variation over runs rose in {varied['+']} and fell in {varied['-']}. Corrected for their number "
        f"(Holm), {kept['bias, two-sided']} of the {moved['-'] + moved['+']} changes of bias stay, and "
        f"{kept['variance of bias, Levene']} of the {varied['-'] + varied['+']} changes of its variation.",
        f"Of the {venn['all pairs']} falls, {venn['any']} were paid for: accuracy fell "
        f"({venn['accuracy_down']}), the bias varies more ({venn['bias_variance_up']}) or the accuracy does "
        f"({venn['accuracy_variance_up']}). {venn['free']} came without any of the three.",
        f"{same} of {len(body['table4'])} rows of the printed Table 4 come out cell for cell.",
    ]


def checks(body: Json) -> list[dict[str, Any]]:
    """Point by point: what the paper or its program says, what the published values give."""
    return [*_tables(body), *_figure3(body), *_metrics(body), *_tests(body)]


def points(difference: float) -> str:
    """A difference of two metrics in words.

    >>> points(0.1264)
    '12.6 percentage points'
    """
    return f"{100 * difference:.1f} percentage points"


def _check(what: str, said: str, found: str, same: bool | None) -> dict[str, Any]:
    return {"what": what, "said": said, "found": found, "same": same}


def _tables(body: Json) -> list[dict[str, Any]]:
    differs, counts = body["table4_differs"], body["survey_counts"]
    cells = 4 * len(body["table4"])
    constant = [row for row in body["variance"] if row["technique"] == "N-Base"]
    still = all(row["stdev"] == 0 for row in constant)
    return [
        _check("Table 4", f"{cells} cells for {len(body['table4'])} techniques",
               "; ".join(differs) or f"all {cells} cells as printed", not differs),
        _check("N-Base in Table 4", "deviation 0.0 in print; the program of the authors prints <0.1",
               "16 equal runs: exactly 0; what is left there is rounding of a mean" if still else
               "the runs of N-Base are not all equal", still),
        _check("Table 5, survey", "32 papers, 11 with several runs; 5 give a deviation, 8 a range",
               f"{counts['papers']} papers, {counts['multiple_runs']}; {counts['stdev']}, {counts['range']}",
               [counts[key] for key in ("papers", "multiple_runs", "stdev", "range")] == [32, 11, 5, 8]),
    ]  # fmt: skip


def _figure3(body: Json) -> list[dict[str, Any]]:
    turned = [row for row in body["cost"] if row["official_variance"]]
    names = " and ".join(row["technique"] for row in turned)
    factors = ", ".join(f"×{row['variance_ratio']:.1f} (p = {row['variance_p']:.2g})" for row in turned)
    crossed = [row for row in body["cost"] if row["cross"]]
    lower = [row["technique"] for row in crossed if "lower" not in row["official_cross"].split()]
    return [
        _check("Figure 3, lower strip", f"the variation of accuracy falls for {names}",
               f"it rises: {factors}; the program compares the baseline's raw variance, in squared percent, "
               "with the other's relative one", not turned),
        _check("Figure 3, crosses", "a cross for techniques that lower no metric, drawn on coloured blocks",
               f"{', '.join(row['technique'] for row in crossed)}; by the stated rule {', '.join(lower)} has "
               "one below too, where the block is grey", not lower),
    ]  # fmt: skip


def _metrics(body: Json) -> list[dict[str, Any]]:
    share = body["fpsf_share"]
    moved = [row for row in body["realigned"]
             if abs(row["ba_class_max_diff"] - row["realigned_class_max_diff"]) > 1e-9]  # fmt: skip
    zero = [row for row in body["realigned"] if abs(row["di_max_diff"] - row["di_max_diff_zero"]) > 1e-9]
    return [
        _check("FPSF", f"weighted by the share of the group: {share['paper']:.2f} of EOFP in the S family",
               f"{share['high']:.2f}: the values are weighted by the negatives of the group",
               abs(share["high"] - share["paper"]) < 1e-9),
        _check("BA by class", "the widest class of each technique",
               "a class that is never predicted shifts all later ones: "
               + _moves(moved, "ba_class_max_diff", "realigned_class_max_diff"), not moved),
        _check("DI\u0305 of a class nobody is predicted as", "0/0 counts as the largest bias, 1",
               "with 0 instead, the overall MaxDiff would be "
               + _moves(zero, "di_max_diff", "di_max_diff_zero"), not zero),
    ]  # fmt: skip


def _moves(rows: list[Json], before: str, after: str) -> str:
    return ", ".join(f"{row['technique']} {percent(row[before])} → {percent(row[after])}" for row in rows)


def _tests(body: Json) -> list[dict[str, Any]]:
    by_rule = {(row["test"], row["correction"]): row for row in body["sensitivity"]}
    other = by_rule["bias, two-sided", "none"]
    holm, hochberg = (by_rule["bias, two-sided", rule] for rule in ("holm", "benjamini-hochberg"))
    levene, levene_holm, levene_hochberg = (
        by_rule["variance of bias, Levene", rule] for rule in ("none", "holm", "benjamini-hochberg")
    )
    overlap = body["overlap"]
    return [
        _check("One-sided tests, side chosen after the means", f"{other['of']} significant",
               f"two-sided, {other['kept']} of them stay", other["kept"] == other["of"]),
        _check(f"No correction for {len(body['tests'])} tests", f"{other['of']} significant",
               f"two-sided with Holm {holm['kept']} stay, with Benjamini-Hochberg {hochberg['kept']}",
               holm["kept"] == other["of"]),
        _check("Variation of the bias", f"{levene['of']} significant",
               f"with Holm {levene_holm['kept']} stay, with Benjamini-Hochberg {levene_hochberg['kept']}",
               levene_holm["kept"] == levene["of"]),
        _check("One run of each could say the opposite", "mean against mean over 16 runs",
               f"ranges overlap in {overlap['all']} comparisons: {overlap['decrease']} significant falls, "
               f"{overlap['increase']} rises, {overlap['ns']} neither", None),
    ]  # fmt: skip

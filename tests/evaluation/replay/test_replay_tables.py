"""S0's tables from the published runs: Table 4 by cell, 189 rows of variation, 154 tests, performance."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evenhand.evaluation.replay.rows import TABLE4, TESTS, VARIANCE
from evenhand.evaluation.replay.survey import differing_cells, printed_table4, survey, survey_counts
from evenhand.statistics.variance import significant

METRICS = ["dp", "di", "spsf", "fpsf", "eofp", "eotp", "ba"]

# mean overall bias in percent as the authors' program prints it: DP, DI-bar, SPSF, FPSF, EOFP, EOTP, BA
MEANS = """
S-Base 3.0 25.0 1.5 .9 1.9 12.6 7.4; S-RS 2.8 23.7 1.4 .8 1.8 11.9 7.0; S-UC 4.1 32.9 2.1 1.2 2.6 17.6 10.2;
S-GR 3.5 28.5 1.7 1.0 2.2 14.9 8.7; S-DD1 3.5 28.6 1.7 1.0 2.2 14.9 8.7; S-DD2 1.6 14.6 .8 .5 1.0 7.1 4.0;
S-DD3 1.6 14.6 .8 .5 1.0 7.1 4.0; S-DD4 2.2 19.6 1.1 .7 1.5 8.2 5.5; S-DI1 2.7 22.6 1.3 .8 1.7 11.1 6.6;
S-DI2 .2 2.0 .1 <.1 .1 1.0 .5; C-Base 1.4 48.6 .7 .2 .4 13.1 4.7; C-R1 1.2 46.3 .6 .3 .6 10.4 8.7;
C-R2 1.3 46.6 .6 .2 .4 11.5 8.2; C-R3 1.3 51.7 .7 .2 .4 11.5 7.6; C-A4 1.2 49.3 .6 .2 .3 12.1 7.8;
C-A5 1.1 47.0 .5 .1 .3 12.4 7.5; I-Base .4 52.1 .2 .1 .2 16.7 10.2; I-R1 .3 46.7 .2 <.1 .2 12.9 11.8;
I-R2 .3 49.1 .2 <.1 .2 14.7 10.7; I-R3 .4 53.0 .2 .1 .2 15.9 10.5; I-A4 .4 52.4 .2 .1 .2 15.0 10.8;
I-A5 .3 47.0 .2 <.1 .2 15.3 12.4; A-Base 42.9 60.2 20.3 4.7 23.5 23.5 1.2;
A-L2 35.2 54.0 16.7 3.4 15.4 15.4 5.9;
A-ALM 42.2 59.9 20.0 4.8 22.0 22.0 4.9; N-Base 67.7 80.9 33.0 17.0 71.7 71.7 41.1;
N-Flow 10.8 19.6 5.3 .5 2.0 2.0 1.8
"""
# mean and population deviation over 16 runs; S in percent, the others fractions
PERFORMANCE = """
S-Base 88.54 .26; S-RS 88.90 .15; S-UC 83.64 .47; S-GR 84.20 .85; S-DD1 87.15 .30; S-DD2 90.36 .22;
S-DD3 90.37 .22;
S-DD4 88.60 .25; S-DI1 89.28 .17; S-DI2 92.31 .15; C-Base .5692 .0030; C-R1 .4827 .0005; C-R2 .5483 .0021;
C-R3 .5535 .0018; C-A4 .5353 .0012; C-A5 .5508 .0014; I-Base .4046 .0014; I-R1 .3385 .0006; I-R2 .3690 .0002;
I-R3 .3840 .0011; I-A4 .3659 .0001; I-A5 .3453 .0003; A-Base .7831 .0021; A-L2 .7555 .0301; A-ALM .7723 .0124;
N-Base .5775 0; N-Flow .8882 .0050
"""


def entries(text):
    """`name number number; ...` as (name, [texts]) pairs."""
    parted = [entry.split() for entry in text.replace("\n", " ").split(";")]
    return [(entry[0], entry[1:]) for entry in parted]


@pytest.mark.parametrize("place", range(27), ids=lambda place: printed_table4()[place]["technique"])
@pytest.mark.parametrize("column", TABLE4)
def test_table_4_is_the_printed_one(body, place, column):
    printed, found = printed_table4()[place], body["table4"][place]
    assert (found["technique"], found[column]) == (printed["technique"], printed[column])


def test_a_cell_that_differs_is_named():
    rows = printed_table4()
    rows[2] = rows[2] | {"stdev": "9.9"}
    assert differing_cells(rows) == ["S-UC, stdev: printed 1.7, found 9.9"]
    assert differing_cells(rows[1:]) == ["S-Base: only in one of the tables"]


def test_variance_has_a_row_for_each_technique_and_metric(body):
    rows = body["variance"]
    assert len(rows) == 189
    assert all(tuple(row) == VARIANCE for row in rows)
    assert [row["metric"] for row in rows] == METRICS * 27
    assert len({(row["technique"], row["metric"]) for row in rows}) == 189
    assert all(row["max_diff"] == pytest.approx(row["max"] - row["min"], abs=1e-15) for row in rows)
    assert all(0 <= row["stdev"] <= row["max_diff"] / 2 + 1e-12 for row in rows)  # Popoviciu


@pytest.mark.parametrize(("technique", "printed"), entries(MEANS))
def test_mean_bias_is_the_printed_one(body, technique, printed):
    """The program rounds to 4 digits, then formats the float: 0.1055 prints as 10.5, being 10.5499..."""
    means = [100 * significant(row["mean"]) for row in body["variance"] if row["technique"] == technique]
    found = ["<0.1" if 0 < mean < 0.1 else f"{mean:.1f}" for mean in means]
    assert found == [text.replace("<.", "<0.") if "<" in text else f"{float(text):.1f}" for text in printed]


def test_the_largest_variation_is_that_of_the_abstract(body):
    widest = max(body["variance"], key=lambda row: row["max_diff"])
    assert (widest["technique"], widest["metric"], round(widest["max_diff"], 3)) == ("A-L2", "dp", 0.126)


def test_n_base_does_not_vary_at_all(body):
    rows = [row for row in body["variance"] if row["technique"] == "N-Base"]
    assert {row["stdev"] for row in rows} == {row["max_diff"] for row in rows} == {0.0}


def test_outcomes_of_the_tests(body):
    rows = body["tests"]
    assert len(rows) == 154
    assert all(tuple(row) == TESTS for row in rows)
    assert Counter(row["direction"] for row in rows) == {"-": 103, "+": 47, "NS": 4}
    assert Counter(row["variance_direction"] for row in rows) == {"NS": 88, "+": 53, "-": 13}
    assert all((row["p"] <= 0.05) == (row["direction"] != "NS") for row in rows)
    assert all((row["mean"] < row["base_mean"]) == (row["d"] > 0) for row in rows)


def test_parity_and_its_subgroup_form_carry_the_same_test(body):
    """SPSF = 2 p (1 - p) DP for two groups: the same effect size, and ranks but for rounded ties."""
    found = {(row["technique"], row["metric"]): row for row in body["tests"]}
    for technique in {row["technique"] for row in body["tests"]}:
        dp, spsf = found[technique, "dp"], found[technique, "spsf"]
        assert dp["p"] == pytest.approx(spsf["p"], rel=0.01)
        assert dp["d"] == pytest.approx(spsf["d"], rel=0.001)


def test_effects_against_a_constant_baseline_are_huge(body):
    found = [abs(row["d"]) for row in body["tests"] if row["technique"] == "N-Flow"]
    assert int(min(found)) == 131
    assert int(max(found)) == 338


@pytest.mark.parametrize(("technique", "printed"), entries(PERFORMANCE))
def test_performance_is_the_published_one(body, technique, printed):
    row = next(row for row in body["performance"] if row["technique"] == technique)
    factor, last = (100, 0.005) if technique.startswith("S-") else (1, 0.00005)
    for key, text in zip(("mean", "pstdev"), printed, strict=True):
        assert factor * row[key] == pytest.approx(float(text), abs=1.01 * last)


@pytest.mark.parametrize(
    ("technique", "metric"), [("S-GR", "eotp"), ("C-R3", "di"), ("N-Flow", "ba"), ("A-ALM", "dp")]
)
def test_rows_by_plain_numpy_and_scipy(data, body, technique, metric):
    """Read again and computed again, by nothing of ours."""
    table = pl.read_parquet(data / "fixed_seed_runs.parquet").filter(pl.col("metric") == metric)

    def runs(name):
        rows = table.filter(pl.col("technique") == name)
        wide = rows.pivot("class", index="run", values="value").sort("run").drop("run")
        return wide.select(sorted(wide.columns, key=int)).to_numpy()

    values, base = runs(technique), runs(f"{technique[0]}-Base").mean(axis=1)
    mean = values.mean(axis=1)
    ranges = values.max(axis=0) - values.min(axis=0)
    widest = int(np.argmax([float(f"{x:.4g}") for x in ranges]))
    row = next(r for r in body["variance"] if (r["technique"], r["metric"]) == (technique, metric))
    assert row["class"] == widest
    expected = [mean.mean(), mean.max(), mean.min(), mean.max() - mean.min(), mean.std()]
    expected += [ranges[widest], values[:, widest].std()]
    found = [row[key] for key in VARIANCE[2:] if key != "class"]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)

    side = "less" if base.mean() < mean.mean() else "greater"
    p = stats.mannwhitneyu(base, mean, alternative=side, method="asymptotic").pvalue
    levene_p = stats.levene(base / base.mean(), mean / mean.mean(), center="median").pvalue
    d = (base.mean() - mean.mean()) / np.sqrt((base.var(ddof=1) + mean.var(ddof=1)) / 2)
    row = next(r for r in body["tests"] if (r["technique"], r["metric"]) == (technique, metric))
    assert [row["p"], row["levene_p"], row["d"]] == pytest.approx([p, levene_p, d], rel=1e-9)


def test_the_survey_counts_of_the_paper():
    assert survey_counts() == {"papers": 32, "multiple_runs": 11, "mean": 11, "stdev": 5, "range": 8}
    rows = survey()
    assert {row["multiple_runs"] for row in rows} == {"Y", "N"}
    assert all(
        (row["mean"], row["stdev"], row["range"]) == ("-", "-", "-")
        for row in rows
        if row["multiple_runs"] == "N"
    )
    several = [row["paper"].split(" et")[0] for row in rows if row["multiple_runs"] == "Y"]
    assert " ".join(several) == "Wang Quadrianto Lokhande Savani Nam Grover McDuff Dev Adel Black Beutel"

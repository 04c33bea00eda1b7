"""Statistics over runs: spread, tests, effects, verdicts, ranks over problems, correlations.

`compare_runs` says everything about one metric of two sets of runs, `judge` about many of them together,
`rank_methods` about several methods over several problems; docs/statistics.md says which function answers
which question. SciPy does the arithmetic, and is imported by the functions that need it.
"""

from evenhand.statistics.comparing import RunComparison, compare_runs, judge
from evenhand.statistics.components import VarianceSplit, split_from_draws, split_variance
from evenhand.statistics.corrections import benjamini_hochberg, bonferroni, correct, holm
from evenhand.statistics.correlation import Correlation, CorrelationMatrix, correlate, correlation_matrix
from evenhand.statistics.critical import (
    RankSummary,
    cliques,
    critical_difference,
    nemenyi,
    pairwise_wilcoxon,
    rank_methods,
)
from evenhand.statistics.dominance import Superiority, superiority
from evenhand.statistics.effects import (
    Effect,
    cohens_d,
    effect,
    effect_band,
    hedges_factor,
    mean_interval,
)
from evenhand.statistics.knobs import knob_correlations, knob_strength
from evenhand.statistics.outcome import ALPHA, Test
from evenhand.statistics.paired import wilcoxon
from evenhand.statistics.permutation import permutation_paired, permutation_unpaired
from evenhand.statistics.planning import plan_runs
from evenhand.statistics.power import attainable_p, detectable_difference, power_to_see
from evenhand.statistics.problems import Combined, combine, judge_combined
from evenhand.statistics.ranks import Friedman, average_ranks, friedman, method_ranks
from evenhand.statistics.rows import TestRow, VarianceRow, change_row, variance_row
from evenhand.statistics.run_plan import Plan
from evenhand.statistics.tests import levene_relative, mann_whitney, relative_variance
from evenhand.statistics.variance import (
    Spread,
    percent_text,
    significant,
    spread,
    variance_share,
    widest_class,
)
from evenhand.statistics.verdicts import Verdict, verdict

__all__ = [
    "ALPHA",
    "Combined",
    "Correlation",
    "CorrelationMatrix",
    "Effect",
    "Friedman",
    "Plan",
    "RankSummary",
    "RunComparison",
    "Spread",
    "Superiority",
    "Test",
    "TestRow",
    "VarianceRow",
    "VarianceSplit",
    "Verdict",
    "attainable_p",
    "average_ranks",
    "benjamini_hochberg",
    "bonferroni",
    "change_row",
    "cliques",
    "cohens_d",
    "combine",
    "compare_runs",
    "correct",
    "correlate",
    "correlation_matrix",
    "critical_difference",
    "detectable_difference",
    "effect",
    "effect_band",
    "friedman",
    "hedges_factor",
    "holm",
    "judge",
    "judge_combined",
    "knob_correlations",
    "knob_strength",
    "levene_relative",
    "mann_whitney",
    "mean_interval",
    "method_ranks",
    "nemenyi",
    "pairwise_wilcoxon",
    "percent_text",
    "permutation_paired",
    "permutation_unpaired",
    "plan_runs",
    "power_to_see",
    "rank_methods",
    "relative_variance",
    "significant",
    "split_from_draws",
    "split_variance",
    "spread",
    "superiority",
    "variance_row",
    "variance_share",
    "verdict",
    "widest_class",
    "wilcoxon",
]

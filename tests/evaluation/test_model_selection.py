"""model-selection: matrices and top-5 against references, similar pairs, both rules, page and claims."""

import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr, t
from sklearn.metrics import confusion_matrix, top_k_accuracy_score

from evenhand.errors import InputError
from evenhand.evaluation.claims import as_csv, read_claims
from evenhand.evaluation.model_selection import judging, layout, words
from evenhand.evaluation.model_selection.__main__ import main
from evenhand.evaluation.model_selection.answers import answers
from evenhand.evaluation.model_selection.page import answers as told
from evenhand.evaluation.model_selection.page import figures
from evenhand.evaluation.model_selection.paper import paper, render
from evenhand.evaluation.model_selection.study import compute, of_zoo
from evenhand.evaluation.model_selection.zoo import Zoo, read_zoos
from evenhand.evaluation.values import plain
from evenhand.metrics.counts import Counts
from evenhand.report.marked_page import marks_of
from evenhand.report.spread_table import TITLE
from evenhand.study.driver import Options, run_study
from evenhand.study.plain import study_to_dict
from evenhand.study.read import read_study
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.tasks import load_task
from evenhand.study.validate import check_study
from evenhand.train.recipe import Recipe

ROOT = Path(__file__).parents[2]
STUDIES = (
    "model-selection",
    "model-selection-twenty",
    "model-selection-numbers",
    "model-selection-cifar10",
    "model-selection-fairface",
    "model-selection-cifar100",
)
BEGIN, END = marks_of("numbers")


def table(rng, right, twist=0.0, n=3000, classes=5):
    """A table of truths and predictions; `twist` moves errors to the first class."""
    cells = np.zeros((1, classes, classes), dtype=int)
    for truth in range(classes):
        own = right - (twist if truth == 0 else 0)
        hit = rng.binomial(n, own)
        others = [k for k in range(classes) if k != truth]
        shares = np.array([1 + 8 * twist * (k == 1) for k in others], dtype=float)
        cells[0, truth, truth] = hit
        cells[0, truth, others] = rng.multinomial(n - hit, shares / shares.sum())
    return cells


def zoo(seeds=6, twist=0.3):
    """Four models: the best, two alike of which one is twisted, and a large one."""
    rng = np.random.default_rng(0)
    rights = ((0.95, 0.0), (0.85, 0.0), (0.85 + twist / 5, twist), (0.85, 0.0))
    counts = {
        part: Counts.from_table(np.stack([[table(rng, *kind) for _ in range(seeds)] for kind in rights]))
        for part in ("validation", "test")
    }
    return Zoo(
        "made up", ("best", "even", "twisted", "large"), tuple(range(seeds)), tuple("abcde"), counts,
        np.full((4, seeds), np.nan), (5000, 1000, 1200, 9000), (1, 28, 28),
    )  # fmt: skip


@pytest.fixture(scope="module")
def task():
    return plain(of_zoo(zoo()))


def test_a_cell_is_worked_out_from_scikit_learns_table(task):
    made = zoo()
    names = [row["model"] for row in task["models"]]
    assert names[task["base"]] == names[0] == "best"
    i, j = names.index("best"), names.index("twisted")
    found = []
    for seed in range(6):
        rates = []
        for place in (0, 2):
            cells = np.asarray(made.counts["test"].table)[place, seed, 0]
            y, p = np.repeat([[a, b] for a in range(5) for b in range(5)], cells.ravel(), axis=0).T
            found_cells = confusion_matrix(y, p)
            tp, actual, predicted = np.diag(found_cells), found_cells.sum(1), found_cells.sum(0)
            rates.append(((predicted - tp) / (found_cells.sum() - actual), 1 - tp / actual))
        changes = [(other - base) / base for base, other in zip(*rates, strict=True)]
        found.append(sum(change.var() for change in changes))
    assert task["matrices"]["cev"][i][j] == pytest.approx(np.mean(found))
    change = task["models"][j]["top1"] - task["models"][i]["top1"]
    assert task["matrices"]["accuracy_change"][i][j] == pytest.approx(change)
    for matrix in task["matrices"].values():
        assert [matrix[n][n] for n in range(4)] == [0, 0, 0, 0]


def test_a_twisted_model_is_singled_out_by_the_rule(task):
    (pair,) = task["pairs"]  # "large" has too many parameters, "best" is the base
    assert {pair["first"], pair["second"]} == {"even", "twisted"}
    assert pair["singled_out"] == "twisted"
    assert pair["worse"] is True
    assert task["choice"] == {"pairs": 1, "apart": 1, "worse": 1, "shown": 1, "verdict": "holds"}
    recalls = {row["model"]: np.array(row["worst_runs"]) for row in task["models"]}
    differences = recalls[pair["first"]] - recalls[pair["second"]]
    reach = t.ppf(0.975, 5) * differences.std(ddof=1) / np.sqrt(6)
    assert (pair["worst"], pair["worst_high"]) == pytest.approx(
        (differences.mean(), differences.mean() + reach)
    )


def test_agreement_among_models_of_about_the_best_accuracy_is_told_beside_the_rule():
    rng = np.random.default_rng(0)
    order = rng.random((5, 5))
    far = np.array([0.9, 0.89, 0.88, 0.86, 0.3])  # the last model is far from all others
    one, other = (np.stack([order + 0.01 * rng.random((5, 5)) for _ in range(3)]) for _ in range(2))
    for table in (one, other):
        table[:, :4, :4] = rng.random((3, 4, 4))  # among the others the order is chance
        table[:, 4], table[:, :, 4] = 50 + 10 * order[4], 90 + 10 * order[:, 4]
    tables = {part: {"cev": t, "sde": t, "accuracy_change": t}
              for part, t in (("validation", one), ("test", other))}  # fmt: skip
    whole, near = judging.agreement(tables, 0.0, 100), judging.among_near(tables, far)
    assert near["models"] == 4
    off = ~np.eye(4, dtype=bool)
    wanted = [spearmanr(a[:4, :4][off], b[:4, :4][off]).statistic for a, b in zip(one, other, strict=True)]
    assert near["cev"]["runs"] == pytest.approx(wanted)
    assert near["cev"]["rho"] < whole["cev"]["rho"]
    assert judging.among_near(tables, np.array([0.9, 0.8, 0.7, 0.6, 0.5])) is None
    told = words.agreement({"agreement": {**whole, "near": near}, "classes": 100})
    assert "Among the 4 models within 0.05 of the best top-1, which the rule does not ask: rho of CEV" in told
    assert "Among" not in words.agreement({"agreement": {**whole, "near": None}, "classes": 100})


def test_a_lower_recall_that_may_be_chance_is_told():
    """The rule counts the sign of the mean; whether it is more than chance is said beside it."""
    pair = {"singled_out": "a", "worse": True, "worst_low": -0.02, "worst_high": 0.01}
    found = judging.of_pairs([pair])
    assert (found["verdict"], found["shown"]) == ("holds", 0)
    assert words.choice({"choice": found}).endswith("is shown (its interval lacks 0) in 0.")
    assert judging.of_pairs([{**pair, "worst_high": -0.001}])["shown"] == 1
    assert judging.of_pairs([{**pair, "worst_low": 0.001, "worst_high": 0.1}])["shown"] == 1
    assert "lacks 0" not in words.choice({"choice": judging.of_pairs([])})


def test_models_without_a_twist_are_not_told_apart():
    found = of_zoo(zoo(twist=0.0))
    assert found["choice"]["apart"] == 0
    assert found["choice"]["verdict"] == "cannot tell"


def test_models_a_hundredth_apart_are_similar_whatever_floating_point_says():
    near, far = ({"top1": top1, "parameters": 100} for top1 in (0.92, 0.9199))
    assert judging.is_similar({"top1": 0.93, "parameters": 100}, near)
    assert not judging.is_similar({"top1": 0.93, "parameters": 100}, far)


def test_the_rule_for_many_classes():
    near = {key: {"low": 0.8, "high": 0.9} for key in ("cev", "sde")}
    assert judging._of_agreement(near, 0.05, 100) == "holds"
    assert judging._of_agreement(near, 0.05, 99) == "cannot tell"
    assert judging._of_agreement(near, 0.2, 100) == "cannot tell"
    assert judging._of_agreement(near, 0.6, 100) == "does not"
    assert judging._of_agreement(near | {"sde": {"low": 0.1, "high": 0.6}}, 0.05, 100) == "does not"


def test_one_seed_and_no_validation_rows_are_no_accident():
    whole = zoo(seeds=1)
    found = plain(of_zoo(replace(whole, counts={"test": whole.counts["test"]})))
    assert found["agreement"]["verdict"] == "cannot tell"
    assert found["choice"]["verdict"] == "cannot tell"
    body = {
        "tasks": [found],
        "title": "t",
        "evenhand": "0",
        "done": 4,
        "planned": 4,
        "seeds": [0],
        "name": "n",
    }
    assert "cannot be told" in told(body, "r")
    assert all(line["deviation"] is None for line in runs_of(found))  # one seed: a range, and no deviation
    assert answers(body)["S2.8"]["verdict"] == "cannot tell"


def test_two_models_have_no_order_of_cells_and_no_correlation_is_beyond_one():
    made = zoo(seeds=2)
    two = replace(
        made, models=made.models[:2], counts={part: counts[:2] for part, counts in made.counts.items()}
    )
    found = plain(of_zoo(two))
    assert found["agreement"]["cev"]["rho"] is None
    body = {"tasks": [found], "name": "n"}
    assert answers(body)["S2.8"]["effect"].endswith("SDE between two sets of rows: –")
    assert answers(body)["S2.8"]["interval"] == "undefined; undefined"
    assert "rho of CEV – (–)" in words.agreement(found)
    wide = judging.agreement(tables_of([[0, 1, 3, 2, 4, 5], range(6)]), 0.0, 5)["cev"]
    swapped = 1 - 6 * 2 / (6 * 35)  # Spearman's rho of six ranks of which two neighbours are swapped
    assert wide["runs"] == pytest.approx([swapped, 1.0])
    assert wide["low"] == pytest.approx((1 + swapped) / 2 - (1 - swapped) / 2 * t.ppf(0.975, 1))
    assert wide["high"] == 1.0  # Student's own would be 1.33


def test_an_accuracy_of_two_seeds_is_no_less_than_nothing():
    made, rng = zoo(seeds=2), np.random.default_rng(0)
    apart = np.stack([np.stack([table(rng, 0.3), table(rng, 0.6)]) for _ in made.models])
    counts = dict.fromkeys(made.counts, Counts.from_table(apart))
    rows = of_zoo(replace(made, counts=counts))["models"]
    assert {(row["low"], row["high"]) for row in rows} == {(0.0, 1.0)}  # Student's own: -1.5 to 2.4


def tables_of(orders):
    """Matrices of three models whose six cells have these ranks on test rows, and 0 to 5 on validation."""
    off = ~np.eye(3, dtype=bool)
    parts = {"validation": np.zeros((len(orders), 3, 3)), "test": np.zeros((len(orders), 3, 3))}
    for seed, order in enumerate(orders):
        parts["validation"][seed][off], parts["test"][seed][off] = range(6), order
    return {part: {"cev": table, "sde": table} for part, table in parts.items()}


def test_mean_deviation_and_range_over_runs_are_those_of_the_counts(task):
    cells = np.asarray(zoo().counts["test"].table)[:, :, 0]  # [models, seeds, truths, predictions]
    right = np.trace(cells, axis1=2, axis2=3) / cells.sum(axis=(2, 3))
    recall = np.diagonal(cells, axis1=2, axis2=3) / cells.sum(axis=3)
    names = ("best", "even", "twisted", "large")
    lines = {(line["model"], line["against"], line["metric"]): line for line in runs_of(task)}
    for place, name in enumerate(names):
        over_runs(lines[name, "", "Top-1"], right[place])
        over_runs(lines[name, "", "Recall of the worst class"], recall[place].min(axis=1))
        assert lines[name, "", "Top-5"]["runs"] == 0  # no scores were kept
        assert lines[name, "", "Top-5"]["mean"] is None
    over_runs(lines["twisted", "best", "Change of top-1"], right[2] - right[0])
    assert len(lines) == 4 * 3 + 4 * 3 * 5 + 3 + 2  # models, cells, one similar pair, two correlations
    order = [row["model"] for row in task["models"]]
    for key, metric in (("cev", "CEV"), ("sde_norm", "SDE norm.")):
        cell = task["matrices"][key][order.index("best")][order.index("even")]
        assert lines["even", "best", metric]["mean"] == pytest.approx(cell)
    (pair,) = task["pairs"]
    found = lines[pair["first"], pair["second"], "SDE, first less second"]
    assert found["mean"] == pytest.approx(pair["sde"])
    rho = lines["all models", "all models", "Rho of SDE"]
    assert rho["mean"] == pytest.approx(task["agreement"]["sde"]["rho"])
    assert rho["smallest"] <= rho["mean"] <= rho["largest"]


def runs_of(task):
    return [line for part in task["runs"].values() for line in part]


def over_runs(line, values):
    """A line against Python's own statistics."""
    values = [float(value) for value in values]
    wanted = (statistics.mean(values), statistics.stdev(values), min(values), max(values))
    assert [line[key] for key in ("mean", "deviation", "smallest", "largest")] == pytest.approx(wanted)
    assert line["runs"] == len(values)


def test_figures_are_one_for_each_matrix(task):
    drawn = figures({"tasks": [task]})
    assert len(drawn) == 3
    assert all(svg.count("<rect") == 16 for svg in drawn.values())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    nets = tuple(NetEntry("mlp", name=f"mlp {w}", options={"widths": (w,)}) for w in (4, 16))
    knobs = {"classes": 8, "n_train": 300, "n_validation": 300, "n_test": 300}
    study = check_study(
        Study("zoo", "A zoo", tasks=(TaskSpec("synthetic", knobs=knobs),), groupings=(GroupingSpec(("a0",)),),
              nets=nets, methods=(MethodSpec("erm"),), seeds=(0, 1), predictions=True,
              recipe=Recipe(epochs=2, batch_size=64))
    )  # fmt: skip
    run_study(study, Options(out=folder, backend="inline", device="cpu"), lambda status: None)
    return folder


def test_a_trained_zoo_is_read_from_its_store(store, tmp_path):
    with Store.open(store, readonly=True) as opened:
        (found,) = read_zoos(opened)
        table, body = opened.table(), compute(opened)
        spec = table["spec"][0]
        scores = opened.predictions(table["id"][0])["test"]
    data = load_task(spec["data"], spec["knobs"])
    y = np.asarray(data.y)[np.asarray(data.rows("test"))]
    place, seed = found.models.index(table["net"][0]), found.seeds.index(table["seed"][0])
    assert found.top5[place, seed] == pytest.approx(top_k_accuracy_score(y, scores, k=5, labels=range(8)))
    inputs = data.input_shape[0]
    assert found.parameters == tuple((inputs + 1) * w + (w + 1) * 8 for w in (4, 16))
    right = np.trace(np.asarray(found.counts["test"].table)[place, seed, 0]) / 300
    assert right == pytest.approx((scores.argmax(1) == y).mean())
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n", encoding="utf-8")
    assert main([str(store), "--page", str(page), "--results", str(tmp_path / "r")]) == 0
    text = page.read_text("utf-8")
    assert text.startswith("before")
    assert "mlp 16" in text
    assert (tmp_path / "r" / "cells.csv").read_text("utf-8").count("\n") == 1 + 2
    assert f"<details><summary>{TITLE}</summary>" in text
    assert "[runs.csv](r/runs.csv)" in text
    assert (tmp_path / "r" / "runs.csv").read_text("utf-8").startswith("model,against,task,metric,runs,")
    assert body["tasks"][0]["classes"] == 8


def test_the_page_in_the_papers_shape_has_models_and_matrices(store, tmp_path):
    with Store.open(store, readonly=True) as opened:
        body = paper(opened, tmp_path)
    page = (tmp_path / "paper.html").read_text("utf-8")
    first = page.split('class="about">')[1].split("</p>")[0]
    assert "4 of 4 trainings are done, 2 seeds" in first
    assert "models trained here on synthetic" in first
    assert "<strong>no replication</strong>" in first
    assert page.count("<svg") == 3  # the three matrices
    assert "<h2>The models: Table 2</h2>" in page
    assert "Claim S2.7" in page
    assert (tmp_path / "paper" / "tables" / "cells.csv").read_text("utf-8").count("\n") == 1 + 2
    assert len(list((tmp_path / "paper" / "figures").glob("*.svg"))) == 3
    assert f"<summary>{TITLE}</summary>" in page
    assert "<summary>Every cell over runs, also not normalised</summary>" in page
    written = (tmp_path / "paper" / "tables" / "runs.csv").read_text("utf-8").splitlines()
    assert written[0] == "model,against,task,metric,runs,mean,deviation,smallest,largest"
    assert len(written) == 1 + len(runs_of(body["tasks"][0]))
    two = render({**body, "tasks": [body["tasks"][0], {**body["tasks"][0], "task": "other"}]})
    assert "<h3>other</h3>" in two


def test_unfinished_models_are_refused_or_named():
    from evenhand.evaluation.model_selection.zoo import _finished

    assert _finished({("a", 0): 1, ("b", 0): 2, ("c", 0): -1, ("a", 1): 3, ("b", 1): -1}) == (
        ("a", "b"),
        (0,),
    )
    with pytest.raises(InputError, match="no seed is finished for all models"):
        _finished({("a", 0): 1, ("b", 1): 2})


@pytest.mark.parametrize("name", STUDIES)
def test_the_studies_have_twelve_models_and_keep_scores(name):
    study = read_study(name)
    assert len(study.nets) == 12
    assert study.predictions
    assert len(study.seeds) >= 3
    assert set(study.claims) == ({"S2.8"} if "numbers" in name else {"S2.7", "S2.8"})


def test_the_hundred_numbers_are_the_zoo_of_digits_but_for_the_task():
    digits, numbers = (study_to_dict(read_study(name)) for name in (layout.NAME, f"{layout.NAME}-numbers"))
    own = {"name", "title", "about", "claims", "tasks", "smoke", "source"}
    assert {k: v for k, v in digits.items() if k not in own} == {
        k: v for k, v in numbers.items() if k not in own
    }
    assert [task["data"] for task in numbers["tasks"]] == ["mnist-numbers"]


def test_claims_are_filled_for_the_study_that_the_file_names(store, tmp_path, capsys):
    page, claims = tmp_path / "page.md", tmp_path / "claims.csv"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    given = [str(store), "--page", str(page), "--results", str(tmp_path / "r"), "--claims", str(claims)]
    kept = {row["id"]: row for row in read_claims(ROOT / "docs" / "claims.csv") if row["paper"] == "S2"}
    claims.write_text(as_csv(list(kept.values())), encoding="utf-8")
    assert main(given) == 2
    assert "names another study than 'zoo' for S2.7, S2.8" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()  # nothing is written
    claims.write_text(as_csv([{**kept["S2.8"], "study": "zoo"}, kept["S2.7"]]), encoding="utf-8")
    assert main(given) == 0
    filled = {row["id"]: row for row in read_claims(claims)}
    assert filled["S2.7"] == kept["S2.7"]
    assert filled["S2.8"]["command"] == "evenhand study run zoo"
    assert filled["S2.8"]["runs"] == "4"
    assert filled["S2.8"]["verdict"] == "cannot tell"  # eight classes


def test_the_published_page_is_that_of_the_rules():
    text = (ROOT / "docs" / "studies" / f"{layout.NAME}.md").read_text("utf-8")
    for number in (layout.SIMILAR_ACCURACY, layout.SIMILAR_SIZE, layout.AGREEING, layout.MANY_CLASSES):
        assert str(number) in text
    claims = {row["id"]: row for row in read_claims(ROOT / "docs" / "claims.csv")}
    told = claims["S2.7"]["study"]
    assert told in STUDIES
    runs = pl.read_parquet(ROOT / "studies" / "results" / told / "runs.parquet")["id"].n_unique()
    assert claims["S2.7"]["runs"] == str(runs)
    assert f"{runs} of {runs} trainings are done" in (ROOT / "docs" / "studies" / f"{told}.md").read_text(
        "utf-8"
    )

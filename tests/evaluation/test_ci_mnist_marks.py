"""What is read from the study ci-mnist-marks, on counts whose answers are known."""

import runpy
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist_marks import compute, write_page
from evenhand.evaluation.ci_mnist_marks.judging import Difference, by_holm, difference
from evenhand.evaluation.ci_mnist_marks.layout import CHOICE, COLOURS, DECLARED, MARKS, METHODS, task_of
from evenhand.evaluation.ci_mnist_marks.page import BEGIN, END
from evenhand.evaluation.ci_mnist_marks.words import answer, of_recovery
from evenhand.study.plain import study_to_dict
from evenhand.study.read import read_study
from evenhand.study.search import settings_of

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
SEEDS = range(6, 16)
GAMMAS = ({"gamma": 0.1}, {"gamma": 4.0})
PAGE = Path(__file__).parents[2] / "docs" / "studies" / "ci-mnist-marks.md"
BLUE = {("balanced", marks): 0.95 for marks in MARKS} | {
    ("minority .001", marks): value
    for marks, value in zip(MARKS, (0.70, 0.60, 0.55, 0.72, 0.60), strict=True)
}
# on blue digits at (0.001, 0.001), by method and gamma, on validation and on test
GAIN = {
    ("laftr-dp", 0.1): (0.05, 0.05), ("laftr-dp", 4.0): (0.15, 0.10),
    ("cfair", 0.1): (0.02, -0.05), ("cfair", 4.0): (0.01, 0.30),
}  # fmt: skip


def wobble(seed, method):
    """Moves from seed to seed, and of another shape for each method, so that pairs differ."""
    return 0.01 * np.sin(seed * (1 + list(METHODS).index(method)))


def counts(task, method, setting, seed, part):
    colours, marks = next(place for place in product(COLOURS, MARKS) if task_of(*place) == task)
    gains = GAIN.get((method, setting.get("gamma")), (0.0, 0.0)) if colours == "minority .001" else (0.0, 0.0)
    blue = BLUE[colours, marks] + gains[part == "test"] + wobble(seed, method)
    return fake.rates_table((0.97, blue), (0.03, 1 - blue), 20_000)


def make_store(counts_of=counts, methods=("mlp", "laftr-dp", "cfair")):
    rows, tables = [], {part: {} for part in ("validation_balanced", "test")}
    for place, method in product(product(COLOURS, MARKS), methods):
        if method == "mlp" or place[1] in DECLARED:
            for setting, seed in product(({},) if method == "mlp" else GAMMAS, SEEDS):
                run = fake.row_of(
                    f"{len(rows):05d}", task_of(*place), "colour", method, setting, seed, len(rows)
                )
                rows.append(run)
                for part, kept in tables.items():
                    kept[run["id"]] = counts_of(task_of(*place), method, setting, seed, part)
    study = study_to_dict(read_study("ci-mnist-marks"))
    return fake.FakeStore(study, rows, tables, ("red", "blue"), ("odd", "even"))


@pytest.fixture(scope="module")
def body():
    return compute(make_store())


def gains_of(body, marks="both"):
    return {row["method"]: row for row in body["recovery"] if row["marks"] == marks}


def test_the_study_is_declared_as_it_is_read():
    study, whole = read_study("ci-mnist-marks"), read_study("ci-mnist")
    assert {task.name for task in study.tasks} == {task_of(*place) for place in product(COLOURS, MARKS)}
    assert study.selection == CHOICE
    assert dict(study.recipe) == dict(whole.recipe)
    assert not {*study.seeds} & {*whole.seeds}
    grids = {method.name: dict(method.fields) for method in whole.methods}
    assert {method.name: dict(method.fields) for method in study.methods} == {
        name: grids[name] for name in METHODS
    }
    knobs = {task.name: {**task.knobs} for task in study.tasks}
    for colours, clr in (("balanced", {}), ("minority .001", {"clr_ratio": [0.001, 0.001]})):
        usual = {"part": "full", **clr}
        assert knobs[task_of(colours, "both")] == usual
        assert knobs[task_of(colours, "first")] == {**usual, "g2": False}
        assert knobs[task_of(colours, "none")] == {**usual, "g1": 0, "g2": False}
        assert knobs[task_of(colours, "first same")] == {**usual, "g2": False, "test_green": "same"}
    runs = [
        len(settings_of(method, 0)) * len(method.tasks or study.tasks) * len(study.seeds)
        for method in study.methods
    ]
    assert sum(runs) == 1600


def test_a_difference_is_student_s_and_pairs_seeds():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.7, 0.02, 10), rng.normal(0.75, 0.02, 10)
    found = difference(dict(enumerate(b)) | {99: 5.0}, dict(enumerate(a)) | {98: 5.0})
    ends = ttest_rel(b, a).confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert (found.n, found.mean) == (10, pytest.approx(np.mean(b - a)))


def test_a_gain_needs_both_interval_and_corrected_p():
    one = by_holm([Difference(0.1, 0.01, 0.2, 10, p=0.03)])[0]
    five = by_holm([Difference(0.1, 0.01, 0.2, 10, p=0.03)] * 5)[0]
    wide = by_holm([Difference(0.1, -0.01, 0.2, 10, p=0.001)])[0]
    assert (one.shown, five.shown, wide.shown) == ("above 0", "cannot tell", "cannot tell")
    assert five.corrected == pytest.approx(0.15)


def test_one_run_shows_nothing():
    found = by_holm([difference({1: 0.9}, {1: 0.1})])[0]
    assert (found.n, found.shown, found.side) == (1, "cannot tell", "cannot tell")


def test_what_each_column_adds(body):
    added = {(row["colours"], row["method"], row["words"]): row["numbers"] for row in body["added"]}
    blue = added["minority .001", "mlp", "the second column"]["acc_up"]
    assert blue["mean"] == pytest.approx(0.10, abs=1e-3)
    assert blue["side"] == "above 0"
    assert added["minority .001", "mlp", "the first column"]["acc_up"]["mean"] == pytest.approx(
        0.05, abs=1e-3
    )
    assert added["minority .001", "mlp", "both columns"]["s3.accuracy.mean"]["mean"] == pytest.approx(
        0.075, abs=1e-3
    )
    same = added["minority .001", "mlp", "the second column, at test where training has it"]["acc_up"]
    assert same["mean"] == pytest.approx(0.12, abs=1e-3)
    nothing = added["balanced", "mlp", "both columns"]["acc_p"]
    assert (nothing["mean"], nothing["side"]) == (0.0, "cannot tell")


def test_the_fall_of_the_mlp_has_its_interval(body):
    fall = next(row for row in body["falls"] if row["marks"] == "both")
    assert (fall["mean"], fall["n"], fall["side"]) == (pytest.approx(-0.25, abs=1e-3), 10, "below 0")


def test_settings_are_chosen_on_validation_not_on_test(body):
    found = gains_of(body)
    assert found["laftr-dp"]["setting"] == "gamma=4"
    assert found["cfair"]["setting"] == "gamma=0.1"  # on test gamma=4 is far better
    assert found["laftr-dp"]["mean"] == pytest.approx(0.10, abs=0.005)
    assert found["laftr-dp"]["share"] == pytest.approx(0.4, abs=0.02)
    assert (found["laftr-dp"]["recovers"], found["cfair"]["recovers"]) == (True, False)
    assert found["laftr-dp"]["corrected"] == pytest.approx(2 * 2 / 1024)
    moved = [wobble(seed, "laftr-dp") - wobble(seed, "mlp") for seed in SEEDS]
    reach = t.ppf(0.975, 9) * np.std(moved, ddof=1) / np.sqrt(10)
    assert found["laftr-dp"]["high"] - found["laftr-dp"]["mean"] == pytest.approx(reach, rel=0.02)


def test_the_check_tests_every_setting_together(body):
    found = {row["method"]: row for row in body["unchosen"] if row["marks"] == "both"}
    assert found["laftr-dp"]["gaining"] == ["gamma=0.1", "gamma=4"]
    assert found["cfair"]["gaining"] == ["gamma=4"]
    assert {row["together"] for row in found.values()} == {4}


def test_the_answer_follows_the_rule(body):
    assert answer(body).endswith("wins part of it back: shown.**")
    assert "1 of 2 methods win part of it back: LAFTR-DP +0.098 (" in of_recovery(body)
    without = {**body, "unchosen": [{**row, "gaining": []} for row in body["unchosen"]]}
    assert "shown for chosen settings only" in answer(without)
    nobody = {**body, "recovery": [{**row, "recovers": False} for row in body["recovery"]]}
    assert "not shown" in answer(nobody)
    standing = {**body, "falls": [{**row, "side": "cannot tell"} for row in body["falls"]]}
    assert "not shown" in answer(standing)
    assert "no fall of the MLP is shown" in of_recovery(standing)


def test_only_the_section_of_the_page_is_written(body, tmp_path):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    before, after = (
        page.read_text(encoding="utf-8").split(BEGIN)[0],
        page.read_text(encoding="utf-8").split(END)[1],
    )
    for _ in range(2):  # written again, it is the same
        write_page(body, page, tmp_path / "results")
        text = page.read_text(encoding="utf-8")
        assert text.startswith(before)
        assert text.endswith(after)
        assert text.count("### The smallest group") == 1
    assert "](../results/figures/marks.svg)" in text
    assert "**The accuracy on blue digits falls" in text
    svg = (tmp_path / "results" / "figures" / "marks.svg").read_text(encoding="utf-8")
    assert svg.count("<circle") == 3 + 3 + 3 + 2
    levels = (tmp_path / "results" / "marks.md").read_text(encoding="utf-8")
    assert levels.count("| (0.5, 0.5) | ") == 3 * 3 + 2 + 2 * 3
    (tmp_path / "other.md").write_text("no comments", encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.md needs the two lines"):
        write_page(body, tmp_path / "other.md", tmp_path / "results")


def test_another_study_and_missing_runs(body):
    store = make_store(methods=("mlp",))
    alone = compute(store)
    assert alone["recovery"] == []
    assert "not shown" in answer(alone)
    store._study["name"] = "ci-mnist"
    with pytest.raises(InputError, match="not 'ci-mnist-marks'"):
        compute(store)

"""What is read from er-predicts-shift, on models whose correlations were planted or left out by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from evenhand.errors import InputError
from evenhand.evaluation.claims import read_claims
from evenhand.evaluation.er_predicts_shift import answer, write_page
from evenhand.evaluation.er_predicts_shift.__main__ import main
from evenhand.evaluation.er_predicts_shift.claims import answers as claims_of
from evenhand.evaluation.er_predicts_shift.judging import side, together
from evenhand.evaluation.er_predicts_shift.layout import CHANGE, ER, GAP, KERNELS, LEVEL, NAME, PREDICTORS
from evenhand.evaluation.er_predicts_shift.layout import TIMES as TIMES_DECLARED
from evenhand.evaluation.er_predicts_shift.models import read_models
from evenhand.evaluation.er_predicts_shift.page import BEGIN, END
from evenhand.evaluation.er_predicts_shift.pooling import PARTIAL, PLAIN, estimate, pool
from evenhand.evaluation.er_predicts_shift.ranks import partial, rank_correlations
from evenhand.study.driver import Options, run_study
from evenhand.study.read import read_study
from evenhand.study.search import settings_of
from evenhand.study.spec import (
    Grid,
    GroupingSpec,
    MethodSpec,
    NetEntry,
    SelectionSpec,
    ShiftSpec,
    Study,
    TaskSpec,
)
from evenhand.study.validate import check_study

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "er-predicts-shift.md"
SHIFTS = [("gaussian", 0.03), ("gaussian", 0.5), ("impulse", 0.1)]
TASKS = ("cc, race", "adult, sex")
TIMES = 300


class Frame:
    """Two tasks x 20 settings x 6 splits; `pull`: how far delta ER moves the gap, `clean`: the clean one."""

    def __init__(self, pull=0.0, clean=0.0, noise=0.05, settings=20, seeds=6, seed=0):
        rng = np.random.default_rng(seed)
        places = [(t, s, k) for t in range(len(TASKS)) for s in range(settings) for k in range(seeds)]
        self.n = len(places)
        tasks, models, splits = np.array(places).T
        self.columns = {
            "task": [TASKS[t].split(", ")[0] for t in tasks],
            "grouping": [TASKS[t].split(", ")[1] for t in tasks],
            "net": ["mlp"] * self.n,
            "method": ["erm" if m % 2 else "cuma" for m in models],
            "setting": [{"lam": float(m)} for m in models],
            "seed": splits.tolist(),
        }
        self.done = np.ones(self.n, dtype=bool)
        nature = rng.normal(size=(len(TASKS), settings))[tasks, models]  # of a setting, on every split
        ease = rng.normal(size=(len(TASKS), seeds))[tasks, splits]  # of a split, for every model
        self.gap = 0.5 + 0.02 * rng.normal(size=self.n) + 0.1 * ease
        self.numbers = {key: np.exp(nature + 0.3 * rng.normal(size=self.n) + ease) for key in PREDICTORS}
        self.numbers |= {f"curvature.mean.{name}": np.exp(rng.normal(size=self.n)) for name in ("g=a", "g=b")}
        self.moved = {
            shift: pull * nature * shift[1] + clean * (self.gap - 0.5) + noise * rng.normal(size=self.n)
            for shift in SHIFTS
        }
        self.accuracy = 0.8 + 0.1 * np.sin(np.arange(self.n))
        self.shares = np.tile([0.3, 0.6], (self.n, 1))

    def number(self, key):
        return self.numbers[key]

    def values(self, part, key):
        assert part == "test"
        return self.gap if key == GAP else self.accuracy

    def shifted(self, part="test"):
        return [(*shift, ("one", "two")) for shift in SHIFTS]

    def mean_over_draws(self, kind, severity, metric):
        assert metric == GAP
        return self.gap + 0.3 + self.moved[kind, severity]

    def rates(self, part, rate):
        return ("g=a", "g=b"), self.shares


def test_the_study_is_declared_as_its_page_says():
    study, text = read_study("er-predicts-shift"), PAGE.read_text(encoding="utf-8")
    assert {*PREDICTORS} - {GAP, "acc"} == {*study.numbers}
    assert study.claims == ("S4.3", "S4.4")
    assert "1,000 runs" in text
    assert sum(len(shift.severities) for shift in study.shifts) == 18
    assert {shift.draws for shift in study.shifts} == {5}
    assert f"{TIMES_DECLARED:,} draws" in text
    names = [method.name for method in study.methods]
    assert {name for net in study.nets for name in net.methods} == {*names}
    per_split = {
        task.name: sum(
            len(settings_of(method, 0)) * sum(net.is_for(method.name) for net in study.nets)
            for method in study.methods
            if task.name in (method.tasks or (task.name,))
        )
        for task in study.tasks
    }
    assert per_split == {"cc-race": 42, "cc-divorced": 42, "adult-sex": 16}
    assert sum(per_split.values()) * len(study.seeds) == 1000


# -- the arithmetic ---------------------------------------------------------------------------------------


def test_rho_is_scipy_s_for_the_data_and_for_drawn_samples():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 6, (4, 25)).astype(float)  # many ties
    drawn = rng.multinomial(25, np.full(25, 1 / 25), 5)
    found = rank_correlations(values, np.vstack([np.ones(25), drawn]))
    for matrix, times in zip(found, [np.ones(25, dtype=int), *drawn], strict=True):
        expected = spearmanr(np.repeat(values, times, axis=1).T).statistic
        assert matrix == pytest.approx(expected)


def test_a_constant_has_no_correlation():
    found = rank_correlations(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]), np.ones((1, 3)))
    assert np.isnan(found[0, 0, 1])
    assert found[0, 1, 1] == pytest.approx(1.0)


def test_partial_is_the_correlation_of_what_ranks_leave():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(2, 40))
    values = np.vstack([z[0] + rng.normal(size=40), z[1] - z[0] + rng.normal(size=40), z])
    found = partial(rank_correlations(values, np.ones((1, 40))), 0, np.array([1]), [2, 3])
    ranks = rankdata(values, axis=1)
    basis = np.vstack([np.ones(40), ranks[2:]]).T
    left = [rank - basis @ np.linalg.lstsq(basis, rank, rcond=None)[0] for rank in ranks[:2]]
    assert found[0, 0] == pytest.approx(np.corrcoef(*left)[0, 1])
    twice = np.vstack([values, values[2:3]])  # a control that another control repeats
    assert np.isnan(partial(rank_correlations(twice, np.ones((1, 40))), 0, np.array([1]), [2, 4])).all()


def test_rho_is_taken_within_a_split_and_averaged_as_the_rule_says():
    frame = Frame(pull=0.1)
    found = pool(read_models(frame), times=2)
    rows = np.array(frame.columns["seed"])
    here = np.array(frame.columns["task"]) == "cc"
    by_shift = {
        shift: np.mean([
            spearmanr(frame.numbers[ER][here & (rows == k)], frame.moved[shift][here & (rows == k)]
                      + frame.gap[here & (rows == k)]).statistic
            for k in range(6)
        ])
        for shift in SHIFTS
    }  # fmt: skip
    for shift, expected in by_shift.items():
        assert found.one("cc, race", PLAIN, ER, LEVEL, shift).value == pytest.approx(expected)
    gaussian = (by_shift["gaussian", 0.03] + by_shift["gaussian", 0.5]) / 2
    whole = (gaussian + by_shift["impulse", 0.1]) / 2
    assert found.task("cc, race", PLAIN, ER, LEVEL).value == pytest.approx(whole)
    both = (whole + found.task("adult, sex", PLAIN, ER, LEVEL).value) / 2
    assert found.all(PLAIN, ER, LEVEL).value == pytest.approx(both)


# -- planted and not ---------------------------------------------------------------------------------------


def test_a_planted_correlation_is_found():
    body = answer(Frame(pull=0.4), TIMES)
    rows = {(row["kind"], row["outcome"], row["predictor"]): row for row in body["pooled"]}
    for kind in (PLAIN, PARTIAL):
        assert rows[kind, CHANGE, ER]["low"] > 0.2
        assert rows[kind, LEVEL, ER]["side"] == "holds"
    assert set(body["verdicts"].values()) == {"holds"}
    words = {(row["outcome"], row["rival"]): row["word"] for row in body["rivals"]}
    assert words[CHANGE, "curvature"] == "delta ER is better"
    assert words[CHANGE, "acc"] == "delta ER is better"


def test_what_is_not_there_is_not_found():
    body = answer(Frame(pull=0.0), TIMES)
    rows = {(row["kind"], row["outcome"], row["predictor"]): row for row in body["pooled"]}
    for kind in (PLAIN, PARTIAL):
        row = rows[kind, CHANGE, ER]
        assert row["low"] < 0 < row["high"]
    assert body["verdicts"]["foretells"] != "holds"
    assert body["verdicts"]["beyond"] != "holds"


def test_intervals_without_a_correlation_hold_0_as_often_as_they_say():
    covered = 0
    for seed in range(40):
        found = pool(read_models(Frame(settings=12, seeds=4, seed=seed)), 200, seed).all(PLAIN, ER, CHANGE)
        covered += found.low <= 0 <= found.high
    assert covered >= 36  # 95 % or more: the bootstrap over both is rather too wide


def test_a_split_that_is_harder_makes_no_correlation():
    """ER and the gap are both larger on some splits; among the models of one they have nothing in common."""
    frame = Frame(pull=0.0, noise=0.01)
    together_ = spearmanr(frame.numbers[ER], frame.gap).statistic
    row = next(
        row for row in answer(frame, TIMES)["pooled"] if row["predictor"] == ER and row["outcome"] == LEVEL
    )
    assert together_ > 0.3
    assert abs(row["value"]) < 0.2


def test_the_clean_gap_is_a_rival_and_held_fixed():
    """All that ER knows is the clean gap: the plain correlation is there, the partial one is not."""
    frame = Frame(pull=0.0, clean=2.0, noise=0.01)
    rng = np.random.default_rng(5)
    for key in ("delta_er", "delta_er.narrow", "delta_er.wide"):
        frame.numbers[key] = np.exp(20 * frame.gap + 0.2 * rng.normal(size=frame.n))
    body = answer(frame, TIMES)
    assert body["verdicts"]["S4.3"] == "holds"
    assert body["verdicts"]["beyond"] != "holds"
    words = {(row["outcome"], row["rival"]): row["word"] for row in body["rivals"]}
    assert words[LEVEL, GAP] == "delta ER is worse"


def test_a_rival_may_foretell_in_its_own_direction():
    """The more accurate, the less a model moves: accuracy tells all of it, delta ER nothing."""
    frame = Frame(pull=0.0, noise=0.05)
    frame.accuracy = 0.8 - 0.1 * sum(frame.moved.values())
    words = {(row["outcome"], row["rival"]): row for row in answer(frame, TIMES)["rivals"]}
    assert words[CHANGE, "acc"]["word"] == "delta ER is worse"
    assert words[CHANGE, "acc"]["value"] < -0.3


def test_a_gap_that_shrinks_moves_as_far_as_one_that_grows():
    frame = Frame()
    frame.moved = {shift: np.where(np.arange(frame.n) // 6 % 2, -0.3 - 0.1, -0.3 + 0.1) for shift in SHIFTS}
    split = read_models(frame).splits[0]
    assert split.shifted[CHANGE] == pytest.approx(np.full((3, 20), 0.1))
    assert split.shifted[LEVEL].std() > 0.09


def test_the_rule():
    draws = np.zeros(3)
    of = [estimate(np.array([value, *np.linspace(low, high, 101)])) for value, low, high in
          ((0.3, 0.1, 0.5), (0.03, -0.1, 0.09), (0.05, 0.02, 0.09), (0.2, -0.1, 0.5))]  # fmt: skip
    assert [side(found) for found in of] == ["holds", "does not", "does not", "cannot be told"]
    assert side(estimate(np.array([0.3, np.nan, np.nan]))) == "cannot be told"
    assert np.isnan(estimate(draws * np.nan).low)
    assert together(["holds", "cannot be told", "does not"]) == "does not"


# -- what is left out, and the page ------------------------------------------------------------------------


def test_models_without_numbers_or_of_one_class_are_counted_and_not_ranked():
    frame = Frame(pull=0.4)
    frame.numbers[ER][3] = np.nan
    frame.done[10] = False
    frame.shares[20] = (0.001, 0.009)
    frame.shares[21] = (0.995, 1.0)
    frame.shares[22] = (0.001, 0.9)  # says different things of the two groups: it stays
    models = read_models(frame)
    assert dict(models.left_out) == {
        ("cc, race", "without a number"): 2,
        ("cc, race", "of one class only"): 2,
    }
    assert sum(len(split.settings) for split in models.splits) == frame.n - 4
    assert "left out: 2 without a number, 2 of one class only" in _page(answer(frame, 20))


def test_a_shift_that_one_task_lacks_is_pooled_over_the_other():
    frame = Frame(pull=0.4)
    frame.moved["impulse", 0.1][np.array(frame.columns["task"]) == "adult"] = np.nan
    found = pool(read_models(frame), 20)
    assert found.one("adult, sex", PLAIN, ER, CHANGE, ("impulse", 0.1)) is None
    alone = found.one("cc, race", PLAIN, ER, CHANGE, ("impulse", 0.1))
    assert found.shift(("impulse", 0.1), PLAIN, ER, CHANGE).value == pytest.approx(alone.value)


def test_too_few_models_are_told():
    with pytest.raises(InputError, match="no split of this study has 8 finished models"):
        answer(Frame(settings=6), 10)


def _page(body):
    from evenhand.evaluation.er_predicts_shift.page import answers

    return answers(body, "results")


def test_the_claims_file_is_filled_from_the_answers():
    found = claims_of(answer(Frame(pull=0.4), 200) | {"done": 80})
    assert {name: row["verdict"] for name, row in found.items()} == {"S4.3": "holds", "S4.4": "holds"}
    assert found["S4.3"]["effect"].startswith("rho of delta ER with the gap under shift: +0.")
    assert found["S4.4"]["interval"].count(" to ") == 3
    assert found["S4.3"]["runs"] == "80"
    assert found["S4.3"]["note"].startswith("Among models with equal delta EO and accuracy on clean rows: ")
    untold = claims_of(answer(Frame(pull=0.0), 200) | {"done": 80})
    assert untold["S4.3"]["verdict"] in ("cannot tell", "does not")


def test_only_the_section_of_the_page_is_written(tmp_path):
    body = answer(Frame(pull=0.4), 50)
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    before, after = (
        PAGE.read_text(encoding="utf-8").split(BEGIN)[0],
        PAGE.read_text(encoding="utf-8").split(END)[1],
    )
    for _ in range(2):  # written again, it is the same
        write_page(body, page, tmp_path / "results")
        text = page.read_text(encoding="utf-8")
        assert text.startswith(before)
        assert text.endswith(after)
        assert text.count("### Shift by shift") == 1
    assert "](../results/figures/er-against-change.svg)" in text
    svg = (tmp_path / "results" / "figures" / "er-against-change.svg").read_text(encoding="utf-8")
    dots = 2 * 3 * 20 + 2  # two tasks, three shifts, twenty settings; two methods in the key
    assert svg.count("<circle") + svg.count("<rect") == dots
    assert "rho +" in svg
    tables = (tmp_path / "results" / "correlations.md").read_text(encoding="utf-8")
    assert tables.count("| adult, sex | impulse | 0.1 |") == 1
    (tmp_path / "other.md").write_text("no comments", encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.md needs the two lines"):
        write_page(body, tmp_path / "other.md", tmp_path / "results")


def test_from_runs_to_the_page(tmp_path, capsys):
    """A small study of that name, trained and measured under a shift, read by the program."""
    decays = Grid(tuple(10.0**power for power in range(-9, 0)))
    study = Study(
        NAME,
        tasks=(TaskSpec("titanic", seeded=("seed",)),),
        groupings=(GroupingSpec(("sex",)),),
        nets=(NetEntry("mlp", options={"widths": (8,)}),),
        methods=(MethodSpec("erm", recipe={"weight_decay": decays}),),
        recipe={"epochs": 4, "batch_size": 128, "rate": 0.02},
        seeds=(0, 1, 2),
        parts=("test",),
        shifts=(ShiftSpec("gaussian", (0.1, 1.0), draws=2),),
        numbers=(*KERNELS, "curvature"),
        selection=SelectionSpec(part="test"),
    )
    run_study(check_study(study), Options(tmp_path / "runs", backend="inline", device="cpu"))
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    given = [str(tmp_path / "runs"), "--page", str(page), "--results", str(tmp_path / "results")]
    assert main(given) == 0, capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "27 of 27 runs are done. titanic, sex: " in text
    assert "| gaussian | 0.1 |" in text
    file = tmp_path / "claims.csv"
    file.write_text(PAGE.parent.with_name("claims.csv").read_text(encoding="utf-8"), encoding="utf-8")
    assert main([*given, "--claims", str(file)]) == 0, capsys.readouterr().err
    filled = {row["id"]: row["runs"] for row in read_claims(file)}
    assert (filled["S4.3"], filled["S4.4"]) == ("27", "27")
    (tmp_path / "none.md").write_text("no comments", encoding="utf-8")
    assert main([*given[:2], str(tmp_path / "none.md")]) == 2
    assert "none.md needs the two lines" in capsys.readouterr().err

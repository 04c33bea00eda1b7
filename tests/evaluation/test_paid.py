"""Who paid: exact tests, intervals over rows, CEV within groups, against hand counts and references."""

import json

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import evenhand
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.module_predictions import predicted_classes
from evenhand.evaluation.options import Options
from evenhand.evaluation.paid import mean_p, payments, who_paid
from evenhand.evaluation.row_bootstrap import RowBootstrap, reach_of
from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import measure


def world(n=3000, classes=4, seed=0):
    """Rows whose base errs in a tenth, and an alternative that gives up class 2 in group 1."""
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, classes, n), rng.integers(0, 2, n)
    base = np.where(rng.random(n) < 0.1, rng.integers(0, classes, n), y)
    hurt = (y == 2) & (g == 1) & (rng.random(n) < 0.4)
    return Rows(y, {"base": base, "small": np.where(hurt, 0, base)}, tuple("abcd"), g, ("m", "f"))


def test_the_class_and_the_group_that_paid_are_named_and_no_others():
    paid = who_paid(world(), "base", "small", Options())
    assert [one.verdict for one in paid.classes] == ["not shown", "not shown", "paid", "not shown"]
    assert [one.verdict for one in paid.groups] == ["not shown", "paid"]
    assert [one.name for one in paid.cells if one.verdict == "paid"] == ["c · f"]
    assert [one.name for one in paid.shown] == ["c", "f"]


def test_shares_are_those_of_the_rows():
    rows = world()
    paid = who_paid(rows, "base", "small", Options())
    for k, one in enumerate(paid.classes):
        inside = rows.y == k
        for name, value in (("base", one.base), ("small", one.value)):
            assert value == pytest.approx((rows.predictions[name] == rows.y)[inside].mean())
        assert one.n == inside.sum()
        assert one.low <= one.difference <= one.high
    inside = rows.ids == 1
    assert paid.groups[1].value == pytest.approx((rows.predictions["small"] == rows.y)[inside].mean())


def test_cev_and_sde_of_a_group_are_those_of_its_rows_alone():
    rows = world()
    paid = who_paid(rows, "base", "small", Options())
    inside = rows.ids == 1
    counts = [
        Counts.from_predictions(
            rows.y[inside], rows.predictions[name][inside], np.zeros(inside.sum(), int), 4, 1
        )
        for name in ("base", "small")
    ]
    for key in ("cev", "sde", "cev_norm", "sde_norm"):
        found = paid.groups[1].pairs[key]
        assert found.value == pytest.approx(measure(key, *counts).value)
        assert found.low <= found.value <= found.high


def test_the_mean_of_runs_is_tested_by_student():
    values = np.random.default_rng(0).normal(0.1, 1.0, 50)
    code = np.repeat([0, 1], 25)
    expected = [ttest_1samp(values[code == k], 0.0).pvalue for k in (0, 1)]
    assert mean_p(values, code, 2) == pytest.approx(expected)
    assert mean_p(values, code, 2, np.full(50, 3.0)) == pytest.approx(expected)  # equal weights weigh nothing


@pytest.mark.parametrize("n", [2, 5, 9])
def test_a_few_rows_that_all_changed_alike_are_judged_by_their_number(n):
    """Student's t of equal changes is infinite for any n; flipping n signs gives no less than 2^(1 - n)."""
    y = np.concatenate([np.zeros(n, dtype=int), np.ones(200, dtype=int)])
    right, wrong = np.stack([y, y]), np.stack([y, np.where(y == 0, 1, y)])
    rows = Rows(y, {"base": right, "small": wrong}, ("rare", "often"), np.zeros(len(y), int), ())
    rare, often = who_paid(rows, "base", "small", Options(replicates=20)).classes
    assert rare.difference == -0.5
    assert rare.p == pytest.approx(min(1.0, 2 * 2.0 ** (1 - n)))  # Holm counts two classes
    assert rare.verdict == ("paid" if n == 9 else "not shown")
    assert often.p == 1.0


def test_an_interval_over_rows_is_that_of_a_proportion():
    rng = np.random.default_rng(1)
    y = np.zeros(900, dtype=int)
    y[:450] = 1
    guess = np.where(rng.random(900) < 0.2, 1 - y, y)
    found = RowBootstrap(y, np.zeros(900, dtype=int), 2, 1, replicates=2000).rates(guess[None])
    low, high = reach_of(found.accuracy[:, 0, -1])
    right = (guess == y).mean()
    half = 1.96 * np.sqrt(right * (1 - right) / 900)
    assert high - right == pytest.approx(half, rel=0.08)
    assert right - low == pytest.approx(half, rel=0.08)


def test_rows_of_unknown_group_count_for_classes_and_for_no_group():
    rows = world()
    ids = rows.ids.copy()
    ids[:500] = -1
    unknown = Rows(rows.y, rows.predictions, rows.classes, ids, rows.group_names)
    paid, whole = (who_paid(each, "base", "small", Options()) for each in (unknown, rows))
    assert [one.base for one in paid.classes] == [one.base for one in whole.classes]
    assert sum(one.n for one in paid.groups) == len(rows.y) - 500


def test_a_class_without_rows_is_undefined_and_an_equal_model_hurts_nobody():
    y = np.array([0, 0, 1, 1])
    rows = Rows(y, {"base": y, "same": y}, ("a", "b", "c"), np.zeros(4, int), ("all",))
    paid = who_paid(rows, "base", "same", Options())
    assert np.isnan(paid.classes[2].base)
    assert np.isnan(paid.classes[2].p)
    assert {one.verdict for one in (*paid.classes, *paid.groups)} == {"not shown"}
    assert (
        paid.groups[0].pairs["cev"].reason
        == "no class has both error rates on these rows, above 0 with the base"
    )


def test_several_runs_and_no_intervals():
    rows = world()
    runs = {name: np.stack([own, own]) for name, own in rows.predictions.items()}
    twice = Rows(rows.y, runs, rows.classes, rows.ids, rows.group_names)
    paid = payments(twice, "base", ["small"], Options(replicates=0))["small"]
    assert paid.classes[2].difference == pytest.approx(
        who_paid(rows, "base", "small", Options()).classes[2].difference
    )
    assert paid.classes[2].verdict == "paid"
    assert np.isnan(paid.classes[2].low)


def test_weights_weigh():
    rows = world()
    weights = np.where(rows.y == 2, 2.0, 1.0)
    weighted = Rows(rows.y, rows.predictions, rows.classes, rows.ids, rows.group_names, weights)
    one = who_paid(weighted, "base", "small", Options()).groups[1]
    inside = rows.ids == 1
    right = (rows.predictions["small"] == rows.y)[inside]
    assert one.value == pytest.approx(np.average(right, weights=weights[inside]))


def test_a_comparison_says_who_paid_and_so_does_its_report():
    rows = world()
    groups = np.array(rows.group_names)[rows.ids]
    found = evenhand.compare(rows.y, dict(rows.predictions), groups={"sex": groups})
    body = found.to_dict()
    assert [one["name"] for one in body["paid"]["small"]["classes"] if one["verdict"] == "paid"] == ["2"]
    assert body["paid"]["small"]["groups"][1]["cev"]["low"] is not None
    page = found.to_html()
    assert 'id="paid"' in page
    assert "Paid for" in page
    assert "class in group" in page


def test_modules_are_asked_at_rest_and_left_as_they_were():
    import torch

    class Odd(torch.nn.Module):
        def forward(self, x):
            assert not self.training
            return (x, "features")

    module = torch.nn.Sequential(Odd())
    module[0].training = True
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.2, 0.1]])
    assert predicted_classes(module, x, batch_size=2).tolist() == [1, 0, 0]
    assert module.training
    assert module[0].training
    assert predicted_classes(torch.nn.Flatten(0), torch.tensor([[0.5], [-0.5]])).tolist() == [1, 0]
    with pytest.raises(evenhand.errors.InputError, match="one row of logits"):
        predicted_classes(torch.nn.Flatten(0), torch.zeros(3, 2))


def test_modules_that_say_nothing_are_refused_and_those_of_fewer_bits_are_asked():
    import torch

    x, y = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)), [0, 1] * 20
    torch.manual_seed(0)
    whole, broken = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    half = torch.nn.Linear(3, 2)
    half.load_state_dict(whole.state_dict())
    found = evenhand.compare_modules({"whole": whole, "half": half.half()}, x.numpy(), y)
    assert abs(found.accuracy["whole"] - found.accuracy["half"]) <= 0.05
    with torch.no_grad():
        broken.weight[1, 0] = float("nan")
    for modules, told in (
        ({"whole": whole, "broken": broken}, "NaN for 40 of 40 inputs"),
        ({"whole": whole, "small": 3}, "a torch module is asked for predictions, not int"),
        ([whole, whole], "give the modules with their names"),
    ):
        with pytest.raises(evenhand.errors.InputError, match=told):
            evenhand.compare_modules(modules, x, y)
    with pytest.raises(evenhand.errors.InputError, match="'batch_size' must be at least 1"):
        evenhand.compare_modules({"a": whole, "b": whole}, x, y, batch_size=0)


def test_inputs_that_no_module_can_be_asked_about_are_named():
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    x, y = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), [0, 1, 0, 1]
    loader = DataLoader(TensorDataset(x, torch.tensor(y)), batch_size=2)
    module = torch.nn.Linear(3, 2)

    class NoClass(torch.nn.Module):
        def forward(self, rows):
            return rows[:, :0]

    no_input, no_tensor = "asked about no input at all: 'x' has the shape", "must be a tensor or an array"
    for inputs, told in (
        (x[:0], rf"{no_input} \(0, 3\); give a row for each label"),
        ([], rf"{no_input} \(0,\)"),
        (x[0, 0], rf"{no_input} \(\)"),
        (loader.dataset, r"a data set \(TensorDataset\) gives single rows.*DataLoader"),
        (DataLoader(TensorDataset(x[:0], x[:0])), "the loader has no rows"),
        ({"x": x}, f"{no_tensor}.* not dict"),
        (None, f"{no_tensor}.* not NoneType"),
        (x[:, :2], r"does not take inputs of the shape \(4, 2\) and type float32; give them as"),
        (x.to(torch.uint8), "type uint8; give them as it was trained on them .torch says: .*dtype"),
    ):
        with pytest.raises(evenhand.errors.InputError, match=told):
            evenhand.compare_modules({"a": module, "b": module}, inputs, y)
    with pytest.raises(evenhand.errors.InputError, match=r"one row of logits.* not \(4, 0\) for 4 inputs"):
        predicted_classes(NoClass(), x)
    assert predicted_classes(module, loader).tolist() == predicted_classes(module, x).tolist()
    assert module.training


def test_cells_of_small_codes_are_not_cut_off():
    """Codes of a file are bytes; a thousand classes in sixty groups are more cells than 16 bits can count."""
    rng = np.random.default_rng(0)
    y, ids = rng.integers(0, 1000, 4000).astype(np.int16), rng.integers(0, 60, 4000).astype(np.int8)
    base = np.where(rng.random(4000) < 0.2, (y + 1) % 1000, y).astype(np.int16)
    names, groups = tuple(map(str, range(1000))), tuple(f"g{k}" for k in range(60))
    small = Rows(y, {"base": base, "other": y}, names, ids, groups)
    y, ids, base = (codes.astype(np.int64) for codes in (y, ids, base))
    wide = Rows(y, {"base": base, "other": y}, names, ids, groups)
    few = Options(replicates=20)
    told = [json.dumps(who_paid(rows, "base", "other", few).to_dict()) for rows in (small, wide)]
    assert told[0] == told[1]  # as text, where NaN is NaN


def test_a_change_of_recall_stays_within_what_is_possible():
    y = np.repeat([0, 1], [5, 200])
    other = y.copy()
    other[:5] = 1
    paid = who_paid(
        Rows(y, {"base": y, "other": other}, ("a", "b"), np.full(205, -1)), "base", "other", Options()
    )
    assert paid.classes[0].difference == -1.0
    assert paid.classes[0].low == -1.0
    assert paid.classes[0].high == 0.0  # five rows that changed alike are p = 0.125: nothing is shown


def test_a_small_class_has_an_interval_with_width_whether_it_changed_or_not():
    y = np.repeat([0, 1, 2], [3, 4, 40])
    other = np.where(y == 0, 2, y)
    rows = Rows(y, {"base": y, "other": other}, ("a", "b", "c"), np.full(47, -1))
    paid = who_paid(rows, "base", "other", Options())
    assert [one.difference for one in paid.classes] == [-1.0, 0.0, 0.0]
    assert [(one.low < -0.05, one.high >= 0.0) for one in paid.classes] == [(True, True)] * 3


def test_small_groups_are_shown_not_tested_and_cost_the_others_nothing():
    rows = world()
    tiny = rows.ids.copy()
    tiny[:30] = 2
    with_tiny = Rows(rows.y, rows.predictions, rows.classes, tiny, ("m", "f", "tiny"))
    without = Rows(rows.y, rows.predictions, rows.classes, np.where(tiny == 2, -1, tiny), ("m", "f"))
    ours, theirs = (who_paid(each, "base", "small", Options(min_count=50)) for each in (with_tiny, without))
    assert np.isnan(ours.groups[2].p)
    assert (ours.groups[2].n, ours.groups[2].verdict) == (30, "not shown")
    assert [one.p for one in ours.groups[:2]] == [one.p for one in theirs.groups]
    assert not [one for one in ours.cells if "tiny" in one.name]
    assert (
        who_paid(with_tiny, "base", "small", Options()).groups[2].p <= 1
    )  # by default every group is tested


def test_cev_of_several_runs_is_resampled_as_it_is_added_up():
    """The interval is that of the runs' errors added up, not of single pairs of runs, whose CEV is larger."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 3000)
    a, b = (
        np.stack([np.where(rng.random(3000) < right, y, rng.integers(0, 5, 3000)) for _ in range(5)])
        for right in (0.85, 0.8)
    )

    def pooled(w):
        hits = [
            [[np.sum(w * (y == k) * (run != k)), np.sum(w * (y != k) * (run == k))] for k in range(5)]
            for run in (*a, *b)
        ]
        base, other = (np.sum(part, axis=0) for part in (hits[:5], hits[5:]))
        change = (other - base) / base
        return change.var(axis=0).sum()

    draws = [pooled(np.bincount(rng.integers(0, 3000, 3000), minlength=3000)) for _ in range(200)]
    value = pooled(np.ones(3000))
    reach = np.quantile(np.abs(np.array(draws) - value), 0.95)
    found = evenhand.compare(y, {"a": a, "b": b}).cev["b"]
    assert found.value == pytest.approx(value)
    assert found.high - found.value == pytest.approx(reach, rel=0.3)


def test_exemplars_and_disagreement_weigh_alike():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    a, b = (np.where(rng.random((5, 400)) < 0.8, y, (y + 1) % 3) for _ in range(2))
    found = evenhand.compare(y, {"a": a, "b": b}, weights=rng.random(400), replicates=0)
    assert found.cie["b"].share == pytest.approx(found.disagreement["b"])
    assert found.cie["b"].count == len(found.cie["b"].indices)


def test_the_difference_of_two_shares_is_at_most_one():
    y = np.repeat([0, 1], [5, 200])
    other = y.copy()
    other[:4] = 1
    found = evenhand.compare(y, {"a": y, "b": other}).differences["b"]["min_acc.label_attr"]
    assert found.difference == pytest.approx(-0.8)
    assert found.low == -1.0
    assert found.high < 0


def test_rows_of_the_weight_zero_are_as_good_as_not_there():
    """A class of such rows alone is undefined, and no other p is corrected for it."""
    draw = np.random.default_rng(4)
    y, w = np.arange(90) % 3, np.where(np.arange(90) % 3 == 0, 0.0, draw.uniform(0.5, 2, 90))
    p, q = (np.where(draw.random(90) < share, (y + 1) % 3, y) for share in (0.05, 0.3))
    y, p, q, w = (np.concatenate([each, each[-6:]]) for each in (y, p, q, w))
    w[-6:] = 0.0  # of the other classes too
    found = evenhand.compare(y, {"p": p, "q": q}, weights=w, replicates=20).paid["q"].classes
    kept = w > 0
    alone = evenhand.compare(y[kept], {"p": p[kept], "q": q[kept]}, weights=w[kept], classes=[0, 1, 2],
                             replicates=20).paid["q"].classes  # fmt: skip
    assert np.isnan(found[0].p)
    assert (found[0].verdict, found[0].n) == ("not shown", 32)
    assert [one.p for one in found[1:]] == pytest.approx([one.p for one in alone[1:]])

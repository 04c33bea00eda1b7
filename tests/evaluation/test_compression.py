"""Compression studies: populations, exemplars, CEV and SDE of each seed, claims that hold and that do not."""

import csv
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import spearmanr, ttest_1samp
from scipy.stats import t as student

from evenhand.errors import DamagedFileError, InputError
from evenhand.evaluation.claims import read_claims
from evenhand.evaluation.compression import CLAIMS, answers, compute, read_populations, together
from evenhand.evaluation.compression.agreement import otherwise, rank_correlation, same_order
from evenhand.evaluation.compression.asked import _worst_class, distillation_lowers
from evenhand.evaluation.compression.evidence import Evidence
from evenhand.evaluation.compression.exemplars import exemplar_rows
from evenhand.evaluation.compression.measures import against_base
from evenhand.evaluation.compression.printed import table_1
from evenhand.evaluation.many_attributes.judging import judged
from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import measure
from evenhand.report.compression_words import HOW

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "compression_world.py")))
CLAIMS_FILE = Path(__file__).parents[2] / "docs" / "claims.csv"


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """Planted effects are large: fewer draws find them too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.evaluation.compression.agreement.DRAWS", 200)
        yield


@pytest.fixture(scope="module")
def store():
    return world.planted()


@pytest.fixture(scope="module")
def body(store):
    return compute(store)


def verdicts(body):
    return {found["id"]: found["verdict"] for found in (*body["findings"], *body["questions"])}


def one_of(store, role="pruning", level="45 %"):
    (problem,) = read_populations(store)
    found = [
        each
        for each in against_base(problem)
        if (each.population.role, each.population.level) == (role, level)
    ]
    return found[0]


def test_every_run_is_compared_with_the_base_run_of_its_own_seed(store):
    one = one_of(store)
    y, nobody = one.world.y, np.zeros(len(one.world.y), dtype=int)
    for seed in range(5):
        base, other = (
            Counts.from_predictions(y, labels.labels[seed], nobody, 10, 1)
            for labels in (one.world.base, one.population)
        )
        for key in ("cev", "sde", "cev_norm", "sde_norm"):
            assert one.by_seed[key][seed] == pytest.approx(measure(key, base, other).value)
    assert one.by_seed["accuracy"] == pytest.approx((one.population.labels == y).mean(axis=1))


def test_classes_without_a_relative_change_are_skipped_and_counted():
    damage = world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=2)
    first = next(iter(damage.labels))
    damage.labels[first] = world.truth()  # a base without an error: no class has a relative change
    one = one_of(damage)
    assert one.by_seed["skipped"].tolist() == [10, 0]
    assert np.isnan(one.by_seed["cev"][0])
    assert np.isfinite(one.by_seed["cev"][1])
    (row,) = compute(damage)["problems"][0]["rows"]
    assert (row["skipped"]["mean"], row["cev"]["n"]) == (5.0, 1)


def test_exemplars_are_the_rows_whose_usual_label_changed_and_ties_go_to_the_lowest_class(store):
    one = one_of(store)
    base, other = one.world.base.labels, one.population.labels
    usual = [
        np.array([np.bincount(votes, minlength=10).argmax() for votes in each.T]) for each in (base, other)
    ]
    assert one.exemplars.indices.tolist() == np.flatnonzero(usual[0] != usual[1]).tolist()
    assert one.rows_of_exemplars.tolist() == one.world.rows[one.exemplars.indices].tolist()
    first = exemplar_rows(one)[0]
    task = one.world.data
    assert first["truth"] == task.classes[int(task.y[first["row"]])]
    assert first["base"] != first["compressed"]


def test_pruning_is_a_role_whatever_key_trains_it(store):
    roles = {(one.population.method, one.population.role) for one in against_base(read_populations(store)[0])}
    assert ("pruning", "pruning") in roles
    assert ("at-kd", "at-kd") in roles
    assert len(roles) == 10


def test_table_1_has_the_papers_numbers():
    assert len(table_1()) == 10
    assert table_1()["pruning"] == {"cie": 887, "cev": 0.00931, "sde": 0.26687, "accuracy": 0.77242}
    cev, cie = (np.array([row[key] for row in table_1().values()]) for key in ("cev", "cie"))
    assert rank_correlation(cev, cie) == pytest.approx(spearmanr(cev, cie).statistic)


def test_planted_effects_are_found(body):
    found = verdicts(body)
    assert (
        found["S2.1"]
        == found["S2.2"]
        == found["S2.3"]
        == found["S2.5"]
        == found["A"]
        == found["C"]
        == "holds"
    )


def test_planted_effects_the_other_way_round_are_found_too():
    # distillation hurts the rare class more, KD on top yet more, and all of them a little
    order = world.METHODS
    turned = compute(world.planted(lambda method, level: 0.05 + 0.02 * order.index(method), levels=(0.45,)))
    found = verdicts(turned)
    assert found["S2.2"] == found["S2.3"] == found["S2.5"] == found["A"] == "does not"


def test_methods_that_are_alike_are_told_from_nothing():
    found = verdicts(compute(world.planted(lambda method, level: 0.2, levels=(0.45,))))
    assert found["S2.1"] != "holds"
    assert found["S2.2"] == found["S2.3"] == "cannot tell"
    assert found["S2.4"] == found["S2.6"] == "does not"


def test_reliable_orders_and_orders_that_part():
    values = np.array([[1.0, 1.1, 0.9], [2.0, 2.1, 2.2], [3.0, 3.5, 1.0]])
    place = SimpleNamespace(values=lambda key: values if key == "cev" else values[::-1])
    every = np.arange(3), np.arange(3)
    # pairs (0,1): alike in 3 of 3; (0,2): 3 of 3; (1,2): 1 of 3
    assert same_order("cev")(place, *every) == pytest.approx(7 / 9)
    assert otherwise("cev", "sde")(place, *every) == pytest.approx(1.0)
    drawn = np.array([0, 0, 1]), np.array([0, 0, 1])  # no method and no seed is compared with itself
    assert same_order("cev")(place, *drawn) == pytest.approx(1.0)


def test_the_worst_class_is_found_on_other_seeds():
    d_fnr = np.array([[9.0, 1.0, 2.0], [0.0, 2.0, 3.0], [0.5, 3.0, np.nan]])
    one = SimpleNamespace(changes=(d_fnr, d_fnr), seeds=(4, 5, 6))
    assert _worst_class(one) == {4: 2.0, 5: 0.0, 6: 0.5}


def test_two_classes_have_nothing_but_squares():
    y = np.tile([0, 1], 50)
    rng = np.random.default_rng(0)
    labels = {
        seed: [np.where(rng.random(100) < rate, 1 - y, y) for rate in (0.1, 0.2, 0.3)] for seed in range(3)
    }
    from evenhand.evaluation.compression.measures import Against
    from evenhand.evaluation.compression.populations import Population

    def population(number):
        return Population("m", "m", "", (0, 1, 2), np.stack([labels[seed][number] for seed in range(3)]))

    own = SimpleNamespace(y=y, classes=("a", "b"), base=population(0), shared=lambda one: (0, 1, 2))
    one = Against(own, population(2))
    assert one.by_seed["cev"] == pytest.approx(one.by_seed["sde"] ** 2 / 2)


def test_who_paid_by_group_and_class(body):
    (problem,) = body["problems"]
    row = next(row for row in problem["paid"] if (row["method"], row["level"]) == ("pruning", "80 %"))
    paid = [one["name"] for one in row["classes"] if one["verdict"] == "paid"]
    assert paid == [str(world.RARE)]
    kept = next(row for row in problem["paid"] if row["method"] == "pruning" and row["grouping"] == "kept")
    rare = next(one for one in kept["groups"] if one["name"] == "10 %")
    assert rare["verdict"] == "paid"
    assert rare["cev"]["value"] is None
    assert rare["cev"]["skipped"] == 10


def test_holm_counts_the_groups_of_one_attribute_and_the_page_says_so(store, body):
    one, y = one_of(store), world.truth()
    base, other = one.world.base.labels, one.population.labels
    moved = (other == y).mean(axis=0) - (base == y).mean(axis=0)
    for told in body["problems"][0]["paid"]:
        if (told["method"], told["level"]) != ("pruning", "45 %"):
            continue
        ids = np.asarray(one.world.groupings[told["grouping"]].ids)
        p = np.array([_p_of_rows(moved[ids == g]) for g in range(len(told["groups"]))])
        order = np.argsort(p)
        steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
        assert [told["groups"][g]["p"] for g in order] == pytest.approx(np.minimum(steps, 1).tolist())
    assert "over the groups of one attribute" in HOW


def _p_of_rows(moved):
    least = min(1.0, 2.0 ** (1 - (moved != 0).sum()))
    return max(ttest_1samp(moved, 0).pvalue, least) if moved.mean() else 1.0


def test_claims_are_filled_from_the_study_that_the_file_names(body, tmp_path):
    twenty = {**body, "name": "compression-mnist-twenty"}
    found = answers(together([body, twenty]), CLAIMS_FILE)
    assert set(found) == {"S2.6"}  # the others are CIFAR-10's
    assert found["S2.6"]["command"] == "evenhand study run compression-mnist-twenty"
    assert "Elsewhere: compression-mnist:" in found["S2.6"]["note"]
    named = {**body, "name": "compression-cifar10"}
    assert set(answers(together([named]), CLAIMS_FILE)) == {f"S2.{number}" for number in range(1, 6)}
    words = {row["id"]: row["claim"] for row in read_claims(CLAIMS_FILE)}
    assert {name: entry[0] for name, entry in CLAIMS.items()} == {name: words[name] for name in CLAIMS}


def test_what_is_missing_is_told():
    with pytest.raises(InputError, match="predictions = true"):
        compute(world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=2, without=("0001",)))
    with pytest.raises(InputError, match="no run of the base 'base'"):
        compute(
            world.planted(methods=("pruning",), levels=(0.45,), seeds=2, study={"report": {"base": "base"}})
        )
    with pytest.raises(InputError, match="nothing can be compared"):
        compute(world.planted(methods=("base",), seeds=2))
    one = compute(world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=2))
    with pytest.raises(InputError, match="given twice"):
        together([one, one])


def test_a_file_of_predictions_that_is_gone_is_named(tmp_path):
    small = world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=2, without=("0003",))
    small.folder = tmp_path
    with pytest.raises(InputError, match="were not kept: put `predictions = true`"):
        compute(small)
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "0000.parquet").touch()
    gone = re.escape(str(tmp_path / "predictions" / "0003.parquet"))
    with pytest.raises(DamagedFileError, match=rf"{gone} is missing: .*\(pruning, seed 1\); restore it"):
        compute(small)


def test_a_method_that_lacks_seeds_is_compared_where_it_has_them():
    few = world.planted(methods=("base", "pruning", "kd"), levels=(0.45,), seeds=3)
    few.rows = [row for row in few.rows if (row["method"], row["seed"]) != ("kd", 1)]
    evidence = Evidence.of(read_populations(few))
    assert evidence.places[0].of("kd").seeds == (0, 2)
    assert {seed for _, seed in evidence.less_pruning("cev")} == {0, 2}


def test_a_method_at_two_levels_is_one_draw():
    methods = ("base", "pruning", "kd", "at")
    both, *alone = (
        Evidence.of(read_populations(world.planted(methods=methods, levels=levels, seeds=3)))
        for levels in ((0.45, 0.8), (0.45,), (0.8,))
    )
    first, second = (one.less_pruning("cev") for one in alone)
    assert both.less_pruning("cev") == pytest.approx({at: (first[at] + second[at]) / 2 for at in first})
    (part, _) = judged(distillation_lowers(both))
    assert part.replicates == 2 * 3  # methods and seeds
    table = np.array([[both.less_pruning("cev")[role, seed] for seed in range(3)] for role in ("kd", "at")])
    errors = [table.mean(1).var(ddof=1) / 2, table.mean(0).var(ddof=1) / 3]
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / 1 + errors[1] ** 2 / 2)
    reach = student.ppf(1 - 0.05 / 4, freedom) * np.sqrt(sum(errors))  # two parts, two sides
    assert (part.low, part.high) == pytest.approx((table.mean() - reach, table.mean() + reach))


def test_a_seed_that_lacks_a_level_is_left_out_of_the_mean_over_levels():
    few = world.planted(methods=("base", "pruning", "kd"), levels=(0.45, 0.8), seeds=3)
    gone = next(row for row in few.rows if (row["method"], row["seed"]) == ("kd", 1))
    few.rows = [row for row in few.rows if row is not gone]
    assert {seed for _, seed in Evidence.of(read_populations(few)).less_pruning("sde")} == {0, 2}


def test_who_paid_of_an_unfinished_study_stands_against_the_base_of_its_own_seeds():
    few = world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=5)
    few.rows = [
        row for row in few.rows if (row["method"], row["seed"]) not in {("pruning", 0), ("pruning", 2)}
    ]
    same = world.planted(methods=("base", "pruning"), levels=(0.45,), seeds=5)
    same.rows = [row for row in same.rows if row["seed"] not in (0, 2)]  # the base lacks them too
    ours, theirs = (compute(each)["problems"][0]["paid"] for each in (few, same))
    assert ours == theirs


def test_the_papers_table_is_whole():
    from importlib.resources import files

    text = files("evenhand").joinpath("studies", "data", "compression_table1.csv").read_text(encoding="utf-8")
    assert [row["method"] for row in csv.DictReader(text.splitlines())] == list(table_1())

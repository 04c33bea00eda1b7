"""S1's claims come out all three ways on planted numbers; intervals, ranks and R² are those of references."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InputError
from evenhand.evaluation.many_attributes import CLAIMS, Runs, compute, findings, together
from evenhand.evaluation.many_attributes.asked_sweep import lead
from evenhand.evaluation.many_attributes.evidence import Evidence
from evenhand.evaluation.many_attributes.explained import explained_rows, r2
from evenhand.evaluation.many_attributes.findings import finding
from evenhand.evaluation.many_attributes.judging import crossed, judged, share
from evenhand.evaluation.many_attributes.layout import collection_of
from evenhand.evaluation.many_attributes.ranks import rank_rows
from evenhand.evaluation.many_attributes.turning import FALL, RISE, curves_of, left_out
from evenhand.evaluation.many_attributes.winners import agreement

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("many_attributes_world.py"))))
HOLDS, DOES_NOT, CANNOT_TELL = "holds", "does not", "cannot tell"
NOISE = {"noise": 0.4}


def verdict(frame, claim):
    """What a study says to one claim."""
    return finding(Runs(frame), claim).verdict


# claim, what is planted for each verdict (nothing: S1's own world)
TURNED = {
    "S1.1": ({"depends": 0.2, "methods": ("erm", "w-erm")}, {"methods": ("erm", "w-erm")},
             {**NOISE, "sizes": {"balanced": 4}}),
    "S1.2": ({}, {"weighting": -0.1}, {"sizes": {"balanced": 3}}),
    "S1.3": ({}, {"gdro_single": -0.05}, NOISE),
    "S1.4": ({}, {"gdro_crossed": -0.02}, NOISE),
    "S1.5": ({}, {"gdro_multi": 0.05}, NOISE),
    "S1.6": ({}, {"ind_multi": -0.05}, NOISE),
    "S1.7": ({}, {"ind_single": 0.05}, NOISE),
    "S1.8": ({}, {"sd_bias": 0.05}, NOISE),
    "S1.9": ({}, {"jtt": 0.1}, NOISE),
    "S1.10": ({}, {"zigzag": 0.0, "explained": 0.0, "methods": ("w-erm", "gdro")}, NOISE),
    "S1.12": ({}, {"noisy": -0.04}, NOISE),
    "S1.22": ({}, {"irm": 0.2}, NOISE),
    "S1.23": ({}, {"variant": 0.05}, NOISE),
    "S1.24": ({"ind_multi": -0.05, "ind_amp": 0.03, "gdro_one": 0.01, "methods": ("erm", "w-erm", "jtt")},
              {"weighting": -0.1}, NOISE),
}  # fmt: skip


@pytest.mark.parametrize("claim", TURNED)
def test_each_claim_on_many_structures_comes_out_all_three_ways(claim):
    holds, does_not, untold = TURNED[claim]
    assert verdict(world.sweep(**holds), claim) == HOLDS
    assert verdict(world.sweep(**does_not), claim) == DOES_NOT
    assert verdict(world.sweep(**untold), claim) == CANNOT_TELL


def test_what_explains_more_comes_out_all_three_ways():
    assert verdict(world.sweep(), "S1.11") == HOLDS
    names = ("erm", "w-erm", "ind")
    by_size = {"methods": names, "tasks": ("single",)}
    frame = world.sweep(**by_size)
    columns, sizes = frame.columns, np.array([len(protect) for protect in frame.columns["protect"]])
    rng = np.random.default_rng(3)
    own = np.array([method == "erm" for method in columns["method"]])
    for key in ("acc_u.label_attr", "ba_signed.positive"):  # ERM's is chance, all others go by attributes
        chance = np.repeat(rng.normal(0, 0.1, frame.n // 3), 3)
        frame._planted[key] = np.where(own, chance, 0.1 * sizes + rng.normal(0, 0.001, frame.n))
    assert verdict(frame, "S1.11") == DOES_NOT
    assert verdict(world.sweep(**NOISE, explained=0.0), "S1.11") == CANNOT_TELL


SCARCE = {
    "S1.17": ({"jtt": (0.2, 0.0, 0.0)}, {}), "S1.18": ({"w-erm": (0.0, 0.0, 0.0)}, {}),
    "S1.19": ({"pre+ind-kd": (0.02, 0.03, 0.0)}, {}), "S1.20": ({"pre+w-erm-ad": (0.0, 0.02, 0.0)}, {}),
    "S1.21": ({"pre+ind-ad-kd": (0.0, 0.0, 0.0)}, {}),
}  # fmt: skip


@pytest.mark.parametrize("claim", SCARCE)
def test_each_claim_on_scarce_labels_comes_out_all_three_ways(claim):
    assert verdict(world.scarce(), claim) == HOLDS
    assert verdict(world.scarce(**SCARCE[claim][0]), claim) == DOES_NOT
    assert verdict(world.scarce(noise=0.6), claim) == CANNOT_TELL


@pytest.mark.parametrize(
    ("claim", "changes"),
    [
        ("S1.13", {"sd": (0.05, -0.01, -0.9)}),
        ("S1.14", {"worst": 0.2}),
        ("S1.15", {"swapped": (0.1, 0.0, 0.0)}),
        ("S1.16", {"ind": (0.1, -0.2, -0.5)}),
    ],
)
def test_each_replication_comes_out_all_three_ways(claim, changes):
    assert verdict(world.replications(), claim) == HOLDS
    assert verdict(world.replications(**changes), claim) == DOES_NOT
    assert verdict(world.replications(noise=0.4), claim) == CANNOT_TELL


def test_every_claim_is_tried_above():
    tried = {*TURNED, *SCARCE, "S1.11", "S1.13", "S1.14", "S1.15", "S1.16"}
    assert tried == set(CLAIMS)


# -- intervals ---------------------------------------------------------------------------------------------
def test_an_interval_over_seeds_alone_is_students():
    values = [0.1, 0.3, 0.2, 0.6]
    effect, low, high, n = crossed([(1.0, {("one", seed): value for seed, value in enumerate(values)})], 0.95)
    wanted = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert (effect, n) == (pytest.approx(0.3), 4)
    assert (low, high) == pytest.approx(wanted)


def test_one_model_under_many_structures_is_one_observation():
    """What a seed shares over all structures is no less uncertain for more structures."""
    rng = np.random.default_rng(0)
    misses = {2: 0, 40: 0}
    for structures in misses:
        for _ in range(400):
            shared = rng.normal(0, 1, 5)
            table = {(str(s), r): shared[r] + rng.normal(0, 0.1) for s in range(structures) for r in range(5)}
            _, low, high, _ = crossed([(1.0, table)], 0.95)
            misses[structures] += not low <= 0 <= high
    assert all(missed <= 0.08 * 400 for missed in misses.values())


def test_given_structures_leave_the_seeds_alone():
    """Two networks of one printed table are no sample of networks: their difference is no error."""
    rng = np.random.default_rng(8)
    table = {
        (net, r): value + rng.normal(0, 0.01) for net, value in (("a", 0.1), ("b", 0.4)) for r in range(6)
    }
    effect, low, high, n = crossed([(1.0, table)], 0.95, drawn=False)
    means = [(table["a", r] + table["b", r]) / 2 for r in range(6)]
    wanted = stats.t.interval(0.95, 5, np.mean(means), stats.sem(means))
    assert (effect, n) == (pytest.approx(np.mean(means)), 12)
    assert (low, high) == pytest.approx(wanted)
    assert crossed([(1.0, table)], 0.95)[1] < -1  # with them drawn nothing could be told


def test_a_table_in_two_networks_can_be_judged():
    """JTT's bias is above W-ERM's in both networks, far more in one: still Table 5 is told."""
    frame = world.replications(nets=("convnet", "resnet18"))
    assert len(Runs(frame).structures) == 8
    own = np.array([method == "jtt" for method in frame.columns["method"]])
    larger = np.array([net == "resnet18" for net in frame.columns["net"]])
    for key, more in (("eps", 2.0), ("ba_signed.positive", 0.3)):
        frame._planted[key] = frame._planted[key] + more * (own & larger)
    assert verdict(frame, "S1.14") == HOLDS


def test_one_seed_has_no_interval():
    effect, low, high, n = crossed([(1.0, {(str(s), 0): 1.0 + 0.01 * s for s in range(27)})], 0.95)
    assert (effect, n) == (pytest.approx(1.13), 27)
    assert np.isnan([low, high]).all()


def test_intervals_cover_where_structures_and_seeds_both_vary():
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(500):
        s, r = rng.normal(0, 1, 8), rng.normal(0, 0.5, 4)
        table = {(str(i), j): s[i] + r[j] + rng.normal(0, 0.5) for i in range(8) for j in range(4)}
        _, low, high, _ = crossed([(1.0, table)], 0.95)
        missed += not low <= 0 <= high
    assert 0.005 * 500 <= missed <= 0.07 * 500


def test_a_missing_run_does_not_make_a_seed_look_better():
    table = {(str(s), r): float(s) for s in range(3) for r in range(3) if (s, r) != (2, 0)}
    effect, low, high, n = crossed([(1.0, table)], 0.95)
    whole = stats.t.interval(0.95, 2, 1.0, stats.sem([0.0, 1.0, 2.0]))
    assert (effect, n) == (pytest.approx(1.0), 8)
    assert (low, high) == pytest.approx(whole)


def test_a_share_has_wilsons_interval():
    part = judged([share("", "is above 0.5", [True] * 9 + [False], 10)])[0]
    wanted = stats.binomtest(9, 10).proportion_ci(0.95, "wilson")
    assert (part.low, part.high) == pytest.approx(tuple(wanted))
    assert part.verdict == HOLDS


def test_r2_is_that_of_a_straight_line():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 12))
    assert r2(x[None], y[None])[0] == pytest.approx(stats.linregress(x, y).rvalue ** 2)
    y[3] = np.nan
    kept = np.delete(np.arange(12), 3)
    assert r2(x[None], y[None])[0] == pytest.approx(stats.linregress(x[kept], y[kept]).rvalue ** 2)
    assert np.isnan(r2(np.zeros((1, 5)), np.arange(5.0)[None])[0])


def test_noise_alone_makes_neither_rise_nor_fall():
    rng = np.random.default_rng(5)
    curves = {str(m): {r: rng.normal(0, 1, 7) for r in range(3)} for m in range(200)}
    for sign in (RISE, FALL):
        found = np.array(list(left_out(curves, sign).values()))
        assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found))
    straight = {"a": dict.fromkeys(range(3), np.arange(5.0))}
    assert set(left_out(straight, RISE).values()) == {4.0}
    assert set(left_out(straight, FALL).values()) == {-1.0}  # it falls nowhere


def test_the_luckiest_of_many_equal_methods_is_not_ahead():
    rng = np.random.default_rng(6)
    draws = rng.normal(0, 1, (400, 10, 3))
    leads = [[lead({r: own[0][r] for r in range(3)}, [dict(enumerate(rival)) for rival in own[1:]], higher)
              for own in draws.tolist()] for higher in (True, False)]  # fmt: skip
    for found in leads:  # the largest of nine means of three would lead by 0.86
        assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(400)
    assert lead({0: 0.5, 1: 0.5}, [{0: 0.6, 1: 0.6}, {0: 0.4, 1: 0.4}], True) == pytest.approx(0.1)
    assert lead({0: 0.5, 1: 0.5}, [{0: 0.6, 1: 0.6}, {0: 0.3, 1: 0.3}], False) == pytest.approx(0.2)
    assert np.isnan(lead({0: 0.5}, [{0: 0.6}], True))  # one seed
    assert np.isnan(lead({}, [{0: 0.6, 1: 0.6}], True))


def test_variants_that_lower_a_bias_are_not_called_less_effective():
    frame = world.sweep()
    assert verdict(frame, "S1.23") == HOLDS
    variants = np.array([method in ("ind-ad", "ind-kd", "w-erm-ad") for method in frame.columns["method"]])
    frame._planted["ba_signed.positive"] = frame._planted["ba_signed.positive"] - 0.3 * variants
    assert verdict(frame, "S1.23") == DOES_NOT


def test_agreement_is_between_different_seeds():
    found = agreement([{0: "a", 1: "b"}, {0: "a", 1: "a"}, {0: "a"}])
    assert found[0, 0] == 0.0  # a seed does not agree with itself
    assert found[0, 1] == 0.5
    assert found[1, 1] == 1.0
    assert np.isnan(found[2, 2])


# -- studies as they come ----------------------------------------------------------------------------------
def test_structures_are_read_from_problems():
    runs = Runs(world.sweep())
    assert len(runs.structures) == 54
    first = runs.structures[0]
    assert (first.kind, first.collection, first.attributes) == ("single-label", "balanced", 1)
    assert first.key("performance") == "acc_u.label_attr"
    assert runs.structures[-1].key("performance") == "map_u"
    assert runs.structures[-1].attributes == 7
    assert {"ind-ad", "sd"} & set(runs.main) == {"sd"}
    assert [collection_of(name) for name in ("protected_2", "race", "top10 3")] == [
        "protected",
        "all",
        "top10",
    ]


def test_pretrained_methods_stand_for_their_keys():
    runs = Runs(world.scarce())
    assert runs.find("w-erm") == "pre+w-erm"
    assert runs.find("w-erm", pretrained=False) == "w-erm"
    assert runs.find("erm") == "erm"
    assert runs.find("nothing") is None
    assert {"w-erm", "pre+w-erm"} & set(runs.main) == {"pre+w-erm"}


def test_ranks_name_who_is_left_out_and_agree_with_scipy():
    frame = world.sweep()
    runs = Runs(frame)
    rows = rank_rows(runs)
    assert [row["scope"] for row in rows[::3]] == ["all tasks", "single", "multi"]
    assert rows[0]["missing"] == ["U-SD"]
    assert rows[3]["missing"] == []
    table = np.array(
        [
            [runs.mean(one, method, "performance") for method in runs.main]
            for one in runs.of(("single", "mlp"))
        ]
    )
    wanted = stats.friedmanchisquare(*(-table).T)
    assert rows[3]["friedman"]["p"] == pytest.approx(wanted.pvalue)
    ranks = dict(zip(rows[3]["methods"], rows[3]["mean_ranks"], strict=True))
    wanted = stats.rankdata(-table, axis=1).mean(axis=0)
    assert ranks["W-ERM"] == pytest.approx(wanted[runs.main.index("w-erm")])


def test_one_task_few_methods_and_missing_runs_give_what_is_there():
    few = world.sweep(tasks=("single",), methods=("erm", "w-erm"), sizes={"race": 2}, claims=("S1.2",))
    for row in range(0, few.n, 5):
        few.done[row] = False
        for values in few._planted.values():
            values[row] = np.nan
    body = compute(few)
    assert body["done"] < body["planned"]
    assert {row["method"] for row in body["missing"]} == {"erm", "w-erm"}
    found = {one["id"]: one["verdict"] for one in body["findings"]}
    assert found["S1.2"] == CANNOT_TELL  # two structures show nothing for almost all
    assert not {"S1.4", "S1.12"} & set(found)  # nothing was run that could answer them
    named = findings(Runs(few), ["S1.4"])
    assert {one.id: one.verdict for one in named}["S1.4"] == CANNOT_TELL
    assert [one["number"] for one in body["figures"]] == [2, 3, 4]


def test_noisy_attributes_are_no_yardstick_for_themselves():
    frame = world.sweep(tasks=("single",), noisy=0.0)
    for row, grouping in enumerate(frame.columns["grouping"]):
        if grouping.startswith("protected"):  # as in the paper, it shares attributes with the noisy ones
            frame.columns["protect"][row] = ("inconsistent0", *frame.columns["protect"][row][1:])
            for values in frame._planted.values():
                values[row] += 0.5 * (frame.columns["method"][row] == "w-erm")
    parts = finding(Runs(frame), "S1.12").parts
    assert parts[0].effect == pytest.approx(0.0, abs=0.01)
    assert parts[0].replicates == 3 * (6 + 6 + 6)


@pytest.mark.parametrize(
    ("lost", "noise", "word"), [(0.03, 0.001, HOLDS), (-0.03, 0.001, DOES_NOT), (0.03, 0.4, CANNOT_TELL)]
)
def test_right_group_labels_are_the_yardstick_of_wrong_ones(lost, noise, word):
    frame = world.noisy(lost, noise)
    (found,) = findings(Runs(frame), ["S1.12"])
    assert (found.verdict, len(found.parts)) == (word, 4)
    if noise < 0.01:
        assert [part.effect for part in found.parts] == pytest.approx([-lost] * 4, abs=0.005)
        assert all(part.replicates == 6 * 3 for part in found.parts)  # structures, seeds


def test_a_curve_needs_all_its_structures():
    runs = Runs(
        world.sweep(leave_out=lambda task, grouping, method: (grouping, method) == ("balanced 2", "ind"))
    )
    curves = curves_of(Evidence(runs), runs.of(("single", "mlp")), "epsilon")
    assert "ind" not in curves
    assert len(curves["erm"][0]) == 6  # inconsistent has six


def test_a_model_under_several_groupings_is_counted_once():
    frame = world.sweep(tasks=("single",), methods=("erm", "w-erm"))
    own = np.array([method == "erm" for method in frame.columns["method"]])
    frame.columns["id"] = [f"erm{seed}" if mine else run for run, mine, seed in
                           zip(frame.columns["id"], own, frame.columns["seed"], strict=True)]  # fmt: skip
    runs = Runs(frame)
    places = [(one, method) for one in runs.structures for method in ("erm", "w-erm")]
    assert runs.trainings(places) == 3 + 3 * 27


def test_nothing_done_and_the_same_study_twice_are_refused():
    frame = world.sweep(sizes={"race": 1})
    frame.done[:] = False
    with pytest.raises(InputError, match="no run of this study is done"):
        compute(frame)
    body = {"name": "a", "findings": [], "ranks": [], "methods": {}}
    with pytest.raises(InputError, match="given twice"):
        together([body, body])


def test_explained_rows_have_both_shares():
    rows = explained_rows(Evidence(Runs(world.sweep(methods=("erm", "w-erm")))))
    assert [row["metric"] for row in rows[:3]] == [
        "reweighted accuracy", "bias amplification", "intersectional bias",
    ]  # fmt: skip
    assert rows[0]["erm"] > 0.8 > rows[0]["attributes"]
    assert rows[0]["low"] <= rows[0]["difference"] <= rows[0]["high"]

"""A method that is trained once: one run, a row in the tables of every grouping, the numbers of many runs."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.evaluation.study.publish import publish
from evenhand.evaluation.study.summary import summarise
from evenhand.evaluation.study_diff import diff_studies
from evenhand.study.driver import Options, run_study
from evenhand.study.expand import expand, expand_with_notes
from evenhand.study.export import export_runs
from evenhand.study.frame import Frame
from evenhand.study.only import chosen_runs
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.read import read_study
from evenhand.study.reuse import reuse_runs
from evenhand.study.select import select
from evenhand.study.spec import (
    Grid,
    GroupingSpec,
    MethodSpec,
    NetEntry,
    ReportSpec,
    SelectionSpec,
    ShiftSpec,
    Study,
    TaskSpec,
)
from evenhand.study.standing import EVERY, Standing
from evenhand.study.store import Store
from evenhand.study.validate import check_study

KNOBS = {"n_train": 256, "n_validation": 300, "n_test": 300, "attributes": 3, "signal_gap": 0.5}
GROUPINGS = (
    GroupingSpec(("a0",), "one"), GroupingSpec(("a1", "a2"), "two"), GroupingSpec(("a2", "a1"), "turned"),
)  # fmt: skip
RECIPE = {"epochs": 1, "batch_size": 64}


def a_study(once=True, groupings=GROUPINGS, **values):
    methods = (
        MethodSpec("gdro", "gdro"),
        MethodSpec("erm", "erm", recipe={"rate": Grid((0.001, 0.1))}, once=once),
    )
    given = {
        "tasks": (TaskSpec("synthetic", "made", KNOBS),), "groupings": groupings, "methods": methods,
        "nets": (NetEntry("mlp", "mlp", {"widths": [8]}),), "recipe": RECIPE, "seeds": (0, 1, 2),
        "selection": SelectionSpec(metric="tpr.gap"), "report": ReportSpec(base="erm"),
    }  # fmt: skip
    return check_study(Study("many", **{**given, **values}))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The same study with ERM trained once, and with ERM trained for every grouping."""
    folders = {}
    for once in (True, False):
        folders[once] = tmp_path_factory.mktemp("study")
        run_study(a_study(once), Options(out=str(folders[once]), device="cpu", workers=1, backend="inline"))
    return folders


def frames(ran):
    return [Frame(Store.open(ran[once], readonly=True)) for once in (True, False)]


def rows_by_name(frame):
    names = ("task", "grouping", "net", "method", "seed")
    keys = zip(*(frame.columns[name] for name in names), map(str, frame.columns["setting"]), strict=True)
    return {key: row for row, key in enumerate(keys)}


def test_one_run_a_setting_and_seed_that_protects_nothing():
    runs = [run for run in expand(a_study()) if run.method == "erm"]
    assert len(runs) == 2 * 3
    assert {run.spec.protect for run in runs} == {()}
    assert {run.grouping for run in runs} == {EVERY}
    assert runs[0].spec.groupings == (("a0",), ("a1", "a2"), ("a1",), ("a2",))


def test_others_keep_their_identity():
    """What is trained once beside them, and how the study is stored, moves nothing else."""
    with_once, without = (
        {run.id for run in expand(a_study(once)) if run.method == "gdro"} for once in (True, False)
    )
    assert with_once == without
    assert "once" not in str(study_to_dict(a_study(False)))
    assert "drop_protected" not in str(study_to_dict(a_study(False)))
    assert study_from_dict(study_to_dict(a_study())) == a_study()


def test_every_row_has_the_numbers_that_a_run_of_its_own_has(ran):
    """ERM does not look at groups: trained for each grouping it comes to the same counts."""
    once, each = frames(ran)
    mine, theirs = rows_by_name(once), rows_by_name(each)
    assert list(mine) == list(theirs)  # the same rows, in the same order
    assert once.n == each.n == 3 * 3 * 3
    for key in ("acc", "tpr.gap", "odds.max", "selection.gap"):
        for by in (None, "a1"):
            for part in ("validation", "test"):
                assert np.array_equal(once.values(part, key, by), each.values(part, key, by), equal_nan=True)
    assert once.columns["protect"] == each.columns["protect"]
    names, rates = once.rates("test", "tpr")
    others, same = each.rates("test", "tpr")
    assert names == others
    assert np.array_equal(rates, same, equal_nan=True)


def test_trainings_are_counted_and_not_rows(ran):
    once, each = frames(ran)
    assert (int(once.trained.sum()), int(each.trained.sum())) == (6 + 6, 6 + 12)  # "turned" is "two"
    for frame, folder in ((once, ran[True]), (each, ran[False])):
        with Store.open(folder, readonly=True) as store:
            states, body = store.counts_of_states(), summarise(store)
        assert states["planned"] == states["done"] == int(frame.trained.sum()) == body["state"]["done"]
        lines = {line["method"]: line for line in body["budget"]["methods"]}
        assert lines["erm"]["runs"] == sum(frame.trained & (np.array(frame.columns["method"]) == "erm"))
        seconds = [s for s, first in zip(frame.columns["seconds"], frame.trained, strict=True) if first]
        assert body["budget"]["seconds"] == pytest.approx(sum(seconds))
        assert body["budget"]["words"].startswith("the budgets differ: erm (2 settings, 3 seeds)")


def test_selection_and_report_are_those_of_runs_of_their_own(ran):
    once, each = frames(ran)
    spec = SelectionSpec(metric="tpr.gap")
    chosen = [
        [(c.problem, c.method, str(c.candidate.setting), c.value) for c in select(f, spec).choices]
        for f in (once, each)
    ]
    assert chosen[0] == chosen[1]
    bodies = []
    for folder in ran.values():
        with Store.open(folder, readonly=True) as store:
            bodies.append(summarise(store))
    for key in ("problems", "leaders", "ranks"):
        one, two = (_without(body[key], ASIDE) for body in bodies)
        assert one == two


# cost, identities, and what is resampled in the order in which runs are stored
ASIDE = ("seconds", "peak_memory", "id", "row_std", "run_share", "run_share_low")


def _without(value, names):
    if isinstance(value, dict):
        return {k: _without(v, names) for k, v in value.items() if k not in names}
    return [_without(v, names) for v in value] if isinstance(value, list) else value


def test_each_grouping_may_choose_another_setting():
    """By hand: two settings of which each is the better one under one grouping."""
    columns = {"a": (0.1, 0.3), "b": (0.3, 0.1)}
    store = _HandMade(columns)
    choices = {c.problem: c.candidate.setting["lam"] for c in select(Frame(store), SelectionSpec()).choices}
    names = [problem.grouping for problem in Frame(store).layout.problems]
    assert {names[problem]: lam for problem, lam in choices.items()} == {"first": 2, "second": 1}


class _HandMade:
    """Two runs of one once-method; their accuracy by grouping a and b is in `columns`."""

    def __init__(self, columns):
        self.columns = columns

    def study(self):
        groupings = [{"name": "first", "attributes": ["a"]}, {"name": "second", "attributes": ["b"]}]
        return {"groupings": groupings, "methods": [{"key": "erm", "once": True}], "tasks": [{"data": "t"}]}

    def table(self):
        rows = [("r0", 0, {"lam": 1}), ("r1", 1, {"lam": 2})]
        return {
            "id": [r[0] for r in rows], "place": [r[1] for r in rows], "setting": [r[2] for r in rows],
            "task": ["t"] * 2, "grouping": [EVERY] * 2, "net": ["n"] * 2, "method": ["erm"] * 2,
            "status": ["done"] * 2, "seed": [0, 0], "spec": [{"protect": []}] * 2,
        }  # fmt: skip

    def measured(self, part):
        from tests.study.fake_store import FakeBlock

        from evenhand.metrics.counts import Counts

        def table(accuracy):
            right = round(1000 * accuracy)
            return [[[right, 1000 - right], [1000 - right, right]]]

        return [
            FakeBlock("t", EVERY, by, ("g",), ("no", "yes"), ["r0", "r1"],
                      Counts.from_table(np.array([table(accuracy) for accuracy in values])))
            for by, values in self.columns.items()
        ]  # fmt: skip

    def failures(self):
        return []


def test_only_a_grouping_takes_what_stands_for_it():
    study = a_study()
    runs, standing = expand(study), Standing.of_study(study_to_dict(study))
    for name, gdro in (("one", 3), ("two", 3), ("turned", 3)):
        found = chosen_runs(runs, [f"grouping={name}"], standing)
        assert [run.method for run in found].count("erm") == 6
        assert [run.method for run in found].count("gdro") == gdro
    with pytest.raises(InputError, match="did you mean 'turned'"):
        chosen_runs(runs, ["grouping=turnd"], standing)


def test_groupings_of_the_same_attributes_are_made_once_and_stand_for_both(ran):
    expanded = expand_with_notes(a_study())
    assert len([run for run in expanded.runs if run.method == "gdro"]) == 2 * 3
    (note,) = expanded.notes
    assert note == (
        "3 runs of made by turned, mlp, gdro would be the same as of made by two, mlp, gdro and are made once"
        "; they stand for both"
    )
    once, _ = frames(ran)
    rows = rows_by_name(once)
    values = once.values("test", "tpr.gap")
    for key, row in rows.items():
        if key[1] == "turned":
            twin = rows[(key[0], "two", *key[2:])]
            assert once.columns["id"][row] == once.columns["id"][twin]
            assert values[row] == values[twin]


def test_an_older_store_with_runs_of_its_own_for_both_shows_each(ran):
    store = Store.open(ran[False], readonly=True)
    table = store.table()
    for row, name in enumerate(table["grouping"]):
        if name == "one" and table["method"][row] == "gdro":
            table["grouping"][row] = "turned"  # as if the runs of "turned" had been made
    frame = Frame(type("Old", (), {"table": lambda s: table, "study": lambda s: store.study()})())
    keys = zip(frame.columns["grouping"], frame.columns["method"], frame.columns["seed"], strict=True)
    assert sorted(k for k in keys if k[1] == "gdro") == [
        (g, "gdro", s) for g in ("turned", "two") for s in range(3)
    ]


def test_export_reuse_and_diff(ran, tmp_path):
    with Store.open(ran[True], readonly=True) as store:
        export_runs(store, tmp_path / "runs.parquet")
        frame, digests = Frame(store), store.digests()
        table = pl.read_parquet(tmp_path / "runs.parquet")
        erm = table.filter((pl.col("method") == "erm") & (pl.col("split") == "test"))
        assert erm["grouping"].unique().to_list() == [EVERY]
        assert sorted(erm["measured_by"].unique()) == ["a0", "a1", "a1 × a2", "a2"]
        assert len(erm) == 6 * 4
        values = frame.values("test", "tpr.gap")
        exported = {(r["id"], r["measured_by"]): r["tpr.gap"] for r in erm.to_dicts()}
        for row, by in enumerate(frame.columns["protect"]):
            if frame.columns["method"][row] == "erm":
                assert exported[frame.columns["id"][row], " × ".join(by)] == values[row]
    options = Options(out=str(tmp_path / "new"), device="cpu", reuse=str(tmp_path / "runs.parquet"))
    status = run_study(a_study(), options)
    assert (status.reused, status.done) == (12, 12)
    with Store.open(tmp_path / "new", readonly=True) as new, Store.open(ran[True], readonly=True) as old:
        assert new.digests() == digests
        found = diff_studies(old, new)
        assert found["equal"]


def two_trained_once(groupings, **values):
    """ERM and JTT, neither of which knows groups: their accuracies differ alike in every problem."""
    methods = tuple(MethodSpec(key, key, once=True) for key in ("erm", "jtt"))
    return a_study(methods=methods, groupings=groupings, **values)


def test_problems_of_the_same_trainings_are_one_to_a_verdict(tmp_path):
    """Seven groupings of a task's trainings would otherwise be seven witnesses of one difference."""
    names = [("a0",), ("a1",), ("a2",), ("a0", "a1"), ("a0", "a2"), ("a1", "a2"), ("a0", "a1", "a2")]
    tasks = tuple(TaskSpec("synthetic", f"made {gap}", {**KNOBS, "signal_gap": gap}) for gap in (0.1, 0.9))
    report = ReportSpec((), base="erm")
    study = two_trained_once(tuple(GroupingSpec(each) for each in names), tasks=tasks, report=report)
    run_study(study, Options(out=str(tmp_path), device="cpu", backend="inline"))
    with Store.open(tmp_path, readonly=True) as store:
        body = summarise(store)
    entries = [entry for problem in body["problems"] for entry in problem["methods"] if entry["against"]]
    differences = [entry["against"]["acc"]["difference"] for entry in entries]
    assert len(differences) == 2 * 7
    assert len(set(differences)) == 2
    assert len({*np.sign(differences)}) == 1  # all fourteen say the same
    (jtt,) = [line for line in body["leaders"] if line["method"] == "jtt"]
    assert jtt["numbers"]["acc"]["verdict"] == "not enough problems to tell"
    assert any(note.startswith("runs of erm, jtt stand for several groupings each") for note in body["notes"])


def test_metrics_of_scores_are_published_and_taken_over(tmp_path):
    study = two_trained_once(GROUPINGS[:1], report=ReportSpec(("map",), base="erm"), score_bins=60)
    run_study(study, Options(out=str(tmp_path / "one"), device="cpu", backend="inline"))
    with Store.open(tmp_path / "one", readonly=True) as store:
        publish(store, tmp_path / "published")
        values = Frame(store).values("test", "map")
    table = pl.read_parquet(tmp_path / "published" / "runs.parquet").filter(pl.col("split") == "test")
    assert sorted(table["map"]) == pytest.approx(sorted(values), abs=0)
    reuse = str(tmp_path / "published" / "runs.parquet")
    run_study(study, Options(out=str(tmp_path / "two"), device="cpu", reuse=reuse))
    with Store.open(tmp_path / "two") as store:
        assert np.array_equal(Frame(store).values("test", "map"), values)
        (told,) = [note for note in notes_told(study, tmp_path / "three", reuse) if "no scores" in note]
    assert told.startswith("6 reused runs of runs.parquet have no scores: they keep map as the file says")


def notes_told(study, folder, reuse):
    with Store.open(folder, create=True) as store:
        store.add_study(study_to_dict(study), "0")
        store.add_runs(expand(study))
        reuse_runs(store, reuse)
        return list(store.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": (MethodSpec("gdro", once=True),)}, "it needs the groups that it protects"),
        ({"numbers": ("delta_er",)}, "delta_er would be taken by its groups"),
        ({"shifts": (ShiftSpec("group-share", (0.5,)),)}, "chooses rows by the groups"),
        ({"recipe": {**RECIPE, "monitor": "tpr.gap"}}, "its monitor 'tpr.gap' is by groups; watch loss"),
    ],
)
def test_what_needs_groups_cannot_be_trained_once(change, words):
    with pytest.raises(InputError, match=words):
        a_study(**change, report=ReportSpec())


def test_the_file_says_once(tmp_path):
    text = """
parts = ["test"]
seeds = 2
[[task]]
data = "titanic"
[[grouping]]
name = "list"
first = ["sex", "pclass"]
[[method]]
key = ["erm", "jtt"]
once = true
[[method]]
key = "w-erm"
[selection]
part = "test"
"""
    (tmp_path / "s.toml").write_text(text)
    study = read_study(tmp_path / "s.toml")
    assert [method.once for method in study.methods] == [True, True, False]
    assert [run.method for run in expand(study)].count("jtt") == 2
    assert [run.method for run in expand(study)].count("w-erm") == 4
    (tmp_path / "s.toml").write_text(text.replace('"w-erm"', '"w-erm"\nonce = true'))
    with pytest.raises(InputError, match=r"s\.toml:14: 'w-erm' cannot be trained once: it needs the groups"):
        read_study(tmp_path / "s.toml")


LISTS = {
    "balanced": "Wearing_Lipstick High_Cheekbones Heavy_Makeup Male Attractive Smiling Mouth_Slightly_Open",
    "imbalanced": "Wearing_Hat Double_Chin Blurry Gray_Hair Bald Sideburns Mustache",
    "inconsistent": "Wavy_Hair Oval_Face Big_Nose Pale_Skin Big_Lips Straight_Hair",
    "protected": "Pale_Skin Male Narrow_Eyes Big_Nose Young Straight_Hair Attractive",
}


def test_the_twenty_seven_structures_of_s1(tmp_path):
    """Four lists in printed order, two tasks, three methods, 2 seeds: 54 problems, W-ERM trained on each."""
    names = sorted({name for line in LISTS.values() for name in line.split()})
    (tmp_path / "faces.py").write_text(TASKS.format(names=names))
    blocks = "".join(
        f'[[grouping]]\nname = "{name}"\nfirst = {line.split()}\n' for name, line in LISTS.items()
    )
    (tmp_path / "s1.toml").write_text(
        f"""
seeds = 2
parts = ["test"]
[[task]]
data = "faces.py:one"
[[task]]
data = "faces.py:several"
drop_protected = true
{blocks}
[[net]]
net = "mlp"
[[method]]
key = "erm"
once = true
[[method]]
key = "sd"
once = true
tasks = ["one"]
[[method]]
key = "w-erm"
[selection]
part = "test"
"""
    )
    study = read_study(tmp_path / "s1.toml")
    assert [g.name for g in study.groupings][:2] == ["balanced 1", "balanced 2"]
    expanded = expand_with_notes(study)
    methods = [run.method for run in expanded.runs]
    assert {name: methods.count(name) for name in dict.fromkeys(methods)} == {
        "erm": 4, "sd": 2, "w-erm": 27 * 2 * 2,
    }  # fmt: skip
    assert expanded.notes == ()  # no two of the 27 have the same attributes
    (tmp_path / "s1.toml").write_text(
        (tmp_path / "s1.toml").read_text() + '[[grouping]]\nname = "mine"\nattributes = ["Pale_Skin"]\n'
    )
    again = expand_with_notes(read_study(tmp_path / "s1.toml"))
    assert len(again.runs) == len(expanded.runs)
    assert len(again.notes) == 2
    assert "by mine, mlp, w-erm would be the same as of one by protected 1" in again.notes[0]
    added = read_study(tmp_path / "s1.toml")
    stands = Standing.of_study(study_to_dict(added))
    assert [s.grouping for s in stands.of("one", "protected 1", "w-erm")] == ["protected 1", "mine"]
    methods = (*added.methods[:2], replace(added.methods[2], groupings=("mine",)))
    limited = Standing(added.groupings, methods)  # a run for "mine" alone does not stand for its twin
    assert [s.grouping for s in limited.of("one", "mine", "w-erm")] == ["mine"]


TASKS = """
import numpy as np, torch
from evenhand.data.card import DataCard
from evenhand.data.task import Task
from evenhand.groups import Attribute

NAMES = {names}

def several(n=120, seed=0):
    codes = np.random.default_rng(seed).integers(0, 2, (n, len(NAMES)))
    attributes = tuple(Attribute(name, ("no", "yes"), codes[:, k]) for k, name in enumerate(NAMES))
    split = {{"train": torch.arange(n // 2), "test": torch.arange(n // 2, n)}}
    noise = np.random.default_rng(seed + 1).normal(size=codes.shape)
    x = torch.tensor(codes + noise, dtype=torch.float32)
    card = DataCard("made", "", "by hand", "none")
    return Task("several", x, torch.tensor(codes), attributes, split, card, tuple(NAMES))

def one(n=120, seed=0):
    task = several(n, seed)
    y = torch.tensor(np.random.default_rng(9).integers(0, 2, n))
    return Task("one", task.x, y, task.attributes, task.split, task.card, ("no", "yes"))
"""


def labels_study(tmp_path, drop):
    (tmp_path / "faces.py").write_text(TASKS.format(names=["p", "q", "r"]))
    groupings = (GroupingSpec(("p",), "p"), GroupingSpec(("q", "p"), "q and p"))
    return a_study(
        tasks=(TaskSpec(f"{tmp_path / 'faces.py'}:several", "several", {}, drop_protected=drop),),
        groupings=groupings, methods=(MethodSpec("erm", once=True), MethodSpec("w-erm")), parts=("test",),
        selection=SelectionSpec(part="test"), report=ReportSpec(base="erm"), score_bins=240,
    )  # fmt: skip


def test_labels_that_a_grouping_protects_take_no_part(tmp_path):
    studies = [labels_study(tmp_path, drop) for drop in (False, True)]
    assert [run.id for run in expand(studies[0])] == [run.id for run in expand(studies[1])]
    run_study(studies[1], Options(out=str(tmp_path / "out"), device="cpu", backend="inline"))
    store = Store.open(tmp_path / "out", readonly=True)
    frame, records = Frame(store), {record.id: record for record in store.records()}
    assert all(len(m.classes) == 3 for record in records.values() for m in record.measured)
    left = {"p": [1, 2], "q and p": [2]}
    accuracy, gap = frame.values("test", "acc"), frame.values("test", "selection.gap")
    ap = frame.values("test", "map")
    for row in range(frame.n):
        kept, own = left[frame.columns["grouping"][row]], " × ".join(frame.columns["protect"][row])
        measured = next(m for m in records[frame.columns["id"][row]].measured if m.grouping == own)
        table = measured.counts.table[kept]
        right = np.trace(table.sum(axis=1), axis1=-2, axis2=-1) / table.sum(axis=(1, 2, 3))
        assert accuracy[row] == pytest.approx(right.mean())
        chosen = table[..., 1].sum(-1) / table.sum((-1, -2))
        assert gap[row] == pytest.approx((chosen.max(-1) - chosen.min(-1)).mean())
        assert np.isfinite(ap[row])
    assert {look.classes for look in frame.looks("test")} == {("q", "r"), ("r",)}
    by_p = frame.looks("test", "p")  # by another grouping, the labels of a row's problem are the same
    assert {look.classes for look in by_p} == {("q", "r"), ("r",)}


def test_no_label_left_and_a_protected_target_are_refused(tmp_path):
    study = labels_study(tmp_path, True)
    with pytest.raises(InputError, match="every label of the task 'several' is protected"):
        expand(replace(study, groupings=(GroupingSpec(("p", "q", "r"), "all three"),)))
    (tmp_path / "faces.py").write_text(
        TASKS.format(names=["p", "q", "r"]).replace("np.random.default_rng(9).integers(0, 2, n)",
                                                    "np.asarray(task.attribute('q').codes)")
    )  # fmt: skip
    task = TaskSpec(f"{tmp_path / 'faces.py'}:one", "one")
    with pytest.raises(InputError, match="the attribute 'q' is what the task 'one' predicts; limit"):
        expand(replace(study, tasks=(task,), groupings=(GroupingSpec(("p", "q"), "both"),)))


def test_a_protected_target_is_seen_where_few_groups_are_known():
    task = TaskSpec("faces", "blond", {"n": 400, "target": "Blond_Hair", "labelled": 0.05})
    study = a_study(tasks=(task,), nets=(NetEntry("convnet", "convnet"),))
    with pytest.raises(InputError, match="the attribute 'Blond_Hair' is what the task 'blond' predicts"):
        expand(replace(study, groupings=(GroupingSpec(("Blond_Hair", "Male"), "both"),)))


def test_ranks_say_which_problems_a_limited_method_takes_from_them(tmp_path):
    """A method for one of two groupings leaves the ranks with one problem, and is not left out for it."""
    methods = (MethodSpec("erm", once=True), MethodSpec("w-erm"), MethodSpec("gdro", groupings=("two",)))
    study = a_study(methods=methods, groupings=GROUPINGS[:2])
    run_study(study, Options(out=str(tmp_path), device="cpu", backend="inline"))
    with Store.open(tmp_path, readonly=True) as store:
        words = summarise(store, replicates=0)["ranks"]["acc"]["words"]
    assert words.endswith("without the 1 of 2 problems on which one of them has no number")

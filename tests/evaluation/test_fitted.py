"""What a fit leaves behind: predictions, audits, and a folder that says the same when it is read again."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import evenhand
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.evaluation.fitted_subject import part_groups, part_scores
from evenhand.evaluation.fitting import protected, tasks_of
from evenhand.groups import Attribute
from evenhand.methods.erm import ERM
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.terms import probabilities
from evenhand.nets import NetSpec
from evenhand.nets.sparsity import sparsity
from evenhand.records import Needs

SIZES = {"n_train": 120, "n_validation": 40, "n_test": 200, "d": 6}
NET = NetSpec("mlp", widths=(16,))
QUICK = {"epochs": 2, "batch_size": 32, "device": "cpu"}
KINDS = {
    "binary": {},
    "unknown groups": {"scarcity": 0.3},
    "intersections": {"attributes": 2},
    "three classes": {"classes": 3},
    "labels": {"labels": 2},
}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def task_of(seed=0, **knobs):
    return evenhand.load("synthetic", seed=seed, **{**SIZES, **knobs})


def fit(task=None, method="erm", net=NET, **options):
    task = task_of() if task is None else task
    if isinstance(task, Task):
        options = {"protect": [attribute.name for attribute in task.attributes], **options}
    return evenhand.fit(net, method, task, **{**QUICK, **options})


def with_unknown(task, every=4):
    """The task with the first attribute unknown in some rows of every part."""
    first = task.attributes[0]
    codes = np.where(np.arange(len(task)) % every == 0, -1, np.asarray(first.codes))
    return replace(task, attributes=(Attribute(first.name, first.levels, codes), *task.attributes[1:]))


# -- predictions ---------------------------------------------------------------------------------------------


def test_shapes_of_predictions_and_scores():
    task = task_of()
    one, three = fit(task), fit(task, seeds=3)
    x = task.x[:7]
    assert one.predict(x).shape == (7,)
    assert one.scores(x).shape == (7, 2)
    assert three.predict(x).shape == (3, 7)
    assert three.scores(x).shape == (3, 7, 2)
    assert three.seeds == (0, 1, 2)
    assert np.array_equal(three.predict(x), three.scores(x).argmax(-1))
    assert np.allclose(three.scores(x).sum(-1), 1, atol=1e-6)
    assert np.allclose(three.scores(x)[0], one.scores(x), atol=1e-6)
    assert np.allclose(three.scores_of_runs(x, run=2)[0], three.scores(x)[2], atol=1e-6)
    assert not np.allclose(three.scores(x)[0], three.scores(x)[1])


def test_any_kind_of_rows_is_taken():
    task = task_of()
    fitted = fit(task)
    rows = task.x[:5].numpy()
    expected = fitted.scores(task.x[:5])
    for x in (rows, rows.astype(np.float64), rows.tolist(), np.asfortranarray(rows)):
        assert np.allclose(fitted.scores(x), expected, atol=1e-6)
    assert fitted.scores(rows[:0]).shape == (0, 2)
    assert fitted.predict(rows[:0]).shape == (0,)


def test_many_rows_are_predicted_piece_by_piece(monkeypatch):
    fitted, x = fit(seeds=2), task_of().x
    whole = fitted.scores(x)
    monkeypatch.setattr("evenhand.train.trained.PIECE", 64)
    assert np.array_equal(fitted.scores(x), whole)


def test_rows_of_the_wrong_shape_are_refused():
    fitted = fit()
    for wrong in (torch.zeros(3, 5), torch.zeros(6), torch.zeros(3, 6, 1)):
        with pytest.raises(
            InputError, match=r"a row of inputs has the shape \(.*\); this model takes \(6,\)"
        ):
            fitted.predict(wrong)


def test_inputs_are_scaled_as_the_task_says():
    task = task_of()
    scaled = replace(task, x=task.x * 50 + 10, scaling=Scaling(10.0, 50.0))
    one, other = fit(task), fit(scaled)
    assert np.allclose(one.scores(task.x), other.scores(scaled.x), atol=1e-4)
    assert not np.allclose(one.scores(task.x), other.scores(task.x), atol=1e-2)


@dataclass(frozen=True)
class ByGroup(ERM):
    """Scores that are the group's number: to see what prediction is told."""

    key = "by-group"
    needs = Needs(groups_at_test=True)

    def predict(self, nets, batch, state):
        return probabilities(nets["model"](batch.x)[0], nets.sizes) * 0 + batch.g[:, None]


def test_groups_reach_a_method_that_needs_them():
    task = task_of()
    fitted = fit(task, ByGroup(), seeds=2)
    assert fitted.scores(task.x[:3], groups=[0, 1, -1])[1, :, 0].tolist() == [0, 1, -1]
    with pytest.raises(InputError, match="'by-group' predicts by group: give the group ids of the rows"):
        fitted.predict(task.x[:3])
    with pytest.raises(InputError, match=r"groups of the shape \(2,\) for 3 rows"):
        fitted.predict(task.x[:3], groups=[0, 1])
    scores = part_scores(fitted, task, "test")
    assert scores[0, :, 0].tolist() == part_groups(task, ("a0",), "test").ids.tolist()


# -- audits --------------------------------------------------------------------------------------------------


def by_hand(fitted, task, **options):
    """The audit of the same predictions, made from arrays."""
    rows, protect = task.rows("test").numpy(), list(fitted.protect)
    guesses = fitted.predict(task.x[rows])
    groups = task.groups(protect).keep(rows)
    scores = None
    if len(fitted.seeds) == 1 and not task.multi_label:
        scores = fitted.scores(task.x[rows]).astype(np.float64)
        scores = scores[:, 1] if task.n_classes == 2 else scores
    classes = None if task.multi_label else range(task.n_classes)
    return evenhand.audit(task.y[rows], guesses, groups, scores, classes=classes, **options)


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_is_that_of_the_predictions(kind, seeds):
    task = task_of(**KINDS[kind])
    task = with_unknown(task) if kind == "unknown groups" else task
    fitted = fit(task, seeds=seeds)
    found, expected = fitted.audit(replicates=20), by_hand(fitted, task, replicates=20)
    one, other = found.to_dict(), expected.to_dict()
    for section in ("metrics", "groups", "overall", "attributes"):
        assert one[section] == other[section]
    assert (
        found.unknown
        == expected.unknown
        == (np.asarray(task.attributes[0].codes)[task.rows("test")] < 0).sum()
    )
    assert np.array_equal(found.subject.grouping.counts.cells, expected.subject.grouping.counts.cells)
    assert list(found.attributes) == list(expected.attributes)
    assert found.subject.classes == task.classes
    assert found.subject.score_kind == expected.subject.score_kind
    assert found.subject.run_names == (() if seeds == 1 else ("seed 0", "seed 1", "seed 2"))
    assert found.subject.name == "synthetic, erm"


def test_options_are_those_of_an_audit():
    fitted = fit()
    assert set(fitted.audit(metrics="tpr").metrics) == {
        key for key in evenhand.CATALOGUE if key.startswith("tpr.")
    }
    assert set(fitted.audit(metrics=["tpr.gap"], replicates=0).metrics) == {"tpr.gap"}
    assert fitted.audit("validation", metrics=["tpr.gap"]).n == 40
    assert fitted.audit(privileged=1, replicates=0).options.privileged == "1"
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        fitted.audit(confidence=2)
    with pytest.raises(InputError, match="has no part 'tset'"):
        fitted.audit("tset")


def test_a_task_for_each_seed_is_audited_on_its_own_rows():
    tasks = [task_of(seed) for seed in range(3)]
    for stack_size in (None, 1, 2):
        fitted = fit(tasks, seeds=3, stack_size=stack_size)
        found = fitted.audit(replicates=20)
        cells = found.subject.grouping.counts.cells
        assert cells.shape == (3, 3, 2, 2)
        for run, task in enumerate(tasks):
            alone = fit(task, seeds=[run]).audit(replicates=0)
            assert np.array_equal(cells[run], alone.subject.grouping.counts.cells)


def test_tasks_with_their_own_scaling_are_predicted_in_it():
    plain = [task_of(seed) for seed in range(2)]
    tasks = [
        replace(task, x=task.x * s, scaling=Scaling(0.0, s))
        for task, s in zip(plain, (2.0, 9.0), strict=True)
    ]
    for stack_size in (1, 2):
        one = fit(plain, seeds=2, stack_size=stack_size)
        other = fit(tasks, seeds=2, stack_size=stack_size)
        for run in range(2):
            expected = part_scores(one, plain[run], "test", run)
            assert np.allclose(part_scores(other, tasks[run], "test", run), expected, atol=1e-4)
        x = tasks[0].x[:4]
        assert np.allclose(other.scores(x)[1], one.scores(x * (1 / 9.0))[1], atol=1e-4)


def test_nobody_protected_is_one_group():
    task = task_of()
    bare = replace(task, attributes=())
    for fitted in (fit(bare, seeds=2), fit(task, seeds=2, protect=[])):
        found = fitted.audit(replicates=0)
        assert [group.name for group in found.groups] == ["everybody"]
        assert found.groups[0].n == 200
        assert np.isnan(found.metrics["tpr.gap"].value)
        assert fitted.protect == ()


def test_a_model_that_went_astray_is_told():
    fitted = fit(seeds=2, rate=(0.01, 1e30), optimizer="sgd")
    assert np.isnan(fitted.scores(task_of().x[:2])[1]).all()
    found = fitted.audit(replicates=0)
    assert any(
        "the model of seed 1 gives no number for 200 rows; they count as '0'" in w for w in found.warnings
    )
    single = fit(rate=1e30, optimizer="sgd").audit(replicates=0)
    assert any("seed 0 gives no number" in w for w in single.warnings)
    assert single.subject.score_kind is None


def test_images_that_are_decoded_on_demand():
    class Decoded:
        shape = (3, 8, 8)

        def __init__(self, x):
            self.x = x

        def __len__(self):
            return len(self.x)

        def take(self, rows):
            return self.x[rows]

    base = task_of(n_train=60)
    x = torch.randint(
        0, 256, (len(base), 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    images = replace(base, x=x, columns=(), scaling=Scaling(127.5, 127.5))
    one = fit(images).audit(replicates=0)
    other = fit(replace(images, x=Decoded(x))).audit(replicates=0)
    assert np.array_equal(one.subject.grouping.counts.cells, other.subject.grouping.counts.cells)


# -- tables of other rows ------------------------------------------------------------------------------------


def applicants(n=150, seed=0):
    """A table with gaps and texts whose label follows from the score and the town."""
    draw = np.random.default_rng(seed)
    score, town = draw.normal(50, 10, n).round(1), draw.choice(["Bonn", "Trier", "Ulm"], n)
    hired = np.where(score + 8 * (town == "Ulm") > 52, "yes", "no")
    score[::11] = np.nan
    sex = draw.choice(["f", "m"], n)
    return {"score": score, "town": town.tolist(), "sex": sex.tolist(), "hired": hired.tolist()}


def task_of_table(seed=0, **options):
    return Task.from_table(applicants(), label="hired", attributes=["sex"], seed=seed, **options)


def test_a_table_of_other_rows_is_predicted():
    fitted = fit(task_of_table(), seeds=2, epochs=30, rate=0.01)
    other = {name: column for name, column in applicants(40, seed=1).items() if name != "hired"}
    truth = np.array(applicants(40, seed=1)["hired"])
    frame = pd.DataFrame(other)
    expected = fitted.scores(fitted.tasks[0].encoding.encode(other))
    for table in (
        other,
        frame,
        frame[["town", "score"]],
        pl.DataFrame(frame).lazy(),
        {**other, "hired": truth},
    ):
        assert np.array_equal(fitted.scores(table), expected)
    codes, names = fitted.predict(frame), fitted.predict(frame, names=True)
    assert codes.shape == names.shape == (2, 40)
    assert [fitted.classes[code] for code in codes[1]] == names[1].tolist()
    assert (names == truth).mean() > 0.8
    for rows in ([7], []):
        assert np.allclose(fitted.scores(frame.iloc[rows]), expected[:, rows], atol=1e-6)
        assert fitted.predict(frame.iloc[rows], names=True).shape == (2, len(rows))


def test_the_table_of_the_task_is_predicted_as_its_inputs():
    task = task_of_table(attributes_in_x=True)
    fitted = fit(task)
    table = applicants()
    expected = fitted.scores(task.x)
    for same in (table, pd.DataFrame(table), pl.DataFrame(table)):
        assert np.array_equal(fitted.scores(same), expected)


def test_each_run_reads_a_table_in_the_encoding_of_its_task():
    tasks = [task_of_table(seed) for seed in range(3)]
    assert len({task.encoding for task in tasks}) == 3
    together = fit(tasks, seeds=3, protect=["sex"], stack_size=2)
    table = applicants(20, seed=4)
    scores = together.scores(table)
    for run, task in enumerate(tasks):
        alone = together.scores_of_runs(task.encoding.encode(table), run=run)
        assert np.array_equal(scores[run], alone[0])
        assert np.array_equal(together.scores_of_runs(table, run=run), alone)
    mixed = fit([tasks[0], replace(tasks[1], encoding=None)], seeds=2, protect=["sex"])
    with pytest.raises(InputError, match="this fit reads no tables"):
        mixed.predict(table)


def test_a_loaded_fit_predicts_tables(tmp_path):
    for number, tasks in enumerate((task_of_table(), [task_of_table(0), task_of_table(1)])):
        fitted = fit(tasks, seeds=2, protect=["sex"])
        loaded = evenhand.Fitted.load(fitted.save(tmp_path / str(number)), device="cpu")
        assert loaded.encodings == fitted.encodings
        table = pl.DataFrame(applicants(20, seed=4)).drop("hired")
        assert np.array_equal(loaded.scores(table), fitted.scores(table))
        assert np.array_equal(loaded.predict(table, names=True), fitted.predict(table, names=True))
        again = evenhand.Fitted.load(loaded.save(tmp_path / f"again {number}"), device="cpu")
        assert np.array_equal(again.scores(table), fitted.scores(table))


def test_tables_that_cannot_be_predicted_are_told():
    fitted = fit(task_of_table())
    table = applicants(4)
    refused = {
        r"no column 'town' for the inputs; did you mean 'Town'\? The table has: score, Town": {
            "score": table["score"],
            "Town": table["town"],
        },
        "the column 'score' holds the text 'high' in row 2": {**table, "score": [1, None, "high", "low"]},
    }
    for words, wrong in refused.items():
        with pytest.raises(InputError, match=words):
            fitted.predict(wrong)
    rows = task_of().x[:4].numpy()
    for strange in (table, pd.DataFrame(rows), pl.DataFrame(rows)):  # whose columns may be in any order
        with pytest.raises(InputError, match=r"its task was not made by Task.from_table; give an array"):
            fit().predict(strange)


def test_classes_of_one_label_have_names():
    task = task_of(classes=3)
    fitted = fit(replace(task, classes=("low", "mid", "high")))
    assert fitted.predict(task.x[:9], names=True).tolist() == [
        fitted.classes[code] for code in fitted.predict(task.x[:9])
    ]
    with pytest.raises(InputError, match="a row of this fit has several labels"):
        fit(task_of(labels=2)).predict(task.x[:9], names=True)


# -- folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "seeds"), [("binary", 1), ("labels", 1), ("unknown groups", 3), ("three classes", 3)]
)
def test_a_saved_fit_predicts_the_same(tmp_path, kind, seeds):
    task = task_of(**KINDS[kind])
    fitted = fit(task, seeds=seeds, stack_size=2)
    folder = fitted.save(tmp_path / "a" / "fit")
    assert {path.name for path in folder.iterdir()} == {
        "audit.json", "fit.json", "history.json", "parameters.npz", "predictions.csv.gz",
    }  # fmt: skip
    loaded = evenhand.Fitted.load(folder, device="cpu")
    assert np.array_equal(loaded.scores(task.x), fitted.scores(task.x))
    assert (loaded.seeds, loaded.classes, loaded.protect) == (fitted.seeds, fitted.classes, fitted.protect)
    assert loaded.multi_label == task.multi_label
    assert json.dumps(loaded.history) == json.dumps(fitted.history)
    with pytest.raises(InputError, match="this fit was loaded without its task"):
        loaded.audit()
    again = evenhand.Fitted.load(loaded.save(tmp_path / "again"), device="cpu")
    assert np.array_equal(again.scores(task.x), fitted.scores(task.x))
    saved, fresh = json.loads((folder / "audit.json").read_text()), fitted.audit().to_dict()
    assert saved["metrics"] == json.loads(json.dumps(fresh["metrics"]))


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (GroupDRO(eta=0.5), {}),
        (DomainIndependent("conditional"), {}),
        (DomainIndependent(decompose=True), {}),
        ("jtt", {}),
        ("erm", {"precision": "float64"}),
        ("erm", {"net": NetSpec("mlp", blocks=((8, 4), (4,)), dropout=0.2)}),
    ],
    ids=str,
)
def test_methods_and_networks_come_back_from_their_description(tmp_path, method, options):
    task = task_of(attributes=2)
    fitted = fit(task, method, seeds=2, **options)
    loaded = evenhand.Fitted.load(fitted.save(tmp_path), device="cpu")
    g = part_groups(task, fitted.protect, "test").ids
    x = task.x[task.rows("test")]
    assert np.array_equal(loaded.scores(x, g), fitted.scores(x, g))
    assert loaded.models[0].predictor.method == fitted.models[0].predictor.method
    assert loaded.models[0].predictor.stack.dtype == fitted.models[0].predictor.stack.dtype


def test_batch_statistics_and_state_come_back(tmp_path):
    class Remembering(ERM):
        """A method whose prediction looks at its state."""

        def init(self, problem):
            return {"bias": torch.zeros(2)}

        def loss(self, nets, batch, state):
            out = super().loss(nets, batch, state)
            return out._replace(state={"bias": state["bias"] + torch.tensor([0.01, 0.0])})

        def predict(self, nets, batch, state):
            return probabilities(nets["model"](batch.x)[0] + state["bias"], nets.sizes)

    def net(shape, outputs):
        return torch.nn.Sequential(torch.nn.BatchNorm1d(6), torch.nn.Linear(6, outputs))

    task = task_of()
    fitted = fit(task, Remembering(), net, seeds=2)
    folder = fitted.save(tmp_path)
    with pytest.raises(
        InputError, match=r"a network of your own: give it again, Fitted.load\(folder, net=...\)"
    ):
        evenhand.Fitted.load(folder)
    with pytest.raises(InputError, match="this network is not the one that was saved"):
        evenhand.Fitted.load(folder, net=NET, method=Remembering())
    loaded = evenhand.Fitted.load(folder, net=net, method=Remembering(), device="cpu")
    assert np.array_equal(loaded.scores(task.x), fitted.scores(task.x))
    other = evenhand.Fitted.load(folder, net=net, method=ERM(), device="cpu")
    assert not np.allclose(other.scores(task.x), fitted.scores(task.x), atol=1e-3)


def test_a_method_of_ones_own_must_be_given_again(tmp_path):
    folder = fit(method=ByGroup()).save(tmp_path)
    with pytest.raises(
        InputError, match=r"a method of your own: give it again, Fitted.load\(folder, method=...\)"
    ):
        evenhand.Fitted.load(folder)
    assert evenhand.Fitted.load(folder, method=ByGroup(), device="cpu").seeds == (0,)


def test_what_is_no_saved_fit_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"there is no saved fit in .*: parameters.npz is missing"):
        evenhand.Fitted.load(tmp_path)
    (tmp_path / "parameters.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is damaged"):
        evenhand.Fitted.load(tmp_path)


def test_knobs_and_numbers_that_json_does_not_know(tmp_path):
    task = task_of()
    card = replace(task.card, knobs={"file": Path("x.csv"), "seed": np.int64(3), "rate": float("nan")})
    fitted = fit(replace(task, card=card), rate=1e30, optimizer="sgd")
    folder = fitted.save(tmp_path)
    strict = {"parse_constant": lambda name: pytest.fail(f"{name} is no JSON")}
    told = json.loads((folder / "fit.json").read_text(), **strict)
    assert told["task"]["card"]["knobs"] == {"file": "x.csv", "seed": 3, "rate": None}
    history = json.loads((folder / "history.json").read_text(), **strict)
    assert history[0]["epochs"][-1]["loss"] == [None]


def test_the_record_of_a_fit_says_how_it_was_made(tmp_path):
    facts = fit(method=GroupDRO(eta=0.3), seeds=[4, 9], rate=0.02).facts
    assert facts["method"] == {
        "key": "gdro", "fields": {"eta": 0.3, "adjustment": 0.0, "by": "label-group", "balanced": True},
    }  # fmt: skip
    assert facts["net"] == {"name": "mlp", "options": {"widths": (16,)}}
    assert facts["seeds"] == [4, 9]
    assert facts["recipe"]["rate"] == 0.02
    assert facts["task"]["rows"] == {"train": 120, "validation": 40, "test": 200}
    assert set(facts["versions"]) == {"evenhand", "python", "torch"}


def lines_of(folder):
    with gzip.open(folder / "predictions.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_predictions_hold_a_line_for_each_row_and_run(tmp_path):
    task = with_unknown(task_of(attributes=2))
    fitted = fit(task, seeds=[3, 5])
    lines = lines_of(fitted.save(tmp_path))
    rows = task.rows("test").tolist()
    assert [(int(line["run"]), int(line["row"])) for line in lines] == [(s, r) for s in (3, 5) for r in rows]
    guesses, scores = fitted.predict(task.x[rows]), fitted.scores(task.x[rows])
    for place, line in enumerate(lines):
        run, row = divmod(place, len(rows))
        assert line["label"] == task.classes[task.y[rows[row]]]
        assert line["prediction"] == task.classes[guesses[run, row]]
        assert float(line["score"]) == pytest.approx(scores[run, row, 1], rel=1e-5)
        for attribute in task.attributes:
            code = attribute.codes[rows[row]]
            assert line[attribute.name] == ("" if code < 0 else attribute.levels[code])


@pytest.mark.parametrize(
    ("kind", "seeds"), [("binary", 1), ("unknown groups", 3), ("intersections", 1), ("three classes", 2)]
)
def test_the_file_of_predictions_is_audited_to_the_same_counts(tmp_path, kind, seeds):
    from evenhand.cli.audit import audit_files
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns

    task = task_of(**KINDS[kind])
    task = with_unknown(task) if kind == "unknown groups" else task
    fitted = fit(task, seeds=seeds)
    file = fitted.save(tmp_path) / "predictions.csv.gz"
    columns = Columns("label", "prediction", fitted.protect, (), None, "run" if seeds > 1 else None)
    found = audit_files([file], columns, Options(replicates=0))
    expected = fitted.audit(replicates=0)
    assert found.subject.classes == expected.subject.classes
    assert [group.name for group in found.groups] == [group.name for group in expected.groups]
    assert np.array_equal(found.subject.grouping.counts.cells, expected.subject.grouping.counts.cells)
    assert found.unknown == expected.unknown
    for key in ("tpr.gap", "accuracy.worst"):
        assert found.metrics[key].value == pytest.approx(expected.metrics[key].value, nan_ok=True)


def test_predictions_of_several_labels_and_of_several_tasks(tmp_path):
    task = task_of(labels=2)
    lines = lines_of(fit(task).save(tmp_path / "labels"))
    assert list(lines[0]) == [
        "run", "row", "a0", "label_label 0", "prediction_label 0", "label_label 1", "prediction_label 1",
    ]  # fmt: skip
    assert [int(line["label_label 1"]) for line in lines] == task.y[task.rows("test"), 1].tolist()
    tasks = [task_of(seed) for seed in range(2)]
    lines = lines_of(fit(tasks, seeds=[7, 8]).save(tmp_path / "tasks"))
    for place, seed in enumerate(("7", "8")):
        alone = lines_of(fit(tasks[place], seeds=[int(seed)]).save(tmp_path / seed))
        assert [line for line in lines if line["run"] == seed] == alone


def test_a_task_without_a_test_part_is_saved_without_an_audit(tmp_path):
    task = task_of(n_test=0)
    folder = fit(task).save(tmp_path)
    assert {path.name for path in folder.iterdir()} == {"fit.json", "history.json", "parameters.npz"}


# -- fit -----------------------------------------------------------------------------------------------------


def test_names_and_objects_are_the_same():
    by_name = evenhand.fit("mlp", "gdro", "titanic", epochs=1, device="cpu")
    by_object = evenhand.fit(NetSpec("mlp"), GroupDRO(), evenhand.load("titanic"), epochs=1, device="cpu")
    x = by_name.tasks[0].x
    assert np.array_equal(by_name.scores(x), by_object.scores(x))
    assert by_name.protect == ("sex",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mpl", "erm", "titanic"), "there is no network 'mpl'; did you mean 'mlp'"),
        (("mlp", "ermm", "titanic"), "there is no method 'ermm'; did you mean 'erm'"),
        (("mlp", "GDRO", "titanic"), "there is no method 'GDRO'; did you mean 'gdro'"),
        (("mlp", "erm", "titanik"), "there is no data set 'titanik'; did you mean 'titanic'"),
        (("mlp", GroupDRO, "titanic"), r"a method is a key \('erm'\) or an object of evenhand.methods"),
        ((7, "erm", "titanic"), "a network is a name"),
        (("mlp", "erm", []), "there must be at least one task"),
    ],
)
def test_what_is_misspelt_is_told_with_the_nearest(arguments, message):
    with pytest.raises(InputError, match=message):
        evenhand.fit(*arguments, epochs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epoch": 3}, "a recipe has no 'epoch'; did you mean 'epochs'"),
        ({"seeds": 0}, "there must be at least one seed"),
        ({"seeds": []}, "there must be at least one seed"),
        ({"protect": "a1"}, "has no attribute 'a1'; did you mean 'a0'"),
        ({"rate": (0.1, 0.2)}, "'rate' has 2 numbers for 1 runs"),
        ({"device": "tpu9"}, "there is no device 'tpu9'"),
        ({"watch": ["tpr.gop"]}, "there is no metric 'tpr.gop' to watch"),
        ({"method": "gdro", "protect": []}, "'gdro' needs the groups of training rows"),
        ({"seeds": 3, "task": [task_of(), task_of(1)]}, "2 tasks for 3 seeds"),
        ({"seeds": [2**70]}, "the seed .* is not within"),
    ],
)
def test_impossible_options_are_told(options, message):
    with pytest.raises(InputError, match=message):
        fit(**options)


def test_what_is_protected_unless_told():
    task = task_of(attributes=2)
    assert protected(task, None) == ("a0",)  # what the data set's line says
    assert protected(replace(task, name="mine"), None) == ("a0", "a1")
    assert protected(task, "a1") == ("a1",)
    assert protected(task, ["a1", "a0"]) == ("a1", "a0")
    assert protected(task, ()) == ()
    assert protected(replace(task, name="adult"), None) == ("a0", "a1")  # its usual one is not there


def test_one_task_or_several():
    assert [task.name for task in tasks_of(["titanic", task_of()])] == ["titanic", "synthetic"]
    broken = replace(task_of(), y=task_of().y[:-1])
    with pytest.raises(InputError, match="one label a row"):
        tasks_of(broken)
    assert isinstance(tasks_of(task_of())[0], Task)


def test_a_recipe_and_single_values_go_together():
    recipe = evenhand.Recipe(epochs=1, rate=0.5)
    facts = fit(recipe=recipe, rate=0.25, epochs=2).facts["recipe"]
    assert (facts["epochs"], facts["rate"]) == (2, 0.25)


def test_the_history_says_which_seeds_it_is_of():
    fitted = fit(seeds=3, stack_size=2, watch=["tpr.gap"])
    assert [part["seeds"] for part in fitted.history] == [[0, 1], [2]]
    assert [len(part["epochs"]) for part in fitted.history] == [2, 2]
    assert set(fitted.history[0]["epochs"][0]) == {
        "phase",
        "epoch",
        "seconds",
        "train",
        "loss",
        "error",
        "tpr.gap",
    }


def test_a_fit_in_a_folder_goes_on_where_it_was(tmp_path, monkeypatch):
    first = fit(seeds=3, stack_size=2, folder=tmp_path)
    monkeypatch.setattr("evenhand.train.step.Step.run", lambda *_: pytest.fail("a step was taken"))
    again = fit(seeds=3, stack_size=2, folder=tmp_path)
    assert np.array_equal(first.scores(task_of().x), again.scores(task_of().x))


# -- as a module ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["erm", "prune+kd"])
@pytest.mark.parametrize(("net", "seeds"), [("convnet", 3), ("batch norm", 1)])
def test_the_model_of_a_run_is_a_module_that_says_the_same(key, net, seeds, tmp_path):
    task = evenhand.load("mnist-under", limit=200)
    own = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, 4), torch.nn.Conv2d(4, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(),
        torch.nn.Linear(200, 10),
    )  # fmt: skip
    chosen = NetSpec("convnet", widths=(8, 8)) if net == "convnet" else own
    found = evenhand.fit(chosen, key, task, seeds=seeds, stack_size=2, protect="ink", **QUICK)
    found.save(tmp_path)
    for fitted in (found, evenhand.Fitted.load(tmp_path, net=None if net == "convnet" else own)):
        for run in range(seeds):
            module = fitted.module(run)
            with torch.no_grad():
                said = module(task.x[:50]).softmax(1).numpy()
            np.testing.assert_allclose(said, fitted.scores_of_runs(task.x[:50])[run], atol=1e-5)
            gone = sparsity(module).layers[1].zero_filters
            assert gone == (4 if key == "prune+kd" else 0)  # 0.45 of 8
    small = evenhand.compress(module, "int8", calibration=task.x[:50])
    told = evenhand.compare_modules({"whole": module, "small": small}, task.x[:200], task.y[:200])
    assert abs(told.accuracy["whole"] - told.accuracy["small"]) < 0.1
    with pytest.raises(InputError, match=f"there is no run {seeds}; this fit has {seeds}"):
        found.module(seeds)
    with pytest.raises(InputError, match=r"not Fitted; of a fit, give fitted.module"):
        evenhand.compress(found)


def test_a_model_that_reads_a_code_is_no_module_of_the_inputs():
    found = evenhand.fit(NET, "ffvae", task_of(), **QUICK)
    with pytest.raises(InputError, match="reads a code that another network makes"):
        found.module()

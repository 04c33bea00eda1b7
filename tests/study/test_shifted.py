"""Parts under a shift: their names, the file that asks for them, and what is measured on them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.study.test_execute import records
from tests.study.test_plan import a_run

import evenhand
from evenhand.data.shift_registry import SHIFTS
from evenhand.data.shifts import shift_inputs, shift_rows
from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.study.expand import expand
from evenhand.study.frame import Frame
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.read import read_study
from evenhand.study.shifted import ShiftedName, clean_part, grouped, names_of, number_words
from evenhand.study.spec import GroupingSpec, MethodSpec, SelectionSpec, ShiftSpec, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.validate import check_study
from evenhand.train.parts import Part
from evenhand.train.shifted import ShiftedPart

CPU = torch.device("cpu")
PARTS = st.sampled_from(["test", "validation", "validation_balanced", "test_green"])
CHOSEN = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" "), min_size=1).map(
    str.strip
)


# -- names -------------------------------------------------------------------------------------------------
@given(
    part=PARTS,
    kind=st.sampled_from(sorted(SHIFTS)),
    chosen=st.none() | CHOSEN.filter(bool),
    severity=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    draw=st.integers(1, 10**6),
)
def test_a_name_is_read_back_as_it_was(part, kind, chosen, severity, draw):
    named = ShiftedName(part, kind if chosen is None else f"{kind}:{chosen}", severity, draw)
    assert ShiftedName.parse(str(named)) == named
    assert clean_part(str(named)) == part


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_severity_is_written_to_the_last_bit(value):
    assert float(number_words(value)) == value
    assert "." not in number_words(float(int(min(abs(value), 1e9))))


@pytest.mark.parametrize(
    "name",
    ["test", "validation_balanced", "test ~ gaussian 0.03", "test ~ gaussian #1", "test ~ gaussian x #1",
     "test ~ gaussian 0.03 #0", "test gaussian 0.03 #1", ""],
)  # fmt: skip
def test_other_names_are_parts_as_they_are(name):
    assert ShiftedName.parse(name) is None
    assert clean_part(name) == name


def test_whole_severities_are_one_name_however_written():
    assert list(names_of(ShiftSpec("blur", (1,), 1))) == list(names_of(ShiftSpec("blur", (1.0,), 1)))
    assert [s for _, s, _ in grouped(names_of(ShiftSpec("gaussian")))] == list(SHIFTS["gaussian"].severities)


# -- the file ----------------------------------------------------------------------------------------------
HEAD = """
seeds = 2
[[task]]
data = "titanic"
validation = 0.2
[[task]]
data = "synthetic"
[[grouping]]
attributes = ["sex"]
tasks = ["titanic"]
[[grouping]]
attributes = ["a0"]
tasks = ["synthetic"]
[[method]]
key = "erm"
"""  # fifteen lines, the last of them empty


def study_of(tmp_path, text, head=HEAD):
    file = tmp_path / "mine.toml"
    file.write_text(head + text, encoding="utf-8")
    return read_study(file)


GOOD = """
[[shift]]
kind = "gaussian"
severities = [0.03, 0.06]
draws = 3
[[shift]]
kind = "group-share:female"
severity = 1
draws = 1
part = "validation"
tasks = ["titanic"]
"""


def test_shifts_become_parts_of_every_run(tmp_path):
    study = study_of(tmp_path, GOOD)
    assert study.shifts == (
        ShiftSpec("gaussian", (0.03, 0.06), 3),
        ShiftSpec("group-share:female", (1,), 1, "validation", ("titanic",)),
    )
    runs = {run.task: run.spec for run in expand(study)}
    noise = tuple(f"test ~ gaussian {s} #{d}" for s in (0.03, 0.06) for d in (1, 2, 3))
    share = "validation ~ group-share:female 1 #1"
    assert runs["titanic"].parts == ("validation", "test", *noise, share)
    assert runs["synthetic"].parts == ("validation", "test", *noise)
    assert [shift.draws for shift in study.smoke.shifts] == [2, 1]
    assert study_from_dict(study_to_dict(study)) == study
    assert Study("s").shifts == ()
    assert "shifts" not in study_to_dict(Study("s"))


def test_a_small_form_keeps_the_shifts_of_its_tasks(tmp_path):
    study = study_of(tmp_path, GOOD + '[smoke]\ntasks = ["synthetic"]\n')
    assert [shift.kind for shift in study.smoke.shifts] == ["gaussian"]
    assert {run.task for run in expand(study.smoke)} == {"synthetic"}


def test_the_outline_of_a_study_tells_its_shifts_and_numbers(tmp_path):
    from evenhand.cli.study_outline import outline

    text = f'numbers = ["delta_er"]\n{HEAD}{GOOD}[[shift]]\nkind = "uniform"\ndraws = 1\n'
    told = dict(outline(study_of(tmp_path, text, head="")))
    assert told["shifts"] == [
        "gaussian 0.03, 0.06 on test; 3 draws",
        "group-share:female 1 on validation; 1 draw; only titanic",
        "uniform of its usual severities on test; 1 draw",
    ]
    assert told["numbers"] == ["delta_er of every trained model"]
    assert "shifts" not in dict(outline(study_of(tmp_path, "")))


def test_the_shift_of_the_example_can_be_uncommented(tmp_path):
    from evenhand.cli.study_init import example

    lines = example(tmp_path / "mine.toml").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("# [[shift]]"))
    last = next(place for place in range(first, len(lines)) if not lines[place])
    lines[first:last] = [line.removeprefix("# ") for line in lines[first:last]]
    assert study_of(tmp_path, "\n".join(lines), head="").shifts == (ShiftSpec("gaussian", (0.03, 0.06), 5),)


WRONG = {
    'kind = "gausian"': r":17: there is no shift 'gausian'; did you mean 'gaussian'",
    'kind = "blur:x"\ndraws = 1': r":17: the shift 'blur' has nothing to choose",
    'severity = 0.1': r":16: a shift needs kind",
    'kind = "gaussian"\nseverty = 1': r":18: a shift has no key 'severty'; did you mean 'severity'",
    'kind = "gaussian"\nseverity = "much"': r":18: 'severity' must be a number, not 'much'",
    'kind = "gaussian"\nseverity = -1': r":18: the severity -1 of 'gaussian' is not a number of at least 0",
    'kind = "impulse"\nseverities = [\n0.1,\n2]': r":20: the severity 2 of 'impulse' is above 1",
    'kind = "gaussian"\nseverity = 0': r":18: the severity 0 leaves 'test' as it is",
    'kind = "gaussian"\nseverity = nan': r":18: the severity nan of 'gaussian' is not a number",
    'kind = "gaussian"\nseverities = [nan]': r":18: the severity nan of 'gaussian' is not a number",
    'kind = "gaussian"\nseverities = [0.1,\n0.1]': r":19: the severity 0\.1 is there twice",
    'kind = "gaussian"\nseverities = []': r":18: 'severities' is empty",
    'kind = "gaussian"\nseverity = 1\nseverities = [1]': r":19: a shift has either severity",
    'kind = "gaussian"\ndraws = 0': r":18: 'draws' must be from 1 to 1,000, not 0",
    'kind = "gaussian"\ndraws = 2000000000': r":18: 'draws' must be from 1 to 1,000, not 2,000,000,000",
    'kind = "gaussian"\ndraws = 300': r":16: every run on 'titanic' would be measured on 1,500 shifted parts",
    'kind = "gaussian"\npart = "tset"': r":18: the study does not measure the part 'tset'; did you",
    'kind = "gaussian"\ntasks = ["titanik"]': r":18: the study has no task 'titanik'; did you mean 'titanic'",
    'kind = "gaussian"\nseverity = 0.1\n[[shift]]\nkind = "gaussian"\nseverities = [0.1, 0.2]\ndraws = 1':
        r":19: the task 'titanic' would be measured 2 times on 'test ~ gaussian 0\.1 #1'",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_every_mistake_is_told_with_its_line(tmp_path, text):
    with pytest.raises(InputError, match=WRONG[text]):
        study_of(tmp_path, f"[[shift]]\n{text}\n")


SERVED = {
    'kind = "blur"': r":17: it cannot serve the task 'titanic': the shift 'blur' is for images",
    'kind = "group-share:femail"\ntasks = ["titanic"]': r":17: .* has no group 'femail'; did you mean 'fem",
    'kind = "covariate-resampling:agge"\ntasks = ["titanic"]': r":17: .* has no column 'agge'",
    'kind = "gaussian"\npart = "validation"\ntasks = ["bare"]': r":18: the task 'bare' has no part",
}


@pytest.mark.parametrize("text", SERVED)
def test_what_only_the_data_can_tell_is_told_before_anything_runs(tmp_path, text):
    bare = '[[task]]\ndata = "titanic"\nname = "bare"\nvalidation = 0.0\n[[grouping]]\nattributes = ["sex"]\n'
    more = 'name = "bare too"\ntasks = ["bare"]\n'
    study = study_of(tmp_path, f"[[shift]]\n{text}\n{bare}{more}")
    with pytest.raises(InputError, match=SERVED[text]):
        expand(study)


def test_a_study_made_in_python_is_told_in_words():
    study = Study(
        "mine", tasks=(TaskSpec("titanic"),), groupings=(GroupingSpec(("sex",)),),
        methods=(MethodSpec("erm"),), parts=("test",),
        selection=SelectionSpec(part="test"), shifts=(ShiftSpec("gaussian", (-1.0,)),),
    )  # fmt: skip
    with pytest.raises(InputError, match=r"shift 'gaussian -1 of test', severity: the severity -1"):
        check_study(study)


# -- what is measured --------------------------------------------------------------------------------------
def task_and_runs(parts, seeds=(0,), knobs=({},)):
    made = [a_run(seed=seed, knobs={"n_train": 600, **own}) for own in knobs for seed in seeds]
    return [replace(run, spec=replace(run.spec, parts=parts)) for run in made]


def test_counts_under_noise_are_those_of_the_shifted_inputs(tmp_path):
    """The whole test set, shifted by hand in one piece and given to the same model."""
    run = task_and_runs(("test", "test ~ gaussian 0.5 #1", "test ~ gaussian 0.5 #2"))[0]
    record = records([run], tmp_path)[run.id]
    task = evenhand.load("synthetic", n_train=600)
    fitted = evenhand.fit("mlp", "erm", task, seeds=[0], protect="a0", device="cpu", epochs=1)
    rows = task.rows("test")
    tables = []
    for one in record.measured:
        named = ShiftedName.parse(one.part)
        x = task.x[rows]
        if named is not None:
            x = shift_inputs("gaussian", x, 0.5, seed=named.draw, rows=rows, scaling=task.scaling)
        guesses = fitted.predict(x)  # its inputs need no scaling
        groups = task.groups(["a0"]).keep(np.asarray(rows))
        expected = Counts.from_predictions(np.asarray(task.y[rows]), guesses, groups.ids, 2, groups.n_groups)
        assert np.array_equal(one.counts.table, expected.table), one.part
        tables.append(one.counts.table)
    assert not np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[1], tables[2])
    assert np.array_equal(tables[0].sum(-1), tables[1].sum(-1))  # rows and labels are the part's own


def test_a_shift_of_rows_has_the_labels_and_groups_of_the_chosen_rows(tmp_path):
    run = task_and_runs(("test", "test ~ group-share 0.5 #3"))[0]
    clean, shifted = records([run], tmp_path, keep_predictions=True)[run.id].measured
    task = evenhand.load("synthetic", n_train=600)
    rows = shift_rows("group-share", task, "test", 0.5, seed=3, protect=("a0",))
    y, g = np.asarray(task.y[rows]), task.groups(["a0"]).keep(np.asarray(rows)).ids
    cells = shifted.counts.table.sum(-1)
    assert [[int(((g == k) & (y == c)).sum()) for c in (0, 1)] for k in (0, 1)] == cells.tolist()
    assert clean.counts.table.sum() == shifted.counts.table.sum()
    assert not np.array_equal(clean.counts.table.sum(-1), cells)


def test_predictions_of_shifted_parts_are_those_that_were_counted(tmp_path):
    parts = ("test", "test ~ gaussian 0.3 #1", "test ~ covariate-resampling 1 #1")
    run = task_and_runs(parts)[0]
    record = records([run], tmp_path, keep_predictions=True)[run.id]
    assert tuple(record.predictions) == parts
    for one in record.measured:
        found = np.bincount(record.predictions[one.part].argmax(-1), minlength=2)
        assert found.tolist() == one.counts.table.sum((0, 1)).tolist()
    clean, resampled = record.predictions["test"], record.predictions[parts[2]]
    assert {tuple(row) for row in resampled.tolist()} < {tuple(row) for row in clean.tolist()}


def test_runs_on_several_tasks_are_shifted_as_alone(tmp_path):
    """A row's noise depends on its number in its own task, whoever is beside it."""
    parts = ("test", "test ~ gaussian 0.4 #2", "test ~ group-share 0.5 #1")
    runs = task_and_runs(parts, (0, 1), [{"seed": 0}, {"seed": 1}])
    together = records(runs, tmp_path)
    for run in runs:
        alone = records([run], tmp_path / run.id)[run.id]
        assert [one.part for one in alone.measured] == list(parts)
        for mine, theirs in zip(alone.measured, together[run.id].measured, strict=True):
            assert mine.counts == theirs.counts


def a_part(tasks):
    part = Part(tasks, ("a0",), "test", CPU)
    return part, ShiftedPart(part, tasks, "test", "gaussian", 0.5, 1)


def test_any_piece_of_a_shifted_part_is_a_piece_of_the_whole():
    task = evenhand.load("synthetic", n_train=600)
    part, shifted = a_part([task])
    whole, y, g, _ = shifted.take(torch.arange(part.n))
    some = torch.tensor([5, 3, 3, part.n - 1])
    x, y_some, g_some, _ = shifted.take(some)
    assert torch.equal(x, whole[some])
    assert torch.equal(y_some, y[some])
    assert torch.equal(g_some, g[some])
    assert torch.equal(y, part.take(torch.arange(part.n))[1])
    assert 0.45 < float((whole - part.take(torch.arange(part.n))[0]).std()) < 0.55


def test_runs_with_rows_of_their_own_are_shifted_as_those_that_share_them():
    tasks = [evenhand.load("synthetic", n_train=600, seed=seed) for seed in (0, 1)]
    _, shifted = a_part(tasks)
    runs = torch.tensor([1, 0, 1])
    same = torch.arange(40).expand(3, -1)
    once, _, _, _ = shifted.take(same, runs)  # the quick way, by task
    each, _, _, _ = shifted.take(same.contiguous(), runs)
    assert torch.equal(once, each)
    assert torch.equal(once[0], once[2])
    assert not torch.equal(once[0], once[1])
    alone = a_part(tasks[:1])[1].take(torch.arange(40))[0]
    assert torch.equal(once[1], alone)


def test_tasks_that_scale_differently_are_shifted_by_their_own_scaling():
    """Images of two tasks whose bytes mean the same and whose scalings do not."""
    from evenhand.data.task import Scaling

    first = evenhand.load("ci-mnist", limit=30)
    second = replace(first, scaling=Scaling(0.0, 255.0))
    part = Part([first, second], ("colour",), "test", CPU)
    shifted = ShiftedPart(part, [first, second], "test", "gaussian", 0.2, 1)
    x, _, _, _ = shifted.take(torch.arange(8).expand(2, -1), torch.tensor([0, 1]))
    assert torch.allclose((x[0] + 1) / 2, x[1], atol=1e-6)
    assert float((x[1] - part.take(torch.arange(8).expand(2, -1), torch.tensor([0, 1]))[0][1]).std()) > 0.05


# -- what a frame makes of it ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    parts = ("test", *(f"test ~ gaussian {s} #{d}" for s in (0.3, 1) for d in (1, 2)))
    runs = [replace(run, place=place) for place, run in enumerate(task_and_runs(parts, (0, 1)))]
    with Store.open(folder, create=True) as store:
        store.add_study({"name": "small"}, "1")
        store.add_runs(runs)
        for record in records(runs[:1], folder / "work").values():
            store.commit(record)
        yield Frame(store)


def test_a_metric_is_averaged_over_the_draws(frame):
    assert frame.shifted() == [
        ("gaussian", 0.3, ("test ~ gaussian 0.3 #1", "test ~ gaussian 0.3 #2")),
        ("gaussian", 1.0, ("test ~ gaussian 1 #1", "test ~ gaussian 1 #2")),
    ]
    assert frame.shifted("validation") == []
    found = frame.mean_over_draws("gaussian", 0.3, "acc")
    draws = [frame.values(f"test ~ gaussian 0.3 #{draw}", "acc")[0] for draw in (1, 2)]
    assert found[0] == pytest.approx(np.mean(draws), abs=1e-15)
    assert draws[0] != draws[1]
    assert np.isnan(found[1])  # a run that is not done
    assert frame.mean_over_draws("gaussian", 1, "acc")[0] < frame.values("test", "acc")[0]
    with pytest.raises(
        InputError, match=r"no run was measured under blur 0\.3 on test; there are: gaussian 0"
    ):
        frame.mean_over_draws("blur", 0.3, "acc")


# -- who they are ------------------------------------------------------------------------------------------
def test_runs_without_shifts_and_numbers_are_the_runs_they_were():
    """The committed runs of first-look, by the declaration of today: every hash is there."""
    import polars as pl

    from evenhand.study.digests import spec_hash

    file = Path(__file__).parents[2] / "studies" / "results" / "first-look" / "runs.parquet"
    kept = set(pl.read_parquet(file, columns=["spec_hash"])["spec_hash"])
    runs = expand(read_study("first-look"), checksum_of=lambda task: "")
    assert {spec_hash(run.spec) for run in runs} == kept


def test_planning_looks_at_a_sketch_of_painted_images_and_finds_the_same_data():
    from evenhand.study.tasks import data_checksum, look_at_task

    knobs = {"limit": 20, "clr_ratio": [0.1, 0.9], "seed": 5}
    sketch, whole = look_at_task("ci-mnist", knobs), evenhand.load("ci-mnist", **knobs)
    assert not isinstance(sketch.x, torch.Tensor)
    assert isinstance(whole.x, torch.Tensor)
    assert data_checksum(sketch) == data_checksum(whole)
    assert torch.equal(sketch.x.take(torch.tensor([3, 70])), whole.x[[3, 70]])
    assert look_at_task("titanic", {}) is look_at_task("titanic", {})  # others are loaded as ever


def test_a_shift_and_a_number_make_another_run():
    run = a_run().spec
    assert "numbers" not in run.content()
    assert replace(run, numbers=("delta_er",)).content() != run.content()
    assert replace(run, parts=("test", "test ~ gaussian 1 #1")).content() != run.content()

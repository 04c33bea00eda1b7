from dataclasses import replace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.evaluation.audit import assess
from evenhand.evaluation.from_files import subject_of_cells
from evenhand.evaluation.options import Options
from evenhand.evaluation.rows import subject_of_rows
from evenhand.evaluation.run_files import merge_runs
from evenhand.groups import Attribute, Groups
from evenhand.tables import Columns, read_cells

FEW = Options(replicates=30)


@pytest.fixture
def columns():
    rng = np.random.default_rng(11)
    n = 600
    y = rng.integers(0, 2, n)
    return {
        "y": y,
        "p": np.where(rng.random(n) < 0.2, 1 - y, y),
        "s": np.round(rng.random(n), 3),
        "w": np.round(rng.random(n) * 3, 2),
        "g": rng.choice(["a", "b", "c"], n),
        "h": rng.choice(["x", "y", ""], n),
    }


def write(path, columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def read(path, columns, score=(), weight=None, **more):
    return read_cells([write(path, columns)], Columns("y", "p", ("g", "h"), score, weight), **more)


def in_memory(columns, scores=None, weights=None):
    groups = {"g": columns["g"].tolist(), "h": [value or None for value in columns["h"].tolist()]}
    return subject_of_rows(columns["y"], columns["p"], groups, scores, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_give_the_counts_of_the_rows(columns, tmp_path, weighted):
    weight = {"weight": "w"} if weighted else {}
    found = subject_of_cells(read(tmp_path / "t.csv", columns, **weight))
    expected = in_memory(columns, weights=columns["w"] if weighted else None)
    assert found.grouping.names == expected.grouping.names
    assert found.grouping.levels == expected.grouping.levels
    for own, other in zip((found.grouping, *found.alone), (expected.grouping, *expected.alone), strict=True):
        assert own.attributes == other.attributes
        assert np.allclose(own.counts.cells, other.counts.cells)
        assert np.array_equal(own.counts.rows, other.counts.rows)
    assert found.grouping.counts.weighted == weighted


def test_binned_scores_are_near_the_exact_ones(columns, tmp_path):
    exact = subject_of_cells(read(tmp_path / "t.csv", columns, score=("s",)))
    binned = subject_of_cells(read(tmp_path / "t.csv", columns, score=("s",), exact_rows=100))
    weighted = subject_of_cells(read(tmp_path / "t.csv", columns, score=("s",), weight="w", exact_rows=100))
    assert (exact.score_kind, binned.score_kind, weighted.score_kind) == ("exact", "binned", "binned")
    one, two = (assess(subject, FEW) for subject in (exact, binned))
    for key in ("auc.gap", "brier.gap", "ece.gap", "map", "dims"):
        assert two.metrics[key].value == pytest.approx(one.metrics[key].value, abs=1e-6), key
    expected = assess(in_memory(columns, columns["s"], columns["w"]), FEW)
    assert assess(weighted, FEW).metrics["brier.gap"].value == pytest.approx(
        expected.metrics["brier.gap"].value
    )


def test_rows_without_a_score_are_counted(columns, tmp_path):
    some = columns | {"s": np.where(np.arange(600) < 4, "", columns["s"].astype(str))}
    found = subject_of_cells(read(tmp_path / "t.csv", some, score=("s",)))
    assert any(note.startswith("4 rows have no score") for note in found.warnings)


def test_many_intersections_keep_those_that_occur():
    rng = np.random.default_rng(0)
    attributes = [
        Attribute(name, tuple(f"{name}{k}" for k in range(40)), rng.integers(-1, 40, 90)) for name in "uvw"
    ]
    groups = Groups.from_attributes(attributes, most=256)
    assert len(groups) == len(np.unique(groups.ids[groups.ids >= 0]))
    assert groups.names == Groups.from_attributes(attributes).occurring().names
    assert np.array_equal(groups.ids_of(attributes), groups.ids)


def test_attributes_that_never_meet_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"1,1,u{k}," for k in range(20)] + [f"0,1,,v{k}" for k in range(20)]
    path.write_text("\n".join(["y,p,u,v", *rows]))
    with pytest.raises(InputError, match="every group column"):
        subject_of_cells(read_cells([path], Columns("y", "p", ("u", "v"))))


def test_a_single_class_is_one_of_two(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,p,g\nyes,yes,a\nyes,yes,b\n")
    subject = subject_of_cells(read_cells([path], Columns("y", "p", ("g",))))
    assert subject.classes == ("not yes", "yes")
    assert subject.task == "binary"
    assert assess(subject, FEW).metrics["tpr.gap"].value == 0


def test_too_many_cells_are_refused_before_they_fill_the_memory(columns, tmp_path):
    cells = read(tmp_path / "t.csv", columns)
    many = replace(cells, classes=tuple(str(k) for k in range(5000)))
    with pytest.raises(InputError, match="too many"):
        subject_of_cells(many)


def test_run_files_are_coded_alike(columns, tmp_path):
    labels = np.array(["2", "10"])[columns["y"]]
    first = read(tmp_path / "a.csv", columns | {"y": labels, "p": labels})
    other = np.where(np.arange(600) == 0, "9", labels)
    second = read(tmp_path / "b.csv", columns | {"y": labels, "p": other})
    merged = merge_runs([first, second], ["a", "b"])
    assert merged.classes == ("2", "9", "10")
    counts = subject_of_cells(merged).grouping.counts
    assert counts.cells.shape[0] == 2
    assert counts.cells[0].sum() == counts.cells[1].sum() == 600
    assert counts.cells[0].sum(axis=0).diagonal().sum() == 600
    assert counts.cells[1].sum(axis=0).diagonal().sum() == 599


def test_run_files_of_other_rows_are_refused(columns, tmp_path):
    first = read(tmp_path / "a.csv", columns)
    flipped = read(tmp_path / "b.csv", columns | {"y": 1 - columns["y"]})
    with pytest.raises(InputError, match=r"run 'b' has \d+ rows of group .*same rows"):
        subject_of_cells(merge_runs([first, flipped], ["a", "b"]))
    renamed = read(tmp_path / "c.csv", columns | {"g": np.char.upper(columns["g"])})
    with pytest.raises(InputError, match="column 'g' holds A, B, C in run 'c' but a, b, c in run 'a'"):
        merge_runs([first, renamed], ["a", "c"])


def test_one_run_is_said_to_tell_nothing_of_runs(columns, tmp_path):
    path = write(tmp_path / "t.csv", columns | {"r": np.full(600, "only")})
    subject = subject_of_cells(read_cells([path], Columns("y", "p", ("g",), run="r")))
    assert subject.grouping.runs == 0
    assert any("only one run ('only')" in note for note in subject.warnings)

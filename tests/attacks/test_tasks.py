"""Tasks from hostile tables, folders of odd images, wrong knobs, and files that are not what they were."""

import datetime
import hashlib
import importlib.util
import os
from decimal import Decimal
from socket import gaierror
from urllib.error import URLError

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import evenhand
from evenhand import Task
from evenhand.data import cache, fetch
from evenhand.data.cache import Source, find, find_any
from evenhand.errors import InputError

N = 40


def table(**columns):
    """40 rows: an age, a sex, a label; with other columns in their place or beside them."""
    rng = np.random.default_rng(0)
    return {"age": rng.normal(size=N), "sex": ["f", "m"] * 20, "y": [0, 1, 1, 0] * 10, **columns}


def of(columns, label="y", attributes=("sex",), **options):
    return Task.from_table(columns, label, attributes, **options)


# -- what a table may hold ---------------------------------------------------------------------------------

TABLES = {
    "pandas": pd.DataFrame,
    "an index in no order": lambda columns: pd.DataFrame(columns, index=np.arange(N)[::-1] + 7),
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "tensors": lambda columns: {**columns, "age": torch.tensor(columns["age"])},
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_the_same_table_is_the_same_task(make):
    expected, found = of(table()), of(make(table()))
    assert torch.equal(found.x, expected.x)
    assert torch.equal(found.y, expected.y)
    assert {part: rows.tolist() for part, rows in found.split.items()} == {
        part: rows.tolist() for part, rows in expected.split.items()
    }


LABELS = {
    "floats": ([0.0, 1.0] * 20, ("0", "1")),
    "booleans": ([True, False] * 20, ("False", "True")),
    "minus one and one": ([-1, 1] * 20, ("-1", "1")),
    "texts beside numbers": ([0, "0", 1, "1"] * 10, ("0", "1")),
    "dates": ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 20, ("2020-01-01", "2020-01-02")),
    "other alphabets": (["да", "нет"] * 20, ("да", "нет")),
    "a line end inside": (["a\nb", "c"] * 20, ("a\nb", "c")),
}


@pytest.mark.parametrize(("values", "classes"), LABELS.values(), ids=LABELS)
def test_labels_of_any_kind(values, classes):
    assert of(table(y=values)).classes == classes


def test_a_category_that_no_row_has_is_no_class():
    """Rows were taken out of a frame: pandas keeps the category, a network must not get an output for it."""
    frame = pd.DataFrame(table())
    frame["y"] = pd.Categorical(["b", "a"] * 20, categories=["c", "b", "a"])
    task = of(frame, positive="b")
    assert task.classes == ("a", "b")
    assert task.y.tolist() == [1, 0] * 20
    enum = pl.DataFrame(table()).with_columns(pl.Series("y", ["b", "a"] * 20, dtype=pl.Enum(["b", "a", "c"])))
    assert of(enum).classes == ("b", "a")


REFUSED_LABELS = {
    "gaps": ([0, 1, None, 0] * 10, "missing in 10 rows", "row 2"),
    "NaN": ([0.0, 1.0, np.nan, 0.0] * 10, "missing in 10 rows"),
    "one class": (["no"] * N, "only the class 'no'"),
    "one class of two categories": (pd.Categorical(["a"] * N, categories=["a", "b"]), "only the class 'a'"),
    "a class for each row": ([f"r{i}" for i in range(N)], "leaves no row for the part 'test'", "40 classes"),
    "measurements": (np.random.default_rng(0).normal(size=N), "leaves no row"),
    "nothing": ([None] * N, "missing in 40 rows"),
    "a table of its own": (np.zeros((N, 2)), "one value a row"),
}


@pytest.mark.parametrize(
    ("values", "words"), [(v[0], v[1:]) for v in REFUSED_LABELS.values()], ids=REFUSED_LABELS
)
def test_labels_that_cannot_be_learned(assert_refused, values, words):
    assert_refused(lambda: of(table(y=values)), *words)


REFUSED_COLUMNS = {
    "infinite": ([np.inf] + [1.0] * 39, "'age' is infinite in row 0"),
    "an endless whole number": ([10**400, *range(39)], "'age' is infinite in row 0"),
    "so large that its square is infinite": ([1e300, -1e300, *range(38)], "'age' is 1e+300 in row 0"),
    "a decimal without end": ([Decimal("inf")] * N, "infinite"),
    "missing everywhere": ([np.nan] * N, "missing in every training row"),
    "constant": ([1] * N, "nothing to learn from"),
    "dates": (pd.date_range("2020", periods=N), "dates or times"),
    "dates of Python": ([datetime.date(2020, 1, 1)] * N, "dates or times"),
    "durations": ([datetime.timedelta(1)] * N, "dates or times"),
    "complex numbers": (np.ones(N) * 1j, "complex128"),
    "lists": ([[1, 2]] * N, "one value a row"),
    "two rows for 40": ([1, 2], "'age' has 2 rows"),
    "a single number": (3, "'age' must have one value a row, not only 3"),
    "a single text": ("abc", "'age' must have one value a row, not only 'abc'"),
    "intervals": (pd.cut(np.arange(N), 4), "Interval"),
}


@pytest.mark.parametrize(
    ("values", "words"), [(v[0], v[1:]) for v in REFUSED_COLUMNS.values()], ids=REFUSED_COLUMNS
)
def test_columns_that_are_no_inputs(assert_refused, values, words):
    assert_refused(lambda: of(table(age=values)), *words)


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1e9, 1e90])
def test_numbers_of_any_size_are_scaled(scale):
    ages = np.arange(N) * scale
    assert torch.allclose(of(table(age=ages)).x, of(table(age=np.arange(N))).x, atol=1e-5)


def test_many_texts_that_spell_numbers_are_told():
    task = of(table(age=["?", *(str(i / 2) for i in range(N - 1))]))
    assert any("numbers written as texts" in note for note in task.card.notes)
    few = of(table(code=["1", "2"] * 20))
    assert not any("written as texts" in note for note in few.card.notes)


def test_a_thousand_texts_are_refused_with_what_fits_them(assert_refused):
    def wide(texts):
        return {"age": texts, "sex": ["a", "b", "c"] * 500, "y": [0, 1, 1] * 500}

    assert_refused(
        lambda: of(wide([f"v{i}" for i in range(1500)])), "1,200 different texts", "group its values"
    )
    assert_refused(lambda: of(wide([f"{i}.5" for i in range(1500)])), "make numbers of them")


ATTRIBUTES = {
    "gaps of three kinds": (["f", None, np.nan, "m"] * 10, ("f", "m"), 20),
    "mixed": (["f", 1, 2.5, None] * 10, ("1", "2.5", "f"), 10),
    "minus one": ([-1, 0, 1, 2] * 10, ("0", "1", "2"), 10),
    "the label itself": ([0, 1, 1, 0] * 10, ("0", "1"), 0),
    "a level that no row has": (
        pd.Categorical(["a", "b"] * 20, categories=["a", "b", "c"]),
        ("a", "b", "c"),
        0,
    ),
}


@pytest.mark.parametrize(("values", "levels", "unknown"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_of_any_kind(values, levels, unknown):
    (found,) = of(table(sex=values)).attributes
    assert found.levels == levels
    assert (found.codes < 0).sum() == unknown


def test_an_attribute_that_is_the_label_is_no_input():
    assert "y" not in of(table(), attributes=["y"], attributes_in_x=True).columns


@pytest.mark.parametrize(
    ("values", "words"),
    [([None] * N, "unknown in every row"), (np.random.default_rng(0).random(100), "100 different numbers")],
    ids=["nobody known", "a measurement"],
)
def test_attributes_that_make_no_groups(assert_refused, values, words):
    rows = {name: list(column) * 3 for name, column in table().items()}
    rows = {name: column[: len(values)] for name, column in rows.items()}
    assert_refused(lambda: of({**rows, "sex": values}), "'sex'", words)


# -- names ---------------------------------------------------------------------------------------------------


def test_names_may_be_anything():
    words = {
        "class": np.arange(N),
        "lambda": np.arange(N) * 2,
        "None": np.arange(N) ** 2,
        "âge": np.arange(N),
    }
    assert {"class", "lambda", "None", "âge"} <= {*of({**table(), **words}).columns}
    numbered = pd.DataFrame({0: np.arange(N), 1: ["a", "b"] * 20, 2: [0, 1, 1, 0] * 10})
    by_number, by_text = (of(numbered, label, attributes) for label, attributes in ((2, [1]), ("2", ["1"])))
    assert by_number.columns == by_text.columns == ("0",)


def test_two_columns_of_one_name(assert_refused):
    assert_refused(lambda: of({1: np.arange(N), "1": np.arange(N), **table()}), "two columns called '1'")
    twice = pd.DataFrame(np.zeros((4, 3)), columns=["y", "sex", "sex"])
    assert_refused(lambda: of(twice), "two columns called 'sex'")
    assert_refused(lambda: of(table(), attributes=["sex", "sex"]), "two attributes called 'sex'")


WRONG_NAMES = {
    "the label": ({"label": "Y2"}, "no column 'Y2'"),
    "an attribute": ({"attributes": ["sxe"]}, "did you mean 'sex'?"),
    "a feature": ({"features": ["agee"]}, "did you mean 'age'?"),
    "the label as a feature": ({"features": ["y"]}, "among the features"),
    "a column to leave out": ({"without": ["zz"]}, "no column 'zz'"),
    "the split": ({"split": "splt"}, "no column 'splt'"),
}


@pytest.mark.parametrize(("options", "words"), WRONG_NAMES.values(), ids=WRONG_NAMES)
def test_names_that_are_not_there(assert_refused, options, words):
    assert_refused(lambda: of(table(), **options), words)


@pytest.mark.parametrize(
    "thing", [None, 3, "data.csv", [1, 2], np.zeros((3, 3)), {}, pd.DataFrame({"y": []})]
)
def test_what_is_no_table(assert_refused, thing):
    assert_refused(lambda: of(thing), "table")


# -- splits --------------------------------------------------------------------------------------------------

SPLITS = {
    "all for the test": (1, "from 0 to less than 1"),
    "less than nothing": (-0.1, "from 0 to less than 1"),
    "undefined": (float("nan"), "from 0 to less than 1"),
    "nothing said": (None, "split=None"),
    "a list": ([0.5], "split=[0.5]"),
    "an unknown part": ({"train": [0, 1], "tset": [2]}, "'tset'"),
    "a row that is not there": ({"train": [0, 99]}, "row 99; rows are 0 to 39"),
    "a row before the first": ({"train": [0, -1]}, "row -1"),
    "halves of rows": ({"train": [0.5, 1.5]}, "row numbers, or a mask"),
    "texts": ({"train": ["a"]}, "row numbers, or a mask"),
    "a short mask": ({"train": [True] * 3}, "3 values for 40 rows"),
    "a row twice": ({"train": [0, 1, 2], "test": [2]}, "in another"),
    "nothing to train on": ({"test": [1]}, "no rows for training"),
}


@pytest.mark.parametrize(("split", "words"), SPLITS.values(), ids=SPLITS)
def test_splits_that_cannot_be_meant(assert_refused, split, words):
    assert_refused(lambda: of(table(), split=split), words)


def test_a_column_that_says_the_split(assert_refused):
    rows = {**table(), "part": ["train"] * 20 + [" VAL "] * 10 + ["Test"] * 10}
    assert {part: len(rows) for part, rows in of(rows, split="part").split.items()} == {
        "train": 20, "validation": 10, "test": 10,
    }  # fmt: skip
    assert_refused(lambda: of({**table(), "part": ["train"] * 39 + ["tst"]}, split="part"), "'tst' in row 39")
    assert_refused(lambda: of({**table(), "part": ["train"] * 39 + [None]}, split="part"), "None in row 39")
    # a share of validation rows beside it would be forgotten without a word
    assert_refused(lambda: of(rows, split="part", validation=0.2), "leave the share `validation` out")


@pytest.mark.parametrize("seed", [-1, None, 1.5, "a"])
def test_a_seed_that_would_not_repeat(assert_refused, seed):
    assert_refused(lambda: of(table(), seed=seed), f"seed={seed!r}")


def test_too_few_rows_for_the_parts_are_told(assert_refused):
    four = {"age": [1.0, 2.0, 3.0, 4.0], "sex": ["f", "m"] * 2, "y": [1, 0] * 2}
    assert_refused(lambda: of(four), "0.2 leaves no row for the part 'test'")
    assert_refused(lambda: of(table(), validation=0.01), "0.01 leaves no row for the part 'validation'")
    assert_refused(lambda: of({"age": [1.0], "sex": ["f"], "y": [1]}), "only the class")


def test_a_group_that_only_the_test_has():
    rows = {**table(sex=["f", "m"] * 19 + ["f", "x"]), "part": ["train"] * 30 + ["test"] * 10}
    task = of(rows, split="part")
    fitted = evenhand.fit("mlp", "gdro", task, epochs=1, batch_size=8)
    assert fitted.audit(replicates=0).groups[2].n == 1


# -- tasks made by hand --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(N,), (N, 0), (N, 0, 3, 3)])
def test_inputs_without_a_number(assert_refused, shape):
    good = of(table())
    broken = Task("t", torch.zeros(shape), good.y, good.attributes, good.split, good.card, good.classes)
    assert_refused(broken.check, "at least one number")


def test_where_an_input_is_undefined_is_told(assert_refused):
    task = of(table(shoe=np.arange(N)))
    task.x[7, 1] = torch.nan
    assert_refused(task.check, "nan in row 7", "column 'shoe'")
    assert_refused(lambda: evenhand.fit("mlp", "erm", task, epochs=1), "row 7")


# -- folders of images ---------------------------------------------------------------------------------------

needs_pillow = pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="reads images with Pillow")


@pytest.fixture
def folder(tmp_path):
    """Ten grey images of two classes."""
    from PIL import Image

    for name in "ab":
        (tmp_path / name).mkdir()
        for number in range(5):
            Image.new("RGB", (20, 30), (10 * number,) * 3).save(tmp_path / name / f"{number}.png")
    return tmp_path


def from_folder(folder, *labels, **options):
    return Task.from_folder(folder, *labels, **{"size": 8, **options})


def written(folder, make):
    """An image of a third class, as a task reads it."""
    path = folder / "b" / "odd.png"
    make(path)
    return from_folder(folder, {"file": ["b/odd.png", "a/0.png"], "label": ["x", "y"]}, split=0)


@needs_pillow
def test_pictures_of_every_depth_keep_their_brightness(folder):
    from PIL import Image

    grey16 = (np.ones((9, 9)) * 0x8080).astype(np.uint16)
    for make in (
        lambda path: Image.new("L", (9, 9), 128).save(path),
        lambda path: Image.new("LA", (9, 9), (128, 0)).save(path),
        lambda path: Image.new("RGBA", (9, 9), (128, 128, 128, 0)).save(path),
        lambda path: Image.fromarray(grey16).save(path),
        lambda path: Image.new("RGB", (1, 1), (128,) * 3).save(path),
        lambda path: Image.new("RGB", (900, 2), (128,) * 3).save(path),
    ):
        assert written(folder, make).x.take(torch.tensor([0])).unique().tolist() == [128]


@needs_pillow
@pytest.mark.parametrize(
    "values", [np.full((9, 9), 40000, dtype=np.int32), np.full((9, 9), 0.5, dtype=np.float32)]
)
def test_pictures_of_no_known_range_are_refused_and_not_clipped(folder, assert_refused, values):
    from PIL import Image

    task = written(folder, lambda path: Image.fromarray(values).save(path, format="TIFF"))
    assert_refused(lambda: task.x.take(torch.tensor([0])), "odd.png", "32 bits")


@needs_pillow
@pytest.mark.parametrize("content", [b"", b"hello", b"\xff\xd8\xff garbage"])
def test_what_is_no_picture_is_named(folder, assert_refused, content):
    task = written(folder, lambda path: path.write_bytes(content))
    assert_refused(lambda: task.x.take(torch.tensor([0])), "odd.png", "cannot be read as an image")
    assert_refused(lambda: evenhand.fit("mlp", "erm", task, epochs=1), "odd.png")


@needs_pillow
def test_a_picture_that_would_fill_the_memory_is_named(folder, assert_refused, monkeypatch):
    from PIL import Image

    task = written(folder, lambda path: Image.new("1", (300, 300)).save(path))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    assert_refused(lambda: task.x.take(torch.tensor([0])), "odd.png", "exceeds limit")


@needs_pillow
def test_hidden_files_are_the_systems_own(folder):
    (folder / ".thumbs").mkdir()
    (folder / ".thumbs" / "0.png").write_bytes(b"x")
    (folder / "a" / "._0.png").write_bytes(b"x")
    (folder / "a" / "notes.txt").write_text("x")
    task = from_folder(folder)
    assert len(task) == 10
    assert task.classes == ("a", "b")


@needs_pillow
def test_labels_elsewhere_than_in_the_folder(folder, assert_refused):
    """A label file may point to files outside; what is no image there is not read, and nothing is written."""
    outside = {"file": ["../b/0.png", "0.png"] * 5, "label": ["x", "y"] * 5}
    assert len(from_folder(folder / "a", outside)) == 10
    secret = {"file": [os.path.abspath(__file__), "0.png"] * 5, "label": ["x", "y"] * 5}
    assert_refused(lambda: from_folder(folder / "a", secret, resident=True), "cannot be read as an image")


LABEL_FILES = {
    "a mark of byte order": "\ufefffile,label\na/0.png,x\nb/0.png,y\n",
    "semicolons": "file;label\na/0.png;x\nb/0.png;y\n",
    "tabs": "file\tlabel\na/0.png\tx\nb/0.png\ty\n",
    "a line end in quotes": 'file,label,note\na/0.png,x,"1\n2"\nb/0.png,y,3\n',
    "blank lines": "file,label\n\na/0.png,x\n\nb/0.png,y\n\n",
    "other line ends": "file,label\r\na/0.png,x\r\nb/0.png,y\r\n",
}


@needs_pillow
@pytest.mark.parametrize("text", LABEL_FILES.values(), ids=LABEL_FILES)
def test_label_files_as_programs_write_them(folder, text):
    path = folder / "labels.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert from_folder(folder, path, split=0).classes == ("x", "y")


WRONG_FILES = {
    "no file": (None, "cannot be read"),
    "nothing in it": (b"", "no rows"),
    "a header alone": (b"file,label\n", "no rows"),
    "another column": (b"path,label\na/0.png,x\n", "no column 'file'"),
    "a short line": (b"file,label\na/0.png\nb/0.png,y\n", "row 1"),
    "another encoding": ("file,label\na/0.png,é\n".encode("latin-1"), "cannot be read"),
    "files that are lost": (b"file,label\na/7.png,x\nb/0.png,y\n", "1 of 2 images are missing"),
    "numbers for files": (b"file,label\n1,x\n2,y\n", "2 of 2 images are missing"),
    "a label that is missing": (b"file,label\na/0.png,x\na/1.png,\nb/0.png,y\n", "missing in 1 rows"),
}


@needs_pillow
@pytest.mark.parametrize(("content", "words"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_label_files_that_are_wrong(folder, assert_refused, content, words):
    path = folder / "labels.csv"
    if content is not None:
        path.write_bytes(content)
    assert_refused(lambda: from_folder(folder, path, split=0), words)


@needs_pillow
@pytest.mark.parametrize("size", [0, -1, 1.5, "8", None, True])
def test_sizes_that_are_none(folder, assert_refused, size):
    assert_refused(lambda: from_folder(folder, size=size), "whole number of pixels")


# -- registered data sets ------------------------------------------------------------------------------------

KNOBS = {
    "a seed that would not repeat": ("titanic", {"seed": None}, "seed=None"),
    "a negative seed": ("synthetic", {"seed": -1}, "seed=-1"),
    "a text for a number": ("adult", {"validation": "abc"}, "validation='abc'"),
    "a number for a text": ("adult", {"without": 3}, "without=3"),
    "a text for a switch": ("ci-mnist", {"g2": "no"}, "true or false"),
    "an undefined share": ("titanic", {"test": float("nan")}, "test=nan"),
    "half a row": ("synthetic", {"n_train": 1.5}, "n_train=1.5"),
    "a number for shares": ("synthetic", {"shares": 3}, "shares=3"),
    "texts for shares": ("synthetic", {"shares": ["a", "b"]}, "one list of shares"),
    "a billion attributes": ("synthetic", {"attributes": 10**9}, "at most d=10"),
    "a billion levels": ("synthetic", {"levels": 10**9}, "at most 1000"),
    "a misspelt knob": ("titanic", {"sead": 1}, "did you mean 'seed'?"),
    "a misspelt set": ("adlut", {}, "did you mean 'adult'?"),
    "a knob of another preparation": ("adult", {"age_ratio": "0.1,0.1"}, "preparation='s3'"),
}


@pytest.mark.parametrize(("name", "knobs", "words"), KNOBS.values(), ids=KNOBS)
def test_knobs_of_the_wrong_kind(assert_refused, name, knobs, words):
    assert_refused(lambda: evenhand.load(name, **knobs), words)


def test_numbers_of_numpy_are_numbers():
    one, other = (
        evenhand.load("titanic", seed=np.int64(3), test=np.float32(0.25)),
        evenhand.load("titanic", seed=3, test=0.25),
    )
    assert torch.equal(one.rows("test"), other.rows("test"))
    assert one.card.knobs == other.card.knobs


# -- files from outside --------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty data folder and an empty cache."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    return tmp_path


def source_of(content, name="file.bin", **more):
    return Source(name, sha256=hashlib.sha256(content).hexdigest(), **more)


@pytest.mark.parametrize("damage", ["a byte", "the end", "everything"])
def test_a_damaged_file_is_refused_with_both_sums(elsewhere, assert_refused, damage):
    content = bytes(range(256)) * 40
    other = {"a byte": content[:77] + b"\x00" + content[78:], "the end": content[:-9], "everything": b""}[
        damage
    ]
    (elsewhere / "file.bin").write_bytes(other)
    source = source_of(content)
    assert_refused(lambda: find(source), source.sha256, hashlib.sha256(other).hexdigest())


def test_a_damaged_packaged_file_is_refused(tmp_path, monkeypatch, assert_refused):
    content = bytearray((cache.FOLDER / "mnist_part.npz").read_bytes())
    content[1000] ^= 1
    (tmp_path / "mnist_part.npz").write_bytes(content)
    monkeypatch.setattr(cache, "FOLDER", tmp_path)
    assert_refused(lambda: evenhand.load("mnist"), cache.CHECKSUMS["mnist_part.npz"])


@pytest.mark.parametrize("kind", ["file", "nothing"])
def test_a_data_folder_that_is_none_is_told_before_a_download(elsewhere, monkeypatch, assert_refused, kind):
    place = elsewhere / "place"
    if kind == "file":
        place.write_text("x")
    monkeypatch.setenv("EVENHAND_DATA", str(place))
    monkeypatch.setattr(fetch, "urlopen", lambda *_, **__: pytest.fail("a download was begun"))
    source = source_of(b"x", urls=("http://127.0.0.1:1/x",))
    assert_refused(lambda: find(source), "EVENHAND_DATA", str(place), "no folder")
    assert evenhand.load("titanic").name == "titanic"  # what is in the package needs no folder


@pytest.mark.parametrize("reason", [gaierror(-2, "Name or service not known"), TimeoutError("timed out")])
def test_without_a_network_nobody_waits(elsewhere, monkeypatch, reason):
    asked = []

    def nobody(request, **_):
        asked.append(request.full_url)
        raise URLError(reason)

    monkeypatch.setattr(fetch, "urlopen", nobody)
    four = [source_of(b"x", name=f"{n}.bin", urls=("http://a/x", "http://b/x")) for n in "1234"]
    with pytest.raises(InputError) as caught:
        find_any(four)
    assert asked == ["http://a/x", "http://b/x"]  # each address once: no answer will not become one
    for words in ("What to do", "http://a/x", str(elsewhere / "cache"), "1.bin, 2.bin, 3.bin, 4.bin"):
        assert words in str(caught.value)


def test_a_cache_that_is_no_folder(elsewhere, monkeypatch, assert_refused):
    (elsewhere / "cache").write_text("x")
    assert_refused(lambda: find(source_of(b"x", urls=("http://127.0.0.1:1/x",))), "EVENHAND_CACHE")

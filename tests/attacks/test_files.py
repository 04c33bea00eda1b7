"""Hostile files and columns at the command line: a right number, or one sentence and exit code 2."""

import gzip
import json
import os

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import evenhand
from evenhand.cli.app import app

FEW = ("--replicates", "20")
COLUMNS = ("--label", "y", "--prediction", "p", "--group", "g", *FEW)


def run(*arguments):
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return found.exit_code, found.stdout, found.stderr


def assert_told(ran, *words):
    """Exit code 2 and one sentence on stderr that has the words."""
    code, out, err = ran
    assert code == 2, ran
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    for word in words:
        assert word in err, err


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    return {
        "y": y,
        "p": np.where(rng.random(80) < 0.8, y, 1 - y),
        "g": rng.choice(["a", "b"], 80),
        "h": rng.choice(["x", "z"], 80),
        "w": rng.integers(1, 4, 80),
    }


@pytest.fixture
def good(table, tmp_path):
    path = tmp_path / "good.csv"
    pl.DataFrame(table).write_csv(path)
    return path


def metrics(ran):
    code, out, err = ran
    assert code == 0, err
    return {key: entry["value"] for key, entry in json.loads(out)["metrics"].items()}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, value in found.items():
        assert value == pytest.approx(expected[key], nan_ok=True), key


# -- files ------------------------------------------------------------------------------------------------
def test_what_is_no_file_to_read(tmp_path):
    assert_told(run("audit", tmp_path / "none.csv", *COLUMNS), "no file", "none.csv")
    assert_told(run("audit", tmp_path, *COLUMNS), "is a folder")
    for name in ("empty.csv", "empty.parquet", "empty.csv.gz"):
        (tmp_path / name).touch()
        assert_told(run("audit", tmp_path / name, *COLUMNS), name, "empty")
    (tmp_path / "rows.txt").write_text("y,p,g\n1,1,a\n")
    assert_told(run("audit", tmp_path / "rows.txt", *COLUMNS), "rows.txt", ".csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert_told(run("audit", tmp_path / "loop.csv", *COLUMNS), "loop.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(good):
    good.chmod(0)
    assert_told(run("audit", good, *COLUMNS), "good.csv", "permission")


def test_a_pipe_is_read_or_refused_but_never_called_empty(tmp_path, good):
    """A CSV is read more than once, which a pipe cannot be."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    holder = os.open(pipe, os.O_RDWR)  # keeps the pipe open, so that nobody waits for a writer
    try:
        os.write(holder, good.read_bytes())
        code, _, err = run("audit", pipe, *COLUMNS)
    finally:
        os.close(holder)
    assert code in (0, 2)
    assert "empty" not in err


def test_standard_input_is_refused_in_so_many_words():
    assert_told(run("audit", "-", *COLUMNS), "file")


def test_a_path_in_any_script(good, tmp_path):
    strange = tmp_path / "дані 😀 (1)" / "prédictions [v2] 'x'.csv"
    strange.parent.mkdir()
    strange.write_bytes(good.read_bytes())
    out = tmp_path / "дані 😀 (1)" / "öut.json"
    code, _, err = run("audit", strange, *COLUMNS, "--json", out, "--html", out.with_suffix(".html"))
    assert (code, err) == (0, "")
    assert json.loads(out.read_text(encoding="utf-8"))["n"] == 80


def test_a_truncated_archive(tmp_path, good):
    packed = gzip.compress(good.read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    assert_told(run("audit", tmp_path / "cut.csv.gz", *COLUMNS), "cut.csv.gz")


def test_five_thousand_columns(tmp_path, table):
    wide = tmp_path / "wide.csv"
    extra = {f"c{k}": np.zeros(80, dtype=int) for k in range(5000)}
    pl.DataFrame({**extra, **table}).write_csv(wide)
    found = metrics(run("audit", wide, *COLUMNS, "--json", "-"))
    memory = evenhand.audit(table["y"], table["p"], table["g"], replicates=0)
    assert_same(found, {key: entry["value"] for key, entry in memory.to_dict()["metrics"].items()})
    assert_told(
        run("audit", wide, "--label", "yy", "--prediction", "p", "--group", "g"), "'yy'", "did you mean 'y'"
    )


def test_nested_columns(tmp_path, table):
    nested = tmp_path / "nested.parquet"
    frame = pl.DataFrame(table).with_columns(boxes=pl.concat_list("y", "p"), pairs=pl.struct("y", "p"))
    frame.write_parquet(nested)
    assert run("audit", nested, *COLUMNS, "-q")[0] == 0
    for column in ("boxes", "pairs"):
        assert_told(
            run("audit", nested, "--label", "y", "--prediction", "p", "--group", column), f"'{column}'"
        )


# -- columns ----------------------------------------------------------------------------------------------
INTERNAL = [
    ("label", "prediction", "group", "weight"),
    ("rows", "weight", "count", "len"),
    ("__index__", "index", "label", "rows"),
    ("count", "len", "literal", "n"),
    ("truth", "row", "score", "run"),
    ("prediction", "label", "key", "file"),
]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("names", INTERNAL, ids="-".join)
def test_columns_that_are_named_like_our_own(tmp_path, table, names, kind):
    label, prediction, group, weight = names
    path = tmp_path / f"names.{kind}"
    frame = pl.DataFrame({label: table["y"], prediction: table["p"], group: table["g"], weight: table["w"]})
    (frame.write_csv if kind == "csv" else frame.write_parquet)(path)
    arguments = ("--label", label, "--prediction", prediction, "--group", group, "--weight", weight)
    found = metrics(run("audit", path, *arguments, *FEW, "--json", "-"))
    alone = evenhand.audit(table["y"], table["p"], table["g"], weights=table["w"], replicates=0)
    expected = json.loads(alone.to_json())["metrics"]
    assert_same(found, {key: entry["value"] for key, entry in expected.items()})
    both = run("compare", path, path, *arguments, *FEW, "--name", "a", "--name", "b", "--json", "-")
    assert both[0] == 0, both[2]


def test_a_group_column_given_twice(good):
    assert_told(run("audit", good, *COLUMNS, "--group", "g"), "'g'", "twice")


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("y,p,g,g\n1,1,a,b\n0,1,b,a\n")
    assert_told(run("audit", path, *COLUMNS), "'g'", "twice")


def test_the_label_as_group_and_as_prediction(good):
    """Odd but defined: groups by the truth have one of the two rates each, never both."""
    by_label = metrics(
        run("audit", good, "--label", "y", "--prediction", "p", "--group", "y", *FEW, "--json", "-")
    )
    assert by_label["tpr.gap"] is None
    assert by_label["selection.gap"] > 0
    itself = metrics(
        run("audit", good, "--label", "y", "--prediction", "y", "--group", "g", *FEW, "--json", "-")
    )
    assert itself["acc"] == 1


def test_numbers_near_the_limits(tmp_path, table):
    path = tmp_path / "big.csv"
    classes = np.array([10**18, 10**18 + 1])
    pl.DataFrame(
        {"y": classes[table["y"]], "p": classes[table["p"]], "g": np.where(table["g"] == "a", 1.5, 2.5)}
    ).write_csv(path)
    code, out, err = run("audit", path, *COLUMNS, "--json", "-")
    assert code == 0, err
    body = json.loads(out)
    assert body["classes"] == ["1000000000000000000", "1000000000000000001"]
    assert [group["name"] for group in body["groups"]] == ["1.5", "2.5"]
    expected = evenhand.audit(table["y"], table["p"], table["g"], replicates=0).metrics["tpr.gap"].value
    assert body["metrics"]["tpr.gap"]["value"] == pytest.approx(expected)


def test_the_same_rows_in_a_file_and_in_memory(good, table):
    found = metrics(run("audit", good, *COLUMNS, "--group", "h", "--weight", "w", "--json", "-"))
    memory = evenhand.audit(
        table["y"], table["p"], {"g": table["g"], "h": table["h"]}, weights=table["w"], replicates=0
    )
    assert_same(
        found, {key: entry["value"] for key, entry in json.loads(memory.to_json())["metrics"].items()}
    )


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), (1, 2), ("no", "yes")])
def test_labels_mean_the_same_in_a_file_and_in_memory(tmp_path, table, labels):
    path, words = tmp_path / "labels.csv", np.array(labels)
    pl.DataFrame({"y": words[table["y"]], "p": words[table["p"]], "g": table["g"]}).write_csv(path)
    code, out, _ = run("audit", path, *COLUMNS, "--json", "-")
    body = json.loads(out)
    memory = evenhand.audit(words[table["y"]], words[table["p"]], table["g"], replicates=0).to_dict()
    assert code == 0
    assert (body["n"], body["classes"], body["missing"]) == (
        memory["n"],
        memory["classes"],
        memory["missing"],
    )
    assert body["metrics"]["tpr.gap"]["value"] == pytest.approx(memory["metrics"]["tpr.gap"]["value"])


# -- options ----------------------------------------------------------------------------------------------
def test_options_that_make_no_sense(good):
    assert_told(run("audit", good, *COLUMNS, "--seed", "-1"), "seed")
    assert_told(run("audit", good, *COLUMNS, "--confidence", "95"), "between 0 and 1")
    assert_told(run("audit", good, *COLUMNS, "--smoothing", "nan"), "smoothing")


def test_no_group_is_large_enough(good):
    code, out, _ = run("audit", good, *COLUMNS, "--min-count", "1000", "--json", "-")
    assert code == 0
    body = json.loads(out)
    assert body["metrics"]["tpr.gap"]["value"] is None
    assert all(group["excluded"] for group in body["groups"])
    pair = ("compare", good, good, *COLUMNS, "--name", "a", "--name", "b")
    code, out, err = run(*pair, "--min-count", "1000", "--json", "-")
    assert code == 0, err
    assert json.loads(out)["accuracy"]["a"] > 0.5


def test_a_gate_on_an_undefined_metric_does_not_pass_in_silence(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("y,p,g\n" + "1,1,a\n0,0,a\n" * 10)
    code, _, err = run("audit", path, *COLUMNS, "--fail-if", "tpr.gap>0.1", "-q")
    assert code in (1, 2)
    assert "tpr.gap" in err


def test_the_html_and_json_of_undefined_values(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("y,p,g\n" + "1,1,a\n1,1,b\n" * 5)
    out = tmp_path / "out"
    code, _, err = run(
        "audit",
        path,
        *COLUMNS,
        "-q",
        "--json",
        f"{out}.json",
        "--html",
        f"{out}.html",
        "--markdown",
        f"{out}.md",
    )
    assert code == 0, err
    text = (tmp_path / "out.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["metrics"]["fpr.gap"]["value"] is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_empty_texts_of_a_file_are_what_they_are_of_arrays(table, tmp_path, ending):
    words = {
        **table,
        "y": np.where(table["y"] == 1, "yes", "no"),
        "p": np.where(table["p"] == 1, "yes", "no"),
    }
    words["y"][:5], words["g"][3:20] = "", " "
    path = tmp_path / f"rows.{ending}"
    getattr(pl.DataFrame(words), f"write_{ending}")(path)
    code, out, err = run("audit", path, *COLUMNS, "--json", "-")
    assert code == 0, err
    expected = evenhand.audit(words["y"], words["p"], words["g"], replicates=20).to_dict()
    found = json.loads(out)
    assert (found["n"], found["unknown"]) == (expected["n"], expected["unknown"]) == (75, 15)
    assert found["metrics"]["tpr.gap"]["value"] == expected["metrics"]["tpr.gap"]["value"]

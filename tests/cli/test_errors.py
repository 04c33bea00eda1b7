import os

import numpy as np
import pytest

AUDIT = ("--label", "y", "--prediction", "p", "--group", "g")


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def good(file):
    return file("good.csv", "y,p,g,s,r\n1,1,a,0.2,0\n0,1,b,0.9,0\n1,0,b,0.2,1\n0,0,a,0.3,1\n")


def assert_refused(ran, *words):
    """Exit code 2, nothing on stdout, and one sentence on stderr that has the words."""
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err, ran.err


# name of the file, its content, arguments, words that the sentence must have
FILES = [
    ("a.csv", "", AUDIT, ("a.csv is empty",)),
    ("a.csv", "y,p,g\n", AUDIT, ("a.csv", "no rows")),
    ("a.csv", "y,p,g\nyes,1,a\nno,0,b\n", AUDIT, ("'y' holds text", "'p' holds numbers", "alike")),
    ("a.csv", "y,p,g\n1,1,\n0,0,\n", AUDIT, ("'g'", "empty in every row")),
    ("a.csv", "y,p,g,s\n1,1,a,.5\n0,0,b,1.5\n", (*AUDIT, "--score", "s"), ("'s'", "1.5", "row 2", "0 to 1")),
    ("a.csv", "y,p,g,s\n1,1,a,.5\n0,0,b,x\n", (*AUDIT, "--score", "s"), ("'s'", "row 2", "'x'")),
    ("a.csv", "y,p,g,w\n1,1,a,1\n0,0,b,-2\n", (*AUDIT, "--weight", "w"), ("'w'", "-2", "row 2")),
    ("a.csv", "y,p,g\n1,0.25,a\n0,0.5,b\n", AUDIT, ("'p'", "looks like scores", "--score p")),
    ("a.csv", "y,p,g\n1,1,a\n0,0\n", AUDIT, ("row 2 of a.csv has 2 fields",)),
    ("a.parquet", b"PAR1 this is none PAR1", AUDIT, ("a.parquet", "not a Parquet file")),
    ("a.xlsx", "y,p,g\n", AUDIT, ("a.xlsx", ".parquet")),
]


@pytest.mark.parametrize(("name", "content", "arguments", "words"), FILES)
def test_a_file_that_is_wrong(run, file, name, content, arguments, words):
    assert_refused(run("audit", file(name, content), *arguments), *words)


def test_a_parquet_file_with_a_damaged_page(run, tmp_path):
    import polars as pl

    path, rng = tmp_path / "damaged.parquet", np.random.default_rng(0)
    codes = {name: rng.integers(0, 40, 20_000) for name in ("y", "p", "g")}
    pl.DataFrame(codes).write_parquet(path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[400:3000] = bytes(byte ^ 0x5A for byte in content[400:3000])
    path.write_bytes(content)
    assert_refused(run("audit", path, *AUDIT), "damaged.parquet is damaged", "write it again")


# further arguments to an audit of a good file, words of the sentence
ARGUMENTS = [
    (("--metric", "tprr"), ("no metric 'tprr'", "did you mean tpr")),
    (("--confidence", "2"), ("confidence", "between 0 and 1")),
    (("--confidence", "x"), ("--confidence", "evenhand audit --help")),
    (("--convention", "loose"), ("'strict', 'paper', 'artifact'",)),
    (("--privileged", "zz"), ("no group 'zz'", "a, b")),
    (("--positive", "7"), ("no class '7'", "0, 1")),
    (("--score", "nope"), ("no column 'nope' in good.csv", "y, p, g, s, r")),
    (("--bogus",), ("--bogus", "--help")),
    (("--fail-if", "tpr.gap"), ("quotation marks", "tpr.gap")),
    (("--fail-if", "tpr.gp>0.1"), ("no metric 'tpr.gp'", "tpr.gap")),
    (("--fail-if", "tpr.gap.hi>0.1"), ("'tpr.gap' has no 'hi'", "high")),
    (("--fail-if", "tpr.gap>lots"), ("'lots'", "not a number")),
    (("--fail-if", "auc.gap>0.1"), ("'auc.gap'", "needs scores")),
    (("--fail-if", "cie>0.1"), ("'cie'", "evenhand compare")),
    (("--json", "-", "--html", "-"), ("--json", "'-'")),
    (("--run", "r"), ("run '1'", "same rows")),
    (("--run", "r", "--run-file", "x.csv"), ("--run and --run-file",)),
    (("--replicates", "-1"), ("negative",)),
]


@pytest.mark.parametrize(("arguments", "words"), ARGUMENTS)
def test_an_argument_that_is_wrong(run, good, arguments, words):
    if arguments == ("--run", "r"):
        good.write_text("y,p,g,r\n1,1,a,0\n0,1,b,0\n1,0,b,1\n")
    assert_refused(run("audit", good, *AUDIT, *arguments), *words)


def test_no_such_file_folder_or_column(run, good, tmp_path):
    assert_refused(run("audit", tmp_path / "none.csv", *AUDIT), "there is no file", "none.csv")
    assert_refused(run("audit", tmp_path, *AUDIT), "is a folder")
    assert_refused(
        run("audit", good, "--label", "yy", "--prediction", "p", "--group", "g"), "'yy'", "did you mean 'y'"
    )
    assert_refused(run("audit", good, "--label", "y", "--group", "g"), "prediction", "score")
    assert_refused(run("audit", good, "--label", "y", "--prediction", "p"), "missing option '--group'")
    assert_refused(run("audit"), "missing argument", "evenhand audit --help")
    assert_refused(run("audits"), "no such command", "'audit'")


def test_outputs_that_cannot_be_written_are_refused_before_the_work(run, good, tmp_path):
    before = good.read_text()
    assert_refused(run("audit", good, *AUDIT, "--json", tmp_path / "no" / "x.json"), "there is no folder")
    assert_refused(run("audit", good, *AUDIT, "--html", tmp_path), "is a folder")
    assert_refused(run("audit", good, *AUDIT, "--json", good), "would overwrite")
    assert good.read_text() == before
    assert_refused(run("demo", "--out", good), "is a file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(run, good, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert_refused(run("audit", good, *AUDIT, "--json", tmp_path / "locked" / "x.json"), "permission")


def test_an_earlier_audit_that_is_none(run, good, file, tmp_path):
    for content, words in (
        ("{", "not a JSON file"),
        ("[1]", "does not hold an audit"),
        ("{}", "does not hold an audit"),
    ):
        assert_refused(
            run("audit", good, *AUDIT, "--replicates", 0, "--against", file("old.json", content)), words
        )
    assert_refused(run("audit", good, *AUDIT, "--against", tmp_path / "none.json"), "there is no file")


def test_compare_refuses_other_rows(run, good, file):
    pair = ("--label", "y", "--prediction", "p")
    short = file("short.csv", "y,p\n1,1\n")
    assert_refused(run("compare", good, short, *pair), "short.csv has 1 rows", "good.csv has 4", "key")
    other = file("other.csv", "y,p\n1,1\n1,1\n1,0\n0,0\n")
    assert_refused(run("compare", good, other, *pair), "label", "other.csv", "row 2")
    assert_refused(run("compare", good, *pair), "missing argument 'ALT'")
    copy = file("copy.csv", good.read_text())
    assert_refused(run("compare", good, copy, *pair, "--name", "one"), "1 names", "2 files")
    assert_refused(
        run("compare", good, copy, *pair, "--fail-if", "nobody:cev>1"), "no alternative 'nobody'", "copy"
    )
    assert_refused(run("compare", good, copy, *pair, "--fail-if", "tpr.gap.difference>1"), "tpr.gap", "group")
    assert_refused(run("compare", good, copy, *pair, "--fail-if", "cie>1"), "cie", "runs")
    assert_refused(run("compare", good, copy, *pair, "--fail-if", "accuracy.p>1"), "'accuracy' has no 'p'")


def test_debug_shows_where_it_came_from(run, tmp_path):
    ran = run("audit", tmp_path / "none.csv", *AUDIT, "--debug")
    assert ran.code == 2
    assert "Traceback" in ran.err
    assert ran.err.splitlines()[-1].startswith("error: there is no file")


def test_a_mistake_of_ours_is_told_apart_and_ctrl_c_is_quiet(run, good, monkeypatch):
    def fail(error):
        def read(*_, **__):
            raise error

        return read

    monkeypatch.setattr("evenhand.tables.read_cells", fail(KeyError("lost")))
    ran = run("audit", good, *AUDIT)
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "KeyError" in ran.err
    monkeypatch.setattr("evenhand.tables.read_cells", fail(KeyboardInterrupt()))
    ran = run("audit", good, *AUDIT)
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "")


@pytest.mark.parametrize("way", [lambda *_, **__: np.argmax([]), lambda *_, **__: np.zeros(0).reshape(3)])
def test_what_numpy_says_of_our_arrays_is_no_mistake_of_the_user(run, good, monkeypatch, way):
    monkeypatch.setattr("evenhand.tables.read_cells", way)
    monkeypatch.setitem(way.__globals__, "__name__", "evenhand.stand_in")  # its frame is one of ours
    ran = run("audit", good, *AUDIT)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: evenhand failed (ValueError: ")
    assert ran.err.endswith("; --debug shows where\n")


def test_what_functions_refuse_in_several_lines_is_a_mistake_of_the_user(run, good, monkeypatch):
    from evenhand.evaluation.checks import checked_weights

    monkeypatch.setattr("evenhand.tables.read_cells", lambda *_, **__: checked_weights([1, -1], 2))
    assert_refused(run("audit", good, *AUDIT), "weight -1.0 in row 1")
    monkeypatch.setattr("evenhand.tables.read_cells", lambda *_, **__: checked_weights([1, 2], 3))
    assert_refused(run("audit", good, *AUDIT), "2 weights for 3 rows")
    monkeypatch.setattr("evenhand.tables.read_cells", lambda *_, **__: float("x"))  # in a module of one's own
    assert_refused(run("audit", good, *AUDIT), "could not convert string to float")

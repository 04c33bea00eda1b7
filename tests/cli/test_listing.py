from evenhand import CATALOGUE


def test_every_metric_is_listed(run):
    ran = run("list", "metrics")
    assert ran.code == 0
    listed = {line.split()[0] for line in ran.out.splitlines() if line.strip()}
    assert set(CATALOGUE) <= listed
    assert [row["key"] for row in run("list", "metrics", "--json").json] == list(CATALOGUE)


def test_one_metric_with_formula_and_source(run):
    out = run("list", "metrics", "eotp").out
    assert CATALOGUE["eotp"].formula in out
    assert "Qian et al. 2021" in out
    assert run("list", "metrics", "tpr.gap", "--json").json["needs"] == "counts"


def test_choosing_metrics(run):
    assert {row["key"] for row in run("list", "metrics", "--family", "s0", "--json").json} == {
        "dp",
        "di",
        "spsf",
        "fpsf",
        "eofp",
        "eotp",
        "ba",
    }
    found = run("list", "metrics", "--search", "Opportunity", "--json").json
    assert {"eqopp0", "eqopp1"} <= {row["key"] for row in found}


def test_nothing_found_is_an_error_with_a_hint(run):
    for arguments, words in (
        (("tpr.gp",), "tpr.gap"),
        (("tpr",), "did you mean tpr."),
        (("--family", "S9"), "there are: rates"),
        (("--search", "zzzz"), "'zzzz'"),
    ):
        ran = run("list", "metrics", *arguments)
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1


def test_rates_and_data_sets(run):
    rates = run("list", "rates", "--json").json
    assert {"tpr", "auc", "mcc"} <= {rate["key"] for rate in rates}
    assert "false omission rate" in run("list", "rates").out
    files = run("list", "datasets", "--json").json
    assert {"titanic.csv.gz", "titanic_runs.csv.gz"} <= {file["file"] for file in files}
    assert next(file["rows"] for file in files if file["file"] == "titanic.csv.gz") == 1309
    assert "1,309" in run("list", "datasets").out


def test_help_where_nothing_is_named(run):
    for arguments in ((), ("list",)):
        ran = run(*arguments)
        assert ran.code == 0
        assert "Usage: evenhand" in ran.out
    version = run("--version")
    assert version.out.startswith("evenhand ")

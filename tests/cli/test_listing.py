from evenhand import CATALOGUE
from evenhand.data.registry import DATASETS
from evenhand.methods.registry import METHODS
from evenhand.nets.registry import NETS


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


def test_rates_and_packaged_files(run):
    rates = run("list", "rates", "--json").json
    assert {"tpr", "auc", "mcc"} <= {rate["key"] for rate in rates}
    assert "false omission rate" in run("list", "rates").out
    files = {file["file"]: file for file in run("list", "files", "--json").json}
    assert {"titanic.csv.gz", "titanic_runs.csv.gz", "adult.csv.gz"} <= set(files)
    assert files["titanic.csv.gz"]["rows"] == 1309
    assert all(file["columns"] is None for name, file in files.items() if not name.endswith(".csv.gz"))
    assert "1,309" in run("list", "files").out


def test_methods_have_the_columns_of_s1(run):
    rows = {row["key"]: row for row in run("list", "methods", "--json").json}
    assert list(rows) == list(METHODS)
    marks = {key: (row["groups"], row["reweights"], row["adversarial"]) for key, row in rows.items()}
    assert marks["erm"] == (False, False, False)  # U-ERM
    assert marks["gdro"] == (True, True, True)  # WA-GDRO
    assert marks["w-erm"] == (True, True, False)
    assert marks["jtt"] == (False, True, True)  # UWA-JTT
    out = run("list", "methods").out
    assert all(head in out for head in ("needs groups", "reweights", "adversarial", "stackable"))
    assert all(key in out for key in METHODS)


def test_one_method_with_objective_fields_and_source(run):
    out = run("list", "methods", "gdro").out
    for words in ("sum_g q_g L_g", "Sagawa", "eta", "0.01", "0 or more", "label-group, group"):
        assert words in out
    assert ">>>" not in out
    fields = {field["name"]: field for field in run("list", "methods", "gap", "--json").json["fields"]}
    assert fields["target"]["allowed"] == "parity, opportunity, odds"
    assert fields["momentum"]["allowed"] == "0 to 0.9999"
    assert fields["lam"]["search"] == [0.1, 10.0]


def test_data_sets_and_networks(run):
    sets = {row["name"]: row for row in run("list", "datasets", "--json").json}
    assert list(sets) == list(DATASETS)
    assert sets["adult"]["protected"] == ["sex"]
    assert "in the package" in run("list", "datasets").out
    nets = {row["name"]: row for row in run("list", "nets", "--json").json}
    assert list(nets) == list(NETS)
    assert not nets["resnet18"]["stackable"]
    assert "s4-mlp" in run("list", "nets").out
    assert run("list", "nets", "mlp", "--json").json["options"]["widths"] == [64, 64]
    assert "widths" in run("list", "nets", "mlp").out


def test_a_name_that_is_not_there_gets_the_nearest(run):
    for arguments, words in ((("methods", "gdr"), "'gdro'"), (("nets", "mpl"), "'mlp'")):
        ran = run("list", *arguments)
        assert ran.code == 2
        assert words in ran.err


def test_help_where_nothing_is_named(run):
    for arguments in ((), ("list",)):
        ran = run(*arguments)
        assert ran.code == 0
        assert "Usage: evenhand" in ran.out
    version = run("--version")
    assert version.out.startswith("evenhand ")

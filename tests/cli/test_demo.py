import json


def test_the_demo_trains_writes_reports_and_tells_findings(run, tmp_path):
    ran = run("demo", "--out", tmp_path / "new" / "demo", "--seeds", "2", "--epochs", "1")
    assert ran.code == 0, ran.err
    folder = tmp_path / "new" / "demo"
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "tradeoff.html",
        "tradeoff.json",
        "audit.html",
        "audit.json",
        "audit.md",
        "runs.html",
        "runs.json",
        "runs.md",
        "comparison.html",
        "comparison.json",
    }
    one, runs, models = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("audit", "runs", "comparison")
    )
    weighed = json.loads((folder / "tradeoff.json").read_text())
    assert [method["name"] for method in weighed["methods"]] == ["erm", "gdro", "ind", "gap"]
    assert all(len(method["seeds"]) == 2 for method in weighed["methods"])
    assert weighed["task"]["name"] == "adult"
    assert "Trade-off on adult by sex" in ran.out
    assert one["grouping"] == ["sex", "pclass"]
    assert one["method"]["scores"] == "exact"
    assert runs["runs"]["n"] == 5
    assert models["models"] == ["boosting", "small", "logistic"]
    for title in ("One model", "Five trainings", "Three models"):
        assert title in ran.out
    assert all(str(folder / f"{name}.html") in ran.out for name in ("audit", "runs", "comparison"))

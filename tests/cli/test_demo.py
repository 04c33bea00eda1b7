import json


def test_the_demo_writes_reports_and_tells_three_findings(run, tmp_path):
    ran = run("demo", "--out", tmp_path / "new" / "demo")
    assert ran.code == 0, ran.err
    folder = tmp_path / "new" / "demo"
    names = {path.name for path in folder.iterdir()}
    assert names == {
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
    assert one["grouping"] == ["sex", "pclass"]
    assert one["method"]["scores"] == "exact"
    assert runs["runs"]["n"] == 5
    assert models["models"] == ["boosting", "small", "logistic"]
    for title in ("One model", "Five trainings", "Three models"):
        assert title in ran.out
    assert all(str(folder / f"{name}.html") in ran.out for name in ("audit", "runs", "comparison"))

"""The studies of compression: what they declare, and a small one of perceptrons from declaration to page."""

from html import unescape
from pathlib import Path

import pytest

from evenhand.evaluation.compression.__main__ import main
from evenhand.evaluation.compression.study import compute, together
from evenhand.report.compression import render
from evenhand.report.compression_markdown import study_parts
from evenhand.report.compression_words import begun_otherwise
from evenhand.study.driver import Options, run_study
from evenhand.study.plain import study_from_dict, study_to_dict
from evenhand.study.read import read_study
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

NAMES = ("compression-mnist", "compression-cifar10", "compression-cifar10-small", "compression-cifar100")
PRUNED = {"kind": "magnitude", "every": 1, "share": 0.8}


@pytest.mark.parametrize("name", NAMES)
def test_a_study_has_a_base_ten_methods_and_keeps_predictions(name):
    study = read_study(name)
    assert study.predictions
    assert study.smoke.predictions
    assert [method.name for method in study.methods][:2] == ["base", "pruning"]
    assert len(study.methods) == 11
    assert len(study.seeds) == 5
    pruning = study.methods[1]  # a distillation without a term of its own
    assert (pruning.key, pruning.fields["alpha"], pruning.fields["gamma"]) == ("prune+kd", 0.0, 1.0)
    kept = {method.name.removeprefix("prune+") for method in study.methods[2:]}
    assert kept == {"kd", "at", "pkt", "sp", "fsp", "at-kd", "pkt-kd", "sp-kd", "fsp-kd"}
    assert {method.fields["every"] for method in study.methods[1:]} == {5 if "100" in name else 1}


def test_the_small_form_has_the_data_methods_and_seeds_of_the_whole():
    whole, small = (read_study(f"compression-cifar10{form}") for form in ("", "-small"))
    for part in ("tasks", "groupings", "methods", "seeds", "claims", "predictions"):
        assert getattr(whole, part) == getattr(small, part)


def test_the_switch_is_written_only_where_it_is_on():
    off, on = Study("s"), Study("s", predictions=True)
    assert "predictions" not in study_to_dict(off)
    assert study_from_dict(study_to_dict(on)).predictions


def test_predictions_must_be_true_or_false(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'predictions = 1\n[[task]]\ndata = "titanic"\n[[method]]\nkey = "erm"\n', encoding="utf-8"
    )
    with pytest.raises(Exception, match="'predictions' must be true or false"):
        read_study(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three methods, two seeds, a perceptron and 300 digits."""
    study = Study(
        "compression-tiny", smoke=Study("compression-tiny"), predictions=True, seeds=(0, 1),
        tasks=(TaskSpec("mnist-under", "mnist-under", {"limit": 300}),),
        nets=(NetEntry("mlp", "mlp", {"widths": [16]}),),
        groupings=(GroupingSpec(("ink_in_class",), "ink_in_class", measure=(("kept",),)),),
        recipe={"epochs": 4, "batch_size": 50, "rate": 0.01},
        methods=(MethodSpec("erm", "base"), MethodSpec("prune+erm", "pruning", fields=PRUNED),
                 MethodSpec("prune+kd", "kd", fields=PRUNED)),
    )  # fmt: skip
    out = tmp_path_factory.mktemp("runs")
    run_study(study, Options(out, backend="inline", device="cpu"))
    return out


def test_students_begin_with_the_network_that_the_base_is(folder):
    with Store.open(folder, readonly=True) as store:
        assert compute(store)["begun"] == {"runs": 2, "same": 2}  # pruning alone has no teacher


def test_a_teacher_that_went_another_way_is_told(folder, monkeypatch):
    with Store.open(folder, readonly=True) as store:
        kept = store.history

        def other(run):
            history = kept(run)
            if len(set(history["phase"])) > 1:
                history["train"][0] += 1e-9
            return history

        monkeypatch.setattr(store, "history", other)
        study = compute(store)
    assert study["begun"] == {"runs": 2, "same": 0}
    told = begun_otherwise(study)
    assert told.startswith("2 of 2 students of compression-tiny began with another training of the base's")
    assert f"**{told}**" in study_parts(study, lambda study, name: name)
    assert told in unescape(render(together([study])))


def test_a_study_keeps_its_predictions_and_its_page_is_written(folder, tmp_path, capsys):
    with Store.open(folder, readonly=True) as store:
        assert store.counts_of_states()["done"] == 6
        assert all(store.predictions(run.id)["test"].shape == (2000, 10) for run in store.runs())
    page, html = tmp_path / "page.md", tmp_path / "page.html"
    page.write_text("<!-- compression: begin -->\n<!-- compression: end -->\n", encoding="utf-8")
    assert main([str(folder), "--page", str(page), "--html", str(html)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Table 1 in shape at 80 %" in text
    assert "| Pruning |" in text
    alone = tmp_path / "alone.html"  # no page is needed for it
    assert main([str(folder), "--html", str(alone)]) == 0
    assert alone.is_file()
    with pytest.raises(SystemExit, match="2"):
        main([str(folder)])
    assert "| KD |" in text
    assert "data:image/png" in html.read_text(encoding="utf-8")
    assert (tmp_path / "page" / "compression-tiny" / "figure-2-80.svg").is_file()


def test_a_wrong_page_is_told_and_a_small_study_answers_no_claim(folder, tmp_path, capsys):
    (tmp_path / "other.md").write_text("no comments", encoding="utf-8")
    assert main([str(folder), "--page", str(tmp_path / "other.md")]) == 2
    assert "compression: begin" in capsys.readouterr().err
    made = tmp_path / "made" / "page.md"
    assert main([str(folder), "--page", str(made)]) == 0
    assert made.read_text("utf-8").startswith("<!-- compression: begin -->")
    assert "written: " in capsys.readouterr().err
    claims = Path(__file__).parents[2] / "docs" / "claims.csv"
    small = tmp_path / "small"
    study = Study("compression-tiny", tasks=(TaskSpec("titanic"),), methods=(MethodSpec("erm", "erm"),),
                  groupings=(GroupingSpec(("sex",), "sex"),))  # fmt: skip
    run_study(study, Options(small, backend="inline", device="cpu", limit=0))
    assert main([str(small), "--page", str(tmp_path / "p.md"), "--claims", str(claims)]) == 2
    assert "answer no claim" in capsys.readouterr().err

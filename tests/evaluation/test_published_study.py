"""study.json: a page from published studies is the page from their stores, and what is none is refused."""

import json
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.compression import study as compression
from evenhand.evaluation.compression.__main__ import main as compression_page
from evenhand.evaluation.fixed_seed.__main__ import main as fixed_seed_page
from evenhand.evaluation.many_attributes import study as many
from evenhand.evaluation.many_attributes.__main__ import main as many_page
from evenhand.evaluation.page_folders import publish_studies, read_studies
from evenhand.evaluation.published_study import publish, read_published
from evenhand.report.compression_files import write_page as write_compression
from evenhand.report.many_attributes_files import write_page as write_many
from evenhand.report.many_attributes_names import inside
from evenhand.report.marked_page import marks_of
from evenhand.study.driver import Options, run_study
from evenhand.study.smoke import smoke_form
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec

HERE = Path(__file__).parent
KNOBS = {"n_train": 200, "n_validation": 50, "n_test": 300, "classes": 3}
TINY = Study(
    "tiny", "A tiny study", tasks=(TaskSpec("synthetic", "three", KNOBS),),
    groupings=(GroupingSpec(("a0",)),), nets=(NetEntry("mlp", options={"widths": [8]}),),
    methods=(MethodSpec("erm", "S-Base"), MethodSpec("disc", "S-DD1")),
    recipe={"epochs": 1, "batch_size": 32}, seeds=(0, 1),
)  # fmt: skip
TINY = replace(TINY, smoke=smoke_form(TINY))
TINIER = replace(TINY, name="tinier", seeds=(2, 3))
STUDY = {"name": "mine", "small": False, "x": [1, 1.0, 0.1 + 0.2, None], "é": "−"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Two real studies, each in a folder of its name."""
    folder = tmp_path_factory.mktemp("runs")
    for study in (TINY, TINIER):
        assert run_study(study, Options(folder / study.name, backend="inline", device="cpu")).failed == 0
    return [folder / "tiny", folder / "tinier"]


@pytest.fixture
def place(tmp_path):
    """Makes a folder with a page to be filled, and says what to give a program for it."""

    def make(name, mark):
        own = tmp_path / name
        own.mkdir()
        (own / "page.md").write_text("\n".join([*marks_of(mark), ""]))
        return own, ["--page", str(own / "page.md"), "--out", str(own / "out")]

    return make


def contents(folder):
    """Every file with its bytes, without the time at which it was made."""
    return {
        path.relative_to(folder).as_posix(): re.sub(rb'"created": "[^"]+"', b"", path.read_bytes())
        for path in folder.rglob("*") if path.is_file()
    }  # fmt: skip


def names(folders):
    return [str(folder) for folder in folders]


# -- round trips -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize(("page", "mark"), [(many_page, "many attributes"), (fixed_seed_page, "fixed seed")])
def test_a_page_from_published_studies_is_the_page_from_their_stores(stores, place, page, mark, several):
    given = stores if several else stores[:1]
    first, asked = place("first", mark)
    assert page([*names(given), *asked]) == 0
    published = [first / "out" / (folder.name if several else "") for folder in given]
    assert all((folder / "study.json").is_file() for folder in published)
    second, asked = place("second", mark)
    assert page([*names(published), *asked]) == 0
    assert contents(second) == contents(first)
    assert len(contents(second)) > 6
    assert not several or "tinier" in (second / "page.md").read_text("utf-8")


def test_a_page_takes_stores_and_published_studies_together(stores, place):
    first, asked = place("first", "many attributes")
    assert many_page([*names(stores), *asked]) == 0
    second, asked = place("second", "many attributes")
    assert many_page([str(first / "out" / "tiny"), str(stores[1]), *asked]) == 0
    assert contents(second) == contents(first)


def test_a_page_of_html_is_made_of_published_studies_too(stores, place, tmp_path):
    first, asked = place("first", "fixed seed")
    assert fixed_seed_page([str(stores[0]), *asked, "--html", str(tmp_path / "one.html")]) == 0
    assert fixed_seed_page([str(first / "out"), "--html", str(tmp_path / "two.html")]) == 0
    one, two = (
        re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", (tmp_path / f"{name}.html").read_text("utf-8"))
        for name in ("one", "two")
    )
    assert one == two


def test_studies_of_many_structures_come_back_with_every_figure(place):
    world = runpy.run_path(str(HERE / "many_attributes_world.py"))
    planted = [world["scarce"](), world["sweep"](methods=("erm", "w-erm", "ind", "ind-kd"))]
    body = many.together([many.compute(frame) for frame in planted])
    first, _ = place("first", "many attributes")
    write_many(body, first / "page.md", first / "out")
    found = publish_studies(body, first / "out", lambda _, study: inside(study, True))
    second, asked = place("second", "many attributes")
    assert many_page([*names(path.parent for path in found), *asked]) == 0
    assert contents(second) == contents(first)
    assert "out/many-attributes-faces/figure-9-multi.svg" in contents(second)


def test_pictures_of_exemplars_are_published_with_their_study(place, monkeypatch):
    monkeypatch.setattr("evenhand.evaluation.compression.agreement.DRAWS", 200)
    world = SimpleNamespace(**runpy.run_path(str(HERE / "compression_world.py")))
    planted = world.planted(methods=("base", "pruning", "kd"), levels=(0.45,), seeds=3)
    body = compression.together([compression.compute(planted)])
    first, _ = place("first", "compression")
    write_compression(body, first / "page.md", first / "out")
    (path,) = publish_studies(body, first / "out", lambda _, study: study["name"])
    second, asked = place("second", "compression")
    assert compression_page([str(path.parent), *asked]) == 0
    assert contents(second) == contents(first)
    assert any(name.endswith(".png") for name in contents(second))


# -- the file ----------------------------------------------------------------------------------------------
def test_numbers_come_back_as_they_were_and_nothing_is_undefined_but_null(tmp_path):
    publish({**STUDY, "lost": float("nan")}, "many-attributes", tmp_path)
    found = read_published(tmp_path, "many-attributes")
    assert repr(found) == repr({**STUDY, "lost": None})
    assert "NaN" not in (tmp_path / "study.json").read_text("utf-8")


def test_the_same_study_is_the_same_bytes_at_any_time(tmp_path):
    texts = [
        publish({**STUDY, "created": moment}, "fixed-seed", tmp_path / moment).read_bytes()
        for moment in ("2020", "2030")
    ]
    assert texts[0] == texts[1]
    head = json.loads(texts[0])
    del head["study"]
    assert head == {"kind": "fixed-seed", "format": 1, "evenhand": evenhand.__version__}
    assert read_published(tmp_path / "2020", "fixed-seed")["created"] > "2020"


def test_a_study_that_did_not_change_keeps_the_version_that_published_it(tmp_path, monkeypatch):
    path = publish(STUDY, "many-attributes", tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr(evenhand, "__version__", "99.0")
    assert publish(STUDY, "many-attributes", tmp_path).read_bytes() == before
    publish({**STUDY, "x": [1.0, 1.0, 0.1 + 0.2, None]}, "many-attributes", tmp_path)
    assert json.loads(path.read_bytes())["evenhand"] == "99.0"


def test_the_store_comes_before_what_is_published_and_is_not_written_over(stores, place, tmp_path):
    both = tmp_path / "both"
    shutil.copytree(stores[0], both)
    publish({**STUDY, "name": "wrong"}, "many-attributes", both)
    before = (both / "study.json").read_bytes()
    first, asked = place("first", "many attributes")
    assert many_page([str(both), *asked[:2], "--out", str(both)]) == 0
    assert "4 of 4 runs are done" in (first / "page.md").read_text("utf-8")
    assert (both / "study.json").read_bytes() == before


# -- refusals ----------------------------------------------------------------------------------------------
HEAD = {"kind": "many-attributes", "format": 1, "evenhand": "7.0", "study": STUDY}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (json.dumps({**HEAD, "kind": "fixed-seed"}), "is of the kind 'fixed-seed'; .* 'many-attributes'"),
        (json.dumps({**HEAD, "format": 2}), r"written by evenhand 7.0 in format 2; .* install evenhand 7.0"),
        (json.dumps(HEAD)[:-9], r"cannot be read as a published study \("),
        (json.dumps({**HEAD, "study": {**STUDY, "x": float("nan")}}), "NaN stands for a number"),
        (json.dumps([HEAD]), "does not say of which kind it is"),
        (json.dumps({**HEAD, "study": None}), "damaged"),
        (json.dumps({**HEAD, "format": None}), "damaged"),
        (json.dumps({**HEAD, "study": {"name": "mine"}}), "damaged"),
        (json.dumps({**HEAD, "study": {**STUDY, "name": "../mine"}}), "cannot be the name of a folder"),
        (json.dumps(HEAD).replace("0.30000000000000004", "1e999"), "1e999 stands for a number"),
        ("[" * 200_000, "cannot be read as a published study"),
    ],
)
def test_what_is_no_published_study_of_the_kind_is_refused(tmp_path, place, capsys, text, told):
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(InputError, match=told):
        read_studies([tmp_path], many.compute, many.KIND, whole=False)
    _, asked = place("page", "many attributes")
    assert many_page([str(tmp_path), *asked]) == 2
    assert str(tmp_path / "study.json") in capsys.readouterr().err


def test_what_a_page_cannot_be_made_of_is_told_and_nothing_is_written(stores, place, capsys, tmp_path):
    publish(STUDY, many.KIND, tmp_path / "bare")  # of the kind, without what a page shows
    own, asked = place("page", "many attributes")
    before = contents(own)
    assert many_page([str(tmp_path / "bare"), *asked]) == 2
    assert "lacks something that this version needs" in capsys.readouterr().err
    for page, mark in ((many_page, "many attributes"), (fixed_seed_page, "fixed seed")):
        own, asked = place(mark, mark)
        before = contents(own)
        assert page([str(stores[0]), *asked, "--claims", str(tmp_path / "none.csv")]) == 2
        assert "there is no claims file" in capsys.readouterr().err
        assert contents(own) == before
    (tmp_path / "afile").write_text("")
    assert many_page([str(stores[0]), *asked[:2], "--out", str(tmp_path / "afile")]) == 2


def test_a_published_study_in_small_answers_no_claim(tmp_path):
    publish({**STUDY, "small": True}, many.KIND, tmp_path)
    with pytest.raises(InputError, match="runs of 'mine' in small"):
        read_studies([tmp_path], many.compute, many.KIND, whole=True)
    assert read_studies([tmp_path], many.compute, many.KIND, whole=False)[0]["small"]

"""The page of studies in S0's shape: every table and figure, the program, and real runs in small."""

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.evaluation.claims import read_claims
from evenhand.evaluation.fixed_seed import compute, read_trained, together
from evenhand.evaluation.fixed_seed.__main__ import main
from evenhand.evaluation.fixed_seed.layout import RULES
from evenhand.evaluation.fixed_seed.one_answer import counted, same_answers
from evenhand.evaluation.fixed_seed.paper import paper, with_answers
from evenhand.evaluation.fixed_seed.printed import from_published, from_table4, read_printed
from evenhand.evaluation.fixed_seed.study import as_printed
from evenhand.evaluation.replay.published import METRICS, Published
from evenhand.metrics.counts import Counts
from evenhand.report import paper_page as made
from evenhand.report.figures.venn import PLACES, exclusive, venn
from evenhand.report.fixed_seed_files import BEGIN, END, write_page
from evenhand.report.fixed_seed_page import render
from evenhand.report.fixed_seed_tables import means_table
from evenhand.report.fixed_seed_words import _variation, sentences
from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.smoke import IN_SMALL, smoke_form
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.tasks import load_task

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fixed_seed_world.py"))))
ROOT = Path(__file__).parents[2]
KNOBS = {"n_train": 200, "n_validation": 50, "n_test": 300, "classes": 3}
TINY = Study(
    "fixed-seed-small", "In small",
    tasks=(TaskSpec("synthetic", "three", KNOBS),),
    groupings=(GroupingSpec(("a0",)),), nets=(NetEntry("mlp", options={"widths": [8]}),),
    methods=(MethodSpec("erm", "S-Base"), MethodSpec("disc", "S-DD1"), MethodSpec("ind", "S-DI2")),
    recipe={"epochs": 1, "batch_size": 32}, seeds=(0, 1, 2),
)  # fmt: skip


TINY = replace(TINY, smoke=smoke_form(TINY))


def run(study, folder):
    options = Options(folder, backend="inline", device="cpu", keep_predictions=True)
    assert run_study(study, options).failed == 0
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Real runs: three techniques, three seeds."""
    return run(TINY, tmp_path_factory.mktemp("fixed-seed") / "runs")


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "fixed-seed.md"
    path.write_text(f"# A page\n\n{BEGIN}\nwhat was there\n{END}\n\nBy hand.\n")
    return path


def body_of(*studies):
    return together([compute(study, printed=from_table4()) for study in studies], world.BENCH)


def test_the_page_has_every_table_and_links_files_that_are_there(page, tmp_path):
    seeds = world.study("seeds", repeat=False, seed=1)
    files = write_page(body_of(world.study(), seeds), page, tmp_path / "results")
    text = page.read_text("utf-8")
    assert "what was there" not in text
    assert text.endswith("By hand.\n")
    for heading in ("Table 4 in shape", "Means", "Against the baseline", "What it costs", "What varies",
                    "Is S-DI2 the best?", "One seed beside several", "Deterministic mode"):  # fmt: skip
        assert f"# {heading}" in text, heading
    for link in {part.split(")")[0] for part in text.split("](")[1:]}:
        assert (page.parent / link).is_file(), link
    told = "| S-UC | 16 | 41.3 | 36.9 | 46.3 | 9.4 (5.1) | 2.4 (1.7) | bird | 18.8 (18.4) | 4.8 (4.6) |"
    assert told in text
    (written,) = [path for path in files if path.parts[-2:] == ("fixed-seed-tiny", "spread-di.csv")]
    assert "S-UC,16,41.3,36.9,46.3,9.4,2.4,bird,18.8,4.8,5.1,1.7,18.4,4.6\n" in written.read_text("utf-8")
    assert "made on cuda (NVIDIA H200) with torch 2.11" in text
    for svg in [path for path in files if path.suffix == ".svg"]:
        ElementTree.fromstring(svg.read_text("utf-8"))


def test_the_html_page_has_what_the_markdown_page_has():
    seeds = world.study("seeds", repeat=False, seed=1)
    body = body_of(world.study(), seeds)
    page = render(with_answers(body))
    for heading in ("Table 4 in shape", "Means", "Against the baseline", "What it costs", "What varies",
                    "Which is best", "One seed beside several", "Deterministic mode"):  # fmt: skip
        assert f"<h2>{heading}</h2>" in page, heading
    cells = "".join(f'<td class="num">{x}</td>' for x in (16, 41.3, 36.9, 46.3, "9.4 (5.1)", "2.4 (1.7)"))
    assert (
        f'<th scope="row">S-UC</th>{cells}<td class="brief">bird</td><td class="num">18.8 (18.4)</td>' in page
    )
    assert page.count('class="figure wide"') == page.count('class="figure narrow"') == 2 * 3
    assert "<h3>fixed-seed-tiny</h3>" in page
    assert "claims</h2>" in page
    assert "S0.12" in page
    assert not re.search(r'(src|href)="(http|[^#d])', page)


def test_a_page_of_several_studies_begins_with_a_row_for_each(page, tmp_path):
    still = world.study("equal", still=list(world.WORLD), seed=2)
    seeds = world.study("seeds", repeat=False, data="mnist10s", seed=1)
    body = body_of(still, seeds)
    html = render(body)
    head, brief = html.split('id="brief"')[0], html.split('id="brief"')[1].split("</section>")[0]
    assert "2 studies, told one by one below." in head
    assert "equal: identical runs ended in the same weights, to the bit." in head
    assert "<strong>no replication</strong>" in head
    assert "comparisons with a baseline" not in head  # the findings of each set are below
    assert brief.count('<th scope="row">') == 2
    sets = html.split('id="sets"')[1].split("</section>")[0]
    assert sets.count("<h3>") == 2
    for study in body["studies"]:
        for told in sentences(study["sets"][0]):
            assert str(made.emphasised(told)) in sets
    write_page(body, page, tmp_path / "results")
    text = page.read_text("utf-8")
    assert "### In brief" in text
    assert "| equal | CIFAR-10S | implementation | 6 × 16 | none | 0 | – | – | – |" in text
    tests = body["studies"][1]["sets"][0]["tests"]
    fell = sum(row["direction"] == "-" for row in tests)
    assert (
        f" | {len(tests)} | {fell} ("
        in text.split("| seeds | MNIST-10S (digits) | seed | 6 × 16 |")[1].split("\n")[0]
    )


def test_a_page_of_one_study_with_several_sets_tells_all_findings_at_once():
    body = body_of(world.study("one", repeat=False, data="mnist10s", seed=1))
    (study,) = body["studies"]
    two = [{**study["sets"][0], "name": name} for name in ("first", "second")]
    html = render({**body, "studies": [{**study, "sets": two}]})
    head, brief = html.split('id="brief"')
    assert "<strong>first</strong>: Over the runs of one technique" in head
    assert "<strong>second</strong>: Over the runs of one technique" in head
    assert "not trained" not in head  # of one study it goes without saying
    assert brief.split("</section>")[0].count('<th scope="row">') == 2
    assert sentences(two[0])[-1] not in html.split('id="sets"')[1].split("</section>")[0]


def test_the_html_page_of_one_study_begins_with_whose_data_it_is(tmp_path):
    body = paper(world.study("one", repeat=False, data="mnist10s", smoke=False), tmp_path)
    page = (tmp_path / "paper.html").read_text("utf-8")
    first = page.split('class="about">')[1].split("</p>")[0]
    assert first.startswith("A made-up one (in small")
    assert "96 of 96 runs are done" in first
    assert "<strong>Ours: MNIST-10S (digits)</strong>" in first
    assert "<strong>no replication</strong>" in first
    assert "These are runs in small" in page.split('role="note">')[1].split("</div>")[0]
    assert IN_SMALL in page.split("<h1>")[1].split("</h1>")[0]
    assert body["answers"] == {}
    assert "not trained" not in page  # of one study it goes without saying
    lacking = {**body, "studies": [{**body["studies"][0], "done": 90}]}
    assert "Not everything of one was run" in render(lacking)
    assert {"runs.svg", "cost.svg", "venn.svg"} == {p.name for p in (tmp_path / "paper/figures").iterdir()}


def test_the_page_says_what_is_equal_and_what_is_short(page, tmp_path):
    still = world.study(runs=5, still=list(world.WORLD), device="cpu (x86_64)")
    write_page(body_of(still), page, tmp_path / "results")
    text = page.read_text("utf-8")
    assert "every MaxDiff is exactly 0" in text
    assert "6 of 6 techniques have fewer runs than S0's 16: 5" in text
    assert "ended in the same weights, to the bit" in text
    assert "not tested" in text
    assert not (tmp_path / "results" / "venn.svg").exists()  # nothing fell


def test_the_page_begins_with_all_techniques_and_says_whose_data_they_are(page, tmp_path):
    still = world.study("equal", still=list(world.WORLD), seed=2)
    stand_in = world.study("stand-in", repeat=False, data="mnist10s", seed=1)
    body = body_of(still, stand_in, world.study("own", repeat=False, seed=1))
    write_page(body, page, tmp_path / "results")
    text = page.read_text("utf-8")
    assert (
        "6 of 27 techniques have been trained, 6 of them on S0's own data; not trained: S-RS, S-GR," in text
    )
    told = "| S-UC | MNIST-10S (digits) | stand-in | 16 |"
    assert text.count(told) == 1
    assert "| equal | 16 |" not in text  # nothing varies in it
    assert re.search(r"S-UC \| CIFAR-10S \| own \| 16 \| [\d.]+ ± [\d.]+, [\d.]+ to [\d.]+ \|", text)
    stand, own = text.split("### stand-in")[1].split("### own")
    assert "**Ours: MNIST-10S (digits)**, network" in stand
    assert "**no replication**" in stand
    assert stand.count("Ours: MNIST-10S (digits); S0: CIFAR-10S, so no replication.") == 7 + 4
    assert "no replication" not in own.split("### One seed")[0]
    tables = [block for block in stand.split("\n\n") if block.startswith("| ")]
    notes = [after for block, after in zip(stand.split("\n\n"), stand.split("\n\n")[1:], strict=False)
             if block.startswith("| ")]  # fmt: skip
    assert len(tables) == len(notes) > 10
    assert all("Ours: MNIST-10S" in note for note in notes)
    assert (tmp_path / "results" / "overview.csv").is_file()


def test_a_number_is_rounded_in_one_way_in_tables_and_sentences():
    """Four digits, then a decimal, as S0's program: 0.25348 is 25.3 in one step and 25.4 in two."""
    row = {"technique": "S-GR", "metric": "di", "max_diff": 0.25348, "class_max_diff": 0.25348, "class": "a"}
    row = as_printed({**row, "mean": 0.1})
    assert row["text"]["max_diff"] == "25.4"
    (sentence,) = _variation({"variance": [row]})
    assert sentence.count("25.4 percentage points") == 2


def test_few_runs_and_networks_without_an_answer_of_their_own_are_told():
    few = together([compute(world.study(runs=5), printed=from_table4())])["studies"][0]["sets"][0]
    said = " ".join(sentences(few))
    assert few["attainable"] == {"p": pytest.approx(2 / 252), "of": 35, "shown": 0.05}
    assert "can come to is 0.0079, and Holm over 35 comparisons asks the first for 0.0014" in said
    assert "tell everything apart" not in said
    many = together([compute(world.study(), printed=from_table4())])["studies"][0]["sets"][0]
    assert "Holm over 35 comparisons asks" not in " ".join(sentences(many))
    silent = " ".join(sentences({**few, "alike": {"S-UC": [2.4, 3], "S-Base": [0.0, 3]}}))
    assert "to every row: S-UC for 2.4 of 3." in silent


def test_classes_that_a_network_never_tells_are_counted(small):
    with Store.open(small, readonly=True) as store:
        frame = Frame(store)
        rows = np.flatnonzero(frame.done)
        found, of = same_answers(frame, rows)
        cells = np.concatenate([look.counts.cells[inside] for look, _, inside in frame.met("test", rows)])
    answers = cells.sum(axis=(1, 2))  # [run, class that was predicted]
    assert of == 3
    assert found == pytest.approx(np.mean(((answers == 0) | (answers == 300)).sum(axis=-1)))
    assert counted(np.array([[0.0, 4.0, 9.0]]), np.full((1, 3), 9.0)).tolist() == [2]


def test_performance_of_another_kind_is_not_set_beside_ours():
    """S0 gives mean average precision for C and I: accuracy of ours has nothing beside it."""
    names = {"C-Base": (0.3, 0.02, 0.7), "C-R1": (0.2, 0.02, 0.7)}
    published = Published(
        tuple(names), {(n, m): np.full((2, 3), 0.1) for n in names for m in METRICS},
        {n: np.array([0.5, 0.6]) for n in names},
    )  # fmt: skip
    one = compute(world.study(world=names), printed=from_published(published))["sets"][0]
    assert {row["printed_mean"] for row in one["performance"]} == {None}
    assert "mean average precision on validation rows, another quantity" in means_table(one).note


def test_the_picture_of_the_costs_has_the_published_counts():
    """S0's 103 falls: 36, 54 and 15 with a cost, 20, 15 and 8 with two, 8 with all, 33 with none."""
    counts = dict(zip(PLACES, (36, 54, 15, 20, 15, 8, 8), strict=True))
    inside = {(0,): 36, (1,): 54, (2,): 15, (0, 1): 20, (0, 2): 15, (1, 2): 8, (0, 1, 2): 8}
    assert counts == inside
    apart = exclusive(inside)
    assert apart == {(0,): 9, (1,): 34, (2,): 0, (0, 1): 12, (0, 2): 7, (1, 2): 0, (0, 1, 2): 8}
    assert sum(apart.values()) + 33 == 103
    drawn = ElementTree.fromstring(venn(("a", "b", "c"), inside, 33, title="costs"))
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["9", "34", "0", "12", "7", "0", "8", "a", "b", "c", "none: 33"]


def test_published_runs_give_every_printed_cell():
    """From any published values: here made up, with the authors' where they are at hand."""
    rng = np.random.default_rng(0)
    names = ("S-Base", "S-RS")
    bias = {(name, metric): rng.uniform(0.1, 0.2, (16, 10)) for name in names for metric in METRICS}
    printed = from_published(Published(names, bias, {name: rng.uniform(0.8, 0.9, 16) for name in names}))
    found = printed.variance["S-RS", "ba"]["max_diff"]
    assert found == pytest.approx(np.ptp(bias["S-RS", "ba"].mean(axis=1)))
    assert printed.tests["S-RS", "ba"]["direction"] in ("+", "-", "NS")
    assert printed.cost["S-RS"]["accuracy"] in ("+", "-", "NS")
    if read_printed().whole:
        assert read_printed().variance["S-DI2", "eotp"]["mean"] == pytest.approx(0.010, abs=5e-4)


def test_the_page_of_the_repository_has_the_rules_and_the_markers():
    text = (ROOT / "docs" / "studies" / "fixed-seed.md").read_text("utf-8")
    flat = " ".join(text.split())
    assert all(f"**{name}**: {rule}" in flat for name, rule in RULES.items())
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    assert [row["id"] for row in read_claims(ROOT / "docs" / "claims.csv") if row["id"] in RULES] == list(
        RULES
    )


# -- real runs ---------------------------------------------------------------------------------------------
def test_the_program_writes_the_page_of_real_runs(small, page, tmp_path, capsys):
    html = tmp_path / "all.html"
    assert main([str(small), "--html", str(html)]) == 0
    assert "9 of 9 runs are done; made on cpu" in html.read_text("utf-8")
    assert main([str(small), "--page", str(page), "--out", str(tmp_path / "results")]) == 0
    text = page.read_text("utf-8")
    assert "9 of 9 runs are done; made on cpu" in text
    assert "The runs of a technique differ in their seed." in text
    assert (tmp_path / "results" / "tests.csv").read_text("utf-8").count("\n") == 1 + 2 * 7


def test_the_program_refuses_what_is_no_page_and_no_benchmark(small, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(small)])
    assert "--page FILE, --html FILE, or both" in capsys.readouterr().err
    (tmp_path / "other.md").write_text("no comments", encoding="utf-8")
    assert main([str(small), "--page", str(tmp_path / "other.md")]) == 2
    assert "fixed seed: begin" in capsys.readouterr().err
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert main([str(small), "--page", str(tmp_path / "none.md"), "--benchmark", str(wrong)]) == 2
    assert "deterministic_mode.py" in capsys.readouterr().err


def test_the_program_fills_claims_and_not_from_runs_in_small(small, page, tmp_path, capsys):
    claims, bench = tmp_path / "claims.csv", tmp_path / "bench.json"
    claims.write_text((ROOT / "docs" / "claims.csv").read_text("utf-8"), encoding="utf-8")
    bench.write_text(json.dumps(world.BENCH))
    given = ["--page", str(page), "--claims", str(claims), "--benchmark", str(bench)]
    assert main([str(small), *given]) == 0
    rows = {row["id"]: row for row in read_claims(claims)}
    assert rows["S0.14"]["verdict"] == rows["S0.15"]["verdict"] == "holds"
    before = {row["id"]: row for row in read_claims(ROOT / "docs" / "claims.csv")}
    assert rows["S0.12"] == before["S0.12"]  # runs on a CPU do not speak to it
    smoke = run(smoke_form(TINY), tmp_path / "smoke")
    assert main([str(smoke), *given]) == 2
    assert "in small" in capsys.readouterr().err


def audited(store, frame, technique, convention="artifact"):
    """The several-runs audit of the prediction files of a technique's runs."""
    task = load_task("synthetic", KNOBS)
    test = task.rows("test").numpy()
    rows = read_trained(frame)[0].rows[technique]
    guesses = [store.predictions(frame.columns["id"][row])["test"].argmax(axis=1) for row in rows]
    groups = np.array(task.attributes[0].codes)[test]
    return evenhand.audit(
        task.y.numpy()[test], np.stack(guesses), groups, metrics=list(METRICS), convention=convention,
        replicates=0,
    )  # fmt: skip


@pytest.mark.parametrize("technique", ["S-Base", "S-DI2"])
def test_the_several_runs_audit_finds_the_spread_of_the_study(small, technique):
    with Store.open(small, readonly=True) as store:
        frame = Frame.open(store)
        found, placed = (audited(store, frame, technique, name) for name in ("artifact", "paper"))
        one = compute(store, printed=from_table4())["sets"][0]
    for metric in METRICS:
        row = next(r for r in one["variance"] if (r["technique"], r["metric"]) == (technique, metric))
        runs = found.metrics[metric].runs
        assert runs.values == pytest.approx(one["values"][technique][metric])
        assert (runs.n, runs.mean, runs.std) == pytest.approx((3, row["mean"], row["stdev"]))
        assert (runs.min, runs.max, runs.maxdiff) == pytest.approx((row["min"], row["max"], row["max_diff"]))
        by_class = (placed if metric == "ba" else found).metrics[metric].runs  # S0's program misplaces BA
        assert max(by_class.per_class_maxdiff) == pytest.approx(row["class_max_diff"])


def test_identical_runs_on_a_cpu_are_equal_and_the_audit_says_so(small, tmp_path):
    """Each in a process of its own, as studies make them; the seeds of the other study do vary."""
    alike = replace(TINY, name="alike", methods=TINY.methods[:1], seeds=(0,), repeats=2,
                    vary=("kernels", "reduction"), smoke=None)  # fmt: skip
    folder = tmp_path / "alike"
    options = Options(folder, backend="local", device="cpu", workers=1, keep_predictions=True)
    assert run_study(alike, options).done == 2
    with Store.open(folder, readonly=True) as store, Store.open(small, readonly=True) as seeds:
        found = audited(store, Frame.open(store), "S-Base")
        body = together([compute(each, printed=from_table4()) for each in (store, seeds)])
    one = body["studies"][0]["sets"][0]
    assert (one["kind"], one["varying"][0]["weights"], one["varying"][0]["outcomes"]) == ("identical", 1, 1)
    for metric in METRICS:
        runs = found.metrics[metric].runs
        assert (runs.n, runs.std, runs.maxdiff) == (2, 0, 0)
        row = next(row for row in one["variance"] if row["metric"] == metric)
        assert (row["stdev"], row["max_diff"], row["class_max_diff"]) == (0, 0, 0)
        assert runs.mean == pytest.approx(row["mean"])
    same = [row for row in body["ratios"] if row["technique"] == "S-Base"]
    assert {row["ratio"] for row in same} == {0.0}
    assert all(row["seeds_std"] > 0 for row in same)


PUBLISHED = ROOT / "studies" / "results"


@pytest.mark.parametrize("technique", ["S-Base", "S-RS", "S-UC", "S-GR", "S-DD1", "S-DD4", "S-DI1", "S-DI2"])
def test_the_several_runs_audit_finds_what_sixteen_identical_trainings_on_a_gpu_did(technique):
    """The committed counts of fixed-seed-cifar10s, audited as anybody would, say what its page says."""
    runs = pl.read_parquet(PUBLISHED / "fixed-seed-cifar10s" / "runs.parquet").filter(
        (pl.col("method") == technique) & (pl.col("split") == "test")
    )
    cells = np.array([np.reshape(cells, (3, 10, 10)) for cells in runs["counts"].to_list()])
    names, classes = runs["groups"][0].to_list(), runs["classes"][0].to_list()
    assert names == ["colour", "gray"]
    s0 = [names.index("gray"), names.index("colour"), 2]  # S0 codes gray 0 and colour 1; last is unknown
    found = evenhand.audit_counts(
        Counts(cells[:, s0]), ["gray", "colour"], classes, "domain", metrics=list(METRICS),
        convention="artifact", replicates=0,
    )  # fmt: skip
    page = json.loads((PUBLISHED / "fixed-seed/fixed-seed-cifar10s/study.json").read_text("utf-8"))["study"]
    rows = {row["metric"]: row for row in page["sets"][0]["variance"] if row["technique"] == technique}
    for metric in METRICS:
        over, row = found.metrics[metric].runs, rows[metric]
        assert (over.n, over.mean, over.std) == pytest.approx((16, row["mean"], row["stdev"]))
        assert (over.min, over.max, over.maxdiff) == pytest.approx((row["min"], row["max"], row["max_diff"]))
        assert over.maxdiff > 0

"""Every mistake of a study is told before anything runs: file, line, the nearest name, the reason."""

import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.read import read_study
from evenhand.study.served import check_runs
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, Search, SelectionSpec, Study, TaskSpec
from evenhand.study.validate import FIGURES, check_study

TOP = ["seeds = 2"]
RECIPE = ["[recipe]", "epochs = 1"]
TASK = ["[[task]]", 'data = "titanic"', "validation = 0.2"]
GROUPING = ["[[grouping]]", 'attributes = ["sex"]']
NET = ["[[net]]", 'net = "mlp"']
METHOD = ["[[method]]", 'key = "gdro"']
END = ["[selection]", "[report]", "[smoke]"]
PARTS = {"top": TOP, "recipe": RECIPE, "task": TASK, "grouping": GROUPING, "net": NET, "method": METHOD}


def study_text(part: str, *lines: str) -> tuple[str, int]:
    """A right study with lines added to one part of it, and the number of the first of them."""
    found: list[str] = []
    at = 0
    for name, right in {**PARTS, **{line.strip("[]"): [line] for line in END}}.items():
        found += right
        if name == part:
            at = len(found) + 1
            found += lines
    return "\n".join(found) + "\n", at


def message(folder: Path, text: str, check=read_study) -> str:
    path = folder / "s.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    with pytest.raises(InputError) as told:
        check(path)
    return str(told.value).replace(f"{path}:", "s.toml:")


def test_the_study_that_the_mistakes_are_put_into_is_right(tmp_path):
    (tmp_path / "s.toml").write_text(study_text("none")[0], encoding="utf-8")
    check_runs(read_study(tmp_path / "s.toml"))


MISTAKES = {  # part, lines, which of the lines, what is told
    "unknown top key": ("top", ["sedes = 3"], 0, "a study has no key 'sedes'; did you mean 'seeds'?"),
    "wrong type": ("top", ['title = "t"', "parts = 3"], 1, "'parts' must be a list of texts, not 3"),
    "no seeds": ("top", ["name = 'x'", "search_seed = -1"], 1, "'search_seed' must be at least 0, not -1"),
    "name of a folder": ("top", ["name = 'a/b'"], 0, "the name 'a/b' becomes a folder"),
    "unknown part": ("top", ["parts = ['validation', 'tests']"], 0, "no part 'tests'; did you mean 'test'?"),
    "kind": ("top", ["kind = 'trian'"], 0, "there is no kind 'trian'; did you mean 'train'?"),
    "options of no use": ("top", ["options.x = 1"], 0, "a study that trains has no option 'x'"),
    "unknown recipe key": ("recipe", ["rat = 0.1"], 0, "a recipe has no 'rat'; did you mean 'rate'?"),
    "recipe value": ("recipe", ["batch_size = 0"], 0, "'batch_size' must be a whole number of at least 1"),
    "recipe choice": ("recipe", ["keep = 'bst'"], 0, "not 'bst'; did you mean 'best'?"),
    "recipe list": ("recipe", ["rate = [0.1, 1]"], 0, "'rate' must be one number; to try several write {gri"),
    "recipe varied": ("recipe", ["rate = {grid = [1]}"], 0, "'rate' is varied here; what is varied belongs"),
    "unknown knob": ("task", ["tset = 0.1"], 0, "the task 'titanic' has no knob 'tset'; did you mean 'test'"),
    "knob's type": ("task", ["seed = 'x'"], 0, "the knob seed='x' must be a whole number of at least 0"),
    "knob's date": ("task", ["seed = 1979-05-27"], 0, "the knob seed must be a text, a number, a truth"),
    "knob varied": ("task", ["seed = {grid = [1]}"], 0, "the knob seed must have one value; for several wri"),
    "seeded": ("task", ["seeded = ['sead']"], 0, "has no knob 'sead'; did you mean 'seed'?"),
    "seeded and given": ("task", ["seed = 1", "seeded = ['seed']"], 0, "the knob 'seed' is seeded and has"),
    "task's recipe": ("task", ["recipe = {epoch = 1}"], 0, "a recipe has no 'epoch'; did you mean 'epochs'"),
    "unknown data": ("task", ["[[task]]", "data = 'adlut'"], 1, "no data set 'adlut'; did you mean 'adult'?"),
    "no data": ("task", ["[[task]]", "name = 'x'"], 0, 'a task needs either data = "NAME" or file'),
    "data and file": ("task", ["file = 'x.csv'"], -3, 'a task needs either data = "NAME" or file'),
    "no such table": ("task", ["[[task]]", "file = 'no.csv'"], 1, "there is no file"),
    "task twice": ("task", ["[[task]]", "data = 'titanic'"], 0, "there are 2 tasks called 'titanic'; give e"),
    "grouping's key": ("grouping", ["tsks = []"], 0, "a grouping has no key 'tsks'; did you mean 'tasks'?"),
    "both forms": ("grouping", ["first = ['sex']"], -2, "a grouping needs either attributes = [...] or firs"),
    "attribute twice": (
        "grouping", ["[[grouping]]", "attributes = ['a', 'a']"], 1, "the attribute 'a' is there twice",
    ),
    "counts": ("grouping", ["[[grouping]]", "first = ['a']", "counts = [2]"], 2, "counts must be from 1 to"),
    "no such task": ("grouping", ["tasks = ['titnic']"], 0, "no task 'titnic'; did you mean 'titanic'?"),
    "unknown net": ("net", ["[[net]]", "net = 'mpl'"], 1, "there is no network 'mpl'; did you mean 'mlp'?"),
    "net's option": ("net", ["width = [3]"], 0, "'mlp' has no option 'width'; did you mean 'widths'?"),
    "net's value": ("net", ["widths = [0]"], 0, "widths=(0,) must be a list of whole numbers of at least 1"),
    "no net": ("net", ["[[net]]", "name = 'x'"], 0, 'a net needs net = "NAME"'),
    "unknown method": ("method", ["[[method]]", "key = 'grdo'"], 1, "no method 'grdo'; did you mean 'gdro'"),
    "no key": ("method", ["[[method]]", "name = 'x'"], 0, 'a method needs key = "KEY"'),
    "unknown field": ("method", ["etta = 1"], 0, "the method 'gdro' has no field 'etta'; did you mean 'eta'"),
    "near a key of ours": ("method", ["drws = 1"], 0, "has no field 'drws'; did you mean 'draws'?"),
    "field's bound": ("method", ["eta = -1.0"], 0, "'eta' of 'gdro' must be a number of at least 0.0, not -"),
    "field's type": ("method", ["eta = 'x'"], 0, "'eta' of 'gdro' must be a float, not 'x'"),
    "field's choice": ("method", ["by = 'groups'"], 0, "not 'groups'; did you mean 'group'?"),
    "in a grid": ("method", ["eta = {grid = [", "0.1,", "-2]}"], 2, "must be a number of at least 0.0, not"),
    "empty grid": ("method", ["eta = {grid = []}"], 0, "the grid of 'eta' is empty"),
    "grid twice": ("method", ["eta = {grid = [1,", "2, 1]}"], 1, "the grid of 'eta' has 1 twice"),
    "grid of one": ("method", ["eta = {grid = 1}"], 0, "a grid is a list of values, not 1"),
    "grid's name": ("method", ["eta = {gird = [1]}"], 0, "what is varied has no key 'gird'; did you mean 'g"),
    "no range": ("method", ["adjustment = {search = true}", "draws = 2"], 0, "'adjustment' has no range"),
    "no number": ("method", ["by = {low = 1, high = 2}", "draws = 2"], 0, "'by' is no number that could be"),
    "bounds": ("method", ["eta = {low = 2, high = 1}", "draws = 2"], 0, "'eta' needs low < high, not 2 and"),
    "log from 0": (
        "method", ["eta = {low = 0, high = 1, log = true}", "draws = 2"], 0, "on a log scale needs low > 0",
    ),
    "bound outside": ("method", ["eta = {low = -1, high = 1}", "draws = 2"], 0, "at least 0.0, not -1.0"),
    "no draws": ("method", ["eta = {search = true}"], -2, "searches eta: say how often with draws = NUMBER"),
    "draws for nothing": ("method", ["draws = 3"], 0, "has draws = 3 and searches nothing"),
    "method's recipe": ("method", ["recipe.rat = 1"], 0, "a recipe has no 'rat'; did you mean 'rate'?"),
    "recipe's search": ("method", ["recipe.rate = {search = true}", "draws = 2"], 0, "'rate' has no range"),
    "method twice": ("method", ["[[method]]", "key = 'gdro'"], 0, "there are 2 methods called 'gdro'"),
    "one name for two": (
        "method", ["[[method]]", "key = ['erm', 'sd']", "name = 'x'"], 2, "one name cannot serve 2 methods",
    ),
    "no such class": ("method", ["[[method]]", "key = 'no.py:Mine'"], 1, "there is no file"),
    "class not named": ("method", ["[[method]]", "key = 'no.py'"], 1, "write it as no.py:CLASS"),
    "selection's key": ("selection", ["metrc = 'acc'"], 0, "[selection] has no key 'metrc'; did you mean 'm"),
    "rule": ("selection", ["rule = 'best-maen'"], 0, "there is no rule 'best-maen'; did you mean 'best-mean"),
    "unknown metric": ("selection", ["metric = 'tpr.gpa'"], 0, "there is no metric 'tpr.gpa'; did you mean"),
    "selected on no part": ("selection", ["part = 'train'"], 0, "there is no part 'train'"),
    "tolerance": ("selection", ["tolerance = -0.1"], 0, "'tolerance' must be at least 0, not -0.1"),
    "score metric": ("report", ["metrics = [", "'acc', 'auc.gap']"], 1, "'auc.gap' needs scores, which are"),
    "two models": ("report", ["metrics = ['cev']"], 0, "the metric 'cev' needs two models"),
    "base": ("report", ["base = 'gdor'"], 0, "is no method of the study: 'gdor'; did you mean 'gdro'?"),
    "test": ("report", ["test = 'man-whitney'"], 0, "no test 'man-whitney'; did you mean 'mann-whitney'?"),
    "correction": ("report", ["correction = 'hulm'"], 0, "no correction 'hulm'; did you mean 'holm'?"),
    "convention": ("report", ["convention = 'artefact'"], 0, "did you mean 'artifact'?"),
    "figure": ("report", ["figures = ['frontir']"], 0, "no figure 'frontir'; did you mean 'frontier'?"),
    "confidence": ("report", ["confidence = 95"], 0, "'confidence' must be between 0 and 1"),
    "smoke's key": ("smoke", ["sedes = 1"], 0, "a smoke form has no key 'sedes'; did you mean 'seeds'"),
    "smoke's method": ("smoke", ["methods = ['grdo']"], 0, "the study has no 'grdo' among its methods: gdro"),
    "smoke's settings": ("smoke", ["settings = 0"], 0, "'settings' must be a whole number of at least 1, no"),
    "smoke's recipe": ("smoke", ["recipe = {epoch = 1}"], 0, "a recipe has no 'epoch'; did you mean 'epochs"),
    "smoke's seeds": ("smoke", ["seeds = [1, 1]"], 0, "the seed 1 is there twice"),
    "smoke's task": ("smoke", ["task.titnic = {}"], 0, "has no key 'titnic'; did you mean 'titanic'?"),
    "smoke's knob": ("smoke", ["[smoke.task.titanic]", "tset = 0.1"], 1, "has no knob 'tset'; did you mean"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line(tmp_path, name):
    part, lines, which, words = MISTAKES[name]
    text, first = study_text(part, *lines)
    told = message(tmp_path, text)
    assert words in told
    line = next(line for line in told.splitlines() if words in line)
    assert line.startswith(f"s.toml:{first + which}: ")


@pytest.mark.parametrize(("given", "words"), [
    ("[1, 2, 1]", "the seed 1 is there twice"),
    ("[]", "a study needs at least one seed"),
    ("0", "'seeds' must be at least 1, or a list of seeds; not 0"),
    ("[-1]", "the seed -1 is below 0"),
    ("'3'", "'seeds' must be a whole number or a list of whole numbers, not '3'"),
    ("1_000_000_000_000", "'seeds' must be at most 1,000,000, not 1,000,000,000,000"),
])  # fmt: skip
def test_seeds(tmp_path, given, words):
    assert f"s.toml:1: {words}" in message(
        tmp_path, study_text("none")[0].replace("seeds = 2", f"seeds = {given}")
    )


def test_more_runs_than_can_be_planned_are_refused_at_once(tmp_path):
    began = time.perf_counter()
    text = study_text("method", "[[method]]", "key = 'erm'")[0].replace("seeds = 2", "seeds = 1_000_000")
    assert "runs, and at most 1,000,000 can be planned" in message(tmp_path, text)
    text = study_text("method", "[[method]]", "key = 'gap'", "lam = { search = true }", "draws = 10_000_000")[
        0
    ]
    assert "runs, and at most 1,000,000 can be planned" in message(tmp_path, text)
    assert time.perf_counter() - began < 5


def test_calibration_needs_bins_that_can_be_joined(tmp_path):
    text = study_text("report", "metrics = ['ece.gap']")[0]
    told = message(tmp_path, f"score_bins = 100\n{text}")
    assert (
        "the metric 'ece.gap' joins the scores into 15 bins, and 100 cannot be: set score_bins = 240" in told
    )
    (tmp_path / "s.toml").write_text(f"score_bins = 240\n{text}", encoding="utf-8")
    assert read_study(tmp_path / "s.toml").score_bins == 240


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path):
    text = study_text("method", "etta = 1", "eta = -1.0")[0].replace("seeds = 2", "sedes = 2")
    lines = message(tmp_path, text).splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "13", "14"]


def test_at_most_ten_are_told(tmp_path):
    text, _ = study_text("top", *(f"wrong{n} = 1" for n in range(14)))
    lines = message(tmp_path, text).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 4 more"


@pytest.mark.parametrize("block", ["task", "grouping", "method"])
def test_a_study_needs_each_kind_of_block(tmp_path, block):
    text, _ = study_text("none")
    text = text.replace("\n".join(PARTS[block]) + "\n", "")
    assert f"a study needs a [[{block}]]" in message(tmp_path, text)


def test_a_task_that_nothing_is_for(tmp_path):
    text, first = study_text("task", "[[task]]", "data = 'synthetic'")
    text = text.replace("attributes = [", "tasks = ['titanic']\nattributes = [")
    assert f"s.toml:{first}: no [[grouping]] is for the task 'synthetic'" in message(tmp_path, text)


def test_a_study_made_in_python_is_checked_in_the_same_way():
    right = Study(
        "mine",
        tasks=(TaskSpec("titanic", knobs={"validation": 0.2}),),
        groupings=(GroupingSpec(("sex", "age_group")),),
        methods=(MethodSpec("gdro", fields={"eta": Grid((0.1, 1))}),),
    )
    done = check_study(right)
    assert [done.tasks[0].name, done.groupings[0].name, done.methods[0].name] == [
        "titanic", "sex × age_group", "gdro",
    ]  # fmt: skip
    assert done.smoke is not None
    wrong = replace(
        right,
        methods=(MethodSpec("gdro", fields={"adjustment": Search()}, draws=1),),
        selection=SelectionSpec(rule="best"),
    )
    with pytest.raises(InputError) as told:
        check_study(wrong)
    assert "method 'gdro', adjustment: 'adjustment' has no range" in str(told.value)
    assert "selection, rule: there is no rule 'best'; did you mean 'best-mean'?" in str(told.value)


def test_figures_have_names_that_can_be_asked_for(tmp_path):
    (tmp_path / "s.toml").write_text(study_text("report", f"figures = {list(FIGURES)}")[0], encoding="utf-8")
    assert read_study(tmp_path / "s.toml").report.figures == FIGURES


def checked(path: Path) -> None:
    check_runs(read_study(path))


DATA_MISTAKES = {
    "attribute": (
        "grouping", ["[[grouping]]", "attributes = ['sexx']"], 1,
        "the task 'titanic' has no attribute 'sexx'; did you mean 'sex'?",
    ),
    "measured attribute": ("grouping", ["measure = [['clas']]"], 0, "has no attribute 'clas'; did you mean"),
    "no groups": (
        "grouping", ["[[grouping]]", "attributes = []"], 4,
        "it cannot serve the task 'titanic' by 'all': the method 'gdro' needs the groups of training rows",
    ),
    "images": ("net", ["[[net]]", "net = 'convnet'"], 1, "'convnet' reads images, and the task 'titanic' is"),
    "a knob's value": ("task", ["test = 1.5"], -3, "test"),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA_MISTAKES)
def test_what_the_data_cannot_serve_is_told_with_its_line(tmp_path, name):
    part, lines, which, words = DATA_MISTAKES[name]
    text, first = study_text(part, *lines)
    told = message(tmp_path, text, checked)
    line = next(line for line in told.splitlines() if words in line)
    assert line.startswith(f"s.toml:{first + which}: ")


def test_settings_cannot_be_chosen_on_rows_that_are_not_there(tmp_path):
    text, _ = study_text("method", "eta = {grid = [0.1, 1]}")
    told = message(tmp_path, text.replace("validation = 0.2\n", ""), checked)
    assert told == (
        "s.toml:4: the task 'titanic' has no part 'validation', on which the settings of gdro are to be "
        "chosen (it has train, test); hold rows out with the knob validation = 0.2, say"
    )


def test_early_stopping_needs_validation_rows(tmp_path):
    text, _ = study_text("recipe", "patience = 3")
    told = message(tmp_path, text.replace("validation = 0.2\n", ""), checked)
    assert "no part 'validation' (it has train, test), which patience and keep = \"best\" need" in told


def test_a_method_of_ones_own_that_cannot_serve_is_refused(tmp_path):
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "from evenhand.methods.erm import ERM\n"
        "from evenhand.records import Needs\n"
        "@dataclass(frozen=True)\n"
        "class Binary(ERM):\n    needs = Needs(binary=True)\n",
        encoding="utf-8",
    )
    lines = ["[[method]]", "key = 'own.py:Binary'", "[[task]]", "data = 'synthetic'", "classes = 3"]
    text, first = study_text("method", *lines)
    text = text.replace("attributes = ['sex']", "attributes = []").replace(
        'attributes = ["sex"]', "attributes = []"
    )
    told = message(tmp_path, text.replace('"gdro"', '"erm"'), checked)
    words = (
        "it cannot serve the task 'synthetic' by 'all': the method 'erm' is for two classes; this task has 3"
    )
    assert told == f"s.toml:{first}: {words}"


def test_a_class_that_is_no_method_is_refused(tmp_path):
    (tmp_path / "own.py").write_text("class Mine:\n    pass\n", encoding="utf-8")
    text, first = study_text(
        "method", "[[method]]", "key = 'own.py:Mine'", "[[method]]", "key = 'own.py:Mne'"
    )
    told = message(tmp_path, text)
    assert f"s.toml:{first + 1}: {tmp_path}/own.py:Mine is no method" in told
    assert "has no 'Mne'; did you mean 'Mine'?" in told

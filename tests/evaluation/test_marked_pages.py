"""Programs that write between two comments of a page: refused at once without them, made where it is not."""

from importlib import import_module

import pytest

from evenhand.errors import InputError
from evenhand.report.marked_page import filled, marks_of, ready

PROGRAMS = {
    "compression": "compression", "fixed_seed": "fixed seed", "many_attributes": "many attributes",
    "equalized_robustness": "equalized robustness", "reference_values": "public values",
    "model_selection": "numbers", "hair_colour": "numbers", "ci_mnist_marks": "numbers",
    "er_predicts_shift": "numbers", "under_shift": "numbers", "titanic_fairness": "numbers",
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_page_without_its_comments_is_refused_before_the_work(program, tmp_path, capsys):
    """The folder is not there, which would be told if it were read first."""
    page = tmp_path / "mine.md"
    page.write_text("# Mine\n", encoding="utf-8")
    main = import_module(f"evenhand.evaluation.{program}.__main__").main
    folder = [] if program == "titanic_fairness" else [str(tmp_path / "nowhere")]
    assert main([*folder, "--page", str(page)]) == 2
    told = capsys.readouterr().err
    assert " and ".join(marks_of(PROGRAMS[program])) in told
    assert "nowhere" not in told
    assert page.read_text(encoding="utf-8") == "# Mine\n"


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name not in ("under_shift",)])
def test_the_comments_are_those_that_the_program_writes_between(program):
    """What is looked for before the work is what is looked for after it."""
    places = (f"evenhand.report.{program}_files", f"evenhand.evaluation.{program}.page")
    own = [getattr(module, name) for module in map(_there, places) if module is not None
           for name in ("MARKED", "NAME") if hasattr(module, name)][:1]  # fmt: skip
    assert own == [PROGRAMS[program]]


def _there(name):
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None


def test_a_page_that_is_not_there_is_made_with_its_comments(tmp_path):
    page, (begin, end) = tmp_path / "new.md", marks_of("numbers")
    ready(page, "numbers")
    ready(None, "numbers")
    assert not page.exists()
    assert filled(page, "numbers", "1, 2\n") == f"{begin}\n1, 2\n{end}\n"
    page.write_text(filled(page, "numbers", "1, 2\n"), encoding="utf-8")
    assert filled(page, "numbers", "3\n") == f"{begin}\n3\n{end}\n"


def test_a_folder_is_no_page(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a Markdown file"):
        ready(tmp_path, "numbers")

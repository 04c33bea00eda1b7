"""`technique = "S-UC"` in a study file: key, fields and recipe of its own, and what goes over them."""

import pytest

from evenhand.errors import InputError
from evenhand.methods.techniques import TECHNIQUES
from evenhand.study.expand import expand
from evenhand.study.read import read_study

HEAD = '[[task]]\ndata = "titanic"\nvalidation = 0.2\n[[grouping]]\nattributes = ["sex"]\n'


def read(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_text(
        text + HEAD if "[[method]]" not in text else text.replace("[[method]]", HEAD + "[[method]]", 1)
    )
    return read_study(file)


def test_a_technique_brings_key_fields_and_recipe(tmp_path):
    (method,) = read(tmp_path, '[[method]]\ntechnique = "A-L2"\n').methods
    wanted = TECHNIQUES["A-L2"]
    assert (method.key, method.name, dict(method.fields)) == ("gap", "A-L2", dict(wanted.fields))
    assert method.recipe == dict(wanted.recipe)
    (run,) = expand(read(tmp_path, '[[method]]\ntechnique = "A-L2"\n'))
    assert (run.spec.recipe["epochs"], run.spec.recipe["optimizer"], run.spec.fields["lam"]) == (
        100,
        "sgd",
        0.1,
    )


def test_values_of_the_file_go_over_the_techniques(tmp_path):
    text = (
        '[recipe]\nepochs = 3\n[[method]]\ntechnique = "A-L2"\nlam = { grid = [0.1, 20.0] }\nname = "both"\n'
    )
    study = read(tmp_path, text + "recipe = { rate = 0.5 }\n")
    runs = expand(study)
    assert [run.spec.fields["lam"] for run in runs] == [0.1, 20.0]
    assert {(run.method, run.spec.recipe["epochs"], run.spec.recipe["rate"]) for run in runs} == {
        ("both", 3, 0.5)
    }
    assert {run.spec.recipe["batch_size"] for run in runs} == {256}  # nobody said another


def test_the_recipe_of_a_task_goes_over_it_too(tmp_path):
    study = read(tmp_path, '[[method]]\ntechnique = "A-Base"\n')
    assert expand(study)[0].spec.recipe["epochs"] == 100
    text = HEAD.replace("[[grouping]]", "recipe = { epochs = 7 }\n[[grouping]]")
    file = tmp_path / "other.toml"
    file.write_text(text + '[[method]]\ntechnique = "A-Base"\n')
    assert expand(read_study(file))[0].spec.recipe["epochs"] == 7


def test_several_at_once_keep_their_names_and_their_small_form_its_recipe(tmp_path):
    study = read(tmp_path, '[[method]]\ntechnique = ["A-Base", "A-ALM"]\n[smoke]\nrecipe = { epochs = 2 }\n')
    assert [method.name for method in study.methods] == ["A-Base", "A-ALM"]
    assert {run.spec.recipe["epochs"] for run in expand(study.smoke)} == {2}


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ('technique = "S-UD"', r"mine\.toml:7: there is no technique 'S-UD'; did you mean 'S-UC'"),
        ('technique = "A-L2"\nlamb = 1', r"the method 'A-L2' has no field 'lamb'; did you mean 'lam'"),
        ('technique = "A-L2"\nkey = "gap"', "either a key or a technique"),
        ('technique = ["A-L2", "A-Base"]\nname = "x"', "one name cannot serve 2 methods"),
        ('name = "x"', 'a method needs key = "KEY"'),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, method, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, f"[[method]]\n{method}\n")

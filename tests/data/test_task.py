"""Tasks: groups, parts, scaling, and one clear sentence for each thing that does not fit together."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from evenhand.data import DataCard, Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

CARD = DataCard("tiny", "made up", "by hand", "none")


@pytest.fixture
def task() -> Task:
    sex = Attribute.from_values(["f", "m", "m", None], "sex")
    split = {"train": torch.tensor([0, 1, 2]), "test": torch.tensor([3])}
    y = torch.tensor([0, 1, 1, 0])
    return Task("tiny", torch.eye(4), y, (sex,), split, CARD, ("no", "yes"), columns=("a", "b", "c", "d"))


def test_a_good_task_is_returned_as_it_is(task):
    assert task.check() is task
    assert (len(task), task.n_classes, task.input_shape, task.multi_label) == (4, 2, (4,), False)


def test_groups_by_one_attribute_by_all_and_with_the_label(task):
    age = Attribute.from_values([1, 2, 1, 2], "age")
    task = replace(task, attributes=(*task.attributes, age))
    assert task.groups("sex").ids.tolist() == [0, 1, 1, -1]
    assert task.groups().names == ("sex=f · age=1", "sex=f · age=2", "sex=m · age=1", "sex=m · age=2")
    crossed = task.groups(["age"], cross_label=True)
    assert crossed.names == ("label=no · age=1", "label=no · age=2", "label=yes · age=1", "label=yes · age=2")
    assert crossed.ids.tolist() == [0, 3, 2, 1]


def test_names_that_are_not_there(task):
    with pytest.raises(InputError, match=r"no attribute 'sexx'; did you mean 'sex'\? Its attributes: sex"):
        task.attribute("sexx")
    with pytest.raises(InputError, match=r"no attribute 'zzz'\. Its attributes: sex"):
        task.groups("zzz")
    with pytest.raises(InputError, match=r"no part 'validation'; it has train, test"):
        task.rows("validation")


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ([], "need at least one attribute"),
        (["sex", "sex"], "name 'sex' twice; name it once"),
        (["sex", 3], "has no attribute 3. Its attributes: sex"),
    ],
)
def test_groupings_that_are_none(task, by, words):
    with pytest.raises(InputError, match=words):
        task.groups(by)


def test_a_split_can_be_replaced(task):
    other = task.with_split(train=torch.tensor([0]), validation=torch.tensor([1]))
    assert {part: rows.tolist() for part, rows in other.split.items()} == {
        "train": [0],
        "test": [3],
        "validation": [1],
    }
    assert task.rows("train").tolist() == [0, 1, 2]


def test_scaling_by_channel_and_for_all():
    x = torch.full((2, 3, 1, 1), 100, dtype=torch.uint8)
    scaled = Scaling((0.0, 50.0, 100.0), (100.0, 50.0, 1.0))(x)
    assert scaled[0].flatten().tolist() == [1.0, 1.0, 0.0]
    doubles = torch.ones(2, dtype=torch.float64)
    assert Scaling()(doubles) is doubles
    assert Scaling(1.0, 2.0)(doubles).dtype == torch.float64


def test_multi_label_tasks(task):
    several = replace(task, y=torch.tensor([[0, 1], [1, 1], [0, 0], [1, 0]]), classes=("smiles", "hat"))
    assert several.check().multi_label
    with pytest.raises(InputError, match="several labels"):
        several.groups("sex", cross_label=True)


WRONG = [
    ({"y": torch.tensor([0, 1, 1])}, "4 rows of inputs and 3 labels"),
    ({"x": torch.zeros(0, 4), "y": torch.zeros(0, dtype=torch.int64)}, "has no rows"),
    ({"y": torch.tensor([0.0, 1.0, 1.0, 0.0])}, r"labels of type torch.float32 and shape \(4,\)"),
    ({"y": torch.tensor([0, 1, 2, 0])}, r"the label 2 in row 2; labels must be within 0..1"),
    ({"y": torch.tensor([0, -1, 1, 0])}, r"the label -1 in row 1"),
    ({"classes": ("no",), "y": torch.zeros(4, dtype=torch.int64)}, "has 1 classes; name at least two"),
    ({"y": torch.zeros(4, 3, dtype=torch.int64)}, "3 labels a row and 2 names"),
    ({"y": torch.full((4, 2), 2)}, r"the label 2 in row 0; labels must be within 0..1"),
    ({"attributes": (Attribute("sex", ("f",), np.zeros(3, int)),)}, "3 values of 'sex' for 4 rows"),
    (
        {"attributes": (Attribute("sex", ("f",), np.array([0, 1, 0, -1])),)},
        r"'sex' as 1 in row 1; it has 1 levels",
    ),
    ({"attributes": (Attribute("sex", ("f",), np.array([0, -2, 0, 0])),)}, "'sex' as -2 in row 1"),
    ({"attributes": (Attribute("sex", ("f",), np.zeros(4)),)}, "codes 'sex' by float64"),
    ({"attributes": (Attribute("s", ("f",), np.zeros(4, int)),) * 2}, "two attributes called 's'"),
    ({"split": {"test": torch.tensor([0])}}, "no rows for training"),
    ({"split": {"train": torch.tensor([], dtype=torch.int64)}}, "no rows for training"),
    ({"split": {"train": torch.tensor([0, 4])}}, "a part 'train' with row 4; rows are 0 to 3"),
    ({"split": {"train": torch.tensor([0, -1])}}, "with row -1"),
    ({"split": {"train": torch.tensor([0, 0])}}, "that names a row twice"),
    ({"split": {"train": torch.tensor([True, False, True, False])}}, "of type torch.bool"),
    (
        {"split": {"train": torch.tensor([0]), "test": torch.tensor([1, 0])}},
        "row 0 in the part 'test' and in another",
    ),
    ({"x": torch.eye(4) / 0}, r"the input inf in row 0, column 'a'"),
    (
        {"x": torch.where(torch.eye(4).bool(), torch.nan, 0.0)[[1, 0, 2, 3]]},
        "the input nan in row 0, column 'b'",
    ),
    ({"columns": ("a", "b")}, r"inputs of shape \(4,\) and 2 column names"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=[words[:30] for _, words in WRONG])
def test_what_does_not_fit_is_told_in_one_sentence(task, change, words):
    with pytest.raises(InputError, match=rf"^the task 'tiny' .*{words}"):
        replace(task, **change).check()


def test_finite_inputs_whose_sum_overflows_pass(task):
    large = replace(task, x=torch.full((4, 4), 3e38))
    assert large.check() is large

"""The registry: light to list, and helpful about names that are not there."""

import subprocess
import sys

import pytest

from evenhand.data import DATASETS, load
from evenhand.data.registry import find_dataset
from evenhand.errors import InputError


def test_the_names_are_the_documented_ones():
    assert list(DATASETS) == [
        *("adult", "communities-crime", "titanic", "synthetic"),
        *("mnist", "mnist-under", "mnist-numbers", "mnist10s", "ci-mnist", "faces", "hair-colour"),
        *("fairface", "celeba", "celeba-mixed"),
        *("utkface", "imagenet-people", "coco-gender", "imsitu-gender", "cifar10", "cifar10s"),
        *("cifar10-under", "cifar100-under"),
    ]
    for name, dataset in DATASETS.items():
        assert dataset.name == name
        assert dataset.summary
        assert dataset.kind in ("table", "image")


@pytest.mark.parametrize(
    "code",
    [
        "import evenhand.data; evenhand.data.packaged('titanic.csv.gz')",
        "from evenhand.data import DATASETS; [d.summary + d.origin + d.home for d in DATASETS.values()]",
        "from evenhand.data import DataCard",
        "import evenhand.data.fetch, evenhand.data.cache, evenhand.data.registry",
    ],
)
def test_listing_needs_neither_torch_nor_numpy(code):
    code = f"import sys; {code}; print(sorted({{'torch', 'scipy', 'numpy', 'rich'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "adullt",
            "there is no data set 'adullt'; did you mean 'adult'? There are: adult, communities-crime, ",
        ),
        ("communities_crime", "did you mean 'communities-crime'"),
        ("CIFAR10", "did you mean 'cifar10'"),
        ("zzzzzz", "there is no data set 'zzzzzz'. There are: adult"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, words):
    with pytest.raises(InputError) as caught:
        load(name)
    assert words in str(caught.value)


def test_an_unknown_knob_is_answered_with_the_knobs():
    with pytest.raises(InputError) as caught:
        load("communities-crime", sensitive_in_y=True)
    assert "did you mean 'sensitive_in_x'?" in str(caught.value)
    assert "Its knobs: seed, validation, quantile, strict, drop_missing, whiten, sensitive_in_x" in str(
        caught.value
    )


def test_knobs_have_defaults_and_progress_is_none_of_them():
    for name in DATASETS:
        assert "progress" not in find_dataset(name).knobs()
    assert find_dataset("titanic").knobs() == {"seed": 0, "test": 0.2, "validation": 0.0}


def test_a_wrong_public_name_is_an_attribute_error():
    import evenhand.data

    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        evenhand.data.laod  # noqa: B018
    assert {"load", "Task", "DATASETS"} <= set(dir(evenhand.data))

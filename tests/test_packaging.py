"""What users install and read: the wheel is complete, versions agree, and the words are the ones we chose."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from fairlearn.metrics import equalized_odds_difference

import evenhand
from evenhand.data import packaged

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "evenhand"
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

# What a number cannot say of a model; only the page on how we talk may name these words, to explain them.
FORBIDDEN = [
    r"de-?biased",
    r"unbiased (model|classifier|prediction|algorithm|AI)",
    r"bias[- ]free",
    r"fair (model|classifier|AI)",
    r"(removes?|removed|eliminates?|eliminated) (the )?bias",
    r"(model|classifier|prediction)s? (is|are) (un)?fair",
]
MACHINE_PATHS = [
    "/" + name + "/" for name in ("work", "root")
]  # put together here, or this file would hold them


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """The wheel, built in a copy of the tree so that no build output is left in the checkout."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(SOURCE, tree / "src" / "evenhand", ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        out,
        tree,
    ]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_has_every_file_of_the_package(wheel):
    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {path.relative_to(SOURCE.parent).as_posix() for path in files}
    assert expected <= set(wheel.namelist())
    assert {"evenhand/py.typed", "evenhand/data/files/titanic_predictions.csv.gz"} <= expected


def test_the_wheel_says_what_it_is(wheel):
    info = f"evenhand-{evenhand.__version__}.dist-info"
    metadata = wheel.read(f"{info}/METADATA").decode()
    assert f"\nVersion: {evenhand.__version__}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"} <= set(wheel.namelist())
    assert "evenhand = evenhand.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()


def test_the_citation_file_is_valid_and_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # the keys that 1.2.0 requires
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "The evenhand contributors"}]
    assert citation["version"] == evenhand.__version__
    assert citation["license"] == "Apache-2.0"


def test_the_changelog_has_this_version():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", evenhand.__version__]


@pytest.mark.parametrize(
    "page", [p for p in PROSE if p.stem != "how-we-talk-about-fairness"], ids=lambda p: p.name
)
def test_no_page_promises_what_a_number_cannot(page):
    text = " ".join(page.read_text(encoding="utf-8").split())
    found = [m.group(0) for pattern in FORBIDDEN for m in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE)]
    assert found == []


@pytest.mark.parametrize("page", PROSE, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if not link.startswith(("http://", "https://", "mailto:"))]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_no_file_names_a_place_on_somebodys_machine():
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]
    texts = {path: path.read_bytes().decode("utf-8", errors="ignore") for path in paths}
    assert len(texts) > 20
    found = [path.relative_to(ROOT) for path, text in texts.items() if any(p in text for p in MACHINE_PATHS)]
    assert found == []


def test_the_table_of_equalized_odds_is_what_the_definitions_give():
    table = pd.read_csv(packaged("titanic_predictions.csv.gz"))
    rate = table.groupby(["sex", "survived"])["mlp_prediction"].mean()
    tpr, fpr = rate["male", 1] - rate["female", 1], rate["male", 0] - rate["female", 0]
    arguments = {
        "y_true": table["survived"],
        "y_pred": table["mlp_prediction"],
        "sensitive_features": table["sex"],
    }
    numbers = {
        "equalized_odds_difference": equalized_odds_difference(**arguments),
        "average_odds_difference": (tpr + fpr) / 2,
        'agg="mean"': equalized_odds_difference(**arguments, agg="mean"),
        "average_abs_odds_difference": (abs(tpr) + abs(fpr)) / 2,
        "equal_odds": rate["male", 1] / rate["female", 1],
    }
    page = (ROOT / "docs" / "how-we-talk-about-fairness.md").read_text(encoding="utf-8")
    for name, number in numbers.items():
        row = next(line for line in page.splitlines() if line.startswith("|") and f"{name}`" in line)
        assert f"| {number:.3f} |" in row, name

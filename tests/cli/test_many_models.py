"""Many prediction files at once: the matrices of `evenhand compare`, and the script that writes the files."""

import csv
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.cli.app import app
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import model_matrices

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "timm_predictions.py"
script = runpy.run_path(str(SCRIPT))


class Zoo(torch.nn.Module):
    """Scores that are known beforehand: the input itself."""

    def forward(self, x):
        return x


@pytest.fixture
def files(tmp_path):
    """Five models of six classes, written by the script."""
    draw = np.random.default_rng(0)
    y = torch.arange(600) % 6
    names, told = [f"n{n:04d}.jpeg" for n in range(600)], []
    for n in range(5):
        scores = torch.tensor(draw.normal(size=(600, 6))) + (1.5 + 0.2 * n) * torch.nn.functional.one_hot(
            y, 6
        )
        batches = [(scores[:300], y[:300]), (scores[300:], y[300:])]
        rows = list(script["predictions"](Zoo(), batches, "cpu"))
        assert [row[1] for row in rows] == scores.argmax(1).tolist()
        assert [row[2] for row in rows] == [s[t] > s.min() for s, t in zip(scores, y, strict=True)]
        script["write"](tmp_path / f"m{n}.csv", names, rows)
        told.append(np.array([row[1] for row in rows]))
    return sorted(tmp_path.glob("m*.csv")), y.numpy(), np.stack(told)


def test_every_model_against_every_other(files, tmp_path):
    paths, y, told = files
    out, page = tmp_path / "c.json", tmp_path / "c.html"
    words = ["compare", *map(str, paths), "--label", "y", "--prediction", "p", "--key", "image", "--quiet"]
    words += ["--replicates", "20", "--json", str(out), "--html", str(page)]
    with pytest.raises(SystemExit) as ended:
        app(words)
    assert not ended.value.code
    found = json.loads(out.read_text("utf-8"))["matrices"]
    counts = Counts.from_predictions(y, told, np.zeros(600, int), 6, 1)
    for key, matrix in model_matrices(counts).items():
        assert np.array(found[key], dtype=float) == pytest.approx(matrix)
    assert np.array(found["cev"]).shape == (5, 5)
    assert "Every model against every other" in page.read_text("utf-8")


def test_the_file_has_a_line_for_each_image(files):
    with files[0][0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600
    assert set(rows[0]) == {"image", "y", "p", "in_top5"}


def test_the_table_of_the_zoo_is_the_papers_most_accurate_first():
    models = [
        ("resnet18", 0.69758, 0.89078, 224, 11_690_000),
        ("efficientnet_b2", 0.80608, 0.9531, 288, 9_110_000),
    ]
    lines = script["zoo"](models).splitlines()
    assert lines[2] == "| 0 | efficientnet_b2 | 0.80608 | 0.95310 | 288 | 9.11 |"
    assert lines[3].startswith("| 1 | resnet18 | 0.69758 |")


def stand_in(monkeypatch, folders: int) -> None:
    """What the script asks of timm, with images in so many folders and a model of six classes."""

    class Images(torch.utils.data.Dataset):
        def __init__(self, root, transform):
            self.y = torch.arange(40) % 6
            self.reader = SimpleNamespace(class_to_idx={f"n{n}": n for n in range(folders)})

        def __len__(self):
            return 40

        def __getitem__(self, n):
            return torch.nn.functional.one_hot(self.y[n], 6).float(), int(self.y[n])

        def filenames(self, basename):
            return [f"{n}.jpeg" for n in range(40)]

    data = SimpleNamespace(
        resolve_model_data_config=lambda model, use_test_size: {
            "input_size": (3, *[224 + 64 * use_test_size] * 2)
        },
        create_transform=lambda **config: None,
        ImageDataset=Images,
    )
    model = torch.nn.Linear(6, 6)
    model.num_classes = 6
    timm = SimpleNamespace(create_model=lambda name, pretrained: model, data=data)
    monkeypatch.setitem(sys.modules, "timm", timm)


def test_the_script_writes_predictions_and_table_with_a_stand_in_for_timm(monkeypatch, tmp_path, capsys):
    stand_in(monkeypatch, folders=6)
    words = ["timm_predictions.py", "images", str(tmp_path), "one", "two", "--workers", "0"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert not ended.value.code
    assert {path.name for path in tmp_path.iterdir()} == {"one.csv", "two.csv", "zoo.md"}
    assert (tmp_path / "zoo.md").read_text("utf-8").count("| 288 | 0.00 |") == 2
    assert capsys.readouterr().out.count("| 288 |") == 2
    with (tmp_path / "one.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["y"] for row in rows[:7]] == ["n0", "n1", "n2", "n3", "n4", "n5", "n0"]  # the folders
    assert {row["p"] for row in rows} <= {f"n{k}" for k in range(6)}


def test_images_without_a_folder_for_each_class_are_refused(monkeypatch, tmp_path):
    """Those of a part of ImageNet would be numbered otherwise than the model numbers its classes."""
    stand_in(monkeypatch, folders=5)
    monkeypatch.setattr(
        sys, "argv", ["timm_predictions.py", "images", str(tmp_path), "one", "--workers", "0"]
    )
    with pytest.raises(SystemExit, match="one tells 6 classes and the images are in 5 folders"):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert not list(tmp_path.iterdir())


def test_a_missing_timm_is_told(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "timm", None)
    monkeypatch.setattr(sys, "argv", ["timm_predictions.py", "images", "out"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "pip install timm" in capsys.readouterr().err

"""The benchmark of stacked convolutional networks at a tiny size; no test depends on how long it takes."""

import sys
from importlib import import_module
from pathlib import Path

import torch

from evenhand.nets.convnet import ConvNet

ROOT = Path(__file__).parent.parent


def test_stacks_are_trained_and_timed(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    bench = import_module("benchmarks.convnet_stack")
    settings = (
        bench.Setting("erm", 1, products=False, compiled=False),
        bench.Setting("gdro", 2, products=True, compiled=False),
    )
    rows = list(bench.run(settings, torch.device("cpu"), rows=256, steps=1, rounds=1))
    assert [(row["method"], row["runs"]) for row in rows] == [("erm", 1), ("gdro", 2)]
    assert all(row["images_a_second"] > 0 for row in rows)
    assert ConvNet.products  # as it was

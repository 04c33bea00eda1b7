"""The benchmark of deterministic mode at a tiny size: rows, resuming, intervals; nothing depends on time."""

import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    names = ("mode", "overhead", "operations", "modes")
    return SimpleNamespace(**{name: import_module(f"benchmarks.deterministic_{name}") for name in names})


def test_every_part_is_written_row_by_row_and_not_measured_twice(bench, tmp_path, capsys, monkeypatch):
    def in_this_process(command, check):  # fresh processes take seconds each to import torch
        assert (command[0], check) == (sys.executable, True)
        assert bench.mode.main(command[2:]) == 0

    monkeypatch.setattr(bench.mode, "subprocess", SimpleNamespace(run=in_this_process))
    arguments = ["--device", "cpu", "--tiny", "--rounds", "3", "--steps", "1", "--mode-steps", "4"]
    arguments += ["--out", str(tmp_path)]
    assert bench.mode.main(arguments) == 0
    body = json.loads((tmp_path / "deterministic-mode-cpu.json").read_text())
    assert body["machine"]["device"] == "cpu"
    assert len(body["exceptions"]) == len(bench.operations.OPERATIONS) >= 25
    assert [row["net"] for row in body["overhead"]] == ["tiny"]
    assert [row["equal"] for row in body["modes"]] == [True, True]
    assert len(body["modes"][0]["digests"]["0"]) == 64
    capsys.readouterr()
    assert bench.mode.main([*arguments, "--parts", "exceptions", "overhead"]) == 0
    assert capsys.readouterr().out == ""  # all rows were there
    assert json.loads((tmp_path / "deterministic-mode-cpu.json").read_text()) == body
    assert bench.mode.main([*arguments, "--parts", "modes", "--again"]) == 0
    assert capsys.readouterr().out.count('"digests"') == 4  # two modes in each of two processes


def test_rows_of_another_machine_are_not_mixed(bench, tmp_path):
    path = tmp_path / "rows.json"
    bench.mode.Rows(path, {"device": "cpu"}).put("modes", "name", {"name": "a"})
    with pytest.raises(SystemExit, match="another machine"):
        bench.mode.Rows(path, {"device": "cuda"})
    assert bench.mode.Rows(path, {"device": "cuda"}, again=True).body["modes"] == []


def test_the_interval_of_a_median_covers_as_often_as_it_says(bench):
    rng = np.random.default_rng(0)
    ends = np.array([bench.overhead.median_interval(rng.exponential(size=12)) for _ in range(2000)])
    covered = ((ends[:, 0] <= np.log(2)) & (np.log(2) <= ends[:, 1])).mean()
    assert covered == pytest.approx(1 - 2 * 79 / 4096, abs=0.015)  # 2 (1 + 12 + 66) of 4096 miss


def test_an_overhead_is_the_median_of_paired_rounds(bench, monkeypatch):
    told = {False: iter([9, 1.0, 2.0, 4.0]), True: iter([9, 1.2, 2.2, 8.0])}  # the first is for loading
    monkeypatch.setattr(bench.overhead.Training, "seconds_of", lambda self, steps: next(told[self.fixed]))
    row = bench.overhead.overhead(bench.overhead.SMALL[0], torch.device("cpu"), rounds=3, steps=1)
    assert row["shares"] == pytest.approx([0.2, 0.1, 1.0])
    assert row["overhead"] == pytest.approx(0.2)
    assert (row["low"], row["high"]) == pytest.approx((0.1, 1.0))


def test_operations_that_torch_refuses_are_seen_and_named(bench):
    """On the CPU torch refuses max_unpool2d, and nothing else of the list."""
    device = torch.device("cpu")
    found = {one.name: bench.operations.tried(one, device) for one in bench.operations.OPERATIONS}
    raising = [name for name, row in found.items() if row["raises"]]
    assert raising == ["max_unpool2d"]
    assert found["max_unpool2d"]["why"].startswith("max_unpooling2d")
    assert all(bool(row["why"]) == bool(row["raises"]) for row in found.values())
    assert not torch.are_deterministic_algorithms_enabled()


def test_what_cannot_run_at_all_is_told_apart(bench):
    def broken(device):
        raise RuntimeError("there is no such kernel\nat line 3")

    row = bench.operations.tried(bench.operations.Operation("broken", broken), torch.device("cpu"))
    assert row == {"operation": "broken", "raises": None, "why": "there is no such kernel"}


def test_modes_name_every_combination_once_and_both_processes_decide(bench):
    modes = bench.modes
    assert len({mode.name for mode in modes.MODES}) == len(modes.MODES) == 12 + 6 + 9
    mode = modes.MODES[0]
    first = modes.both({}, mode, 0, {"digest": "a", "images": 10.0, "steps": 4})
    assert first["equal"] is None
    assert modes.both(first, mode, 1, {"digest": "a", "images": 12.0, "steps": 4})["equal"] is True
    second = modes.both(first, mode, 1, {"digest": "b", "images": 12.0, "steps": 4})
    assert (second["equal"], second["images"]) == (False, 12.0)


def test_the_trainer_of_evenhand_is_one_of_the_modes(bench, monkeypatch):
    monkeypatch.setattr(bench.modes, "BATCH", 2)
    monkeypatch.setattr(bench.modes, "ROWS", 8)
    mode = bench.modes.Mode(ours=True, deterministic=True)
    rows = [bench.modes.one_mode(mode, torch.device("cpu"), 2) for _ in range(2)]
    assert rows[0]["digest"] == rows[1]["digest"]
    assert rows[0]["images"] > 0
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_network_of_the_s_family_is_built_as_the_loops_use_it(bench):
    network = bench.overhead.NETWORKS[0]
    assert (network.name, network.batch, network.size, network.printed) == ("cifar-resnet18", 128, 32, 0.178)
    assert network.build(32)(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


def test_a_digest_sees_one_bit(bench):
    layer = nn.Linear(2, 2)
    before = bench.modes.digest_of(layer.parameters())
    assert bench.modes.digest_of(layer.parameters()) == before
    with torch.no_grad():
        layer.bias[0] = torch.nextafter(layer.bias[0], torch.tensor(9.0))
    assert bench.modes.digest_of(layer.parameters()) != before

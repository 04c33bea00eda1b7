"""The torchmetrics adapter gives what the audit gives: whatever is absent, merged, saved or distributed."""

import importlib.metadata
import importlib.util
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAccuracy, BinaryFairness

import evenhand
from evenhand.adapters import torchmetrics as adapter
from evenhand.adapters.torchmetrics import DEFAULT, GroupCounts

SOURCE = Path(evenhand.__file__).parents[1]


def batches(n: int = 200, seed: int = 0, groups: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Probabilities, labels and groups, some of them unknown."""
    generator = torch.Generator().manual_seed(seed)
    g = torch.randint(-1, groups, (n,), generator=generator)
    y = torch.randint(0, 2, (n,), generator=generator)
    return torch.rand(n, generator=generator) * 0.6 + 0.3 * y + 0.02 * g.clamp(min=0), y, g


def audited(preds: torch.Tensor, y: torch.Tensor, g: torch.Tensor, keys=DEFAULT) -> dict[str, float]:
    found = evenhand.audit(y, (preds > 0.5).long(), g, metrics=list(keys), replicates=0)
    return {key: found.metrics[key].value for key in keys}


def same(got: dict[str, torch.Tensor], expected: dict[str, float]) -> bool:
    assert list(got) == list(expected)
    return all(math.isclose(float(got[key]), expected[key], rel_tol=1e-6, abs_tol=1e-7) for key in expected)


def test_batches_give_what_the_audit_of_all_rows_gives():
    preds, y, g = batches()
    metric = GroupCounts(4)
    for rows in torch.arange(200).split(17):
        metric.update(preds[rows], y[rows], g[rows])
    assert same(metric.compute(), audited(preds, y, g))
    assert metric.counts.unknown.sum() == int((g < 0).sum()) > 0


def test_a_batch_that_lacks_a_group_shifts_nobody_where_torchmetrics_shifts():
    preds, target, groups = torch.tensor([1, 1, 0, 0]), torch.tensor([1, 1, 1, 1]), torch.tensor([0, 0, 2, 2])
    ours = GroupCounts(3, metrics=["tpr.gap"])
    ours.update(preds, target, groups)
    assert ours.counts.table.sum(axis=(1, 2)).tolist() == [2, 0, 2]
    assert float(ours.compute()["tpr.gap"]) == 1.0
    theirs = BinaryFairness(num_groups=3)
    theirs.update(preds, target, groups)
    # torchmetrics 1.9.0 books group 2 under group 1; a later release that does not is welcome here
    booked = theirs.fn.tolist()
    assert booked in ([0, 2, 0], [0, 0, 2])
    if importlib.metadata.version("torchmetrics") == "1.9.0":
        assert booked == [0, 2, 0]


def test_a_group_without_negatives_has_no_false_positive_rate():
    metric = GroupCounts(2)
    metric.update(torch.tensor([1, 0, 1]), torch.tensor([1, 0, 1]), torch.tensor([0, 0, 1]))
    assert math.isnan(metric.compute()["fpr.gap"])


def test_forward_gives_the_batch_and_keeps_the_whole():
    preds, y, g = batches()
    metric = GroupCounts(4)
    first = metric(preds[:100], y[:100], g[:100])
    second = metric(preds[100:], y[100:], g[100:])
    assert same(first, audited(preds[:100], y[:100], g[:100]))
    assert same(second, audited(preds[100:], y[100:], g[100:]))
    assert same(metric.compute(), audited(preds, y, g))


def test_reset_forgets():
    preds, y, g = batches()
    metric = GroupCounts(4)
    metric.update(1 - preds, y, g)
    metric.reset()
    assert int(metric.cells.sum()) == 0
    metric.update(preds, y, g)
    assert same(metric.compute(), audited(preds, y, g))


def test_merged_metrics_are_the_whole():
    preds, y, g = batches()
    parts = [GroupCounts(4), GroupCounts(4)]
    for part, rows in zip(parts, (slice(0, 60), slice(60, None)), strict=True):
        part.update(preds[rows], y[rows], g[rows])
    parts[0].merge_state(parts[1])
    assert same(parts[0].compute(), audited(preds, y, g))


def test_a_clone_and_a_pickle_go_their_own_way():
    preds, y, g = batches()
    metric = GroupCounts(4)
    metric.update(preds[:100], y[:100], g[:100])
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric))):
        copy.update(preds[100:], y[100:], g[100:])
        assert same(copy.compute(), audited(preds, y, g))
    assert same(metric.compute(), audited(preds[:100], y[:100], g[:100]))


def test_the_state_survives_a_state_dict():
    preds, y, g = batches()
    metric, fresh = GroupCounts(4), GroupCounts(4)
    assert metric.state_dict() == {}  # as with any torchmetrics metric, states are saved when asked
    for each in (metric, fresh):
        each.persistent(True)
    metric.update(preds, y, g)
    fresh.load_state_dict(metric.state_dict())
    assert fresh.counts == metric.counts
    fresh.update(preds, y, g)
    assert fresh.counts.cells.sum() == 400


def test_inside_a_collection_with_others():
    preds, y, g = batches()
    collection = MetricCollection({"fairness": GroupCounts(4), "accuracy": BinaryAccuracy()})
    collection.update(preds=preds, target=y, groups=g)
    collection.update(preds=preds, target=y, groups=g)
    found = collection.compute()
    assert list(found) == ["accuracy", *DEFAULT]
    assert same({key: found[key] for key in DEFAULT}, audited(preds, y, g))


def test_two_thresholds_in_a_collection_stay_apart_after_a_batch_where_they_agree():
    collection = MetricCollection(
        {
            "low": GroupCounts(2, metrics=["selection.best"], threshold=0.3),
            "high": GroupCounts(2, metrics=["tpr.best"]),
        }
    )
    sure = {"preds": torch.tensor([0.9, 0.1]), "target": torch.tensor([1, 0]), "groups": torch.tensor([0, 1])}
    unsure = {
        "preds": torch.tensor([0.4, 0.4]),
        "target": torch.tensor([1, 1]),
        "groups": torch.tensor([0, 1]),
    }
    collection.update(**sure)
    collection.update(**unsure)
    found = collection.compute()
    assert float(found["selection.best"]) == 1.0  # 0.4 is above 0.3 ...
    assert float(found["tpr.best"]) == 0.5  # ... and not above 0.5


def test_scores_of_classes_take_the_largest():
    scores = torch.tensor([[2.0, 1.0, -1.0], [0.0, 0.0, 0.0], [-3.0, -2.0, 5.0]], dtype=torch.float16)
    metric = GroupCounts(1, n_classes=3)
    metric.update(scores, torch.tensor([0, 1, 2]), torch.tensor([0, 0, 0]))
    assert metric.counts.table[0].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]


def test_every_count_metric_of_the_catalogue_is_that_of_the_audit():
    preds, y, g = batches()
    keys = ["tpr", "dp", "eps", "odds.max", "acc_mean"]
    metric = GroupCounts(4, metrics=keys)
    metric.update(preds, y, g)
    assert same(metric.compute(), audited(preds, y, g, metric.metric_keys))


def test_the_audit_has_names_and_intervals():
    preds, y, g = batches()
    metric = GroupCounts(4)
    metric.update(preds, y, g)
    names = ["north", "east", "south", "west"]
    found = metric.audit(
        group_names=names, class_names=["no", "yes"], attribute="region", metrics=("tpr.gap",)
    )
    direct = evenhand.audit(y, (preds > 0.5).long(), g, metrics=["tpr.gap"]).metrics["tpr.gap"]
    value = found.metrics["tpr.gap"]
    assert (value.value, value.low, value.high, value.bounds) == (
        direct.value,
        direct.low,
        direct.high,
        direct.bounds,
    )
    assert [row.name for row in found.groups] == names
    assert (found.subject.positive, found.unknown) == ("yes", int((g < 0).sum()))


@pytest.mark.parametrize(
    ("preds", "target", "groups", "message"),
    [
        ([1.7], [1], [0], r"probabilities in \[0, 1\]: apply a sigmoid"),
        ([float("nan")], [1], [0], "probabilities"),
        ([[0.1, 0.2, 0.7]], [1], [0], "3 columns of scores for 2 classes"),
        ([[float("nan"), 0.2]], [1], [0], "not a number"),
        ([[1, 0]], [1], [0], r"preds must be \[rows\]"),
        ([1], [1.0], [0], "target must hold whole numbers"),
        ([1], [1], [0.0], "groups must hold whole numbers"),
        ([1], [1], [2], "group 2 in row 0"),
        ([1, 1], [1, 5], [0, 1], "label 5 in row 1"),
        ([1, 1], [1], [0], "different lengths"),
    ],
)
def test_wrong_input_is_named_and_not_counted(preds, target, groups, message):
    metric = GroupCounts(2)
    with pytest.raises(ValueError, match=message):
        metric.update(torch.tensor(preds), torch.tensor(target), torch.tensor(groups))
    assert int(metric.cells.sum()) == 0


def test_wrong_choices_are_named():
    with pytest.raises(ValueError, match=r"no metric 'tpr\.gapp'; did you mean tpr\.gap"):
        GroupCounts(2, metrics=["tpr.gapp"])
    with pytest.raises(ValueError, match="at least 1 group and 2 classes"):
        GroupCounts(0)
    with pytest.raises(ValueError, match="scores of more than two classes"):
        GroupCounts(2, n_classes=3).update(torch.tensor([0.5]), torch.tensor([1]), torch.tensor([0]))
    with pytest.raises(ValueError, match="1 names for 2 groups"):
        GroupCounts(2).audit(group_names=["only"])


@pytest.mark.gpu
def test_the_counts_live_on_the_device():
    preds, y, g = batches()
    metric = GroupCounts(4).to("cuda")
    metric.update(preds.cuda(), y.cuda(), g)  # groups may still be on the CPU
    assert metric.cells.is_cuda
    found = metric.compute()
    assert all(value.is_cuda for value in found.values())
    assert same(found, audited(preds, y, g))
    assert metric.counts == metric.cpu().counts


def test_an_empty_batch_changes_nothing():
    preds, y, g = batches()
    metric = GroupCounts(4)
    metric.update(preds, y, g)
    none = torch.zeros(0, dtype=torch.long)
    metric.update(torch.zeros(0), none, none)
    assert same(metric.compute(), audited(preds, y, g))


def test_without_torchmetrics_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    spec = importlib.util.spec_from_file_location("adapter_without", adapter.__file__)
    with pytest.raises(ImportError, match=r"pip install 'evenhand\[torchmetrics\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


RANK = """
import sys, torch, torch.distributed as dist
from evenhand.adapters.torchmetrics import GroupCounts
rank, store, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
rows = torch.load(out + "/rows.pt")
seen = rows["g"] % 2 == rank  # the unknown, -1, are odd
metric = GroupCounts(4)
for part in torch.arange(len(rows["y"]))[seen].split(13):
    metric.update(rows["preds"][part], rows["y"][part], rows["g"][part])
found = metric.compute()
audit = metric.audit(metrics=("tpr.gap",))
value = audit.metrics["tpr.gap"]
own = int(metric.cells.sum())
torch.save({"found": found, "n": audit.n, "own": own, "ends": (value.low, value.high)}, f"{out}/{rank}.pt")
dist.destroy_process_group()
"""


def test_two_processes_that_see_different_groups_agree_with_one(tmp_path):
    """Real ranks: each counts only its own groups, and both report what one process reports of all rows."""
    preds, y, g = batches()
    torch.save({"preds": preds, "y": y, "g": g}, tmp_path / "rows.pt")
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-c", RANK]
    ranks = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "store"), str(tmp_path)], env=environment)
        for rank in range(2)
    ]
    assert [rank.wait(timeout=60) for rank in ranks] == [0, 0]
    results = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    whole = GroupCounts(4)
    whole.update(preds, y, g)
    value = whole.audit(metrics=("tpr.gap",)).metrics["tpr.gap"]
    for result in results:
        assert same(result["found"], audited(preds, y, g))
        assert (result["n"], result["ends"]) == (200, (value.low, value.high))
    assert [result["own"] for result in results] == [int((g % 2 == rank).sum()) for rank in range(2)]

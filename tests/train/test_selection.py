"""Early stopping and the best epoch, each run for itself, in a stack as alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from evenhand.errors import InputError
from evenhand.methods.erm import ERM
from evenhand.methods.group_dro import GroupDRO
from evenhand.nets import NetSpec
from evenhand.records import Out
from evenhand.train.recipe import Recipe
from evenhand.train.selection import Selection
from evenhand.train.stack import Stack
from evenhand.train.watching import monitored


def stack_of(n_runs, stacked=None):
    builds = [lambda: {"model": torch.nn.Linear(1, 1)}] * n_runs
    return Stack(builds, range(n_runs), torch.device("cpu"), stacked=stacked)


def walk(selection, stack, values):
    """Show a selection one row of numbers after the other; the weights of epoch e are e."""
    for epoch, row in enumerate(values, 1):
        if selection.all_stopped:
            break
        with torch.no_grad():
            stack.parameters["model"]["weight"].fill_(epoch)
        state = {"q": torch.full((stack.n_runs, 2) if stack.stacked else (2,), float(epoch))}
        selection.see(torch.tensor(row, dtype=torch.float64), epoch, state)
    state = selection.restore({"q": torch.full((stack.n_runs, 2) if stack.stacked else (2,), 99.0)})
    return stack.parameters["model"]["weight"].flatten().tolist(), state["q"].view(-1, 2)[:, 0].tolist()


NAN = float("nan")
CURVES = [  # values, kept by keep="best", patience=2, and by keep="last", patience=2
    ([5, 4, 3, 2, 1], 5, 5),
    ([5, 4, 6, 6, 1], 2, 4),
    ([1, 2, 3, 0, 0], 1, 3),
    ([NAN, NAN, NAN, NAN, NAN], 2, 2),  # never an improvement: stopped, and nothing better to keep
    ([3, NAN, 2, NAN, NAN], 3, 5),
    ([3, 3, 3, 1, 1], 1, 3),  # equal is no improvement
]


@pytest.mark.parametrize(("values", "best", "last"), CURVES)
def test_one_run(values, best, last):
    for keep, expected in (("best", best), ("last", last)):
        stack = stack_of(1)
        selection = Selection(Recipe(keep=keep, patience=2), stack, validated=True)
        assert walk(selection, stack, [[v] for v in values]) == ([expected], [expected])


@pytest.mark.parametrize("keep", ["best", "last"])
def test_runs_side_by_side_stop_and_keep_each_for_itself(keep):
    stack = stack_of(len(CURVES))
    selection = Selection(Recipe(keep=keep, patience=2), stack, validated=True)
    rows = list(zip(*(values for values, _, _ in CURVES), strict=True))
    expected = [best if keep == "best" else last for _, best, last in CURVES]
    assert walk(selection, stack, rows) == (expected, expected)


def test_without_patience_nobody_stops():
    stack = stack_of(2)
    selection = Selection(Recipe(keep="best"), stack, validated=True)
    weights, _ = walk(selection, stack, [[3.0, 1.0], [2.0, 2.0], [5.0, 3.0], [1.0, NAN]])
    assert weights == [4, 1]
    assert not selection.stopped.any()


def test_a_drop_must_be_more_than_the_least():
    stack = stack_of(1)
    selection = Selection(Recipe(keep="best", min_drop=0.5), stack, validated=True)
    assert walk(selection, stack, [[3.0], [2.6], [2.4], [2.0]])[0] == [3]


def test_nothing_is_kept_where_nothing_is_selected():
    stack = stack_of(2)
    selection = Selection(Recipe(), stack, validated=False)
    assert walk(selection, stack, [[1.0, 1.0], [2.0, 2.0]]) == ([2, 2], [99.0, 99.0])
    assert selection.kept == {}


def test_selection_without_validation_rows_is_refused(kit):
    task = kit.task(n_validation=0)
    assert kit.trainer(task, [0]).fit().history[0].keys() == {"phase", "epoch", "seconds", "train"}
    for options in ({"patience": 2}, {"keep": "best"}):
        with pytest.raises(InputError, match="need validation rows, and this task has none"):
            kit.trainer(task, [0], **options)


# -- in training ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["best", "last"])
def test_a_stack_whose_runs_stop_at_different_epochs_equals_single_runs(kit, keep):
    """To the bit, parameters and state, though the stack goes on with the others."""
    seeds = [0, 1, 2, 3, 4, 5]
    options = {"epochs": 14, "patience": 2, "keep": keep, "rate": 0.05, "net": NetSpec("mlp", widths=(32,))}
    together = kit.trainer(kit.task(n_train=48), seeds, GroupDRO(), **options).fit()
    lengths = []
    for run, seed in enumerate(seeds):
        alone = kit.trainer(kit.task(n_train=48), [seed], GroupDRO(), **options).fit()
        lengths.append(len(alone.history))
        kit.assert_same(kit.numbers(together, run), kit.numbers(alone))
        assert together.selection.best_epoch[run] == alone.selection.best_epoch[0]
    assert len(set(lengths)) > 2
    assert len(together.history) == max(lengths)


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_the_best_epoch_is_what_is_kept(kit, seeds):
    trainer = kit.trainer(kit.task(n_train=48), seeds, epochs=12, keep="best", rate=0.1).fit()
    losses = torch.tensor([entry["loss"] for entry in trainer.history])
    assert trainer.selection.best_epoch.tolist() == (losses.argmin(0) + 1).tolist()
    assert (losses.argmin(0) + 1 < 12).any()  # it is not simply the last
    part = trainer.validation
    for run in range(len(seeds)):
        scores = trainer.scores(part)[run]
        again = -scores.gather(1, part.y[:, None]).log().mean()
        assert again == pytest.approx(losses[:, run].min().item(), rel=1e-6)


def test_batch_statistics_are_those_of_the_best_epoch(kit):
    task = kit.images(n=36)
    trainer = kit.trainer(task, [0], net=NetSpec("cifar-resnet18"), epochs=4, keep="best", rate=0.01,
                          batch_size=6).fit()  # fmt: skip
    losses = [entry["loss"][0] for entry in trainer.history]
    scores = trainer.scores(trainer.validation)[0]
    again = -scores.gather(1, trainer.validation.y[:, None]).log().mean()
    assert again.item() == pytest.approx(min(losses), rel=1e-4)
    assert int(trainer.selection.best_epoch) == losses.index(min(losses)) + 1 < 4


def test_a_run_that_goes_astray_does_not_touch_its_neighbours(kit):
    @dataclass(frozen=True)
    class Astray(ERM):
        scale: float = 1.0

        def loss(self, nets, batch, state):
            out = super().loss(nets, batch, state)
            return Out({"model": out.losses["model"] * self.scale}, state)

    methods = [Astray(), Astray(scale=float("nan")), Astray()]
    options = {"epochs": 6, "keep": "best", "patience": 2}
    together = kit.trainer(kit.task(), [0, 1, 2], methods, **options).fit()
    for run in (0, 2):
        alone = kit.trainer(kit.task(), [run], Astray(), **options).fit()
        kit.assert_same(kit.numbers(together, run), kit.numbers(alone))
    lost = kit.trainer(kit.task(), [1], methods[1], **options).fit()
    kit.assert_same(kit.numbers(together, 1), kit.numbers(lost))
    assert torch.isnan(kit.numbers(lost)["model.layers.0.weight"]).all()
    assert len(lost.history) == 2
    assert together.selection.best_epoch.tolist()[1] == 0


# -- what is monitored ---------------------------------------------------------------------------------------


def test_a_metric_is_monitored_in_its_own_direction():
    found = {
        key: torch.tensor([0.2, 1.3]) for key in ("loss", "tpr.gap", "tpr.ratio", "accuracy.worst", "s3.di")
    }
    for key in ("loss", "tpr.gap"):
        assert torch.equal(monitored(key, found), found[key])
    for key in ("tpr.ratio", "accuracy.worst"):
        assert torch.equal(monitored(key, found), -found[key])


def test_the_worst_groups_accuracy_is_maximised(kit):
    hard = kit.task(signal=0.3)
    trainer = kit.trainer(hard, [0, 1, 2], epochs=8, keep="best", monitor="accuracy.worst").fit()
    values = torch.tensor([entry["accuracy.worst"] for entry in trainer.history])
    assert trainer.selection.best_epoch.tolist() == (values.argmax(0) + 1).tolist()
    assert (values.argmax(0) != values.argmin(0)).all()


def test_a_metric_that_cannot_be_watched_is_refused(kit):
    for options, message in (
        ({"monitor": "tpr.gop"}, "there is no metric 'tpr.gop' to watch; did you mean 'tpr.gap'"),
        ({"watch": ("auc.gap",)}, "there is no metric 'auc.gap' to watch"),
        ({"monitor": "selection.best"}, "neither more nor less of 'selection.best' is better"),
    ):
        with pytest.raises(InputError, match=message):
            kit.trainer(kit.task(), [0], **options)

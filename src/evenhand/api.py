"""The functions users call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.evaluation.audit import Audit, assess
from evenhand.evaluation.compare_rows import compare_rows
from evenhand.evaluation.comparison import Comparison
from evenhand.evaluation.option_names import refuse_unknown
from evenhand.evaluation.options import Options
from evenhand.evaluation.rows import models_of_rows, subject_of_rows
from evenhand.evaluation.subject import subject_of_counts
from evenhand.levels import level_name
from evenhand.metrics.counts import Counts

if TYPE_CHECKING:
    from torch import nn

    from evenhand.evaluation.fitted import Fitted  # brings torch with it, which an audit does not need

OF_CLASSES = ("positive", "classes")  # options that name classes, which must be known to check them


def audit(
    y_true: object,
    y_pred: object,
    groups: object,
    scores: object | None = None,
    weights: object | None = None,
    min_count: int = 1,
    confidence: float = 0.95,
    *,
    metrics: Sequence[str] | None = None,
    positive: object | None = None,
    classes: Sequence[object] | None = None,
    name: str | None = None,
    **options: Any,
) -> Audit:
    """Measure how predictions differ between groups: every metric, with interval, bounds and reasons.

    Rows are matched by position (the index of a pandas column is not looked at).
    `y_true [N]` and `y_pred [N]` hold any class values (numbers, texts, booleans); `y_pred [R, N]` holds R
    runs of one model; `y_true [N, L]` is multi-label. `groups` is a column, several named ones (a dict, a
    data frame: their intersection is audited, and each alone), or `Groups`; missing values and -1 are
    unknown.
    `scores` are probabilities: `[N]` of the positive class, or `[N, C]`. Groups with fewer than `min_count`
    rows are shown but left out of comparisons. `positive` names the positive class (default: the last one in
    order). Further options: see `evenhand.evaluation.options.Options`.

    >>> import evenhand
    >>> y, p = [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0, 0, 0]
    >>> found = evenhand.audit(y, p, groups=["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> found.metrics["tpr.gap"].value, found.metrics["tpr.gap"].decided_by
    (0.5, ('a', 'b'))
    """
    refuse_unknown(audit, options)
    chosen = _options(metrics, min_count=min_count, confidence=confidence, **options)
    subject = subject_of_rows(
        y_true,
        y_pred,
        groups,
        scores,
        weights,
        positive=positive,
        classes=classes,
        name=name,
        topk=chosen.topk,
    )
    return assess(subject, chosen)


def audit_counts(
    counts: Counts,
    group_names: Sequence[object] | None = None,
    class_names: Sequence[object] | None = None,
    attribute: str = "group",
    *,
    metrics: Sequence[str] | None = None,
    name: str | None = None,
    **options: Any,
) -> Audit:
    """Audit counts that are already there: batches added up, processes merged, a table from elsewhere.

    Counts `[R, G, C, C]` are R runs. Options are those of `audit`.

    >>> first, second = [0, 1], [1, 1]
    >>> parts = [Counts.from_predictions(y, p, [0, 1]) for y, p in ((first, first), (second, [1, 0]))]
    >>> found = audit_counts(Counts.merge(parts), ["a", "b"], metrics=["tpr.gap"])
    >>> found.n, found.metrics["tpr.gap"].value, found.metrics["tpr.gap"].decided_by
    (4, 0.5, ('a', 'b'))
    """
    refuse_unknown(audit_counts, options)
    return assess(
        subject_of_counts(counts, group_names, class_names, attribute, name), _options(metrics, **options)
    )


def compare(
    y_true: object,
    predictions: Mapping[str, object],
    groups: object | None = None,
    base: str | None = None,
    weights: object | None = None,
    min_count: int = 1,
    confidence: float = 0.95,
    *,
    metrics: Sequence[str] | None = None,
    positive: object | None = None,
    classes: Sequence[object] | None = None,
    **options: Any,
) -> Comparison:
    """Compare models on the same rows: what moved between base and alternatives, for which class and group.

    `predictions` maps a model's name to its predicted classes `[N]`, or to several runs of it `[R, N]`. The
    base is the first model unless named. `.cev` and `.sde` (S2) measure how unevenly the classes' error rates
    moved; `.differences` has every metric with a paired interval; with several runs of each it also says
    whether a difference exceeds run-to-run variance, and `.cie` counts the rows whose usual label changed.
    `.paid` says who lost and who gained: classes, groups, and classes within groups.

    >>> import evenhand
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    >>> big, small = [0, 0, 1, 1, 1, 0, 2, 2, 2, 0], [0, 1, 1, 1, 0, 0, 2, 2, 1, 0]
    >>> found = evenhand.compare(y, {"big": big, "small": small})
    >>> found.base, round(found.cev["small"], 4), found.matrices["accuracy_change"][0, 1].round(4).item()
    ('big', 0.5625, -0.3)
    """
    refuse_unknown(compare, options)
    chosen = _options(metrics, min_count=min_count, confidence=confidence, **options)
    rows = models_of_rows(y_true, predictions, groups, weights, positive=positive, classes=classes)
    return compare_rows(rows, next(iter(rows.predictions)) if base is None else level_name(base), chosen)


def compare_modules(
    modules: Mapping[str, Any],
    x: Any,
    y_true: object | None = None,
    groups: object | None = None,
    base: str | None = None,
    *,
    batch_size: int | None = None,
    class_names: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Comparison:
    """Compare modules on the same inputs, such as a network and its pruned form: `compare` of what they say.

    `modules` maps names to `torch.nn.Module`s, the base first unless named; a list of modules is several
    trainings of a model. `x` is a tensor of inputs as they take them, asked in batches of `batch_size` (512),
    or a loader: any iterable of batches, which are tensors of inputs or tuples that begin with inputs and
    labels. It is gone through once, and no batch is kept. `y_true` are the class codes, which a loader may
    bring itself; if both do they must agree. Columns (`y_true`, `groups`, `weights`) are matched by position,
    so that a loader that shuffles is refused beside them; the order of a generator cannot be seen.
    `class_names` names the outputs in their order: results have these names, and labels may be names or
    codes. `progress` is told after each batch how many rows are done. Further options are those of `compare`.
    `.paid` has the classes and groups that lost, with intervals.

    >>> import torch, evenhand
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> x = torch.eye(3).repeat(20, 1)
    >>> forgets = torch.nn.Linear(3, 3, bias=False)
    >>> _ = forgets.weight.data.copy_(torch.tensor([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> modules = {"whole": torch.nn.Identity(), "small": forgets}
    >>> found = evenhand.compare_modules(modules, x, x.argmax(1))
    >>> [(one.name, one.difference, one.verdict) for one in found.paid["small"].shown]
    [('1', -1.0, 'paid')]
    >>> loader = DataLoader(TensorDataset(x, x.argmax(1)), batch_size=8)
    >>> found = evenhand.compare_modules(modules, loader, class_names=["cat", "bird", "dog"])
    >>> [(one.name, one.difference, one.verdict) for one in found.paid["small"].shown]
    [('bird', -1.0, 'paid')]
    """
    from evenhand.evaluation.module_question import Question

    refuse_unknown(compare_modules, options, compare)
    y_true = list(y_true) if isinstance(y_true, Iterator) else y_true
    columns = {"groups": groups, "weights": options.get("weights")}
    given = [name for name, values in columns.items() if values is not None]
    question = Question.of(modules, x, y_true, batch_size, class_names, given)
    if not any(isinstance(values, Iterator) for values in columns.values()):
        # what is wrong with columns or options is told now: to ask the modules may take hours
        labels = question.imagined_labels(**columns)
        early = {
            key: value for key, value in options.items() if question.knows_classes or key not in OF_CLASSES
        }
        compare(labels, dict.fromkeys(modules, labels), groups, base, **{**early, "replicates": 0})
    told = question.answers(progress)
    if told.classes is not None:
        options = {"classes": told.classes, **options}
    found = compare(told.y_true, told.predictions, groups, base, **options)
    return replace(found, warnings=(*found.warnings, *question.warnings))


def _options(metrics: Sequence[str] | None, privileged: object = None, **options: Any) -> Options:
    """The options of a call; a group may be named by its value, as in the data."""
    chosen = Options(
        metrics=(metrics,) if isinstance(metrics, str) else None if metrics is None else tuple(metrics),
        privileged=None if privileged is None else level_name(privileged),
        **options,
    )
    chosen.check()
    return chosen


def fit(
    net: Any,
    method: Any,
    task: Any,
    seeds: int | Sequence[int] = 1,
    epochs: int | None = None,
    *,
    protect: Sequence[str] | str | None = None,
    device: str = "auto",
    folder: Any = None,
    **options: Any,
) -> Fitted:
    """Train a network with a method on a task, once for each seed, stacked where that is possible.

    Each of the three is an object or its name: `net` a name ("mlp"), a spec such as
    `evenhand.NetSpec("mlp", widths=(100, 64))`, a module of your own or a function that makes one from
    `(input_shape, outputs)`; `method` a key ("gdro") or an object from `evenhand.methods`; `task` a name
    ("adult"), a `Task`, or one task for each seed. `seeds` is how many, or which. `protect` names the
    attributes whose groups count (default: the data set's usual ones). `folder` keeps checkpoints: a fit that
    was killed goes on there as if it had not been. Further options are those of `evenhand.Recipe` (rate,
    batch_size, optimizer, schedule, patience, ...), `stack_size`, `watch` (metrics measured on validation
    after every epoch) and `tell` (a function that is called with progress).

    >>> import evenhand
    >>> found = evenhand.fit("mlp", "erm", "titanic", seeds=2, epochs=2)
    >>> found.predict(found.tasks[0].x[:3]).shape
    (2, 3)
    """
    from evenhand.evaluation.fitting import fit_models

    if epochs is not None:
        options["epochs"] = epochs
    return fit_models(
        net, method, task, seeds=seeds, protect=protect, device=device, folder=folder, **options
    )


def compress(
    module: nn.Module,
    kind: str = "filter",
    share: float | None = None,
    *,
    layers: Sequence[str] | None = None,
    calibration: Any = None,
) -> nn.Module:
    """A compressed copy of a trained torch module, which needs no change and stays as it is.

    `kind="filter"` sets the filters with the smallest L1 norm of each 3x3 convolution but the first to zero
    (or of the convolutions named in `layers`), with the scale and shift of the norm that follows;
    "magnitude" the smallest weights of each layer; `share` (0.45) is how many of each layer go. "int8"
    rounds the weights of convolutions and linear layers to eight bits, and with `calibration`, a batch of
    inputs or several, what these layers read too; no training follows. To prune while a model is trained, use
    the methods `prune+KEY`. `evenhand.nets.sparsity.sparsity(module)` counts the zeros,
    `evenhand.train.compressed_files` has save_compressed and load_compressed.

    >>> import evenhand, torch
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Conv2d(4, 8, 3), torch.nn.BatchNorm2d(8))
    >>> small = evenhand.compress(net, share=0.5)
    >>> int((small[2].weight == 0).sum()), int((net[2].weight == 0).sum())
    (4, 0)
    """
    from evenhand.nets.compressing import compressed

    return compressed(module, kind, share, layers=layers, calibration=calibration)

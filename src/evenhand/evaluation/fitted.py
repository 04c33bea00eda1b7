"""Fitted: what training leaves behind. It predicts, is audited, saved, and loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import Array
from evenhand.data.table_columns import is_table
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.evaluation.audit import Audit, assess
from evenhand.evaluation.fitted_subject import predictions, subject_of_task, subject_of_tasks
from evenhand.evaluation.option_names import refuse_unknown
from evenhand.evaluation.options import Options
from evenhand.levels import level_name
from evenhand.train.trained import Trained, scores_of

if TYPE_CHECKING:
    from torch import nn

    from evenhand.data.encoding import TableEncoding
    from evenhand.evaluation.shift import ShiftAudit


@dataclass(frozen=True)
class Fitted:
    """R trained models of one method: `.audit()`, `.predict(x)`, `.scores(x)`, `.history`, `.save(folder)`.

    `tasks` has one task, or one for each run, and so have `scalings`, and `encodings` if the tasks were made
    of tables. A fit that was loaded has no task: it predicts, and its audit is the one saved with it.
    """

    models: tuple[Trained, ...] = field(repr=False)
    classes: tuple[str, ...]
    protect: tuple[str, ...]
    scalings: tuple[Scaling, ...]
    facts: Mapping[str, Any] = field(repr=False)  # what a record of the fit says: method, net, seeds, ...
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    tasks: tuple[Task, ...] = field(default=(), repr=False)
    encodings: tuple[TableEncoding, ...] = field(default=(), repr=False)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        return tuple(self.facts["seeds"])

    @property
    def multi_label(self) -> bool:
        """Whether a row has several labels at once."""
        return self.models[0].predictor.sizes.multi_label

    def scores(self, x: object, groups: object | None = None) -> Array:
        """Scores `[N, C]`, or `[R, N, C]` of several runs.

        x: inputs encoded as the task's own; or, where the task was made by `Task.from_table`, a table of
        other rows (a data frame, a dict), whose columns are found by name and encoded as in training.
        groups: ids, looked at only by methods that need them for prediction.
        """
        found = self.scores_of_runs(x, groups)
        return found[0] if len(found) == 1 else found

    def scores_of_runs(self, x: object, groups: object | None = None, run: int | None = None) -> Array:
        """Scores `[R, N, C]`, also of a single run; `[1, N, C]` of the run that is asked for."""
        if not is_table(x):
            return scores_of(self.models, self.scalings, x, groups, run)
        if not self.encodings:
            raise InputError(
                "this fit reads no tables, as its task was not made by Task.from_table; give an array of "
                "inputs, encoded as the task's own"
            )
        if run is None and len(set(self.encodings)) > 1:  # each run was trained in its own encoding
            runs = range(len(self.encodings))
            return np.concatenate([self.scores_of_runs(x, groups, number) for number in runs])
        encoding = self.encodings[0 if run is None or len(self.encodings) == 1 else run]
        return scores_of(self.models, self.scalings, encoding.encode(x), groups, run)

    def predict(self, x: object, groups: object | None = None, *, names: bool = False) -> Array:
        """Class codes `[N]` or `[R, N]`, or the classes' names; of a multi-label task 0 and 1 a label.

        `x` is what `scores` takes.

        >>> from evenhand import Task, fit
        >>> age, hired = [20, 30, 40, 50] * 9, ["no", "no", "yes", "yes"] * 9
        >>> task = Task.from_table({"age": age, "sex": ["f", "m"] * 18, "hired": hired}, "hired", ["sex"])
        >>> fitted = fit("mlp", "erm", task, batch_size=12, rate=0.01, device="cpu")
        >>> fitted.predict({"age": [22, 47]})
        array([0, 1])
        >>> fitted.classes[1], fitted.predict({"age": [22, 47]}, names=True).tolist()
        ('yes', ['no', 'yes'])
        """
        codes = predictions(self.scores(x, groups), self.multi_label)
        if names and self.multi_label:
            raise InputError("a row of this fit has several labels: `classes` names the columns of 0 and 1")
        return np.array(self.classes)[codes] if names else codes

    def audit(self, part: str = "test", **options: Any) -> Audit:
        """Audit the predictions on a part of the task: intervals over rows, and over several runs.

        Options are those of `evenhand.audit`.
        """
        refuse_unknown(Fitted.audit, options)
        if not self.tasks:
            raise InputError("this fit was loaded without its task; its audit is in audit.json beside it")
        metrics, privileged = options.pop("metrics", None), options.pop("privileged", None)
        named = (metrics,) if isinstance(metrics, str) else metrics
        chosen = Options(
            metrics=None if named is None else tuple(named),
            privileged=None if privileged is None else level_name(privileged),
            **options,
        )
        chosen.check()
        make = subject_of_task if len(self.tasks) == 1 else subject_of_tasks
        return assess(make(self, part, chosen.topk), chosen)

    def audit_under_shift(self, shift: str = "gaussian", task: Any = None, **options: Any) -> ShiftAudit:
        """Audit again on shifted rows, severity by severity: see `evenhand.audit_under_shift`."""
        from evenhand.evaluation.shift import audit_under_shift

        return audit_under_shift(self, task, shift, **options)

    def module(self, run: int = 0) -> nn.Module:
        """A copy of a run's model as a torch module: inputs as the task has them, logits; in evaluation.

        For `evenhand.compress`, `evenhand.compare_modules` and `evenhand.nets.sparsity`. A method's own rule
        of prediction, such as a sum over heads, is no part of it.
        """
        from evenhand.evaluation.fitted_module import module_of

        return module_of(self.models, self.scalings, run)

    def save(self, folder: str | Path) -> Path:
        """Write parameters, history, predictions on the test part and their audit; gives back the folder."""
        from evenhand.evaluation.fitted_files import save

        return save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, net: Any = None, method: Any = None, device: str = "auto") -> Fitted:
        """A saved fit, ready to predict; a network or a method of one's own must be given again."""
        from evenhand.evaluation.fitted_files import load

        return load(Path(folder), net, method, device)

"""Fitted: what training leaves behind. It predicts, is audited, saved, and loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.arrays import Array
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.evaluation.audit import Audit, assess
from evenhand.evaluation.fitted_subject import predictions, subject_of_task, subject_of_tasks
from evenhand.evaluation.options import Options
from evenhand.levels import level_name
from evenhand.train.trained import Trained, scores_of


@dataclass(frozen=True)
class Fitted:
    """R trained models of one method: `.audit()`, `.predict(x)`, `.scores(x)`, `.history`, `.save(folder)`.

    `tasks` has one task, or one for each run, and so has `scalings`. A fit that was loaded has no task: it
    predicts, and its audit is the one that was saved with it.
    """

    models: tuple[Trained, ...] = field(repr=False)
    classes: tuple[str, ...]
    protect: tuple[str, ...]
    scalings: tuple[Scaling, ...]
    facts: Mapping[str, Any] = field(repr=False)  # what a record of the fit says: method, net, seeds, ...
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    tasks: tuple[Task, ...] = field(default=(), repr=False)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        return tuple(self.facts["seeds"])

    @property
    def multi_label(self) -> bool:
        """Whether a row has several labels at once."""
        return self.models[0].predictor.sizes.multi_label

    def scores(self, x: object, groups: object | None = None) -> Array:
        """Scores `[N, C]`, or `[R, N, C]` of several runs, for inputs encoded as the task's own.

        `groups` (ids) are looked at only by methods that need them for prediction.
        """
        found = self.scores_of_runs(x, groups)
        return found[0] if len(found) == 1 else found

    def scores_of_runs(self, x: object, groups: object | None = None, run: int | None = None) -> Array:
        """Scores `[R, N, C]`, also of a single run; `[1, N, C]` of the run that is asked for."""
        return scores_of(self.models, self.scalings, x, groups, run)

    def predict(self, x: object, groups: object | None = None) -> Array:
        """Class codes `[N]` or `[R, N]` (`classes` names them); of a multi-label task 0 and 1 a label."""
        return predictions(self.scores(x, groups), self.multi_label)

    def audit(self, part: str = "test", **options: Any) -> Audit:
        """Audit the predictions on a part of the task: intervals over rows, and over several runs.

        Options are those of `evenhand.audit`.
        """
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

    def save(self, folder: str | Path) -> Path:
        """Write parameters, history, predictions on the test part and their audit; gives back the folder."""
        from evenhand.evaluation.fitted_files import save

        return save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, net: Any = None, method: Any = None, device: str = "auto") -> Fitted:
        """A saved fit, ready to predict; a network or a method of one's own must be given again."""
        from evenhand.evaluation.fitted_files import load

        return load(Path(folder), net, method, device)

"""run_study: expand, plan, hand out, commit each run as it comes; goes on where it was stopped or killed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.study.added import Added, with_added
from evenhand.study.backends.base import Backend, Job
from evenhand.study.backends.registry import backend_of
from evenhand.study.conduct import Conductor, Status
from evenhand.study.devices import Place, place_for
from evenhand.study.expand import expand_with_notes
from evenhand.study.only import chosen_runs
from evenhand.study.plain import study_to_dict
from evenhand.study.plan import plan, turn
from evenhand.study.records import Bucket, PlannedRun
from evenhand.study.results import find_results
from evenhand.study.reuse import reuse_runs
from evenhand.study.sharing import trainings_of
from evenhand.study.spec import Study
from evenhand.study.standing import Standing
from evenhand.study.store import Store

Tell = Callable[[Status], None]


@dataclass(frozen=True)
class Options:
    """How a study is run; nothing here changes what comes out of it.

    `out` is its folder. `limit` is how many runs to make now; a training that several runs share, and a
    bucket that an earlier start has planned, are finished as a whole. `add` names methods of one's own
    ("mine.py:MyMethod") to run beside the study's, `reuse` a file with finished runs (by default, when a
    method is added, the committed ones). `stack` limits how many runs are trained side by side.
    """

    out: Path
    backend: str = "local"
    address: str | None = None
    device: str = "auto"
    limit: int | None = None
    only: tuple[str, ...] = ()  # "method=erm": see `evenhand.study.only`
    workers: int | None = None
    stack: int | None = None
    smoke: bool = False
    retry_failed: bool = False
    add: tuple[str, ...] = ()
    reuse: str | None = None
    checkpoint_every: float = 60.0
    keep_weights: bool = False
    keep_predictions: bool = False


def run_study(
    study: Study, options: Options, tell: Tell | None = None, stop: Callable[[], bool] | None = None
) -> Status:
    """Run what is left of a study; every finished run is in the store at once.

    `tell` hears how it stands about five times a second; the study stops cleanly when `stop()` is true.
    """
    from evenhand import __version__

    added = chosen_form(study, options)
    chosen = added.study
    place = place_for(options.device, options.workers, options.backend)
    expanded = expand_with_notes(chosen)
    with Store.open(Path(options.out), create=True) as store:
        store.add_study(study_to_dict(chosen), __version__)
        store.add_runs(expanded.runs)
        store.notes += (*added.notes, *expanded.notes)
        reused = _reuse(store, options)
        buckets = buckets_for(store, options, place)
        backend = _backend(options, place)
        job = Job(
            str(Path(options.out).resolve()), place.devices[0], checkpoint_every=options.checkpoint_every,
            keep_weights=options.keep_weights, score_bins=chosen.score_bins,
            keep_predictions=options.keep_predictions or chosen.predictions, gpu_share=place.gpu_share,
        )  # fmt: skip
        return Conductor(store, backend, job, tell, stop, reused).run(buckets)


def chosen_form(study: Study, options: Options) -> Added:
    """The study as it is to be run: the small form if asked for, with one's own methods added."""
    chosen = study
    if options.smoke:
        if study.smoke is None:
            raise InputError(f"the study '{study.name}' has no smoke form")
        chosen = study.smoke
    return with_added(chosen, options.add)


def _reuse(store: Store, options: Options) -> int:
    """Take finished runs over from a file: the one named, or the committed ones when a method is added."""
    if options.reuse is not None:
        return reuse_runs(store, Path(options.reuse))
    if not options.add:
        return 0
    found = find_results(store.study()["name"])
    return 0 if found is None else reuse_runs(store, found)


def _backend(options: Options, place: Place) -> Backend:
    if options.backend == "local":
        return backend_of("local", workers=place.workers, devices=place.devices)
    if options.backend == "ray":
        return backend_of("ray", address=options.address)
    return backend_of(options.backend)


def buckets_for(store: Store, options: Options, place: Place) -> list[Bucket]:
    """The buckets that are left, earlier ones with their members in their order, in the order of a plan."""
    standing = Standing.of_study(store.study())
    chosen = {run.id for run in chosen_runs(store.runs(), options.only, standing)}
    later = list(store.waiting(options.retry_failed))
    waiting = [run for run in later if run.id in chosen]
    if options.limit is not None:
        waiting = _limited(waiting, options.limit)
    open_runs = {run.id: run for run in waiting}
    kept = [bucket for bucket in store.buckets() if _still_open(bucket, open_runs, place)]
    taken = {run.id for bucket in kept for run in bucket.runs}
    left: list[PlannedRun] = [run for run in waiting if run.id not in taken]
    made = plan(
        left, device=place.kind, workers=place.workers, threads=place.threads, stack=options.stack,
        later=later,
    )  # fmt: skip
    store.add_buckets(made)
    return sorted([*kept, *made], key=turn)


def _limited(waiting: Sequence[PlannedRun], limit: int) -> list[PlannedRun]:
    """The first runs, so many; all that read a training are made with it, or it would be trained again."""
    kept: list[PlannedRun] = []
    for training in trainings_of(waiting):
        if len(kept) >= limit:
            break
        kept += training
    return kept


def _still_open(bucket: Bucket, open_runs: dict[str, PlannedRun], place: Place) -> bool:
    """Whether to go on with an earlier bucket: it was planned for this kind of device and lacks runs."""
    return bucket.device == place.kind and any(run.id in open_runs for run in bucket.runs)

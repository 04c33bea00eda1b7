"""First trainings that runs share: each is made once in a study, and kept in its folder until it is finished.

A method says by `Method.first_as` what its first phase is: of distillation, the training of the teacher. It
is known by the hash of data, network, recipe, seed and that method. A worker that needs it reads
`first/HASH.npz`, or makes it and writes the file whole; a lock lets others wait for it meanwhile, and the
lock of a worker that is killed is free at once. Identical runs (`repeat`) share nothing: each makes its own.

A run may also be, as a whole, what others begin with: plain training is what teachers of distillation have
gone through (`Method.whole_as`). It takes the same file, so that students begin with the very network that
they are compared with, also where two trainings of one seed differ, as they do on a GPU.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.study.backends.base import Job, Standing
from evenhand.study.file_lock import tried_lock
from evenhand.study.records import PlannedRun, canonical
from evenhand.study.sharing import trained_method
from evenhand.study.weights import digest_of
from evenhand.train.checkpoint import load_tensors, save_tensors
from evenhand.train.first_phase import Left, go_on_from, left_of, renamed
from evenhand.train.progress import Progress
from evenhand.train.trainer import Trainer
from evenhand.train.watching import OWN_NUMBERS

FOLDER = "first"
DATABASE = "study.sqlite"
LOOK_EVERY = 0.5  # seconds, while another worker trains what is needed

OWN, SAME, AWAITED = "own", "same", "awaited"  # what a bucket's trainings are to those of others

Make = Callable[[Sequence[PlannedRun], Sequence[Method], str, Callable[[Progress], None]], list[Trainer]]


def first_of(run: PlannedRun) -> Method | None:
    """The method whose training is a run's first phase; None where it has none that could be shared."""
    if run.spec.repeat is not None:
        return None
    method = trained_method(run.spec).stacked_form()
    first = method.first_as()
    same = first is not None and first.phases() == method.phases()[:1]
    return first if same else None


def whole_of(run: PlannedRun) -> tuple[Method, str] | None:
    """The first phase of others that a run is as a whole, and what they call the network; None: of nobody."""
    return None if run.spec.repeat is not None else trained_method(run.spec).stacked_form().whole_as()


def awaited_in(runs: Sequence[PlannedRun], device: str) -> frozenset[str]:
    """The ids of all first trainings that runs of a study share."""
    methods: dict[str, Method | None] = {}
    found = set()
    for run in runs:
        form = canonical([run.spec.method, dict(run.spec.fields), run.spec.repeat is None])
        if form not in methods:
            methods[form] = first_of(run)
        if (method := methods[form]) is not None:
            found.add(first_id(run, method, device))
    return frozenset(found)


def standing_of(runs: Sequence[PlannedRun], awaited: frozenset[str], device: str) -> str:
    """Whether these runs, whose networks draw no noise, are what others begin with, and some of them wait."""
    wholes = [whole_of(run) for run in runs]
    if not all(wholes):
        return OWN
    ids = {first_id(run, whole[0], device) for run, whole in zip(runs, wholes, strict=True) if whole}
    return AWAITED if ids & awaited else SAME


def first_id(run: PlannedRun, first: Method, device: str) -> str:
    """What a first training is known by; whom a run protects matters only if it is looked at."""
    from evenhand import __version__

    names = ("data", "knobs", "net", "net_options", "recipe", "seed", "sources")
    content, recipe = run.spec.content(), run.spec.recipe
    looked_at = first.asks().groups or recipe.get("monitor", "loss") not in OWN_NUMBERS
    facts: dict[str, Any] = {name: content[name] for name in names}
    facts["protect"] = content["protect"] if looked_at else None
    facts |= {"method": f"{type(first).__module__} {first!r}", "checksum": run.data_checksum}
    facts |= {"version": __version__, "device": device.partition(":")[0]}
    return hashlib.sha256(canonical(facts).encode()).hexdigest()[:32]


class FirstTrainings:
    """The first trainings of the runs of a bucket, one for each training (by its first run)."""

    def __init__(self, runs: Sequence[PlannedRun], job: Job, bucket: str, first: str = OWN) -> None:
        self._runs, self._job, self._bucket = list(runs), job, bucket
        self._folder = Path(job.folder) / FOLDER
        wholes = [] if first == OWN else [whole for run in runs if (whole := whole_of(run)) is not None]
        self._network = wholes[0][1] if wholes else None  # what others call the model of these runs
        own = [method for run in runs if (method := first_of(run)) is not None]
        found = [method for method, _ in wholes] or own
        # on a disk of a worker's own nobody would clear up
        shared = len(found) == len(runs) and (Path(job.folder) / DATABASE).exists()
        self._methods = found if shared else []
        self.ids = [first_id(*pair, job.device) for pair in zip(runs, self._methods, strict=False)]
        if first == SAME and not any(self._file(id).exists() for id in self.ids):
            self._methods, self.ids = [], []  # nobody needs them: trained plainly, and kept nowhere
        self._spent = 0.0
        self._digests: dict[int, str] = {}  # of what runs went on from, by place

    def ensure(self, make: Make, tell: Callable[[Standing], None]) -> None:
        """Make what nobody has made yet, and wait for what others are making.

        `make` trains methods in place of those of these runs. No lock is held by one who waits.
        """
        while missing := [id for id in dict.fromkeys(self.ids) if not self._file(id).exists()]:
            with ExitStack() as held:
                mine = [id for id in missing if held.enter_context(tried_lock(self._lock(id)))]
                mine = [id for id in mine if not self._file(id).exists()]  # since it was looked for
                self._make(mine, make, tell)
            if not mine:
                tell(Standing(self._bucket, 0.0, words="waits for a first training of another worker"))
                time.sleep(LOOK_EVERY)

    def begin(self, places: Sequence[int], trainer: Trainer) -> None:
        """Let a new trainer of these runs go on from there; one that is lost is trained by the run itself."""
        left = [self._read(self.ids[place]) for place in places] if self.ids else []
        known = [each for each in left if each is not None]
        if known and len(known) == len(places):
            self._digests |= {place: digest_of(each[0]) for place, each in zip(places, known, strict=True)}
            go_on_from(trainer, [self._as_own(each, trainer) for each in known])
            trainer.position.seconds, self._spent = self._spent, 0.0

    def note(self, place: int) -> str:
        """What a record says of it, as JSON: runs with the same `first` share it.

        Where one was made twice, as on two machines, the digest of the `weights` tells which it was. It is
        not known of a run that went on from a checkpoint of its own.
        """
        if not self.ids:
            return ""
        digest = self._digests.get(place)
        return canonical({"first": self.ids[place]} | ({"weights": digest} if digest else {}))

    def _as_own(self, left: Left, trainer: Trainer) -> Left:
        """The same in the words of these runs, where it is the whole of them."""
        if self._network is None:
            return left
        return renamed(left, self._network, "model", trainer.phases[0].name)

    def _make(self, ids: Sequence[str], make: Make, tell: Callable[[Standing], None]) -> None:
        if not ids:
            return
        places = [self.ids.index(id) for id in ids]
        runs, methods = [self._runs[place] for place in places], [self._methods[place] for place in places]

        def told(progress: Progress) -> None:
            words = f"what comes first of {runs[0].method} on {runs[0].task}, {len(runs)} trainings"
            tell(Standing(self._bucket, progress.done * self._share(), progress.rate, words))

        name = hashlib.sha256(" ".join(ids).encode()).hexdigest()[:12]  # others may have made some since
        waiting = list(ids)
        for trainer in make(runs, methods, f"first-{name}", told):
            self._spent += trainer.position.seconds
            for place in range(trainer.stack.n_runs):
                file = self._file(waiting.pop(0))
                if not file.exists():  # without locks others may have made it, and some go on from it already
                    save_tensors(file, *left_of(trainer, place))

    def _share(self) -> float:
        """The first phase as a share of all epochs."""
        epochs = self._runs[0].spec.recipe["epochs"]
        phases = trained_method(self._runs[0].spec).phases()
        planned = [epochs if phase.epochs is None else phase.epochs for phase in phases]
        return planned[0] / max(1, sum(planned))

    def _file(self, id: str) -> Path:
        return self._folder / f"{id}.npz"

    def _lock(self, id: str) -> Path:
        return self._folder / f"{id}.lock"

    def _read(self, id: str) -> Left | None:
        """What is kept; nothing if the file is gone or damaged, which is then made again by the next."""
        path = self._file(id)
        if not path.exists():
            return None
        try:
            return load_tensors(path)
        except InputError:
            path.unlink(missing_ok=True)
            return None

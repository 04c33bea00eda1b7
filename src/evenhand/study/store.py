"""Store: everything about a study in one folder, in a SQLite file that several processes may share.

What is to be run stands there before anything is trained; each finished run is committed by itself. Killing a
process, filling the disk, or starting a second process in the same folder loses nothing that was finished and
counts nothing twice. docs/store.md shows the tables.

>>> import tempfile
>>> from evenhand.study.records import PlannedRun, RunRecord, RunSpec
>>> spec = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {}, seed=0)
>>> run = PlannedRun("a1", spec, "adult", "sex", "mlp", "erm", {}, "00")
>>> with Store.open(Path(tempfile.mkdtemp()), create=True) as store:
...     store.add_study({"name": "small"}, "0.1.0")
...     store.add_runs([run]), store.commit(RunRecord("a1", "done")), store.commit(RunRecord("a1", "done"))
...     store.counts_of_states()
(1, True, False)
{'planned': 1, 'done': 1, 'failed': 0, 'waiting': 0, 'running': 0}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from evenhand.arrays import Array
from evenhand.study import (
    store_blocks,
    store_claims,
    store_commit,
    store_plan,
    store_predictions,
    store_read,
    store_records,
)
from evenhand.study.digests import record_digest
from evenhand.study.records import Bucket, PlannedRun, RunRecord
from evenhand.study.store_blocks import MeasuredBlock
from evenhand.study.store_database import Database
from evenhand.study.store_open import FILE

__all__ = ["MeasuredBlock", "Store", "record_digest"]


class Store:
    """The folder of a study. Use it in one thread; other processes open their own.

    `notes` are sentences for the user that are no errors.
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder, self.database = folder, database
        self.notes = database.notes

    @classmethod
    def open(cls, folder: Path, *, create: bool = False, readonly: bool = False) -> Store:
        """Open the store of a folder; `create` makes what is not there, `readonly` changes nothing."""
        from evenhand import __version__

        if create and not readonly:
            from evenhand.train.checkpoint import (
                usable_folder,
            )  # torch, which a look at a store can do without

            folder = usable_folder(folder)
        path = (folder := Path(folder)) / FILE
        return cls(folder, Database(path, create=create, readonly=readonly, version=__version__))

    def close(self) -> None:
        """Give the file back."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- what is run -------------------------------------------------------------------------------------
    def add_study(self, study: Mapping[str, Any], version: str) -> None:
        """Make a study the latest one; every distinct one is kept, with its time."""
        store_plan.add_study(self.database, study, version)

    def study(self) -> dict[str, Any]:
        """The latest study."""
        return store_plan.latest_study(self.database)

    def add_runs(self, runs: Sequence[PlannedRun]) -> int:
        """Add runs to the latest study; how many the store did not know before."""
        return store_plan.add_runs(self.database, runs)

    def runs(self) -> list[PlannedRun]:
        """The runs of the latest study, in its order."""
        return list(store_plan.numbered_runs(self.database).values())

    def waiting(self, retry_failed: bool = False) -> list[PlannedRun]:
        """Those without a record; with `retry_failed` those that failed too."""
        return store_plan.waiting(self.database, retry_failed)

    def add_buckets(self, buckets: Sequence[Bucket]) -> None:
        """Keep buckets; one that is already there stays as it is."""
        store_plan.add_buckets(self.database, buckets)

    def buckets(self, retry_failed: bool = False) -> list[Bucket]:
        """The buckets with a run that waits (see `waiting`), with all their members in their order."""
        return store_plan.buckets(self.database, retry_failed)

    # -- who works on it ---------------------------------------------------------------------------------
    def enter(self, owner: str) -> None:
        """Say that an owner (see `store_owners.make_owner`) works here."""
        store_claims.enter(self.database, owner)

    def beat(self, owner: str) -> None:
        """Say that an owner is still at work; needed at least once a minute from other machines."""
        store_claims.beat(self.database, owner)

    def leave(self, owner: str) -> None:
        """Give back an owner's claims."""
        store_claims.leave(self.database, owner)

    def claim(self, bucket: str, owner: str) -> bool:
        """Whether the bucket is the owner's to work on: nobody alive has it, and not all of it is done."""
        return store_claims.claim(self.database, bucket, owner)

    def standing(self, owner: str, standings: Mapping[str, Mapping[str, Any]]) -> None:
        """How far the owner's buckets are, for those who watch."""
        store_claims.standing(self.database, owner, standings)

    def live(self) -> dict[str, Any]:
        """Owners with their beats and claims, and the standings of buckets."""
        return store_claims.live(self.database)

    # -- what came of it ---------------------------------------------------------------------------------
    def commit(self, record: RunRecord) -> bool:
        """Keep a record; False if the run is already done. Predictions go to files of their own."""
        if (
            record.predictions
            and record.status == "done"
            and not store_commit.is_done(self.database, record.id)
        ):
            store_predictions.write_predictions(self.folder, record.id, record.predictions)
        return store_commit.commit(self.database, record)

    def counts_of_states(self) -> dict[str, int]:
        """How many runs are planned (all of them), done, failed, waiting, and of these running."""
        return store_read.counts_of_states(self.database)

    def failures(self) -> list[dict[str, Any]]:
        """Reasons, how many runs failed for each, and examples."""
        return store_read.failures(self.database)

    def reasons(self) -> dict[str, int]:
        """Reasons and how many runs failed for each, without examples: cheap enough to be asked often."""
        return store_read.reasons(self.database)

    def records(self) -> Iterator[RunRecord]:
        """Every record of the latest study with its counts and history (predictions: `predictions`)."""
        return store_records.records(self.database)

    def table(self) -> dict[str, list[Any]]:
        """One row for each run of the latest study, as columns; without counts."""
        return store_read.table(self.database)

    def measured(self, part: str, *, scores: bool = True) -> list[MeasuredBlock]:
        """The counts (and binned scores) of all runs on a part, stacked."""
        return store_blocks.measured(self.database, part, scores)

    def parts(self) -> list[str]:
        """The parts that were measured."""
        return store_blocks.parts(self.database)

    def history(self, run_id: str) -> dict[str, list[Any]]:
        """What was watched while a run trained."""
        return store_records.history(self.database, run_id)

    def predictions(self, run_id: str) -> dict[str, Array]:
        """The scores that were kept of a run, by part."""
        return store_predictions.read_predictions(self.folder, run_id)

    def digests(self) -> dict[str, str]:
        """Run -> the hash of its outcome: equal for two stores that came to the same."""
        found = store_records.records(self.database, whole=False)
        return {record.id: record_digest(record) for record in found}

"""Buckets worked on in this very process, one after the other: for a debugger, and for small things.

A crash of the work is a crash of the driver here: rule B4 cannot be kept. Identical runs are the exception:
each has a process of its own wherever it is made.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence

from evenhand.study.backends.base import STOPPED, Began, Ended, Hear, Job, Made, Standing
from evenhand.study.backends.local import LocalBackend
from evenhand.study.backends.worker import work_of
from evenhand.study.records import Bucket


class InlineBackend:
    """No worker but ourselves."""

    name = "inline"

    def run(self, buckets: Sequence[Bucket], job: Job, hear: Hear, stop: Callable[[], bool]) -> None:
        """Work on all buckets; returns when each has ended or `stop()` is true."""

        def tell(standing: Standing) -> None:
            hear(standing)
            if stop():
                raise KeyboardInterrupt

        for bucket in buckets:
            if stop():
                return
            if bucket.fresh:
                LocalBackend(1, [job.device]).run([bucket], job, hear, stop)
                continue
            hear(Began(bucket.id, "this process"))
            try:
                self._work(bucket, job, hear, tell)
            except KeyboardInterrupt:
                hear(Ended(bucket.id, STOPPED))
                return

    def _work(self, bucket: Bucket, job: Job, hear: Hear, tell: Callable[[Standing], None]) -> None:
        records = iter(work_of(job.work)(bucket, job, tell))
        while True:
            try:
                record = next(records)
            except StopIteration:
                hear(Ended(bucket.id))
                return
            except (Exception, SystemExit) as error:
                hear(Ended(bucket.id, f"{type(error).__name__}: {error}", traceback.format_exc()))
                return
            hear(Made(bucket.id, record))

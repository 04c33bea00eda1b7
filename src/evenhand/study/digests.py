"""What a record comes to, in one hash: two records with the same one hold the same outcome to the bit."""

from __future__ import annotations

import hashlib

from evenhand.study.codec import COUNT_KINDS
from evenhand.study.records import Measured, RunRecord, RunSpec, canonical
from evenhand.study.told import without_told


def record_digest(record: RunRecord) -> str:
    """SHA-256 over identity, status, counts, numbers and the hash of the weights.

    Times, machines and scores take no part, nor does what is kept in place of scores: a run that is taken
    over without them came to the same.

    >>> first, again = (RunRecord("a", "done", seconds=s, weights="00") for s in (1.0, 2.0))
    >>> record_digest(first) == record_digest(again) != record_digest(RunRecord("a", "failed"))
    True
    """
    digest = hashlib.sha256(canonical([record.id, record.status, record.weights]).encode())
    for measured in sorted(record.measured, key=lambda part: (part.part, part.grouping)):
        digest.update(measured_digest(measured).encode())
    taken = sorted((key, float(value).hex()) for key, value in without_told(record.numbers).items())
    if taken:
        digest.update(canonical(taken).encode())
    return digest.hexdigest()


def measured_digest(measured: Measured) -> str:
    """SHA-256 over the counts of one part by one grouping, with the names of groups and classes."""
    counts, names = measured.counts, (measured.groups, measured.classes)
    digest = hashlib.sha256(canonical([measured.part, measured.grouping, *names, counts.multilabel]).encode())
    for kind in COUNT_KINDS:
        array = getattr(counts, kind)
        if array is not None:
            kept = array.astype("<f8" if array.dtype.kind == "f" else "<i8")
            digest.update(f"{kind} {kept.shape} {kept.dtype.str}".encode() + kept.tobytes())
    return digest.hexdigest()


def spec_hash(spec: RunSpec) -> str:
    """The hash of a specification alone: the same whatever the version of the package and the data.

    >>> one = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, seed=0)
    >>> spec_hash(one) == spec_hash(RunSpec.from_dict(one.to_dict()))
    True
    """
    return hashlib.sha256(canonical(spec.content()).encode()).hexdigest()[:32]

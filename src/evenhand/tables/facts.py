"""What a report says of a file it was made from: name, size, fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from evenhand.errors import InputError

HASHED_BYTES = 1_000_000_000  # a larger file is not read a second time for its fingerprint


@dataclass(frozen=True)
class FileFacts:
    """Name without its folder, number of bytes, and SHA-256 (None for a file of more than 1 GB)."""

    name: str
    bytes: int
    sha256: str | None

    def to_dict(self) -> dict[str, str | int | None]:
        """The facts as JSON wants them.

        >>> FileFacts("preds.csv", 12, None).to_dict()
        {'name': 'preds.csv', 'bytes': 12, 'sha256': None}
        """
        return asdict(self)


def file_facts(path: Path, *, hashed_bytes: int = HASHED_BYTES) -> FileFacts:
    """The facts of one file; the fingerprint is computed in pieces, never with the whole file in memory."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > hashed_bytes:
            return FileFacts(path.name, size, None)
        with path.open("rb") as handle:
            return FileFacts(path.name, size, hashlib.file_digest(handle, "sha256").hexdigest())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error

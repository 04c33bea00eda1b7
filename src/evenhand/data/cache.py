"""Data files that ship inside the package, verified before anybody reads them.

A result is only as good as the bytes it was computed from: every packaged file has its SHA-256 here, and
a file that differs is refused with both sums named instead of being read.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent / "files"

# Origin and licence of each file: files/ATTRIBUTION.md. The prediction files are written by
# examples/make_titanic_predictions.py, which a test runs again.
CHECKSUMS = {
    "titanic.csv.gz": "6bdab4b57fb4f5772e5d5f26b17446fa3de8fe1eddbf458d998f2a347dc77c0d",
    "titanic_boosting.csv.gz": "9e7c4a72688212959ffe09fab0c20d8ddf1bb4a4b0263771cecb6b74580d8bc2",
    "titanic_predictions.csv.gz": "c42787364c59d3b9d56031dfda96e25614733a9f28f9a70500128730431ff9ea",
    "titanic_runs.csv.gz": "95b3585f131eac4944ec997f99912e2a56478de6ab88f63c027cfdce7dc9d6d3",
    "titanic_small.csv.gz": "d76b1aac6890ef5bf4fe9e5653a4c7b992ee93c4a797ec8c0a86886606e94e3b",
}


def packaged(name: str) -> Path:
    """The path of a packaged data file, after checking that its bytes are the published ones.

    >>> packaged("titanic.csv.gz").name
    'titanic.csv.gz'

    Raises `FileNotFoundError` for a name that is not packaged (it lists those that are) or a file that the
    installation lacks, and `ValueError` for a file whose SHA-256 is not the one on record.
    """
    if name not in CHECKSUMS:
        raise FileNotFoundError(f"no packaged file {name!r}; there are: {', '.join(sorted(CHECKSUMS))}")
    path = FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing from this installation; install evenhand again")
    found = sha256(path)
    if found != CHECKSUMS[name]:
        raise ValueError(f"{path} is damaged: its SHA-256 is {found}, expected {CHECKSUMS[name]}")
    return path


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal digits; the file is read in pieces.

    >>> sha256(FOLDER / "titanic.csv.gz")[:12]
    '6bdab4b57fb4'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

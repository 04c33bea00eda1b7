"""Where a data file is: in the package, in a folder of the user's, in the cache, or at its official source.

A result is only as good as the bytes it was computed from: every file has its checksum on record, and a file
that differs is refused with both sums named instead of being read. Nothing is ever put in a file's place.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError

FOLDER = Path(__file__).parent / "files"

# Origin and licence of each file: files/ATTRIBUTION.md. The prediction files are written by
# examples/make_titanic_predictions.py, which a test runs again.
CHECKSUMS = {
    "titanic.csv.gz": "6bdab4b57fb4f5772e5d5f26b17446fa3de8fe1eddbf458d998f2a347dc77c0d",
    "titanic_boosting.csv.gz": "9e7c4a72688212959ffe09fab0c20d8ddf1bb4a4b0263771cecb6b74580d8bc2",
    "titanic_predictions.csv.gz": "c42787364c59d3b9d56031dfda96e25614733a9f28f9a70500128730431ff9ea",
    "titanic_runs.csv.gz": "95b3585f131eac4944ec997f99912e2a56478de6ab88f63c027cfdce7dc9d6d3",
    "titanic_small.csv.gz": "d76b1aac6890ef5bf4fe9e5653a4c7b992ee93c4a797ec8c0a86886606e94e3b",
    "adult.csv.gz": "ae0655a69eefdf7e0186431236d13982bc29cb8c1ab2dcc1bd68dae2ecec0d92",
    "mnist_part.npz": "7a57880fbaeaf94830b80d7cb564fee0e597ec1fcbdfdbecbdfbe21e125827d5",
    "celeba_statistics.json": "dc56c3a5840ca98b945877a4942e68895eed2b82e86aa1897a36a77fe4bbaae4",
    "faces_copula.json": "c931c5ed83356dca7b0bd1822764e00b3a4337dbf7b110352d7385107060f6fa",
}

# called with the file's name, the bytes that are there, and the bytes of the whole (None: not known)
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Source:
    """One file by its name and checksum, and the addresses it can be downloaded from (none: only by hand).

    The publisher's own checksum is used where there is one, so it may be an MD5; give one of the two.

    >>> Source("adult.csv.gz", sha256=CHECKSUMS["adult.csv.gz"]).algorithm
    'sha256'
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str = ""
    md5: str = ""
    size: int | None = None

    @property
    def algorithm(self) -> str:
        """Which of the two checksums decides."""
        return "sha256" if self.sha256 else "md5"

    @property
    def checksum(self) -> str:
        """The checksum that the file must have."""
        return self.sha256 or self.md5


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
    return verified(path, Source(name, sha256=CHECKSUMS[name]))


def find(source: Source, *, progress: Progress | None = None) -> Path:
    """The path of a file whose checksum was verified just now; downloaded into the cache if it is nowhere.

    Raises `InputError` for a file of the wrong checksum, and for one that cannot be had: the message says
    how to put it in place by hand.
    """
    path = on_disk(source)
    if path is None:
        from evenhand.data.fetch import download

        check_data_folders(source.name)  # told before megabytes arrive that may be here already
        path = download(source, cache_folder(), progress)
    return path


def find_any(*forms: Sequence[Source], progress: Progress | None = None) -> dict[str, Path]:
    """The files of the first form of a data set that is all there: their paths by name.

    A form is the files that are read together, such as the four files of MNIST. Where no form is on disk, the
    first that has an address is downloaded.
    """
    for form in forms:
        paths = [on_disk(source) for source in form]
        if all(path is not None for path in paths):
            return {source.name: path for source, path in zip(form, paths, strict=True) if path is not None}
    wanted = next((form for form in forms if all(source.urls for source in form)), forms[0])
    try:
        return {source.name: find(source, progress=progress) for source in wanted}
    except InputError as error:
        if len(wanted) == 1:
            raise
        names = ", ".join(source.name for source in wanted)
        raise InputError(f"{error}; all of these are needed: {names}") from error


def on_disk(source: Source) -> Path | None:
    """The verified path of a file that need not be downloaded: packaged, in `EVENHAND_DATA` or cached."""
    if source.sha256 and CHECKSUMS.get(source.name) == source.sha256:
        return packaged(source.name)
    for folder in (*data_folders(), cache_folder()):
        if (folder / source.name).is_file():
            return verified(folder / source.name, source)
    return None


def verified(path: Path, source: Source) -> Path:
    """The path itself, after checking the file's bytes; `InputError` with both sums where they differ."""
    found = digest(path, source.algorithm)
    if found == source.checksum:
        return path
    kind = {"sha256": "SHA-256", "md5": "MD5"}[source.algorithm]
    raise InputError(
        f"{path} is damaged or another version: its {kind} is {found}, expected {source.checksum}; "
        "put the published file in its place, or remove it"
    )


def data_folders() -> list[Path]:
    """The folders that the environment variable `EVENHAND_DATA` names; several are parted as in PATH."""
    return [Path(part).expanduser() for part in os.environ.get("EVENHAND_DATA", "").split(os.pathsep) if part]


def check_data_folders(wanted: str) -> None:
    """Raise `InputError` where `EVENHAND_DATA` names what is no folder: what is wanted may be elsewhere."""
    lost = [folder for folder in data_folders() if not folder.is_dir()]
    if lost:
        raise InputError(
            f"EVENHAND_DATA names {lost[0]}, which is no folder; name the one that holds {wanted}, "
            "or leave the variable out"
        )


def cache_folder() -> Path:
    """Where downloads are kept: `EVENHAND_CACHE`, or the folder for caches of this system."""
    chosen = os.environ.get("EVENHAND_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evenhand"


def checksums(paths: Mapping[str, Path]) -> dict[str, str]:
    """The SHA-256 of each file by its name, as a `DataCard` keeps them."""
    return {name: sha256(path) for name, path in paths.items()}


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal digits; the file is read in pieces.

    >>> sha256(FOLDER / "titanic.csv.gz")[:12]
    '6bdab4b57fb4'
    """
    return digest(path, "sha256")


def digest(path: Path, algorithm: str) -> str:
    """A checksum of a file's bytes as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()

"""Images that are decoded when they are asked for, from files or from byte streams packed into one array.

Pillow is imported inside the functions: a machine without it can use every other data set.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.cache import Progress
from evenhand.data.task import Rows
from evenhand.errors import InputError

T = TypeVar("T")
EXTENSIONS = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
BLOCK = 512  # images between two reports of progress
MOST_WORKERS = 8
LARGEST = 4096  # pixels a side: a single batch of more would fill a machine
_decoded: dict[str, Tensor] = {}  # what `decode_once` decoded last


def pillow() -> Any:
    """Pillow's `Image` module, or the error that says how to get it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError("reading images needs Pillow: pip install 'evenhand[vision]'") from error
    return Image


def check_size(size: int) -> int:
    """The value itself if images can have so many pixels a side.

    >>> check_size(0)
    Traceback (most recent call last):
    evenhand.errors.InputError: the knob size=0 must be a whole number of pixels from 1 to 4,096
    """
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST:
        raise InputError(f"the knob size={size!r} must be a whole number of pixels from 1 to {LARGEST:,}")
    return size


class FolderRows:
    """Images in files, each cut to the square in its middle and scaled to `size` x `size`, RGB."""

    def __init__(self, paths: Sequence[Path], size: int) -> None:
        self.paths = paths
        self.size = check_size(size)
        self.shape: tuple[int, ...] = (3, size, size)

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, rows: Tensor) -> Tensor:
        """The images with these numbers, `[len(rows), 3, size, size]`, uint8."""
        # Pillow frees the interpreter while it decodes and scales: threads help with files as large as photos
        paths = [self.paths[row] for row in rows.tolist()]
        return _decode_all(paths, self._read, self.shape, workers=min(os.cpu_count() or 1, MOST_WORKERS))

    def _read(self, path: Path) -> Array:
        with told_as_image(str(path)):
            return decode(path, self.size)


class EncodedRows:
    """Images as JPEG, PNG or WebP streams: number i is `data[offsets[i]:offsets[i + 1]]`; one shape."""

    def __init__(self, data: Array, offsets: Array, shape: tuple[int, ...], name: str) -> None:
        self.data, self.offsets = data, offsets
        self.shape = shape
        self.name = name  # of the file they come from, for messages

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Tensor) -> Tensor:
        """The images with these numbers, `[len(rows), *shape]`, uint8."""
        return _decode_all(rows.tolist(), self._read, self.shape)

    def _read(self, row: int) -> Array:
        stream = self.data[int(self.offsets[row]) : int(self.offsets[row + 1])].tobytes()
        with told_as_image(f"image {row} of {self.name}"):
            return decode(io.BytesIO(stream))


@contextmanager
def told_as_image(what: str) -> Iterator[None]:
    """Whatever Pillow says of a damaged file, with the name of the file."""
    try:
        yield
    except (OSError, SyntaxError, ValueError, EOFError, pillow().DecompressionBombError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} cannot be read as an image ({error})") from error


def decode(source: Path | io.BytesIO, size: int | None = None) -> Array:
    """One image as RGB bytes `[3, height, width]`; with `size`, the square in its middle, scaled to that."""
    pil = pillow()
    with pil.open(source) as opened:
        image = _as_rgb(opened)
    if size is not None and image.size != (size, size):
        image = _square(image, size)
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))


def _as_rgb(image: Any) -> Any:
    """Any mode as RGB, upright: cameras store how they were held instead of turning the picture."""
    from PIL import ImageOps

    deep = image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG")
    if image.mode in ("I", "F") and not deep:
        raise ValueError("its pixels have 32 bits of an unknown range; save it with 8 or 16 bits")
    image = ImageOps.exif_transpose(image)
    if deep:  # 16 bits a pixel: Pillow would clip instead of scaling
        image = pillow().fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if isinstance(image.info.get("transparency"), bytes):  # of a palette, which Pillow warns of
        image = image.convert("RGBA")
    return image if image.mode == "RGB" else image.convert("RGB")


def _square(image: Any, size: int) -> Any:
    width, height = image.size
    side = min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    return image.resize((size, size), pillow().Resampling.LANCZOS, box=(left, top, left + side, top + side))


def _decode_all(
    items: Sequence[T], read: Callable[[T], Array], shape: tuple[int, ...], workers: int = 1
) -> Tensor:
    """Each item decoded into its place, by several threads if asked for; the first failure is raised."""
    out = np.empty((len(items), *shape), dtype=np.uint8)

    def fill(places: range) -> None:
        for place in places:
            image = read(items[place])
            if image.shape != shape:
                raise InputError(f"image {items[place]} has the shape {image.shape}, not {shape}")
            out[place] = image

    workers = min(workers, len(items))
    if workers < 2:
        fill(range(len(items)))
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, [range(first, len(items), workers) for first in range(workers)]))
    return torch.from_numpy(out)


def materialise(rows: Rows, progress: Progress | None = None, name: str = "images") -> Tensor:
    """All the images at once, as the tensor of a resident task; `progress(name, done, all)` each block."""
    out = torch.empty((len(rows), *rows.shape), dtype=torch.uint8)
    for start in range(0, len(rows), BLOCK):
        block = torch.arange(start, min(start + BLOCK, len(rows)))
        out[block] = rows.take(block)
        if progress is not None:
            progress(name, int(block[-1]) + 1, len(rows))
    return out


def decode_once(key: str, rows: EncodedRows, progress: Progress | None = None) -> Tensor:
    """`materialise`, kept for the next task made of the same file (`key`, its checksum): it takes seconds.

    Only the last file is kept. Tasks share the tensor, which nobody may write to.
    """
    if key not in _decoded:
        images = materialise(rows, progress, rows.name)
        _decoded.clear()
        _decoded[key] = images
    return _decoded[key]


def check_present(paths: Sequence[Path]) -> None:
    """Raise `InputError` with their number and the first three if some of the files are not there."""
    lost = [path for path in paths if not path.is_file()]
    if lost:
        first = ", ".join(str(path) for path in lost[:3])
        raise InputError(f"{len(lost):,} of {len(paths):,} images are missing; the first: {first}")

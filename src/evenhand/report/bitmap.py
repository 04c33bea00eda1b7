"""A PNG of pixels, by the standard library alone: pictures in a report need no imaging package."""

from __future__ import annotations

import struct
import zlib

from evenhand.arrays import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png_bytes(pixels: Array) -> bytes:
    """Pixels `[height, width, 3]` of bytes as a PNG file (ISO/IEC 15948): 8 bits, RGB, no filter.

    >>> import numpy as np
    >>> png_bytes(np.zeros((2, 3, 3), dtype=np.uint8))[:8] == SIGNATURE
    True
    """
    height, width, channels = pixels.shape
    if channels != 3 or pixels.dtype.itemsize != 1:
        raise ValueError(f"a picture is bytes [height, width, 3], not {pixels.dtype} {pixels.shape}")
    lines = b"".join(b"\x00" + pixels[line].tobytes() for line in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(lines, 9)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

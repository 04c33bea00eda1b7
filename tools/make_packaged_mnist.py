"""Write the part of MNIST that is in the package: `EVENHAND_DATA=FOLDER python tools/make_packaged_mnist.py`.

The first 14,000 training images in file order, and every fifth of the 10,000 test images: the first half of
MNIST's test set is known to be easier than the second, so its first 2,000 images would flatter every model.
The file is a zip of .npy arrays packed with LZMA, with fixed dates, so that writing it again gives the same
bytes; paste the printed line into CHECKSUMS of evenhand/data/cache.py when the content changes.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from evenhand.arrays import Array
from evenhand.data.cache import FOLDER, sha256
from evenhand.data.mnist_files import PACKAGED, PACKAGED_TEST_STEP, PACKAGED_TRAIN, read_full

FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip file can hold


def write_arrays(path: Path, arrays: dict[str, Array]) -> None:
    """The arrays as an .npz file that is the same to the byte whenever it is written."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy", FIRST_DAY)
            member.compress_type = zipfile.ZIP_LZMA
            file.writestr(member, buffer.getvalue())


def main(path: Path = FOLDER / PACKAGED) -> None:
    """Write the file and print the line for the table of checksums."""
    full = read_full()
    part = {
        "x_train": full.x_train[:PACKAGED_TRAIN],
        "y_train": full.y_train[:PACKAGED_TRAIN],
        "x_test": full.x_test[::PACKAGED_TEST_STEP],
        "y_test": full.y_test[::PACKAGED_TEST_STEP],
    }
    write_arrays(path, part)
    print(f'    "{path.name}": "{sha256(path)}",  # {path.stat().st_size:,} bytes')


if __name__ == "__main__":
    main()

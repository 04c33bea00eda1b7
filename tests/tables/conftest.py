"""Small tables to read, in every format."""

import gzip

import numpy as np
import polars as pl
import pytest


def random_table(seed, n=500, missing=0.1):
    """Labels and predictions of three classes, a text and a number group (-1 = unknown), weights, runs."""
    rng = np.random.default_rng(seed)

    def holes(values):
        return [None if hole else value for value, hole in zip(values, rng.random(n) < missing, strict=True)]

    return pl.DataFrame(
        {
            "y": holes(rng.integers(0, 3, n).tolist()),
            "p": holes(rng.integers(0, 3, n).tolist()),
            "sex": holes(rng.choice(["f", "m", 'x, "y"\nz'], n).tolist()),
            "band": holes(rng.integers(-1, 11, n).tolist()),
            "w": rng.random(n).round(6),
            "seed": rng.integers(0, 3, n),
        },
        schema_overrides={"y": pl.Int64, "p": pl.Int64, "sex": pl.String, "band": pl.Int64},
    )


@pytest.fixture
def table():
    return random_table(0)


def write(frame, folder, ending):
    """The frame as a file of some kind."""
    file = folder / f"preds{ending}"
    if ending == ".parquet":
        frame.write_parquet(file)
    else:
        content = frame.write_csv(separator="\t" if "tsv" in ending else ",").encode()
        file.write_bytes(gzip.compress(content, compresslevel=1) if ending.endswith(".gz") else content)
    return file

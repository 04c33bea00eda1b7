"""Prediction files in: CSV and Parquet to a small table of cells, read lazily (polars).

A table of predictions may be far larger than memory. What an audit needs of it is not the rows but how many
of them there are for each (group, truth, prediction), so reading is a GROUP BY in one streaming pass.
"""

from evenhand.tables.aligned import Unmatched
from evenhand.tables.cells import Cells, read_cells
from evenhand.tables.columns import Columns
from evenhand.tables.facts import FileFacts, file_facts
from evenhand.tables.joined import Joined, read_joined
from evenhand.tables.scores import RowScores, ScoreBins

__all__ = [
    "Cells",
    "Columns",
    "FileFacts",
    "Joined",
    "RowScores",
    "ScoreBins",
    "Unmatched",
    "file_facts",
    "read_cells",
    "read_joined",
]

"""Two studies beside the public values of S3's later figures: how near ours come, and the same order or not.

`python -m evenhand.evaluation.reference_values RUN_DIR [--page docs/studies/NAME.md]` makes the pages.
"""

from evenhand.evaluation.reference_values.beside import Beside, Ours, beside, matched
from evenhand.evaluation.reference_values.public import Reference, references

__all__ = ["Beside", "Ours", "Reference", "beside", "matched", "references"]

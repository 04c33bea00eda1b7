"""What an outline says of identical runs, and of methods that share one training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.study.spec import Study


def repeated(study: Study) -> Iterator[tuple[str, list[str]]]:
    """Identical runs, and what may differ between them."""
    if study.repeats:
        from evenhand.study.fit import fit_words, varied_in

        yield "repeats", [fit_words(study.repeats, study.seeds[0], varied_in(study.vary, study.recipe))]


def shared(study: Study) -> Iterator[tuple[str, list[str]]]:
    """Methods that are one training, read in several ways."""
    from evenhand.study.sharing_methods import shared_methods

    found = [f"{', '.join(names)}: one training, read {len(names)} ways" for names in shared_methods(study)]
    if found:
        yield "trained once", found

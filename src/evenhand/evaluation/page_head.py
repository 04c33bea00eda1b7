"""What every page of a study begins with: what was run, and that it was only the small form where it was."""

from __future__ import annotations

import datetime
from typing import Any

from evenhand.study.frame import Frame
from evenhand.study.smoke import IN_SMALL, is_small


def page_head(frame: Frame, kind: str, title: str) -> dict[str, Any]:
    """Kind of page, title, versions, seeds, recipe, and how many trainings are planned, done and failed."""
    from evenhand import __version__

    study, trained = frame.study, frame.trained
    return {
        "kind": kind, "evenhand": __version__, "name": str(study.get("name", "")),
        "title": f"{title} {IN_SMALL}" if is_small(study) and IN_SMALL not in title else title,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "recipe": study.get("recipe") or {}, "seeds": sorted({int(seed) for seed in frame.columns["seed"]}),
        "planned": int(trained.sum()), "done": int((frame.done & trained).sum()),
        "failed": int((frame.failed & trained).sum()), "small": is_small(study),
    }  # fmt: skip

"""The two signs of emphasis that sentences have, `**strong**` and code between backticks, as HTML."""

from __future__ import annotations

import re

from markupsafe import Markup, escape


def emphasised(text: str) -> Markup:
    """A sentence whose two signs of emphasis are shown as such; everything else is escaped.

    >>> print(emphasised("**no replication**: `a < b`"))
    <strong>no replication</strong>: <code>a &lt; b</code>
    """
    strong = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(text)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", strong))

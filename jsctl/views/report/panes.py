"""Panes of a report: what is shown of a context and domain, or of Spark. Pure data."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.views.result import Table, Text


class Pane(NamedTuple):
    """One context and domain. summary: a few words beside the title. messages: lines above the tables."""

    title: str
    summary: Text
    messages: Sequence[Text]
    tables: Sequence[Table] = ()

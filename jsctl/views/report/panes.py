"""Panes of a report: tables whose rows say how much is wrong. Pure data."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.monitor.trouble import FINE
from jsctl.views.result import Style, Table, Text

STYLES: tuple[Style, ...] = ("", "warn", "bad")
"""The styles of FINE, WARN and BAD."""


class Section(NamedTuple):
    """A table of a pane.

    trouble: FINE, WARN or BAD of each row. noun: what rows are called, in the plural.
    """

    table: Table
    trouble: Sequence[int]
    noun: str


class Pane(NamedTuple):
    """One context and domain.

    summary: a few words beside the title. messages: lines above the tables. dim: the tables are from before
    a failure. trouble: FINE, WARN or BAD.
    """

    title: str
    summary: Text
    messages: Sequence[Text]
    sections: Sequence[Section]
    dim: bool = False
    trouble: int = FINE

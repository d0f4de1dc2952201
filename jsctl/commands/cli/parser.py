"""Parsing of the flags and arguments of a command line."""

from typing import Any

import click
from click.parser import _OptionParser


class Parser(_OptionParser):
    """click's parser, which would look for `-s` among the long flags first, and for names similar to it."""

    def _process_opts(self, arg: str, state: Any) -> None:
        if arg in self._short_opt:
            self._match_short_opt(arg, state)
        else:
            super()._process_opts(arg, state)

    def copy_for(self, ctx: click.Context) -> "Parser":
        """Return a parser of the same flags and arguments."""
        result = Parser()
        vars(result).update(vars(self), ctx=ctx)
        return result

"""What the verbs of `jsctl counter` share: the flag that names the stream, completion of new counters."""

from collections.abc import Callable
from typing import Any, TypeVar

from jsctl.commands.cli import option
from jsctl.commands.cli.global_flags import completer

F = TypeVar("F", bound=Callable[..., Any])

complete_counters = completer("counter")
"""Completes counters where a new one or a pattern may be given, too."""


def stream_flag(function: F) -> F:
    """Add --stream."""
    what = "The counter's stream, if several store the subject"
    return option("--stream", metavar="STREAM", default="", noun="stream", help=what)(function)

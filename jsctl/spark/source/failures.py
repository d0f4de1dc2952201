"""Errors and warnings of the data source.

Spark puts the whole Python traceback of its workers into the message of an exception. Errors of jsctl explain
in one line what is wrong, so their tracebacks are kept as short as possible.
"""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from jsctl.base.units import format_count
from jsctl.errors import JsctlError

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("jsctl.spark")
"""The logger of warnings, which go to stderr of the planning or reading process by default."""


def without_traceback(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that errors of jsctl leave it without a traceback."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except JsctlError as error:
            raise error.with_traceback(None) from None

    return wrapped


def format_messages(count: int, filtered: bool = False) -> str:
    """Return `1 message` or `2,000 messages`. With `filtered`, if only some subjects are read and the
    messages may have been on others, `up to 20 messages`."""
    return f"{'up to ' if filtered else ''}{format_count(count)} {'message' if count == 1 else 'messages'}"


def format_lost(count: int, filtered: bool) -> str:
    """Return `1 message is lost` or `up to 20 messages are lost`; see `format_messages`."""
    return f"{format_messages(count, filtered)} {'is' if count == 1 else 'are'} lost"


def warn_of_loss(stream: str, count: int, start: int, end: int, filtered: bool) -> None:
    """Warn that `count` messages of [start, end) were lost before they were read."""
    messages = format_messages(count, filtered)
    log.warning(
        "jsctl: %s of %s, between %d and %d, left the stream unread", messages, stream, start, end - 1
    )

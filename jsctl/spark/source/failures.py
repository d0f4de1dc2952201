"""What people read when reading with Spark goes wrong, or not quite right.

Spark puts the whole Python traceback of its workers into the message of an exception. An error that says in
one line what is wrong needs none, so it leaves the data source with as little of it as there can be.
"""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from jsctl.errors import JsctlError
from jsctl.units import format_count

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("jsctl.spark")
"""Warnings go to stderr of the process that plans or reads, unless logging is set up otherwise."""


def without_traceback(function: Callable[P, T]) -> Callable[P, T]:
    """The same, but our errors come without the calls that led to them."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except JsctlError as error:
            raise error.with_traceback(None) from None

    return wrapped


def format_messages(count: int, filtered: bool = False) -> str:
    """`1 message`, `2,000 messages`; `up to 20 messages` where only some subjects are read, and others may
    be among them."""
    return f"{'up to ' if filtered else ''}{format_count(count)} {'message' if count == 1 else 'messages'}"


def format_lost(count: int, filtered: bool) -> str:
    """`1 message is lost`, `up to 20 messages are lost`."""
    return f"{format_messages(count, filtered)} {'is' if count == 1 else 'are'} lost"


def warn_of_loss(stream: str, count: int, start: int, end: int, filtered: bool) -> None:
    """Say that so many of [start, end) were gone before they were read."""
    what = format_messages(count, filtered)
    log.warning("jsctl: %s of %s, between %d and %d, fell off its head unread", what, stream, start, end - 1)

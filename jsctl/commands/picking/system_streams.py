"""Hiding the streams of buckets and the system from lists, unless --all was given."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams

T = TypeVar("T")


def format_hidden_hint(count: int) -> str:
    """Return a line with the number of streams that were left out, and how to include them."""
    return f"{count} more with -a: buckets and system streams"


def format_only_hidden_hint(count: int) -> str:
    """Return how to include the streams that were left out, if there are no others."""
    return f"-a includes {count} of buckets and the system"


class ShownNames:
    """The names that a list shows: all, or with --all those of buckets and the system, too.

    hidden: how many of the names asked about are left out.
    """

    def __init__(self, env: Env) -> None:
        self._env = env
        self._shows_all = bool(env.flags.get("all_streams"))
        self.hidden = 0

    def __contains__(self, stream: str) -> bool:
        shown = self._shows_all or not streams.is_internal(stream)
        self.hidden += not shown
        return shown

    def report_hidden(self) -> None:
        """Say how many names were left out, so that nobody takes the list for all of them."""
        if self.hidden:
            self._env.inform(f"jsctl: {format_hidden_hint(self.hidden)}")


async def list_shown(
    env: Env, pages: AsyncIterator[Iterable[T]], get_name: Callable[[T], str]
) -> AsyncIterator[list[T]]:
    """Yield what lists show of pages, and report at the end how much they do not. get_name: the stream's."""
    shown_names = ShownNames(env)
    async for page in pages:
        yield [item for item in page if get_name(item) in shown_names]
    shown_names.report_hidden()

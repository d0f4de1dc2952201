"""Collecting the pages of a list: what is wanted of each stream or consumer, and which ones did not answer.

STREAM.LIST and CONSUMER.LIST page alike (nats-server: jetstream_api.go). In a cluster a page may name streams
or consumers whose leader did not answer (`missing`) or that no server can run (`offline`).
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from jsctl.jetstream.api import Api, Json

T = TypeVar("T")


class Collected(NamedTuple, Generic[T]):
    """A whole list.

    items: what was wanted of each stream or consumer, by name. missing: names that the server knows but could
    not ask. offline: name -> why no server can run it (a server too old for its configuration).
    """

    items: Mapping[str, T]
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = MappingProxyType({})


class PageCollector(Generic[T]):
    """Merges the pages of one list."""

    def __init__(self, extract: Callable[[Json], T | None], key: str) -> None:
        """extract: see `collect`. key: where a page holds its entries."""
        self._extract = extract
        self._key = key
        self._items: dict[str, T] = {}
        self._missing: set[str] = set()
        self._offline: dict[str, str] = {}

    def add(self, page: Json) -> None:
        """Take in the next page. An entry that two pages hold counts once."""
        for info in page.get(self._key) or ():
            if (item := self._extract(info)) is not None:
                name = info["name"] if "name" in info else info["config"]["name"]
                self._items[name] = item
        self._missing.update(page.get("missing") or ())
        self._offline.update(page.get("offline") or {})

    def result(self) -> Collected[T]:
        """Returns what all pages held, in the server's order."""
        silent = self._missing - self._offline.keys() - self._items.keys()
        return Collected(self._items, sorted(silent), self._offline)


async def collect(
    api: Api, subject: str, key: str, extract: Callable[[Json], T | None], body: Json | None = None
) -> Collected[T]:
    """Fetch all pages of a list, several at once, and return what `extract` takes from each entry.

    subject: the request's, below the API prefix. extract: returns None for an entry to leave out. An entry
    is dropped with its page, so that only what was extracted stays in memory. Raises what `Api.call` raises.
    """
    collector = PageCollector(extract, key)
    async for page in api.replies(subject, key, body):
        collector.add(page)
    return collector.result()

"""Lists that the server divides into pages: fetching the pages, and collecting values from them.

STREAM.LIST and CONSUMER.LIST are paged alike (nats-server: jetstream_api.go). In a cluster a page may name
streams or consumers whose leader did not answer (`missing`) or that no server can run (`offline`).
"""

import itertools
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from jsctl.jetstream.api import Api, Json, parse_response
from jsctl.later import asyncio
from jsctl.loops import Begun, cancel_all, start

T = TypeVar("T")

_MAX_PARALLEL = 16
"""Pages of a list that are requested at once."""


class Collected(NamedTuple, Generic[T]):
    """A whole list.

    items: what `extract` returned for each stream or consumer, by name. missing: names that the server knows
    but could not reach. offline: name -> why no server can run it (a server too old for its configuration).
    """

    items: Mapping[str, T]
    missing: Sequence[str] = ()
    offline: Mapping[str, str] = MappingProxyType({})


class PageCollector(Generic[T]):
    """A collector that merges the pages of one list."""

    def __init__(self, extract: Callable[[Json], T | None], key: str) -> None:
        """Collect the entries below `key` of each page. extract: see `collect`."""
        self._extract = extract
        self._key = key
        self._items: dict[str, T] = {}
        self._missing: set[str] = set()
        self._offline: dict[str, str] = {}

    def add(self, page: Json) -> None:
        """Add a page. An entry on two pages counts once."""
        for info in page.get(self._key) or ():
            if (item := self._extract(info)) is not None:
                name = info["name"] if "name" in info else info["config"]["name"]
                self._items[name] = item
        self._missing.update(page.get("missing") or ())
        self._offline.update(page.get("offline") or {})

    def build_result(self) -> Collected[T]:
        """Return the items of all pages, in the server's order."""
        silent = self._missing - self._offline.keys() - self._items.keys()
        return Collected(self._items, sorted(silent), self._offline)


async def fetch_pages(
    api: Api, subject: str, key: str, body: Mapping[str, Any] | None = None
) -> AsyncGenerator[Json, None]:
    """Yield the pages of a list in its order; after the first, several are requested ahead.

    subject: the request's, below the API prefix. key: of the items in a page. Lists state their `total`; the
    page size is the first page's `limit`. Items that are created or removed meanwhile may be missed or appear
    twice. Raises what `Api.call` raises.
    """
    first = await api.call(subject, {**(body or {}), "offset": 0})
    count = len(first.get(key) or [])
    total, limit = int(first.get("total", 0)), max(int(first.get("limit", 0)), 0) or count
    offsets = iter(range(limit, total, limit) if 0 < count < total and limit else ())
    digests = {_compute_digest(first, key)}  #: of all pages, as a faulty server may alternate between two
    requests: deque[asyncio.Task[bytes] | Begun[bytes]] = deque()

    def request_ahead() -> None:
        for offset in itertools.islice(offsets, _MAX_PARALLEL - len(requests)):
            request = api.call_raw(subject, {**(body or {}), "offset": offset})
            requests.append(start(request))

    try:
        request_ahead()
        yield first
        del first
        while requests:
            data = await requests.popleft()
            request_ahead()
            page = parse_response(data, f"{api.prefix}.{subject}")
            # The total was wrong, or the server repeats itself: there is nothing new.
            digest = _compute_digest(page, key)
            if not page.get(key) or digest in digests:
                return
            digests.add(digest)
            yield page
    finally:
        await cancel_all(requests)


def _compute_digest(page: Json, key: str) -> int:
    """Return a number that is equal for pages with the same entries."""
    return hash(repr([_get_name(item) for item in page.get(key) or ()]))


def _get_name(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return item.get("name") or (item.get("config") or {}).get("name")


async def fetch_items(api: Api, subject: str, key: str, body: Mapping[str, Any] | None = None) -> list[Any]:
    """Return all items of a list; see `fetch_pages`."""
    return [item async for page in fetch_pages(api, subject, key, body) for item in page.get(key) or []]


async def fetch_sorted_pages(
    api: Api,
    subject: str,
    key: str,
    body: Mapping[str, Any] | None = None,
    name: Callable[[Any], str] = str,
) -> AsyncGenerator[list[Any], None]:
    """Yield the items of a list page by page, sorted by name, as servers send them; an item on two
    consecutive pages is yielded once. name: returns an item's name; see `fetch_pages` for the other
    arguments."""
    previous: set[str] = set()
    async for page in fetch_pages(api, subject, key, body):
        items = {name(item): item for item in page.get(key) or ()}
        yield [items[new_name] for new_name in sorted(items.keys() - previous)]
        previous = set(items)


async def collect(
    api: Api, subject: str, key: str, extract: Callable[[Json], T | None], body: Json | None = None
) -> Collected[T]:
    """Fetch all pages of a list, several at once, and return what `extract` takes from each entry.

    subject: the request's, below the API prefix. extract: returns None for an entry to leave out. Only what
    it returns stays in memory. Raises what `Api.call` raises.
    """
    collector = PageCollector(extract, key)
    async for page in fetch_pages(api, subject, key, body):
        collector.add(page)
    return collector.build_result()

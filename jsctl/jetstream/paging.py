"""Lists that the server divides into pages: fetching the pages, and collecting values from them.

STREAM.LIST and CONSUMER.LIST are paged alike (nats-server: jetstream_api.go). In a cluster a page may name
streams or consumers whose leader did not answer (`missing`) or that no server can run (`offline`).
"""

import itertools
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from jsctl.base.command_lines import build_line
from jsctl.base.loops import StartedWork, cancel_all, start
from jsctl.errors import RequestTimeout
from jsctl.jetstream.api import Api, Json, parse_response

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_KNOWN = "jsctl.known"  #: key of what is known, in a page
_TIME = b',"ts":"'

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


def require_answers(noun: str, missing: Sequence[str]) -> None:
    """Raise RequestTimeout if the leaders of some streams or consumers of a list did not answer."""
    if missing:
        whose, more = f"{noun} {missing[0]}", f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise RequestTimeout(
            f"no answer from the leader of {whose}{more}", f"{build_line('doctor')} shows who has none"
        )


class Memory(Generic[T]):
    """What was taken from the entries of a list in the round before, for those that have not changed.

    From round to round, the infos of idle streams differ only in the time at which they were asked, `"ts"`,
    with which servers end them. Those that are otherwise as before are cut out of a page before it is parsed,
    which is what takes long. A page of another form is left as it is.

    is_static: whether the same is taken from an entry at any time.
    """

    def __init__(self, is_static: Callable[[Json], bool] = lambda entry: True) -> None:
        self.is_static = is_static
        self._previous: dict[bytes, tuple[str, T | None]] = {}
        self._current: dict[bytes, tuple[str, T | None]] = {}

    def shorten(self, data: bytes, key: str) -> tuple[bytes, "Known[T]"]:
        """Return a page without the entries that are known, and these. key: of the entries."""
        from hashlib import blake2b  # its import takes 2 ms, and most verbs know nothing

        known: Known[T] = Known([], [])
        head, opening, body = data.partition(b'"%b":[' % key.encode())
        entry, *pieces = body.split(_TIME)
        remaining: list[bytes] = []
        for number, piece in enumerate(pieces, 1):
            time, end, rest = piece.partition(b'"}')
            is_last = number == len(pieces)
            if not entry.startswith(b"{") or rest[:1] != (b"]" if is_last else b","):
                return data, Known([], [])
            digest = blake2b(entry, digest_size=16).digest()
            if (item := self._previous.get(digest)) is None:
                known.changed.append(digest)
                remaining.append(entry + _TIME + time + end)
            else:
                self._current[digest] = item
                known.items.append(item)
            entry = rest[1:]
        return (head + opening + b",".join(remaining) + b"]" + entry if known.items else data), known

    def add(self, changed: Sequence[bytes], items: Sequence[tuple[str, T | None] | None]) -> None:
        """Remember what was taken from the entries of a page with these digests. items: None for an entry to
        take again in the next round."""
        if len(items) == len(changed):
            self._current.update((digest, item) for digest, item in zip(changed, items, strict=True) if item)

    def end_round(self) -> None:
        """Forget what this round did not have."""
        self._previous, self._current = self._current, {}


class Known(NamedTuple, Generic[T]):
    """A page's entries. items: name, and what was taken, of those that are as before. changed: digests of the
    others."""

    items: list[tuple[str, T | None]]
    changed: list[bytes]


async def fetch_pages(
    api: Api,
    subject: str,
    key: str,
    body: Mapping[str, Any] | None = None,
    memory: Memory[Any] | None = None,
) -> AsyncGenerator[Json, None]:
    """Yield the pages of a list in its order; after the first, several are requested ahead.

    subject: the request's, below the API prefix. key: of the items in a page. Lists state their `total`; the
    page size is the first page's `limit`. Items that are created or removed meanwhile may be missed or appear
    twice. memory: leaves known entries out of the pages, which have them under `_KNOWN`. Raises what
    `Api.call` raises.
    """

    def parse(data: bytes) -> Json:
        shorter, known = memory.shorten(data, key) if memory else (data, None)
        page = parse_response(shorter, f"{api.prefix}.{subject}")
        return page if known is None else {**page, _KNOWN: known}

    first = parse(await api.call_raw(subject, {**(body or {}), "offset": 0}))
    names = _list_names(first, key)
    count = len(names)
    total, limit = int(first.get("total", 0)), max(int(first.get("limit", 0)), 0) or count
    offsets = iter(range(limit, total, limit) if 0 < count < total and limit else ())
    digests = {hash(repr(names))}  #: of all pages, as a faulty server may alternate between two
    requests: deque[asyncio.Task[bytes] | StartedWork[bytes]] = deque()

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
            page = parse(data)
            # The total was wrong, or the server repeats itself: there is nothing new.
            names = _list_names(page, key)
            digest = hash(repr(names))
            if not names or digest in digests:
                return
            digests.add(digest)
            yield page
    finally:
        await cancel_all(requests)


def _list_names(page: Json, key: str) -> list[Any]:
    """Return the names of a page's entries; those that are known come last."""
    known = [name for name, _ in page[_KNOWN].items] if _KNOWN in page else []
    items = page.get(key) or ()
    return [*(items if set(map(type, items)) == {str} else map(_get_name, items)), *known]


def _get_name(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return item.get("name") or (item.get("config") or {}).get("name")


async def fetch_items(api: Api, subject: str, key: str) -> list[Any]:
    """Return all items of a list; see `fetch_pages`."""
    return [item async for page in fetch_pages(api, subject, key) for item in page.get(key) or []]


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
        yield [items[item_name] for item_name in sorted(items) if item_name not in previous]
        previous = set(items)


async def collect(
    api: Api,
    subject: str,
    key: str,
    extract: Callable[[Json], T | None],
    body: Json | None = None,
    memory: Memory[T] | None = None,
) -> Collected[T]:
    """Fetch all pages of a list, several at once, and return what `extract` takes from each entry.

    subject: the request's, below the API prefix. extract: returns None for an entry to leave out. Only what
    it returns stays in memory. memory: of the rounds before; `extract` is then called for what has changed
    since, and must depend on nothing else. Raises what `Api.call` raises.
    """
    collected = await merge_pages(fetch_pages(api, subject, key, body, memory), key, extract, memory)
    if memory is not None:
        memory.end_round()
    return collected


async def merge_pages(
    pages: AsyncIterable[Json],
    key: str,
    extract: Callable[[Json], T | None],
    memory: Memory[T] | None = None,
) -> Collected[T]:
    """Return what `extract` takes from each entry below `key` of the pages, in the server's order. An entry
    on two pages counts once. extract, memory: see `collect`."""
    items: dict[str, T] = {}
    missing: set[str] = set()
    offline: dict[str, str] = {}
    async for page in pages:
        known: Known[T] = page.get(_KNOWN) or Known([], [])
        taken: list[tuple[str, T | None] | None] = []
        for info in page.get(key) or ():
            item = extract(info)
            name = info["name"] if "name" in info else info["config"]["name"]
            if item is not None:
                items[name] = item
            if memory is not None:
                taken.append((name, item) if memory.is_static(info) else None)
        items.update((name, item) for name, item in known.items if item is not None)
        if memory is not None:
            memory.add(known.changed, taken)
        missing.update(page.get("missing") or ())
        offline.update(page.get("offline") or {})
    return Collected(items, sorted(missing - offline.keys() - items.keys()), offline)

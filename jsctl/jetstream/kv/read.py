"""Reading a bucket: single keys from its stream's leader, many of them in batches from any replica."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial

from jsctl import registry
from jsctl.errors import BadInput, Denied, JsctlError, MissingName, NotFound, Unreachable
from jsctl.jetstream.api import Api
from jsctl.jetstream.kv.bucket import Bucket, open_bucket
from jsctl.jetstream.kv.entry import Entry, decode_entry
from jsctl.jetstream.kv.names import is_pattern
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.receive import ReceiveOptions, Receiver, StreamSource
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.codes import ErrorCode
from jsctl.nats.direct_get import parse_direct_reply
from jsctl.nats.message import Message
from jsctl.nats.subjects import overlap
from jsctl.units import format_time

_KEYS = 1000
"""Keys asked for at once; the server answers 1,024 at the most."""
_BYTES = 4 << 20  #: of values asked for at once, as far as the bucket's average tells
_SUBJECTS = 256 << 10  #: bytes of keys in a request
_BATCH = 2000  #: entries of a history that are asked for at once
_AHEAD = 3  #: requests at once
_AT_ONCE = 64  #: requests at once to the leader, for single keys
_LISTED = 10_000  #: keys that are looked through for one like a missing one


# -- single keys ------------------------------------------------------------------------------------


async def newest(bucket: Bucket, key: str) -> Entry | None:
    """Fetch the newest entry of a key, which may be a marker; None for a key that nothing is known of.

    The leader answers, so that what was just stored is seen. Raises what requests raise.
    """
    subject = bucket.prefix + key
    try:
        message = await browse.fetch_last(bucket.api, bucket.stream, subject)
    except NotFound:
        return None
    except Denied:
        if not bucket.allows_direct:
            raise
        direct = await _direct(bucket, subject)
        return decode_entry(bucket, direct) if direct else None
    return decode_entry(bucket, message)


async def _direct(bucket: Bucket, subject: str) -> Message | None:
    """Fetch the last message of a subject from any replica: for those who may not ask the leader."""
    api = bucket.api
    request = f"{api.prefix}.DIRECT.GET.{bucket.stream}.{subject}"
    reply = await api.connection.request(request, timeout=api.timeout)
    parsed = parse_direct_reply(reply.header_block)
    return parsed.message(reply.data) if parsed else None


async def get(bucket: Bucket, key: str) -> Entry:
    """Fetch the value of a key. Raises NotFound, which says why a key is gone."""
    entry = await newest(bucket, key)
    if entry is None:
        raise missing_key(bucket, key)
    if not entry.is_value:
        raise NotFound(
            f"key {key} {entry.removal} at {format_time(entry.time)} (revision {entry.revision})",
            f"jsctl kv history {bucket.name} {key} shows what is left",
        )
    return entry


async def revision(bucket: Bucket, key: str, number: int) -> Entry:
    """Fetch the entry of a key at a revision. Raises NotFound."""
    hint = f"jsctl kv history {bucket.name} {key} shows the revisions"
    if number < 1:
        raise BadInput("a revision must be 1 or more", hint)
    try:
        entry = decode_entry(bucket, await browse.fetch(bucket.api, bucket.stream, number))
    except NotFound:
        entry = None
    if entry is None or entry.key != key:
        raise NotFound(f"key {key} has no revision {number} in bucket {bucket.name}", hint)
    return entry


def missing_key(bucket: Bucket, key: str) -> JsctlError:
    """Returns the error for a key that a bucket does not have."""
    text, hint = registry.noun("key").missing(key, bucket.name)
    if "*" in key or ">" in key:
        hint = f"* stands for a whole token, > for the rest: 'user.*'; {hint}"
    if int(bucket.info["state"].get("num_subjects") or 0) > _LISTED:
        return NotFound(text, hint)
    list_names = partial(keys_matching, bucket, [">"])
    return MissingName(ErrorCode.NO_MESSAGE_FOUND, (text, hint), key, list_names)


async def key_names(api: Api, bucket: str) -> list[str]:
    """Returns all keys of a bucket that something is stored for, deleted ones too."""
    return await keys_matching(await open_bucket(api, bucket), [">"])


async def keys_matching(bucket: Bucket, patterns: Sequence[str]) -> list[str]:
    """Returns the keys that match a pattern, sorted; those of which only a marker is left, too."""
    keys: set[str] = set()
    for pattern in patterns:
        counts = await streams.subject_counts(bucket.api, bucket.stream, bucket.prefix + pattern)
        keys.update(map(bucket.key_of, counts))
    return sorted(keys)


# -- many keys --------------------------------------------------------------------------------------


async def newest_entries(bucket: Bucket, patterns: Sequence[str]) -> AsyncGenerator[list[Entry], None]:
    """Yield the newest entries of all keys that match a pattern, markers too, in pages, sorted by key.

    Values come from any replica in batches of many keys. What a replica does not have yet, and all values
    where batches are not possible, comes from the leader. Raises what requests raise.
    """
    keys = [key for key in patterns if not is_pattern(key)]
    if len(keys) < len(patterns):
        keys = await keys_matching(bucket, patterns)
    state = bucket.info["state"]
    average = int(state.get("bytes") or 0) // max(int(state.get("messages") or 0), 1)
    most = max(1, min(_KEYS, _BYTES // max(average, 1)))
    pages = list(_pages(keys, most))
    ahead: list[asyncio.Task[list[Entry]]] = []
    reader = _Batches(bucket)
    try:
        for page in pages:
            ahead.append(asyncio.ensure_future(reader.read(page)))
            if len(ahead) >= _AHEAD:
                yield await ahead.pop(0)
        while ahead:
            yield await ahead.pop(0)
    finally:
        for task in ahead:
            task.cancel()


def _pages(keys: Sequence[str], most: int) -> "list[list[str]]":
    """Split keys into what one request names."""
    pages: list[list[str]] = []
    size = 0
    for key in keys:
        size += len(key)
        if not pages or len(pages[-1]) >= most or size > _SUBJECTS:
            pages.append([])
            size = len(key)
        pages[-1].append(key)
    return pages


class _Batches:
    """Reads pages of keys: in batches, and from the leader once these turn out to be impossible."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._batches = bucket.allows_direct

    async def read(self, keys: list[str]) -> list[Entry]:
        bucket, by_key = self._bucket, dict[str, Entry]()
        if self._batches:
            subjects = [bucket.prefix + key for key in keys]
            messages = browse.read_last(bucket.api, bucket.stream, subjects, len(keys))
            try:
                async with aclosing(messages):
                    async for message in messages:
                        entry = decode_entry(bucket, message)
                        by_key[entry.key] = entry
            except Unreachable:
                raise
            except JsctlError:
                self._batches = False
        missing = [key for key in keys if key not in by_key]
        for start in range(0, len(missing), _AT_ONCE):
            some = missing[start : start + _AT_ONCE]
            entries = await asyncio.gather(*(newest(bucket, key) for key in some))
            by_key |= {entry.key: entry for entry in entries if entry}
        return [by_key[key] for key in keys if key in by_key]


async def newest_heads(bucket: Bucket, patterns: Sequence[str]) -> list[Entry]:
    """Returns the newest entries of all keys that match a pattern, markers too, without their values, sorted
    by key: values may be large. Raises what requests raise."""
    receiver = read_entries(bucket, patterns, "last_per_subject", headers_only=True, to_end=True)
    entries: dict[str, Entry] = {}
    async with aclosing(receiver.batches()) as batches:
        async for batch in batches:
            for received in batch:
                entry = decode_entry(bucket, received.message)
                entries[entry.key] = entry
    return [entries[key] for key in sorted(entries)]


def _ignore(text: str) -> None:
    """Report nothing."""


def read_entries(
    bucket: Bucket,
    patterns: Sequence[str],
    start: str,
    *,
    sequence: int = 0,
    limit: int = 0,
    headers_only: bool = False,
    to_end: bool = False,
    warn: Callable[[str], None] = _ignore,
) -> Receiver:
    """Returns what receives the entries of a bucket as they are stored, through a consumer.

    start: a delivery policy. sequence: of `by_start_sequence`. limit: entries, 0 for all. to_end: end with
    what is stored now.
    """
    policy = {"deliver_policy": start, **({"opt_start_seq": sequence} if sequence else {})}
    options = ReceiveOptions(
        subjects=[bucket.prefix + pattern for pattern in distinct_patterns(patterns)],
        stream=StreamSource(bucket.stream, policy, to_end=to_end, headers_only=headers_only),
        limit=limit,
    )
    api = bucket.api
    return Receiver(api.connection, options, api=api, warn=warn, announce=_ignore)


def distinct_patterns(patterns: Sequence[str]) -> list[str]:
    """Patterns of which none overlaps with another, as consumers want them. Raises BadInput."""
    distinct = list(dict.fromkeys(patterns))
    for at, one in enumerate(distinct):
        for other in distinct[:at]:
            if overlap(one, other):
                raise BadInput(f"{other} and {one} overlap", "leave one of them out")
    return distinct


async def history(bucket: Bucket, pattern: str) -> AsyncGenerator[list[Entry], None]:
    """Yield all stored entries of the keys that match a pattern, the oldest first, in pages."""
    if is_pattern(pattern) and not bucket.allows_direct:
        async with aclosing(read_entries(bucket, [pattern], "all", to_end=True).batches()) as batches:
            async for batch in batches:
                yield [decode_entry(bucket, received.message) for received in batch]
        return
    # Without a filter servers need not count what is left that matches, each time.
    subject = "" if pattern == ">" else bucket.prefix + pattern
    bulk = is_pattern(pattern)
    messages = browse.read(bucket.api, bucket.stream, subject=subject, bulk=bulk, batch=_BATCH)
    page: list[Entry] = []
    async with aclosing(messages):
        async for message in messages:
            if message.subject.startswith(bucket.prefix):
                page.append(decode_entry(bucket, message))
            if len(page) >= _KEYS:
                yield page
                page = []
    if page:
        yield page

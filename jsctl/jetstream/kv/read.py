"""Reading a bucket: single keys from its stream's leader, many of them in batches from any replica."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from jsctl import registry
from jsctl.base.units import format_time
from jsctl.errors import BadInput, JsctlError, MissingName, NotFound
from jsctl.jetstream.api import Api
from jsctl.jetstream.kv.bucket import Bucket, open_bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_entry
from jsctl.jetstream.kv.names import is_pattern
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.newest import fetch_newest, fetch_newest_messages
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.subjects import overlaps

if TYPE_CHECKING:
    from jsctl.jetstream.message.receive import Receiver

_PAGE = 1000  #: entries that are handed over at once
_BATCH = 2000  #: entries of a history that are asked for at once
_LISTED = 10_000  #: maximum number of keys that are listed to count them, or to find one like a missing key


# -- single keys ------------------------------------------------------------------------------------


async def fetch_newest_entry(bucket: Bucket, key: str) -> Entry | None:
    """Fetch the newest entry of a key, which may be a marker; None when nothing is stored for it.

    The leader answers, so that what was just stored is seen. Raises what requests raise.
    """
    subject, direct = bucket.prefix + key, bucket.allows_direct
    message = await fetch_newest(bucket.api, bucket.stream, subject, direct=direct)
    return decode_entry(bucket, message) if message else None


async def get(bucket: Bucket, key: str) -> Entry:
    """Fetch the value of a key. Raises NotFound, which says how a key was removed."""
    entry = await fetch_newest_entry(bucket, key)
    if entry is None:
        raise missing_key_error(bucket, key)
    if not entry.is_value:
        raise NotFound(
            f"key {bucket.decode_key(key)} {entry.removal} at {format_time(entry.time)}"
            f" (revision {entry.revision})",
            f"{bucket.build_key_line('kv history', key)} shows what is left",
        )
    return entry


async def fetch_revision(bucket: Bucket, key: str, number: int) -> Entry:
    """Fetch the entry of a key at a revision. Raises NotFound."""
    hint = f"{bucket.build_key_line('kv history', key)} shows the revisions"
    if number < 1:
        raise BadInput("a revision must be 1 or more", hint)
    try:
        entry = decode_entry(bucket, await browse.fetch(bucket.api, bucket.stream, number))
    except NotFound:
        entry = None
    if entry is None or entry.key != key:
        raise NotFound(f"key {bucket.decode_key(key)} has no revision {number} in bucket {bucket.name}", hint)
    return entry


def missing_key_error(bucket: Bucket, key: str) -> JsctlError:
    """Return the error for a key that a bucket does not have."""
    name = bucket.decode_key(key)
    text, hint = registry.find_noun("key").missing(name, bucket.name, domain=bucket.api.domain)
    if "*" in key or ">" in key:
        hint = f"* stands for a whole token, > for the rest: 'user.*'; {hint}"
    if int(bucket.info["state"].get("num_subjects") or 0) > _LISTED:
        return NotFound(text, hint)

    async def list_names() -> list[str]:
        return bucket.codec.decode_known(await list_matching_keys(bucket, [">"]))

    return MissingName(ErrorCode.NO_MESSAGE_FOUND, (text, hint), name, list_names)


async def list_keys(api: Api, bucket: str) -> list[str]:
    """Return all keys of a bucket that have an entry, including deleted ones."""
    return await list_matching_keys(await open_bucket(api, bucket), [">"])


async def list_matching_keys(bucket: Bucket, patterns: Sequence[str]) -> list[str]:
    """Return the keys that match a pattern, sorted, including those with only a marker left."""
    keys: set[str] = set()
    for pattern in patterns:
        counts = await streams.count_subjects(bucket.api, bucket.stream, bucket.prefix + pattern)
        keys.update(map(bucket.subject_to_key, counts))
    return sorted(keys)


# -- many keys --------------------------------------------------------------------------------------


async def count_keys(bucket: Bucket) -> int | None:
    """Return how many keys have a value; None for too many to look at, or if the login may not look."""
    if int(bucket.info["state"].get("num_subjects") or 0) > _LISTED:
        return None
    try:
        return sum(entry.is_value for entry in await fetch_newest_heads(bucket, [">"]))
    except JsctlError:
        return None


async def fetch_newest_entries(bucket: Bucket, patterns: Sequence[str]) -> AsyncGenerator[list[Entry], None]:
    """Yield the newest entries of all keys that match a pattern, markers too, in pages, sorted by key.

    Raises what requests raise.
    """
    keys = [key for key in patterns if not is_pattern(key)]
    if len(keys) < len(patterns):
        keys = await list_matching_keys(bucket, patterns)
    messages = fetch_newest_messages(bucket.api, bucket.info, [bucket.prefix + key for key in keys])
    async with aclosing(messages) as pages:
        async for page in pages:
            yield [decode_entry(bucket, message) for message in page]


async def fetch_newest_heads(bucket: Bucket, patterns: Sequence[str]) -> list[Entry]:
    """Return the newest entries of all keys that match a pattern, markers too, without their values, sorted
    by key: values may be large. Raises what requests raise."""
    receiver = read_entries(bucket, patterns, "last_per_subject", headers_only=True, to_end=True)
    newest: dict[str, Entry] = {}
    async with aclosing(receiver.read_decoded(partial(decode_entry, bucket))) as pages:
        async for page in pages:
            newest |= {entry.key: entry for entry in page}  # keys that changed meanwhile come twice
    return [newest[key] for key in sorted(newest)]


def read_entries(
    bucket: Bucket,
    patterns: Sequence[str],
    start: str,
    *,
    sequence: int = 0,
    limit: int = 0,
    headers_only: bool = False,
    to_end: bool = False,
) -> "Receiver":
    """Return a receiver of a bucket's entries as they are stored, through a consumer.

    start: a delivery policy. sequence: for `by_start_sequence`. limit: number of entries, 0 for all. to_end:
    end with the last entry that is stored now.
    """
    from jsctl.jetstream.message.receive import receive_stored  # `kv get` does not need it

    policy = {"deliver_policy": start, **({"opt_start_seq": sequence} if sequence else {})}
    return receive_stored(
        bucket.api,
        bucket.stream_config,
        [bucket.prefix + pattern for pattern in deduplicate_patterns(patterns, bucket.codec)],
        policy,
        limit=limit,
        headers_only=headers_only,
        to_end=to_end,
    )


def deduplicate_patterns(patterns: Sequence[str], codec: Codec) -> list[str]:
    """Return the patterns without repetitions. Raises BadInput when two overlap, which consumers refuse."""
    distinct = list(dict.fromkeys(patterns))
    for at, pattern in enumerate(distinct):
        for other in distinct[:at]:
            if overlaps(pattern, other):
                names = " and ".join(map(codec.decode, (other, pattern)))
                raise BadInput(f"{names} overlap", "leave one of them out")
    return distinct


async def fetch_history(bucket: Bucket, pattern: str) -> AsyncGenerator[list[Entry], None]:
    """Yield all stored entries of the keys that match a pattern, the oldest first, in pages."""
    if is_pattern(pattern) and not bucket.allows_direct:
        receiver = read_entries(bucket, [pattern], "all", to_end=True)
        async with aclosing(receiver.read_decoded(partial(decode_entry, bucket))) as pages:
            async for entries in pages:
                yield entries
        return
    # Without a filter the server need not count the remaining matches for each batch.
    subject = "" if pattern == ">" else bucket.prefix + pattern
    bulk = is_pattern(pattern)
    messages = browse.read(bucket.api, bucket.stream, subject=subject, bulk=bulk, batch=_BATCH)
    page: list[Entry] = []
    async with aclosing(messages):
        async for message in messages:
            if message.subject.startswith(bucket.prefix):
                page.append(decode_entry(bucket, message))
            if len(page) >= _PAGE:
                yield page
                page = []
    if page:
        yield page

"""A bucket as it was at a time, from the entries that it still has.

What is gone is not known: entries beyond the history of a key, and those that limits, purges or TTLs removed.
So a key whose oldest entry is later than the time is known not to have existed then only if no message from
before is missing in the stream. A key's oldest entries go first, except those that are removed one by one, or
have a TTL: what is found is certain unless such an entry came after it.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from jsctl.base.units import format_time, join_some, pluralize, to_ns
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.entry import Entry
from jsctl.jetstream.kv.read import deduplicate_patterns, fetch_history, missing_key_error
from jsctl.jetstream.message.gaps import find_gaps
from jsctl.jetstream.stream import requests as streams


class Past(NamedTuple):
    """What is known of keys at a time (ns since 1970).

    newest: the newest entry of each key until then, markers too. later: the oldest entry of each key that has
    only later ones. is_complete: whether no message from before the time is missing. may_be_expired: whether
    a value with a TTL may have come after one that is in `newest`.
    """

    time: int
    newest: Mapping[str, Entry]
    later: Mapping[str, Entry]
    is_complete: bool
    may_be_expired: bool

    @property
    def values(self) -> dict[str, Entry]:
        """The entries of the keys that had a value, sorted by key."""
        return {key: entry for key, entry in sorted(self.newest.items()) if entry.is_value}

    @property
    def unknown(self) -> list[str]:
        """The keys that may have had a value that is gone, sorted."""
        return [] if self.is_complete else sorted(self.later)

    def describe_unknown(self, bucket: Bucket) -> list[str]:
        """Return sentences about what cannot be known."""
        when, unknown = format_time(self.time), self.unknown
        sentences = []
        if unknown:
            names = join_some([bucket.decode_key(key) for key in unknown])
            keys = pluralize(len(unknown), "key")
            sentences.append(
                f"what {keys} had at {when} cannot be known, only later values are left: {names}"
            )
        if not self.is_complete:
            sentences.append(
                f"messages from before {when} are gone; keys of which none is left are not shown"
            )
        if self.may_be_expired:
            sentences.append("a value with a TTL that has expired since is not known")
        return sentences


async def fetch_past(bucket: Bucket, patterns: Sequence[str], time: int) -> Past:
    """Return what is known of the keys that match at a time (ns since 1970). Raises what requests raise."""
    newest: dict[str, Entry] = {}
    later: dict[str, Entry] = {}
    end = 0  #: the first sequence that is later than the time, of those that were read
    for pattern in deduplicate_patterns(patterns, bucket.codec):
        async with aclosing(fetch_history(bucket, pattern)) as pages:
            async for page in pages:
                for entry in page:
                    if to_ns(entry.time) <= time:
                        newest[entry.key] = entry
                    else:
                        later.setdefault(entry.key, entry)
                        end = min(end or entry.revision, entry.revision)
    info = await streams.fetch_info(bucket.api, bucket.stream)  # what was removed meanwhile is gone, too
    end = end or int(info["state"]["last_seq"]) + 1
    first = int(info["config"].get("first_seq") or 1)
    gaps = [(start, stop) for start, stop in await find_gaps(bucket.api, info) if start < end]
    oldest = min((entry.revision for entry in newest.values()), default=end)
    is_complete = not gaps and int(info["state"]["first_seq"]) <= first
    expires = bool(info["config"].get("allow_msg_ttl")) and any(stop > oldest for _, stop in gaps)
    only_later = {key: entry for key, entry in later.items() if key not in newest}
    return Past(time, newest, only_later, is_complete, expires)


def get_value(bucket: Bucket, past: Past, key: str) -> Entry:
    """Return the value that a key had. Raises NotFound if it had none, JsctlError if that cannot be known."""
    name = bucket.decode_key(key)
    entry, later, when = past.newest.get(key), past.later.get(key), format_time(past.time)
    if entry is not None and entry.is_value:
        return entry
    if entry is not None:
        raise NotFound(f"key {name} had no value at {when}: it {entry.removal} at {format_time(entry.time)}")
    if later is None:
        error = missing_key_error(bucket, key)
        error.message += "" if past.is_complete else f", and what it was at {when} cannot be known"
        raise error
    oldest = f"revision {later.revision} of {format_time(later.time)}"
    if past.is_complete:
        raise NotFound(f"key {name} did not exist at {when}: its first value is {oldest}")
    raise JsctlError(
        f"what key {name} was at {when} cannot be known: its oldest entry that is left is {oldest}",
        "a larger --history keeps more",
    )

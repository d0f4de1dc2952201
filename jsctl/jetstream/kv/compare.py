"""The differences between the values of two buckets."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Literal, NamedTuple

from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.entry import Entry
from jsctl.jetstream.kv.read import fetch_newest_entries

Change = Literal["added", "removed", "changed"]


class KeyDifference(NamedTuple):
    """A key whose values differ. before: in the first bucket, after: in the second; None if it has none."""

    key: str
    before: Entry | None
    after: Entry | None

    @property
    def change(self) -> Change:
        """How the second bucket differs: added, removed or changed."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def compare(first: Mapping[str, Entry], second: Mapping[str, Entry]) -> tuple[list[KeyDifference], int]:
    """Return the keys whose values differ, sorted, and the number of those with equal values. Revisions and
    times do not matter."""
    differing = []
    for key in sorted(first.keys() | second.keys()):
        before, after = first.get(key), second.get(key)
        if before is None or after is None or before.value != after.value:
            differing.append(KeyDifference(key, before, after))
    return differing, len(first.keys() | second.keys()) - len(differing)


async def fetch_values(bucket: Bucket, patterns: Sequence[str]) -> dict[str, Entry]:
    """Return the newest values of the keys that match; deleted keys are missing."""
    entries: dict[str, Entry] = {}
    async with aclosing(fetch_newest_entries(bucket, patterns)) as pages:
        async for page in pages:
            entries.update((entry.key, entry) for entry in page if entry.is_value)
    return entries

"""`jsctl kv history`."""

from contextlib import aclosing
from typing import TYPE_CHECKING

from jsctl.commands.cli import argument, command
from jsctl.commands.kv.shared import check_found, codec_flag, open_named
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.env import Env
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_keys
from jsctl.jetstream.kv.names import is_pattern, parse_key_pattern
from jsctl.views.kv import entries as view
from jsctl.views.message.decoded import decode_all
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition


@command(
    "history",
    columns=(),
    examples=["jsctl kv history CONFIG user.1", "jsctl kv history CONFIG 'user.*' --json"],
)
@argument("bucket")
@argument("key")
@codec_flag
@match_flag
@decoding_flags
async def history(
    env: Env, bucket: str, key: str, codec: Codec, condition: "Condition | None", decoding: Decoding
) -> Result:
    """Show the oldest first, with the markers of deleted keys, and the reason if the server gave one. KEY may
    be a pattern: in 'user.*' the * stands for one token, in 'user.>' the > for the rest.
    """
    reader = decoding.build_reader(env, condition)
    pattern = parse_key_pattern(key, codec)
    store = await open_named(env, bucket, codec=codec)
    seen = await decode_all(decode_keys(store, await fetch_history(store, pattern)), reader, view.LENS)
    if reader is not None and (summary := reader.summarize()):
        env.say(summary)
    return view.history(store.name, key, seen)


async def fetch_history(store: Bucket, pattern: str) -> list[Entry]:
    """Return all entries of the keys that match. Raises NotFound if there are none."""
    entries: list[Entry] = []
    async with aclosing(read.fetch_history(store, pattern)) as pages:
        async for page in pages:
            entries += page
    if not entries:
        if not is_pattern(pattern):
            raise read.missing_key_error(store, pattern)
        check_found(store, [pattern], {entry.key for entry in entries})
    return entries

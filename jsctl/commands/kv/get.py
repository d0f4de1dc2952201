"""`jsctl kv get`."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import (
    REVISION,
    at_flag,
    check_found,
    codec_flag,
    open_named,
    parse_at,
    warn_of_unknown,
)
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import PUT, Entry, decode_keys
from jsctl.jetstream.kv.names import is_pattern, parse_key_pattern
from jsctl.views.events import Events, once
from jsctl.views.kv import entries as view
from jsctl.views.message.decoded import decode_events

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition


@command(
    "get",
    examples=[
        "jsctl kv get CONFIG user.1",
        "jsctl kv get CONFIG user.1 --raw > value",
        "jsctl kv get CONFIG 'user.*' --json",
        "jsctl kv get CONFIG user.1 --revision 7",
        "jsctl kv get CONFIG user.1 --at 2h",
        "jsctl kv get FILES '/etc/*' --codec path",
    ],
)
@argument("bucket")
@argument("key", nargs=-1, required=True)
@option("--revision", type=REVISION, metavar="REVISION", help="The value at this revision")
@at_flag("The value at this time, or this long ago: 2h")
@option(
    "--raw", is_flag=True, help="Only the value, in a pipe byte for byte; with several keys, one per line"
)
@codec_flag
@match_flag
@decoding_flags
async def get(
    env: Env,
    bucket: str,
    key: tuple[str, ...],
    revision: int | None,
    at: str,
    raw: bool,
    codec: Codec,
    condition: "Condition | None",
    decoding: Decoding,
) -> Events[Any]:
    """Show the value of KEY, a key or a pattern: in 'user.*' the * stands for one token, in 'user.>' the >
    for the rest. For a deleted key, the exit status is 3 and the error says why. What a key was at a time of
    which its history is gone cannot be known: that is status 1 for one key, and a warning for several. With
    --match, which is for several keys, the status is 0 even if no value fits.
    """
    if raw and env.wants_json:
        raise BadInput("--raw and --json cannot be used together")
    patterns = [parse_key_pattern(pattern, codec) for pattern in key]
    single = len(patterns) == 1 and not is_pattern(patterns[0])
    if revision and not single:
        raise BadInput(
            "--revision is for one key", f"{build_line('kv history')} shows the revisions of several"
        )
    if revision and at:
        raise BadInput("--revision and --at cannot be used together")
    time = parse_at(env, at) if at else None
    if single and condition is not None:
        raise BadInput("--match is for several keys", "name a pattern such as 'user.*'")
    reader = decoding.build_reader(env, condition)
    store = await open_named(env, bucket, codec=codec)
    batches: AsyncIterator[Sequence[Entry]]
    if time is not None:
        batches = _read_past(env, store, patterns, time)
    elif single and revision:
        entry = await read.fetch_revision(store, patterns[0], revision)
        if not entry.is_value:
            name = store.decode_key(entry.key)
            raise BadInput(f"revision {revision} of key {name} has no value: it {entry.removal} then")
        batches = once(*decode_keys(store, [entry]))
    elif single:
        batches = once(*decode_keys(store, [await read.get(store, patterns[0])]))
    else:
        batches = _read_several(store, patterns)
    return decode_events(view.values(store.name, batches, raw=raw, single=single), reader, view.LENS)


async def _read_past(
    env: Env, store: Bucket, patterns: Sequence[str], time: int
) -> AsyncGenerator[Sequence[Entry], None]:
    """Yield the values that keys had; then raise NotFound or JsctlError for those that had none, or of which
    that cannot be known.
    """
    from jsctl.jetstream.kv.past import fetch_past, get_value

    past = await fetch_past(store, patterns, time)
    named = [key for key in patterns if not is_pattern(key)]
    if len(named) < len(patterns):
        warn_of_unknown(env, store, past)
    yield decode_keys(store, list(past.values.values()))
    check_found(store, patterns, {*past.values, *past.unknown})
    for key in named:
        get_value(store, past, key)


async def _read_several(store: Bucket, patterns: Sequence[str]) -> AsyncGenerator[Sequence[Entry], None]:
    """Yield the values of several keys and patterns; raise NotFound at the end for those that do not
    exist.
    """
    keys_with_value: set[str] = set()
    async with aclosing(read.fetch_newest_entries(store, patterns)) as pages:
        async for page in pages:
            values = [entry for entry in page if entry.operation == PUT]
            keys_with_value.update([entry.key for entry in values])
            yield decode_keys(store, values)
    check_found(store, patterns, keys_with_value)
    for pattern in patterns:
        if not is_pattern(pattern) and pattern not in keys_with_value:
            await read.get(store, pattern)

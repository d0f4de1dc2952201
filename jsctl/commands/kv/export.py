"""`jsctl kv export`."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from jsctl.base.files import open_output
from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import codec_flag, open_named, parse_patterns
from jsctl.env import Env
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_keys
from jsctl.jetstream.kv.names import is_pattern
from jsctl.views.events import End, Events, Presentation
from jsctl.views.kv import changes
from jsctl.views.kv.value import full_record
from jsctl.views.result import Result


@command(
    "export",
    examples=[
        "jsctl kv export CONFIG > config.jsonl",
        "jsctl kv export CONFIG 'user.*' --latest --output users.jsonl",
        "jsctl kv export CONFIG | jsctl kv import COPY",
        "jsctl kv export OLD --codec path | jsctl kv import NEW --codec path,base64",
    ],
)
@argument("bucket")
@argument("key", nargs=-1)
@option("--latest", is_flag=True, help="Only the newest value of each key, and no deleted keys")
@option("--output", metavar="FILE", default="-", help="Write into this file in place of stdout")
@codec_flag
async def export(
    env: Env, bucket: str, key: tuple[str, ...], latest: bool, output: str, codec: Codec
) -> Result | Events[Entry]:
    """Write every value that the bucket keeps, with its revision and time, and the markers of deleted keys,
    in order. jsctl kv import stores them again.
    """
    patterns = read.deduplicate_patterns(parse_patterns(env, key, codec), codec)
    store = await open_named(env, bucket, codec=codec)
    batches = _read_entries(store, patterns, latest=latest)
    if output == "-":
        return Events(
            batches=batches,
            shown=Presentation(
                text=lambda entry: "",
                record=lambda entry: full_record(store.name, entry),
                as_json=True,
                layout="array" if env.wants_json else "lines",
                indent=2 if env.wants_json else None,
            ),
            end=End(noun="entry"),
        )
    count = 0
    with open_output(output) as file, env.progress("Exporting", store.info["state"]["messages"]) as advance:
        async with aclosing(batches):
            async for batch in batches:
                lines = [json.dumps(full_record(store.name, entry), ensure_ascii=False) for entry in batch]
                file.write("".join(line + "\n" for line in lines).encode())
                count += len(batch)
                advance(len(batch))
    return changes.exported(store.name, count, output)


async def _read_entries(
    store: Bucket, patterns: Sequence[str], *, latest: bool
) -> AsyncGenerator[Sequence[Entry], None]:
    for pattern in patterns:
        reading = (
            read.fetch_newest_entries(store, [pattern]) if latest else read.fetch_history(store, pattern)
        )
        count = 0
        async with aclosing(reading) as pages:
            async for page in pages:
                entries = [entry for entry in page if entry.is_value or not latest]
                count += len(entries)
                yield decode_keys(store, entries)
        if not count and not is_pattern(pattern):
            await read.get(store, pattern)

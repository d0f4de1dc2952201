"""`jsctl kv watch`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from jsctl.base.loops import enter_event_loop
from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import REVISION, codec_flag, open_named, parse_patterns
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_entry, decode_keys
from jsctl.nats.message import Message
from jsctl.views.events import Events
from jsctl.views.kv import entries as view
from jsctl.views.message.decoded import decode_events

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition


@dataclass(frozen=True, slots=True)
class Options:
    """revision: where to start; None for the newest values. count: 0 for all. wait: ns."""

    bucket: str
    keys: tuple[str, ...]
    history: bool
    deletes: bool
    updates: bool
    revision: int | None
    count: int
    wait: int
    codec: Codec
    condition: "Condition | None"
    decoding: Decoding

    def __post_init__(self) -> None:
        starts = {"--history": self.history, "--updates": self.updates, "--revision": self.revision}
        flags = [flag for flag, value in starts.items() if value]
        if len(flags) > 1:
            raise BadInput(f"{flags[0]} and {flags[1]} cannot be used together")

    @property
    def start(self) -> str:
        """The delivery policy to start with."""
        if self.revision:
            return "by_start_sequence"
        return "new" if self.updates else "all" if self.history else "last_per_subject"


@command(
    "watch",
    examples=[
        "jsctl kv watch CONFIG",
        "jsctl kv watch CONFIG 'user.*' --updates --no-deletes",
        "jsctl kv watch CONFIG --history --json",
        "jsctl kv watch CONFIG ready --updates --count 1",
        "jsctl kv watch CONFIG 'order.*' --match 'amount > 100'",
    ],
)
@argument("bucket")
@argument("keys", metavar="[KEY]...", nargs=-1, completes="key")
@option("--history", is_flag=True, help="Start with all values that are kept, not only the newest")
@option("--deletes/--no-deletes", default=True, help="Show deletes, too (default)")
@option("--updates", "--updates-only", is_flag=True, help="Show only what is stored from now on")
@option("--revision", type=REVISION, metavar="REVISION", help="Start at this revision")
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N changes")
@codec_flag
@match_flag
@wait_flag
@decoding_flags
async def watch(env: Env, options: Options) -> Events[Any]:
    """Show the newest value of each key, then each change, until ctrl-C. KEY is a key or a pattern: in
    'user.*' the * stands for one token, in 'user.>' the > for the rest. It reconnects if the connection is
    lost, and misses nothing.
    """
    reader = options.decoding.build_reader(env, options.condition)
    await enter_event_loop()  # entries arrive while others are shown
    store = await open_named(env, options.bucket, codec=options.codec)
    receiver = read.read_entries(
        store,
        parse_patterns(env, options.keys, options.codec),
        options.start,
        sequence=options.revision or 0,
        limit=options.count if options.deletes and options.condition is None else 0,
    )

    def decode(message: Message) -> Entry | None:
        entry = decode_entry(store, message)
        return decode_keys(store, [entry])[0] if options.deletes or entry.is_value else None

    batches = receiver.read_decoded(decode)
    events = view.changes(store.name, batches, limit=options.count, stop=receiver.stop)
    events = decode_events(events, reader, view.LENS)
    return events.end_after(choose_idle_limit(env, options.wait, options.count))

"""`jsctl kv wait`."""

from dataclasses import dataclass

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.commands.cli import argument, command, option
from jsctl.commands.kv.shared import REVISION, codec_flag, open_named
from jsctl.commands.options.idle import find_time_limit
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.kv import read
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import Entry, decode_keys
from jsctl.jetstream.kv.names import encode_key, is_pattern, parse_existing_key
from jsctl.jetstream.waiting import wait_until
from jsctl.views.events import Events, once
from jsctl.views.kv import entries as view
from jsctl.views.result import Result, report


@dataclass(frozen=True, slots=True)
class Options:
    """The key, and what is expected of it besides a value."""

    bucket: str
    new_key: str
    value: str | None
    revision: int | None
    deleted: bool
    raw: bool
    codec: Codec

    def __post_init__(self) -> None:
        if is_pattern(encode_key(self.new_key, self.codec, is_pattern=True)):
            raise BadInput(
                f"{self.new_key} stands for several keys", f"{build_line('kv watch')} follows these"
            )
        if self.deleted and (self.value is not None or self.revision or self.raw):
            raise BadInput("--deleted and --value, --revision or --raw cannot be used together")

    def describe_missing(self, entry: Entry | None) -> str:
        """Return how the newest entry of the key differs from what is expected; empty if it does not."""
        name = f"key {self.new_key}"
        if self.deleted:
            return f"{name} still has a value" if entry and entry.is_value else ""
        if entry is None or not entry.is_value:
            return f"{name} {entry.removal if entry else 'does not exist'}"
        if self.revision and entry.revision < self.revision:
            return f"{name} is at revision {entry.revision}, not {self.revision}"
        differs = self.value is not None and entry.value != self.value.encode(errors="surrogateescape")
        return f"{name} has another value at revision {entry.revision}" if differs else ""


@command(
    "wait",
    examples=[
        "jsctl kv wait CONFIG ready --timeout 30s",
        "jsctl kv wait CONFIG ready --value yes",
        "jsctl kv wait CONFIG lock --deleted",
    ],
)
@argument("bucket")
@argument("new_key", metavar="KEY", label="Key", completes="key")
@option("--value", metavar="TEXT", help="Wait until this is the key's value")
@option("--revision", type=REVISION, metavar="REVISION", help="Wait until it is at this revision or later")
@option("--deleted", is_flag=True, help="Wait until it has no value")
@option("--raw", is_flag=True, help="Show only the value, in a pipe byte for byte")
@codec_flag
async def wait(env: Env, options: Options) -> Events[Entry] | Result:
    """Show the value of KEY as jsctl kv get does. The key is asked for ten times per second, until ctrl-C or
    for --timeout, after which the exit status is 4. Servers that are restarted meanwhile are waited for.
    """
    if options.raw and env.wants_json:
        raise BadInput("--raw and --json cannot be used together")
    key = parse_existing_key(options.new_key, options.codec)
    await enter_event_loop()  # connections that are lost come back
    store = await open_named(env, options.bucket, codec=options.codec)
    entry = await wait_until(
        lambda api: read.fetch_newest_entry(store._replace(api=api), key),
        options.describe_missing,
        store.api,
        limit=find_time_limit(env),
        hint=f"{build_line('kv ls', store.name, flags=options.codec.flags)} lists the keys",
        report=env.show_status,
    )
    if entry is None or options.deleted:
        name = store.decode_key(key)
        return report(f"Key {name} has no value", {"bucket": store.name, "key": name, "exists": False})
    return view.values(store.name, once(*decode_keys(store, [entry])), raw=options.raw, single=True)

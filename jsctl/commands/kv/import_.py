"""`jsctl kv import`."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.kv.shared import open_named
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.transfer import read_entries
from jsctl.nats.message import OutgoingMessage
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "import",
    examples=[
        "jsctl kv import CONFIG < config.jsonl",
        "jsctl kv import CONFIG config.jsonl --dry-run",
    ],
)
@argument("bucket")
@argument("file", default="-")
@destructive(
    "Replace values of a bucket that is not empty without asking",
    "Only read the file, and show how much would be stored",
)
async def import_(env: Env, bucket: str, file: str, force: bool) -> Result:
    """Read lines that jsctl kv export wrote from FILE, or from stdin without FILE or with -. Values, markers,
    TTLs and their order are as exported; revisions and times are new.
    """
    store = await open_named(env, bucket)
    counts = {True: 0, False: 0}
    messages = int(store.info["state"]["messages"])
    if messages and not env.dry_run:
        await env.confirm(view.import_intent(store.name, 0, 0, messages), force=force)

    async def bursts() -> AsyncGenerator[list[OutgoingMessage], None]:
        async with aclosing(read_entries(file, env.streams.stdin)) as groups:
            async for entries in groups:
                for entry in entries:
                    counts[entry.is_value] += 1
                yield [write.as_message(store, entry) for entry in entries]

    if env.dry_run:
        async for _ in bursts():
            pass
        env.announce(view.import_intent(store.name, counts[True], counts[False], messages))
    await write.store_all(store, bursts())
    return view.imported(store.name, counts[True], counts[False])

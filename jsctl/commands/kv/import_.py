"""`jsctl kv import`."""

import os
import stat
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

from jsctl.base.units import format_count, pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.kv.shared import codec_flag, open_named
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import ExitStatus, JsctlError
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.transfer import read_entries
from jsctl.nats.message import OutgoingMessage
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "import",
    examples=[
        "jsctl kv import CONFIG < config.jsonl",
        "jsctl kv import CONFIG config.jsonl --dry-run",
        "jsctl kv import CONFIG config.jsonl --atomic",
    ],
)
@argument("bucket")
@argument("file", default="-")
@option("--atomic", is_flag=True, help="Store all entries or none of them; up to 1,000")
@codec_flag
@unprotect_flag
@destructive(
    "Replace values of a bucket that is not empty without asking",
    "Only read the file, and show how much would be stored",
)
async def import_(
    env: Env, bucket: str, file: str, atomic: bool, codec: Codec, unprotect: tuple[str, ...], force: bool
) -> Result:
    """Read lines that jsctl kv export wrote from FILE, or from stdin without FILE or with -. Values, markers,
    TTLs and their order are as exported; revisions and times are new. A file is checked before anything is
    stored; a pipe is not, and if it fails the status is 1. With --atomic a pipe is checked, too, and all is
    stored as one batch; this needs nats-server 2.12 and a bucket whose stream allows batches.
    """
    store = await open_named(env, bucket, codec=codec)
    if atomic:
        write.require_batches(store)
    messages = int(store.info["state"]["messages"])
    refuse_protected([store.info], unprotect, [store.info] if messages else [])
    if messages and not env.dry_run:
        await env.confirm(view.import_intent(store.name, 0, 0, messages), force=force)
    if env.dry_run or _can_be_read_twice(env, file):
        counts = Counter[bool]()
        with _keeping_position(env, file):
            async for _ in _read_bursts(env, store, file, counts):
                pass
        env.announce(view.import_intent(store.name, counts[True], counts[False], messages))
    counts, stored = Counter[bool](), Counter[str]()
    bursts = _read_bursts(env, store, file, counts)
    if atomic:
        await write.store_atomically(store, bursts, env.say)
        return view.imported(store.name, counts[True], counts[False])
    try:
        await write.store_all(store, bursts, lambda number: stored.update(all=number))
    except JsctlError as error:
        if not counts:
            raise
        failure = JsctlError(
            f"{error.message}; before that {pluralize(counts.total(), 'entry')} had been sent, of which "
            f"{format_count(stored['all'])} are certainly stored",
            error.hint,
        )
        failure.status = ExitStatus.FAILURE if error.status is ExitStatus.USAGE else error.status
        raise failure from None
    return view.imported(store.name, counts[True], counts[False])


def _can_be_read_twice(env: Env, file: str) -> bool:
    """Return whether all of a file can be checked before anything is stored."""
    try:
        status = os.fstat(env.streams.stdin.fileno()) if file == "-" else expand_home(file).stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode)


@contextmanager
def _keeping_position(env: Env, file: str) -> Iterator[None]:
    """Leave stdin where it is, if it is a file that is read in the block."""
    if file != "-" or not _can_be_read_twice(env, file):
        yield
        return
    handle = env.streams.stdin.fileno()
    position = os.lseek(handle, 0, os.SEEK_CUR)
    yield
    os.lseek(handle, position, os.SEEK_SET)


async def _read_bursts(
    env: Env, store: Bucket, file: str, counts: Counter[bool]
) -> AsyncGenerator[list[OutgoingMessage], None]:
    """Yield the messages of a file's entries, and count values and markers. Raises BadInput."""
    async with aclosing(read_entries(file, env.streams.stdin, store.codec)) as groups:
        async for entries in groups:
            messages = [write.as_message(store, entry) for entry in entries]
            for message in messages:
                store.api.connection.check_size(message)
            counts.update(entry.is_value for entry in entries)
            yield messages

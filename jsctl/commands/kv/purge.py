"""`jsctl kv purge`."""

from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.kv.removing import remove_keys
from jsctl.commands.kv.shared import codec_flag, open_named, warn_of_ttl
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import PURGE
from jsctl.views.result import Result


@command(
    "purge",
    examples=[
        "jsctl kv purge CONFIG user.1",
        "jsctl kv purge CONFIG 'user.*' --dry-run",
        "jsctl kv purge CONFIG 'user.>' --force",
    ],
)
@argument("bucket")
@argument("key", nargs=-1, required=True)
@option("--ttl", type=DURATION, default=0, metavar="DURATION", help="How long the marker stays: 30s, 2h")
@codec_flag
@unprotect_flag
@destructive("Purge without asking", "Only show what would be purged", missing_ok=True)
async def purge(
    env: Env,
    bucket: str,
    key: tuple[str, ...],
    ttl: int,
    codec: Codec,
    unprotect: tuple[str, ...],
    force: bool,
) -> Result:
    """Replace all values of a key with a marker. KEY is a key or a pattern; '>' means all keys. --ttl needs a
    bucket with --marker-ttl.
    """
    header = write.format_ttl(ttl)
    store = await open_named(env, bucket, codec=codec)
    refuse_protected([store.info], unprotect)
    result = await remove_keys(env, store, key, PURGE, force=force, ttl=header)
    warn_of_ttl(env, store, ttl)
    return result

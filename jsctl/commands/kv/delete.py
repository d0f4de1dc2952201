"""`jsctl kv del` and `purge`."""

from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.kv.removing import remove_keys
from jsctl.commands.kv.shared import codec_flag, open_named, refuse_codec, warn_of_ttl
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import DELETE, PURGE
from jsctl.jetstream.stream import requests as streams
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "del",
    examples=[
        "jsctl kv del CONFIG user.1",
        "jsctl kv del CONFIG 'user.*' --dry-run",
        "jsctl kv del CONFIG --force",
    ],
)
@argument("bucket")
@argument("key", nargs=-1)
@codec_flag
@unprotect_flag
@destructive("Delete without asking", "Only show what would be deleted", missing_ok=True)
async def delete(
    env: Env, bucket: str, key: tuple[str, ...], codec: Codec, unprotect: tuple[str, ...], force: bool
) -> Result:
    """Delete KEY, or the whole bucket without KEY. KEY is a key or a pattern: in 'user.*' the * stands for
    one token, in 'user.>' the > for the rest. Earlier values of deleted keys stay as long as the bucket's
    history keeps them; jsctl kv purge removes them, too. A key that does not exist, or is deleted
    already, is an error with status 3, but not with --force.
    """
    store = await open_named(env, bucket, codec=codec)
    refuse_protected([store.info], unprotect)
    if key:
        return await remove_keys(env, store, key, DELETE, force=force)
    refuse_codec(codec)
    state = store.info["state"]
    values, size = int(state["messages"]), int(state["bytes"])
    await env.confirm(view.bucket_intent(store.name, values, size), force=force)
    await streams.delete(store.api, store.stream)
    return view.bucket_removed(store.name)


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

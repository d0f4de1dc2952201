"""`jsctl kv del`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.commands.kv.removing import remove_keys
from jsctl.commands.kv.shared import codec_flag, open_named, refuse_codec
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.entry import DELETE
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

"""`jsctl kv put`, `create` and `update`."""

from collections.abc import Awaitable, Callable
from functools import partial

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.kv.shared import codec_flag, open_named, warn_of_older, warn_of_ttl
from jsctl.commands.options.body import read_value
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.names import parse_existing_key, validate_new_key
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "put",
    takes_number=True,
    examples=[
        'jsctl kv put CONFIG user.1 \'{"name": "Ann"}\'',
        "jsctl kv put CONFIG logo < logo.png",
        "jsctl kv put CONFIG limit -5",
        "jsctl kv put SESSIONS user.1 online --ttl 30s",
        "jsctl kv put CONFIG user.1 Ann --if-revision 7",
        "jsctl kv put PEOPLE 'Ann Lee.mail' ann@example.com --codec base64",
    ],
)
@argument("bucket")
@argument("new_key", metavar="KEY", label="Key", completes="key")
@argument("value", required=False)
@option("--ttl", type=DURATION, default=0, metavar="DURATION", help="How long the value lives: 30s, 2h")
@option(
    "--if-revision",
    type=click.IntRange(min=0),
    metavar="REVISION",
    help="Only if the key is still at this revision; 0: if nothing was ever stored for it",
)
@codec_flag
async def put(
    env: Env,
    bucket: str,
    new_key: str,
    value: str | None,
    ttl: int,
    if_revision: int | None,
    codec: Codec,
) -> Result:
    """Store VALUE or, without it or with -, all bytes of stdin. After -- a key or a value may begin with a
    dash. --ttl needs a bucket with --marker-ttl.
    """
    store = write.put if if_revision is None else partial(write.update, expected=if_revision)
    return await store_value(env, store, bucket, new_key, value, ttl, codec)


async def store_value(
    env: Env,
    store: Callable[..., Awaitable[int]],
    bucket: str,
    new_key: str,
    value: str | None,
    ttl: int,
    codec: Codec,
) -> Result:
    """Store the value of a key by `write.put` or `write.create`. ttl: ns, 0 for none."""
    key = validate_new_key(new_key, codec)
    header = write.format_ttl(ttl)
    data = await read_value(env, value)
    opened = await open_named(env, bucket, codec=codec)
    revision = await store(opened, key, data, ttl=header)
    warn_of_ttl(env, opened, ttl)
    await warn_of_older(env, opened, key, ttl)
    shown = (value or "").encode(errors="surrogateescape") if env.mirrors_nats else None  # KV_OUTPUT
    return view.stored(opened.name, new_key, revision, shown)


@command(
    "create",
    takes_number=True,
    examples=[
        "jsctl kv create CONFIG user.2 Ann",
        'jsctl kv create LOCKS job.7 "$HOSTNAME" --ttl 30s',
        "jsctl kv create CONFIG logo < logo.png",
    ],
)
@argument("bucket")
@argument("new_key", metavar="KEY", label="Key", completes="key")
@argument("value", required=False)
@option("--ttl", type=DURATION, default=0, metavar="DURATION", help="How long the key lives: 30s, 2h")
@codec_flag
async def create(env: Env, bucket: str, new_key: str, value: str | None, ttl: int, codec: Codec) -> Result:
    """Fail if the key exists; a deleted key counts as new. Without VALUE, or with -, the value is stdin.
    --ttl needs a bucket with --marker-ttl.
    """
    return await store_value(env, write.create, bucket, new_key, value, ttl, codec)


@command(
    "update",
    examples=["jsctl kv update CONFIG user.1 Ann 7", "jsctl kv update CONFIG logo - 7 < logo.png"],
)
@argument("bucket")
@argument("key")
@argument("value")
@argument("revision", type=click.IntRange(min=0))
@codec_flag
async def update(env: Env, bucket: str, key: str, value: str, revision: int, codec: Codec) -> Result:
    """Store VALUE unless somebody else has changed the key since REVISION; 0 means that it does not exist.
    With - as VALUE, the value is stdin.
    """
    data = await read_value(env, value)
    store = await open_named(env, bucket, codec=codec)
    new_revision = await write.update(store, parse_existing_key(key, codec), data, revision)
    shown = value.encode(errors="surrogateescape") if env.mirrors_nats else None  # KV_OUTPUT
    return view.stored(store.name, key, new_revision, shown)

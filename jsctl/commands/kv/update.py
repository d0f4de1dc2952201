"""`jsctl kv update`."""

import click

from jsctl.commands.cli import argument, command
from jsctl.commands.kv.shared import open_named
from jsctl.commands.options.body import read_value
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.names import parse_existing_key
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


@command(
    "update",
    examples=["jsctl kv update CONFIG user.1 Ann 7", "jsctl kv update CONFIG logo - 7 < logo.png"],
)
@argument("bucket")
@argument("key")
@argument("value")
@argument("revision", type=click.IntRange(min=0))
async def update(env: Env, bucket: str, key: str, value: str, revision: int) -> Result:
    """Store VALUE unless somebody else has changed the key since REVISION; 0 means that it does not exist.
    With - as VALUE, the value is stdin.
    """
    data = await read_value(env, value)
    store = await open_named(env, bucket)
    new_revision = await write.update(store, parse_existing_key(key), data, revision)
    return view.stored(store.name, key, new_revision, data if env.mirrors_nats else None)  # KV_OUTPUT

"""`jsctl kv create`."""

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.kv.shared import open_named, warn_of_ttl
from jsctl.commands.options.body import read_value
from jsctl.env import Env
from jsctl.jetstream.kv import write
from jsctl.jetstream.kv.names import validate_new_key
from jsctl.views.kv import changes as view
from jsctl.views.result import Result


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
async def create(env: Env, bucket: str, new_key: str, value: str | None, ttl: int) -> Result:
    """Fail if the key exists; a deleted key counts as new. Without VALUE, or with -, the value is stdin.
    --ttl needs a bucket with --marker-ttl.
    """
    key = validate_new_key(new_key)
    header = write.format_ttl(ttl)
    data = await read_value(env, value)
    store = await open_named(env, bucket)
    revision = await write.create(store, key, data, ttl=header)
    warn_of_ttl(env, store, ttl)
    return view.stored(store.name, key, revision)

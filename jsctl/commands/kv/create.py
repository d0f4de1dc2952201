"""`jsctl kv create`."""

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.kv.put import store_value
from jsctl.env import Env
from jsctl.jetstream.kv import write
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
    return await store_value(env, write.create, bucket, new_key, value, ttl)

"""`jsctl object add`."""

from typing import Literal

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.object.flags import BucketFlags, bucket_flags
from jsctl.commands.picking.pick import ask_bucket
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import api_levels
from jsctl.jetstream.object import buckets
from jsctl.jetstream.stream import requests as streams
from jsctl.views.object import info_pages as view
from jsctl.views.result import Result

_STORAGE = {"file": "file", "f": "file", "memory": "memory", "m": "memory"}


@command(
    "add",
    examples=[
        "jsctl object add FILES",
        "jsctl object add FILES --ttl 30d --replicas 3 --max-bucket-size 10GB",
    ],
)
@argument("bucket", metavar="BUCKET", default="")
@option("--storage", type=click.Choice([*_STORAGE]), default="file", help="Storage backend (file)")
@bucket_flags
async def add(
    env: Env, bucket: str, storage: Literal["file", "f", "memory", "m"], flags: BucketFlags
) -> Result:
    if not bucket:
        bucket = await ask_bucket(env, buckets.validate_bucket)
    buckets.validate_bucket(bucket)
    api = await env.jetstream()
    settings = {"storage": _STORAGE[storage], **flags.settings()}
    if "max_bytes" not in settings and streams.needs_max_bytes(await api_levels.fetch_account_info(api)):
        raise BadInput("this account needs a limit for every bucket", "set one with --max-bucket-size")
    info, created = await buckets.create(api, bucket, settings)
    outcome = "was created" if created else "already exists, nothing was changed"
    return view.bucket(info, first_line=f"Bucket {bucket} {outcome}")

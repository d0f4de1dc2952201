"""`jsctl object ls`."""

from collections.abc import AsyncGenerator

from jsctl.commands.cli import command, option
from jsctl.commands.object.flags import bucket_argument, report_damage
from jsctl.commands.picking.pick import validate_name
from jsctl.env import Env
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.stream import requests as streams
from jsctl.views.events import Events, names
from jsctl.views.object import lists as view
from jsctl.views.result import Result


@command(
    "ls",
    columns=(),
    examples=["jsctl object ls FILES", "jsctl object ls", "jsctl object ls FILES --names"],
)
@bucket_argument()
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one per line")
async def ls(env: Env, bucket: str, names_only: bool) -> Result | Events[str]:
    api = await env.jetstream()
    if not bucket:
        if names_only or env.wants_json:
            return names(buckets.list_name_pages(api))
        return view.buckets(await streams.collect(api, bucket_info), env.clock())
    name = validate_name("object bucket", bucket)
    if names_only:
        return names(_list_object_names(api, name))
    objects = await requests.list_all(api, name)
    report_damage(env, objects)
    return view.objects(objects)


async def _list_object_names(api: Api, bucket: str) -> AsyncGenerator[list[str], None]:
    yield await requests.list_names(api, bucket)


def bucket_info(info: Json) -> Json | None:
    """Return the stream's info if it is that of an object bucket, else None."""
    return info if buckets.get_bucket(info) else None

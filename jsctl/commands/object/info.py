"""`jsctl object info`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.env import Env
from jsctl.jetstream.object import buckets, requests
from jsctl.views.object import info_pages, object_info
from jsctl.views.result import Result


@command("info", examples=["jsctl object info FILES report.pdf", "jsctl object info FILES"])
@bucket_argument()
@argument("object", default="")
async def info(env: Env, bucket: str, object: str) -> Result:
    """Show OBJECT, if it is given; a link is shown as such."""
    api, name = await open_bucket(env, bucket)
    if object:
        return object_info.one_object(await requests.fetch_info(api, name, object))
    return info_pages.bucket(await buckets.fetch_info(api, name))

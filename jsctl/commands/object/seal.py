"""`jsctl object seal`."""

from functools import partial

from jsctl.commands.cli import command, destructive
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.options.protection import unprotect_flag
from jsctl.commands.stream.seal import seal_fetched
from jsctl.env import Env
from jsctl.jetstream.object import buckets
from jsctl.views.object import info_pages as view
from jsctl.views.result import Result


@command("seal", examples=["jsctl object seal FILES", "jsctl object seal FILES --force"])
@bucket_argument()
@unprotect_flag
@destructive("Seal without asking")
async def seal(env: Env, bucket: str, unprotect: tuple[str, ...], force: bool) -> Result:
    """Prevent any change: nothing can be put into a sealed bucket or removed from it, and its configuration
    is fixed.
    """
    api, name = await open_bucket(env, bucket)
    fetch = partial(buckets.fetch_info, api, name)
    info, is_new = await seal_fetched(env, api, fetch, f"Bucket {name}", unprotect, force)
    return view.bucket(info, first_line=f"{name} has been sealed" * is_new)

"""`jsctl object seal`."""

from jsctl.commands.cli import command, destructive
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.jetstream.object import buckets
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import seal_intent
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
    info = await buckets.fetch_info(api, name)
    if info["config"].get("sealed"):
        env.inform(f"Bucket {name} is already sealed; nothing was changed")
        return view.bucket(info)
    refuse_protected([info], unprotect)
    await env.confirm(seal_intent(f"Bucket {name}", "buckets", info), force=force)
    config = (await buckets.fetch_info(api, name))[
        "config"
    ]  # others may have changed it while the question stood
    sealed = await streams.update(api, {**config, "sealed": True})
    return view.bucket(sealed, first_line=f"{name} has been sealed")

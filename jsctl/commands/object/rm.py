"""`jsctl object rm`."""

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.views.intent import Intent
from jsctl.views.object import info_pages, lists
from jsctl.views.result import Result, report


@command(
    "rm",
    examples=[
        "jsctl object rm FILES report.pdf",
        "jsctl object rm FILES old.pdf older.pdf --dry-run",
        "jsctl object rm FILES --force",
    ],
)
@bucket_argument()
@argument("object", nargs=-1)
@option("--unfinished", is_flag=True, help="Remove the remains of interrupted puts")
@unprotect_flag
@destructive("Remove without asking", "Only show what would be removed", missing_ok=True)
async def rm(
    env: Env,
    bucket: str,
    object: tuple[str, ...],
    unfinished: bool,
    unprotect: tuple[str, ...],
    force: bool,
) -> Result:
    """Remove the bucket itself if no OBJECT is given. The question is asked once, however many objects are
    given.
    """
    if force and not bucket:
        raise BadInput("--force needs the bucket's name", "specify BUCKET")
    if unfinished and object:
        raise BadInput("--unfinished is for a bucket, not for its objects")
    api, name = await open_bucket(env, bucket)
    info = await buckets.fetch_info(api, name)
    refuse_protected([info], unprotect)
    if unfinished:
        return await _remove_unfinished(env, api, name, force=force)
    if not object:
        return await _remove_bucket(env, api, name, info, force=force)
    refuse_denied([info])
    object_info = []
    for item in dict.fromkeys(object):
        try:
            object_info.append(await requests.fetch_present(api, name, item))
        except JsctlError as error:
            env.report_missing(error)
    if not object_info:
        return lists.removed([])
    await env.confirm(lists.intent("remove", object_info), force=force)
    for present in object_info:
        await requests.remove(api, present)
    return lists.removed(object_info)


async def _remove_bucket(env: Env, api: Api, name: str, info: Json, *, force: bool) -> Result:
    if env.dry_run or not force:
        objects = len(await requests.list_all(api, name))
        await env.confirm(info_pages.removal(name, info, objects), force=force)
    await buckets.remove(api, name)
    return report(f"Bucket {name} was removed", {"bucket": name, "removed": True})


async def _remove_unfinished(env: Env, api: Api, name: str, *, force: bool) -> Result:
    nuids = await requests.find_unfinished(api, name)
    count = f"{pluralize(len(nuids), 'unfinished put')} ({pluralize(sum(nuids.values()), 'chunk')})"
    data = {"bucket": name, "unfinished": len(nuids), "chunks": sum(nuids.values())}
    if not nuids:
        return report("There are no unfinished puts", data)
    await env.confirm(Intent(f"remove {count}; a put that still runs fails then", data), force=force)
    for nuid in nuids:
        await requests.remove_chunks(api, name, nuid)
    return report(f"Removed {count}", data)

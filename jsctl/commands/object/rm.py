"""`jsctl object rm`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.object.flags import bucket_argument, pick_bucket
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.object import buckets, requests
from jsctl.units import format_bytes, plural
from jsctl.views.object import lists, sheets
from jsctl.views.result import Result, Text


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
@option("--dry-run", is_flag=True, help="Only show what would be removed")
@option("--force", "-f", is_flag=True, help="Remove without asking")
async def rm(
    env: Env, bucket: str, object: tuple[str, ...], unfinished: bool, dry_run: bool, force: bool
) -> Result:
    """Without OBJECT, removes the bucket itself. Asks once, however many objects are given."""
    if force and not bucket:
        raise BadInput("--force needs the bucket's name", "give BUCKET")
    if unfinished and object:
        raise BadInput("--unfinished is for a bucket, not for its objects")
    api = await env.jetstream()
    name = await pick_bucket(env, api, bucket)
    if unfinished:
        return await _remove_unfinished(env, api, name, dry_run=dry_run, force=force)
    if not object:
        return await _remove_bucket(env, api, name, dry_run=dry_run, force=force)
    object_info = [await requests.info(api, name, one) for one in dict.fromkeys(object)]
    if dry_run:
        return lists.removed(object_info, dry_run=True)
    listed = ", ".join(f"{name} > {one.name} ({format_bytes(one.size)})" for one in object_info[:10])
    more = f" and {len(object_info) - 10} more" if len(object_info) > 10 else ""
    await env.confirm(f"Really remove {listed}{more}", force=force)
    for one in object_info:
        await requests.remove(api, one)
    return lists.removed(object_info)


async def _remove_bucket(env: Env, api: Api, name: str, *, dry_run: bool, force: bool) -> Result:
    if dry_run or not force:
        info = await buckets.info(api, name)
        loss = sheets.loss(name, info, len(await requests.list_all(api, name)))
        if dry_run:
            text = f"Would remove {loss}\nNothing was changed"
            data = {"dry_run": True, "bucket": name, "bytes": info["state"]["bytes"]}
            return Result([Text(text)], data=data)
        await env.confirm(f"Really remove {loss}", force=False)
    await buckets.remove(api, name)
    return Result([Text(f"Bucket {name} was removed")], data={"bucket": name, "removed": True})


async def _remove_unfinished(env: Env, api: Api, name: str, *, dry_run: bool, force: bool) -> Result:
    nuids = await requests.unfinished(api, name)
    count = f"{plural(len(nuids), 'unfinished put')} ({plural(sum(nuids.values()), 'chunk')})"
    data = {"bucket": name, "unfinished": len(nuids), "chunks": sum(nuids.values())}
    if dry_run or not nuids:
        text = f"Would remove {count}\nNothing was changed" if nuids else "There are no unfinished puts"
        return Result([Text(text)], data={"dry_run": True, **data})
    await env.confirm(f"Really remove {count}; a put that still runs fails then", force=force)
    for nuid in nuids:
        await requests.remove_chunks(api, name, nuid)
    return Result([Text(f"Removed {count}")], data=data)

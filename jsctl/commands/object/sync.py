"""`jsctl object sync`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jsctl.base.loops import run_in_thread
from jsctl.base.units import pluralize
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.object.get import get_file
from jsctl.commands.object.put import put_file
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object import sync as plans
from jsctl.jetstream.object.download import DamagedObject
from jsctl.jetstream.object.files import open_source
from jsctl.jetstream.object.model import ObjectInfo
from jsctl.jetstream.object.upload import PutOptions, Source
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.render.text import clean
from jsctl.views.intent import Intent
from jsctl.views.object import lists as view
from jsctl.views.result import Result

_AT_ONCE = 8  #: small files that are transferred at once
_SMALL = 4 << 20  #: bytes


@command(
    "sync",
    examples=[
        "jsctl object sync FILES ./site --up",
        "jsctl object sync FILES ./site --up --delete --dry-run",
        "jsctl object sync FILES ./copy --down",
    ],
)
@bucket_argument(required=True)
@argument("folder", metavar="FOLDER", label="Folder to synchronize")
@option(
    "--up/--down", "up", default=None, help="Make the bucket match the folder, or the folder match the bucket"
)
@option("--delete", is_flag=True, help="Remove what only the target has; asks first")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@unprotect_flag
@destructive("Replace and remove without asking", "Only show what would change")
async def sync(
    env: Env,
    bucket: str,
    folder: str,
    up: bool | None,
    delete: bool,
    progress: bool,
    unprotect: tuple[str, ...],
    force: bool,
) -> Result:
    """Compare files by size and SHA-256. Names in the bucket are paths below FOLDER; modes are not stored.
    What the other side cannot hold is left out with a warning, and the status is 1: links, names that lead
    through links, names that no file should have, a beside a/b. --delete keeps it where it is.
    """
    if up is None:
        raise BadInput("the direction is missing", "use --up (folder to bucket) or --down (bucket to folder)")
    path = expand_home(folder)
    if not up and not env.dry_run:
        _create_folder(path)
    api, bucket = await open_bucket(env, bucket)
    objects = {object_info.name: object_info for object_info in await requests.list_all(api, bucket)}
    files, ignored = plans.list_files(path) if up or path.exists() else ({}, {})
    make_plan = plans.plan_upload if up else plans.plan_download
    plan = await run_in_thread(
        partial(make_plan, remove=delete), path, files, objects, advance=lambda size: None
    )
    in_folder, in_bucket = f"{path}/", f"{bucket} > "
    source, target = (in_folder, in_bucket) if up else (in_bucket, in_folder)
    if up:
        _warn(env, source, "is left out", ignored)
    _warn(env, source, "is left out", plan.left_out)
    _warn(env, target, "is kept", plan.preserved)
    _warn(env, target, "will not be written back by --down", plan.one_way)
    destroyed = [change for change in plan.changes if change.kind != "add"]
    info = await buckets.fetch_info(api, bucket)
    refuse_protected([info], unprotect, [info] if destroyed and up else [])
    refuse_denied([info] if plan.changes and up else [])
    if env.dry_run:
        return view.synced(plan, dry_run=True)
    if destroyed:
        where = f"bucket {bucket}" if up else str(path)
        removals = sum(change.kind == "remove" for change in destroyed)
        replaced = pluralize(len(destroyed) - removals, "file")
        await env.confirm(Intent(f"replace {replaced} and remove {removals} in {where}", {}), force=force)
    transfer = _Transfer(env, api, bucket, path, files, objects, progress)
    failed = await transfer.run(plan, up=up)
    _warn(env, source, "is left out", failed)
    done = [change for change in plan.changes if change.name not in failed]
    return view.synced(plan._replace(changes=done, left_out={**plan.left_out, **failed}), dry_run=False)


def _warn(env: Env, place: str, outcome: str, reasons: Mapping[str, str]) -> None:
    """Say what happens to names, and why. place: what is written before a name."""
    for name, reason in reasons.items():
        env.say(f"warning: {clean(place + name)} {outcome}: {clean(reason)}")


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot create {folder}: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class _Transfer:
    """The transfer of a plan: large files one after the other, small ones several at once, removals last,
    except of files that are in the way. files, objects: by name."""

    env: Env
    api: Api
    bucket: str
    folder: Path
    files: Mapping[str, Path]
    objects: Mapping[str, ObjectInfo]
    progress: bool

    async def run(self, plan: plans.Plan, *, up: bool) -> dict[str, str]:
        """Carry out the plan; return which changes failed because of one file or object, and why. Raises
        JsctlError of another failure; the changes before it are done."""
        copies = [change for change in plan.changes if change.kind != "remove"]
        removals = [change for change in plan.changes if change.kind == "remove"]
        failed: dict[str, str] = {}
        slots = asyncio.Semaphore(_AT_ONCE)

        async def make(change: plans.Change, *, progress: bool = False) -> None:
            try:
                if change.kind == "remove":
                    await self._remove(change, up=up)
                else:
                    await (
                        self._put(change, progress=progress) if up else self._get(change, progress=progress)
                    )
            except (BadInput, DamagedObject) as error:
                failed[change.name] = error.message

        async def copy_small(change: plans.Change) -> None:
            async with slots:
                await make(change)

        folders = set() if up else plans.list_folders(change.name for change in copies)
        for change in removals:
            if change.name in folders:
                await make(change)
        async with asyncio.TaskGroup() as group:
            for change in copies:
                if change.size <= _SMALL:
                    group.create_task(copy_small(change))
        for change in copies:
            if change.size > _SMALL:
                await make(change, progress=self.progress)
        for change in removals:
            if change.name not in folders:
                await make(change)
        return failed

    async def _put(self, change: plans.Change, *, progress: bool) -> None:
        with open_source(self.files[change.name]) as (file, identity, size):
            source = Source(file, identity)
            place = (self.bucket, change.name)
            await put_file(self.env, self.api, place, source, size, PutOptions(), progress=progress)

    async def _get(self, change: plans.Change, *, progress: bool) -> None:
        path = plans.find_path(self.folder, change.name)
        _create_folder(path.parent)
        await get_file(self.env, self.api, self.objects[change.name], path, progress=progress)

    async def _remove(self, change: plans.Change, *, up: bool) -> None:
        if up:
            await requests.remove(self.api, self.objects[change.name])
            return
        try:
            self.files[change.name].unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"cannot remove {self.files[change.name]}: {error.strerror}") from None

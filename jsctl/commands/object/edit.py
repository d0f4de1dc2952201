"""`jsctl object edit`."""

from jsctl.commands.cli import command, option
from jsctl.commands.editing.editing import Editable, EditOptions, edit_config
from jsctl.commands.object.flags import BucketFlags, bucket_argument, bucket_flags, open_bucket
from jsctl.commands.options.data_loss import Losing, LossOptions, find_losing, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.config import OBJECT_BUCKET
from jsctl.jetstream.stream import requests as streams
from jsctl.views.object import info_pages as view
from jsctl.views.result import Result


@command(
    "edit",
    examples=["jsctl object edit FILES --ttl 30d", "jsctl object edit FILES --replicas 3 --dry-run"],
)
@bucket_argument()
@option("--force", "-f", is_flag=True, help="Change without asking")
@option("--dry-run", is_flag=True, help="Only show what would change; exit with 2 if anything would")
@loss_flags
@bucket_flags
async def edit(
    env: Env, bucket: str, force: bool, dry_run: bool, permits: LossOptions, flags: BucketFlags
) -> Result:
    """Change what the flags name; other settings stay as they are. A shorter time or a smaller size may
    remove objects.
    """
    if not (flags.settings() or env.mirrors_nats):  # EDIT_NOTHING
        raise BadInput("there is nothing to change", "jsctl object edit --help shows the flags")
    api, name = await open_bucket(env, bucket)
    infos: list[Json] = []

    async def fetch() -> Json:
        infos.append(await buckets.fetch_info(api, name))
        return _build_info(infos[-1])

    def change() -> Json:
        live = infos[-1]["config"]
        return {**live, **flags.settings(live)}

    async def update(_: Json) -> Json:
        infos.append(await streams.update(api, change()))
        return _build_info(infos[-1])

    async def find_all_losing(_: Json, __: Json) -> list[Losing]:
        return await find_losing(env, api, f"Bucket {name}", infos[-1], change())

    target = Editable(
        schema=OBJECT_BUCKET,
        label=f"Bucket {name}",
        fetch=fetch,
        name_keys={"name": name},
        apply_flags=lambda _: OBJECT_BUCKET.from_stream(change()),
        update=update,
        find_losing=find_all_losing,
        info_page=lambda _: view.bucket(infos[-1]),
        needs_force=False,
    )
    editing = EditOptions(
        config_file=None,
        replace=False,
        force=force,
        interactive=False,
        dry_run=dry_run,
        permits=permits,
    )
    result = await edit_config(env, target, None, editing)
    return result if dry_run else result._replace(data=infos[-1])


def _build_info(stream_info: Json) -> Json:
    """Return the bucket's info with a configuration in the terms of buckets."""
    return {**stream_info, "config": OBJECT_BUCKET.from_stream(stream_info["config"])}

"""`jsctl object edit`."""

from dataclasses import dataclass
from functools import partial

from jsctl.commands.cli import command, option
from jsctl.commands.object.flags import BucketFlags, bucket_argument, bucket_flags, pick_bucket
from jsctl.commands.shared.editing import Editable, EditOptions, edit_config
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.object import buckets
from jsctl.jetstream.object.model import stream_name
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM
from jsctl.views.object import sheets as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    bucket: str
    force: bool
    dry_run: bool
    flags: BucketFlags


@command(
    "edit",
    options=Options,
    examples=["jsctl object edit FILES --ttl 30d", "jsctl object edit FILES --replicas 3 --dry-run"],
)
@bucket_argument()
@option("--force", "-f", is_flag=True, help="Change without asking")
@option("--dry-run", is_flag=True, help="Only show what would change; exit with 2 if anything would")
@bucket_flags
async def edit(env: Env, options: Options) -> Result:
    """Settings that no flag names stay as they are. A shorter time or a smaller size may remove objects."""
    if not options.flags.settings():
        raise BadInput("nothing to change was given", "jsctl object edit --help shows the flags")
    api = await env.jetstream()
    name = await pick_bucket(env, api, options.bucket)
    info = await buckets.info(api, name)
    target = Editable(
        schema=STREAM,
        label=f"Bucket {name}",
        info=info,
        name_keys={"name": stream_name(name)},
        apply_flags=lambda draft: {**draft, **options.flags.settings(draft)},
        update=partial(streams.update, api),
        sheet=view.bucket,
    )
    editing = EditOptions(
        config_file=None, replace=False, force=options.force, interactive=False, dry_run=options.dry_run
    )
    return await edit_config(env, target, None, editing)

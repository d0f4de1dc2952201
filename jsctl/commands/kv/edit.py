"""`jsctl kv edit`."""

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command
from jsctl.commands.editing.editing import Editable, EditOptions, edit_config, edit_flags
from jsctl.commands.editing.editor import edit_text
from jsctl.commands.editing.field_flags import ConfigFlags, config_flags
from jsctl.commands.kv.shared import codec_flag, open_named, refuse_codec
from jsctl.commands.options.data_loss import Losing, find_losing
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv import bucket as buckets
from jsctl.jetstream.kv import read, write
from jsctl.jetstream.kv.bucket import Bucket
from jsctl.jetstream.kv.codec import Codec
from jsctl.jetstream.kv.config import BUCKET, find_warnings, refuse_long_history
from jsctl.jetstream.kv.names import build_subject_prefix, parse_existing_key
from jsctl.jetstream.message.held import find_change_warnings
from jsctl.jetstream.stream.protection import refuse_denied
from jsctl.views.kv import changes
from jsctl.views.kv import info as view
from jsctl.views.result import Result, Text


@command(
    "edit",
    examples=[
        "jsctl kv edit CONFIG --history 10",
        "jsctl kv edit CONFIG --ttl 30d --dry-run",
        "jsctl kv edit CONFIG user.1",
        "jsctl kv edit CONFIG --interactive",
    ],
)
@argument("bucket", default="")
@argument("key", default="")
@codec_flag
@edit_flags("bucket")
@config_flags(BUCKET, "edit")
async def edit(
    env: Env, bucket: str, key: str, codec: Codec, editing: EditOptions, flags: ConfigFlags
) -> Result:
    """Edit the value of KEY in your EDITOR; it is stored if nobody else has changed it meanwhile.

    Without KEY the bucket's configuration changes; settings that no flag names stay as they are.
    """
    if key:
        if flags.fields or editing.config_file or editing.replace:
            raise BadInput("configuration flags and KEY cannot be used together", "leave out one of them")
        return await _edit_value(env, bucket, key, codec, dry_run=editing.dry_run)
    refuse_codec(codec)
    file = editing.read_config(env, BUCKET, changed=bool(flags.fields))
    opened = await open_named(env, bucket or BUCKET.get_name(file or {}))
    versions = [opened]

    async def fetch() -> Json:
        versions.append(await buckets.open_bucket(opened.api, opened.name))
        return _build_info(versions[-1])

    async def update(config: Json) -> Json:
        versions.append(await buckets.update(versions[-1], config))
        return _build_info(versions[-1])

    async def find_all_losing(_: Json, config: Json) -> list[Losing]:
        live = versions[-1]
        info = {**live.info, "config": live.stream_config}
        after = BUCKET.to_stream(config, live.stream_config)
        return await find_losing(env, live.api, f"Bucket {opened.name}", info, after)

    async def warn(_: Json, draft: Json) -> list[str]:
        live = versions[-1]
        if env.mirrors_nats:  # KV_HISTORY
            refuse_long_history(draft)
        after = BUCKET.to_stream(draft, live.stream_config)
        of_stream = await find_change_warnings(live.api, live.info, after)
        return [*find_warnings(draft), *_warn_of_lost_keys(opened, draft), *of_stream]

    target = Editable(
        schema=BUCKET,
        label=f"Bucket {opened.name}",
        fetch=fetch,
        name_keys={"name": opened.name},
        apply_flags=lambda draft: BUCKET.apply_flags(draft, flags.values),
        update=update,
        find_losing=find_all_losing,
        info_page=lambda info: view.info_page(versions[-1]),
        find_warnings=warn,
        needs_force=False,
    )
    result = await edit_config(env, target, file, editing)
    return result if editing.dry_run else result._replace(data=view.document(versions[-1]))


def _build_info(bucket: Bucket) -> Json:
    """Return the bucket's info with a configuration in the terms of buckets."""
    return {**bucket.info, "config": bucket.config}


def _warn_of_lost_keys(bucket: Bucket, draft: Json) -> list[str]:
    """Return a warning about a mirror that becomes an ordinary bucket while its keys are stored under the
    origin's name; empty for none.
    """
    if draft.get("mirror") or bucket.prefix == build_subject_prefix(bucket.name):
        return []
    origin = bucket.config["mirror"]["name"]
    return [
        f"the keys are stored under the name of {origin}, where bucket {bucket.name} will not find them;"
        f" {build_line('kv export', bucket.name)} writes them before that"
    ]


async def _edit_value(env: Env, name: str, text: str, codec: Codec, *, dry_run: bool) -> Result:
    """Let the user edit the value of a key; it is stored only in place of the value that the editor showed.

    Raises BadInput for one that is not text, Conflict when somebody else has changed it meanwhile.
    """
    if dry_run:
        raise BadInput("--dry-run is for configurations", "leave it out, or leave out KEY")
    bucket = await open_named(env, name, codec=codec)
    refuse_denied([bucket.info])
    stored = parse_existing_key(text, codec)
    key = bucket.decode_key(stored)
    entry = await read.get(bucket, stored)
    try:
        before = entry.value.decode()
    except UnicodeDecodeError:
        raise BadInput(
            f"the value of key {key} is not text",
            f"{build_line('kv get', bucket.name, key, flags=['--raw', *codec.flags])} and"
            f" {bucket.build_key_line('kv put', stored)} change it as a file",
        ) from None
    expected = entry.revision

    async def store_value(edited: str) -> int:
        nonlocal expected
        # Editors end the last line; a value that had no line end gets none.
        after = edited if before.endswith("\n") else edited.removesuffix("\n")
        try:
            return await write.update(bucket, stored, after.encode(), expected)
        except write.Conflict as conflict:
            expected = conflict.newest.revision
            raise write.Conflict(
                f"key {key} was changed meanwhile, to revision {expected}",
                "what you store now replaces that" if env.can_ask else "edit it again",
                conflict.newest,
            ) from None

    revision = await edit_text(env, before, _build_file_name(key, before), store_value)
    if revision is None:
        unchanged = {"bucket": bucket.name, "key": key, "revision": expected, "changed": False}
        return Result([Text("the value was left as it is")], data=unchanged)
    return changes.stored(bucket.name, key, revision)


def _build_file_name(key: str, value: str) -> str:
    """Return the name of the file that the editor shows; its ending fits the content."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in key)[-100:].lstrip(".") or "value"
    return name if "." in name else f"{name}.{'json' if value.lstrip()[:1] in ('{', '[') else 'txt'}"

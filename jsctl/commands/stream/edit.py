"""`jsctl stream edit`."""

from dataclasses import dataclass
from functools import partial

from jsctl.commands.cli import argument, command
from jsctl.commands.shared.editing import Editable, EditOptions, edit_config, edit_flags
from jsctl.commands.shared.pick import pick_stream
from jsctl.commands.stream.flags import SECTIONS, StreamFlags, stream_flags
from jsctl.env import Env
from jsctl.jetstream.message.data_loss import estimate_stream_loss
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM, find_warnings
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@dataclass(frozen=True, slots=True)
class Options:
    """stream: the name, empty if it is asked for or in the file."""

    stream: str
    edit: EditOptions
    flags: StreamFlags


@command(
    "edit",
    sections=SECTIONS,
    options=Options,
    examples=[
        "jsctl stream edit ORDERS --max-age 30d",
        "jsctl stream edit ORDERS --config orders.yaml --dry-run",
        "jsctl stream edit ORDERS --interactive",
    ],
)
@argument("stream", default="")
@edit_flags("stream")
@stream_flags("edit")
async def edit(env: Env, options: Options) -> Result:
    """Change what the flags name; other settings stay as they are."""
    file = options.edit.read_config(env, STREAM, changed=bool(options.flags.fields))
    api = await env.jetstream()
    name = await pick_stream(env, api, options.stream or STREAM.get_name(file or {}))
    target = Editable(
        schema=STREAM,
        label=f"Stream {name}",
        fetch=partial(streams.fetch_info, api, name),
        name_keys={"name": name},
        apply_flags=options.flags.apply,
        update=partial(streams.update, api),
        estimate_loss=partial(estimate_stream_loss, api),
        sheet=view.sheet,
        find_warnings=partial(find_warnings, domain=api.own_domain),
    )
    return await edit_config(env, target, file, options.edit)

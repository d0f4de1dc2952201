"""`jsctl stream edit`."""

from functools import partial
from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.shared import editing
from jsctl.commands.shared.pick import pick_stream
from jsctl.commands.stream.flags import given, stream_flags
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result
from jsctl.views.stream import info as view


@command(
    "edit",
    examples=[
        "jsctl stream edit ORDERS --max-age 30d",
        "jsctl stream edit ORDERS --config orders.yaml --dry-run",
        "jsctl stream edit ORDERS --interactive",
    ],
)
@argument("stream", default="")
@editing.edit_flags("stream")
@stream_flags("edit")
async def edit(env: Env, stream: str, **flags: Any) -> Result:
    """Whatever no flag names stays as it is."""
    wanted = given(flags)
    file = editing.read_file(env, flags, configs.parse_config, said=bool(wanted))
    api = await env.jetstream()
    name = await pick_stream(env, api, stream or str((file or {}).get("name") or ""))
    info = await streams.info(api, name)
    live = configs.without_reserved(info["config"])

    def composed(base: Json) -> Json:
        made = {**configs.lay(base, wanted), "name": name}
        configs.check(made)
        return made

    one = editing.Editable(
        f"Stream {name}",
        info,
        live,
        lambda text, name: configs.with_defaults(configs.parse_config(text, name)),
        composed,
        partial(streams.update, api),
        view.sheet,
        partial(configs.warnings, domain=api.own_domain),
    )
    draft = configs.with_defaults(file) if file and flags["replace"] else {**live, **(file or {})}
    return await editing.change(env, one, draft, flags)

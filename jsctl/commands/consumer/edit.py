"""`jsctl consumer edit`."""

from functools import partial
from typing import Any

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import consumer_flags, laid, said
from jsctl.commands.shared import editing
from jsctl.commands.shared.pick import pick_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import config as configs
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.consumer import info as view
from jsctl.views.result import Result


@command(
    "edit",
    examples=[
        "jsctl consumer edit ORDERS NEW --max-pending 5000",
        "jsctl consumer edit ORDERS NEW --config new.yaml --dry-run",
        "jsctl consumer edit ORDERS NEW --interactive",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@editing.edit_flags("consumer")
@consumer_flags("edit")
async def edit(env: Env, stream: str, consumer: str, **flags: Any) -> Result:
    """Whatever no flag names stays as it is."""
    file = editing.read_file(env, flags, configs.parse_config, said=said(flags))
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    info = await consumers.info(api, stream, consumer)
    live = configs.own(info["config"])
    if flags["target"] and not live.get("deliver_subject"):
        raise BadInput(
            f"consumer {stream} > {consumer} pulls and cannot become a push consumer",
            "jsctl consumer copy --target makes one",
        )

    def composed(base: Json) -> Json:
        names: Json = {key: live[key] for key in ("name", "durable_name") if key in live}
        made: Json = {**laid(base, flags, env.clock()), **names}
        configs.check(made)
        return made

    one = editing.Editable(
        f"Consumer {stream} > {consumer}",
        info,
        live,
        lambda text, name: configs.with_defaults(configs.parse_config(text, name)),
        composed,
        partial(consumers.update, api, stream),
        view.sheet,
    )
    draft = configs.with_defaults(file) if file and flags["replace"] else configs.over(live, file or {})
    return await editing.change(env, one, draft, flags)

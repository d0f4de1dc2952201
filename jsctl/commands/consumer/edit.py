"""`jsctl consumer edit`."""

from collections.abc import Callable
from functools import partial

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.flags import SECTIONS, ConsumerFlags, consumer_flags
from jsctl.commands.consumer.losing import find_losing
from jsctl.commands.editing.editing import Editable, EditOptions, edit_config, edit_flags
from jsctl.commands.options.data_loss import Losing
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import CONSUMER, find_warnings
from jsctl.jetstream.message.change_estimate import Changes
from jsctl.views.consumer import info as view
from jsctl.views.result import Result


@command(
    "edit",
    sections=SECTIONS,
    examples=[
        "jsctl consumer edit ORDERS NEW --max-pending 5000",
        "jsctl consumer edit ORDERS NEW --config new.yaml --dry-run",
        "jsctl consumer edit ORDERS NEW --interactive",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@edit_flags("consumer")
@consumer_flags("edit")
async def edit(env: Env, stream: str, consumer: str, editing: EditOptions, flags: ConsumerFlags) -> Result:
    """Change what the flags name; other settings stay as they are."""
    file = editing.read_config(env, CONSUMER, changed=bool(flags))
    api, stream, consumer = await open_consumer(env, stream, consumer)
    live = (await consumers.fetch_info(api, stream, consumer))["config"]
    if flags.push and not live.get("deliver_subject"):
        raise BadInput(
            f"consumer {stream} > {consumer} is a pull consumer and cannot become a push consumer",
            "jsctl consumer copy --target creates one",
        )

    target = build_target(api, stream, live, lambda config: flags.apply(config, env.clock()))
    return await edit_config(env, target, file, editing)


def build_target(api: Api, stream: str, live: Json, apply_flags: Callable[[Json], Json]) -> Editable:
    """Return what edit changes of a consumer. live: its configuration."""
    name = str(live.get("name") or live["durable_name"])

    async def find_losses(_: Json, config: Json) -> list[Losing]:
        return [await find_losing(api, stream, Changes(consumers={name: config}))]

    async def warn(_: Json, draft: Json) -> list[str]:
        return find_warnings(draft)

    return Editable(
        schema=CONSUMER,
        label=f"Consumer {stream} > {name}",
        fetch=partial(consumers.fetch_info, api, stream, name),
        name_keys={key: live[key] for key in ("name", "durable_name") if key in live},
        apply_flags=apply_flags,
        update=partial(consumers.update, api, stream),
        find_losing=find_losses,
        info_page=view.info_page,
        find_warnings=warn,
    )

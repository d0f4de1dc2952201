"""`jsctl consumer edit`."""

import json
from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.consumer.flags import consumer_flags, laid, said
from jsctl.commands.editor import edit_text
from jsctl.commands.pick import pick_consumer
from jsctl.env import Env, read_input
from jsctl.errors import BadInput
from jsctl.jetstream import consumer_config as configs
from jsctl.jetstream import consumers
from jsctl.jetstream.api import Json
from jsctl.jetstream.differences import differences
from jsctl.views import consumer_info as view
from jsctl.views import stream_edit
from jsctl.views.result import Result, Text


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
@option(
    "--config",
    "config_file",
    metavar="FILE",
    help="Lay this configuration (JSON or YAML) over the consumer's",
)
@option("--replace", is_flag=True, help="--config is the whole configuration: what it leaves out goes")
@option("--force", "-f", is_flag=True, help="Change without asking")
@option("--interactive/--no-interactive", "-i", "interactive", default=False, help="Edit in your EDITOR")
@option("--dry-run", is_flag=True, help="Only show what would change")
@consumer_flags("edit")
async def edit(
    env: Env,
    stream: str,
    consumer: str,
    config_file: str | None,
    replace: bool,
    force: bool,
    interactive: bool,
    dry_run: bool,
    **flags: Any,
) -> Result:
    """Change a consumer; what is not named stays as it is"""
    file = configs.parse_config(read_input(config_file, env), config_file) if config_file else None
    if replace and file is None:
        raise BadInput("--replace needs --config")
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    info = await consumers.info(api, stream, consumer)
    live = configs.own(info["config"])
    if file is None and not interactive and not said(flags):
        raise BadInput("nothing to change was given", "use flags, --config or --interactive")
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

    def read(text: str) -> Json:
        return composed(configs.parse_config(text, f"{consumer}.json"))

    draft = configs.with_defaults(file) if replace and file is not None else configs.over(live, file or {})
    if interactive:
        text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"
        edited = await edit_text(env, text, f"{consumer}.json", read)
        draft = draft if edited is None else edited
    draft = composed(draft)
    changes = differences(live, draft)
    if not changes:
        return Result([Text("No difference in configuration")], data=[] if dry_run else info)
    if dry_run:
        return stream_edit.changes(changes)
    if not force:
        env.say(f"Changes of Consumer {stream} > {consumer}:")
        for change in changes:
            env.say("  " + stream_edit.line(change))
        env.say("")
        await env.confirm(f"Really edit Consumer {stream} > {consumer}", force=False)
    updated = await consumers.update(api, stream, draft)
    result = view.sheet(updated)
    return Result([Text(f"Consumer {stream} > {consumer} was updated"), *result.parts], data=updated)

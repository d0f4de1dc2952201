"""`jsctl stream edit`."""

import json
from typing import Any

from jsctl.commands import complete
from jsctl.commands.cli import argument, command, option
from jsctl.commands.editor import edit_text
from jsctl.commands.pick import pick_stream, stream_name
from jsctl.commands.stream.flags import given, stream_flags
from jsctl.env import Env, read_input
from jsctl.errors import BadInput
from jsctl.jetstream import config as configs
from jsctl.jetstream import streams
from jsctl.jetstream.api import Json
from jsctl.jetstream.differences import Difference, differences
from jsctl.views import stream_edit
from jsctl.views import stream_info as view
from jsctl.views.result import Result, Text


@command(
    "edit",
    examples=[
        "jsctl stream edit ORDERS --max-age 30d",
        "jsctl stream edit ORDERS --config orders.yaml --dry-run",
        "jsctl stream edit ORDERS --interactive",
    ],
)
@argument("stream", default="", shell_complete=complete.streams)
@option(
    "--config", "config_file", metavar="FILE", help="Lay this configuration (JSON or YAML) over the stream's"
)
@option("--replace", is_flag=True, help="--config is the whole configuration: what it leaves out goes")
@option("--force", "-f", is_flag=True, help="Change without asking")
@option("--interactive/--no-interactive", "-i", "interactive", default=False, help="Edit in your EDITOR")
@option("--dry-run", is_flag=True, help="Only show what would change")
@stream_flags("edit")
async def edit(
    env: Env,
    stream: str,
    config_file: str | None,
    replace: bool,
    force: bool,
    interactive: bool,
    dry_run: bool,
    **flags: Any,
) -> Result:
    """Change a stream; what is not named stays as it is"""
    wanted = given(flags)
    file = configs.parse_config(read_input(config_file, env), config_file) if config_file else None
    if replace and file is None:
        raise BadInput("--replace needs --config")
    api = await env.jetstream()
    name = stream or (str(file["name"]) if file and file.get("name") else "")
    name = await pick_stream(env, api, name)
    info = await streams.info(api, name)
    if not wanted and file is None and not interactive:
        raise BadInput("nothing to change was given", "use flags, --config or --interactive")
    live = configs.without_reserved(info["config"])

    def composed(base: Json) -> Json:
        made = {**configs.lay(base, wanted), "name": name}
        configs.check(made)
        return made

    def read(text: str) -> Json:
        return composed(configs.parse_config(text, f"{name}.json"))

    draft = file if replace and file is not None else {**live, **(file or {})}
    if interactive:
        text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"
        edited = await edit_text(env, text, f"{name}.json", read)
        draft = draft if edited is None else edited
    draft = composed(draft)
    changes = differences(live, draft)
    if not changes:
        return Result([Text("No difference in configuration")], data=[] if dry_run else info)
    if dry_run:
        return stream_edit.changes(changes)
    for warning in configs.warnings(draft):
        env.say(f"warning: {warning}")
    if not force:
        _show(env, name, changes)
        await env.confirm(f"Really edit Stream {stream_name(name)}", force=False)
    updated = await streams.update(api, draft)
    result = view.sheet(updated)
    return Result([Text(f"Stream {name} was updated"), *result.parts], data=updated)


def _show(env: Env, name: str, changes: list[Difference]) -> None:
    env.say(f"Changes of Stream {name}:")
    for change in changes:
        env.say("  " + stream_edit.line(change))
    env.say("")

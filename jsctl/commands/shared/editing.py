"""How edit changes a configuration, for streams and consumers alike."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jsctl.commands.cli import option
from jsctl.commands.shared.editor import edit_text
from jsctl.env import Env, read_input
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import differences
from jsctl.views.result import Result, Text
from jsctl.views.stream import edit as view

F = TypeVar("F", bound=Callable[..., Any])


def edit_flags(noun: str) -> Callable[[F], F]:
    """Add the flags that every edit takes. noun: "stream" or "consumer"."""
    file = f"Lay this configuration (JSON or YAML) over the {noun}'s"
    whole = "--config is the whole configuration: what it leaves out takes its default"
    flags = (
        option("--config", "config_file", metavar="FILE", help=file),
        option("--replace", is_flag=True, help=whole),
        option("--force", "-f", is_flag=True, help="Change without asking"),
        option(
            "--interactive/--no-interactive", "-i", "interactive", default=False, help="Edit in your EDITOR"
        ),
        option("--dry-run", is_flag=True, help="Only show what would change"),
    )

    def declare(function: F) -> F:
        for flag in reversed(flags):
            function = flag(function)
        return function

    return declare


def read_file(
    env: Env, flags: Mapping[str, Any], parse: Callable[[str, str], Json], *, said: bool
) -> Json | None:
    """The configuration of --config, read by `parse` (text, file name). said: other flags ask for a change.
    Raises BadInput, also when nothing asks for one."""
    file = flags["config_file"]
    if not file and flags["replace"]:
        raise BadInput("--replace needs --config")
    if not (file or said or flags["interactive"]):
        raise BadInput("nothing to change was given", "use flags, --config or --interactive")
    return parse(read_input(file, env), file) if file else None


@dataclass(frozen=True, slots=True)
class Editable:
    """A stream or consumer as edit sees it.

    label: `Stream ORDERS`. info: as the server sent it. live: the configuration in it that is the user's.
    whole: the configuration in a text, by its file's name, defaults for what it leaves out. composed: a draft
    under all that flags and the name say, checked. update: makes the server take it and gives the new info.
    sheet: shows an info. warnings: of what the server takes but does not do as it reads.
    """

    label: str
    info: Json
    live: Json
    whole: Callable[[str, str], Json]
    composed: Callable[[Json], Json]
    update: Callable[[Json], Awaitable[Json]]
    sheet: Callable[[Json], Result]
    warnings: Callable[[Json], Sequence[str]] = lambda draft: ()


async def change(env: Env, one: Editable, draft: Json, flags: Mapping[str, Any]) -> Result:
    """Show the difference to a draft, ask, and make it so. Raises BadInput, Cancelled."""
    if flags["interactive"]:
        name = f"{one.label.split()[-1]}.json"
        text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"
        edited = await edit_text(env, text, name, lambda text: one.composed(one.whole(text, name)))
        draft = draft if edited is None else edited
    draft = one.composed(draft)
    changes = differences(one.live, draft)
    if not changes:
        return Result([Text("No difference in configuration")], data=[] if flags["dry_run"] else one.info)
    if flags["dry_run"]:
        return view.changes(changes)
    for warning in one.warnings(draft):
        env.say(f"warning: {warning}")
    if not flags["force"]:
        env.say(f"Changes of {one.label}:")
        for difference in changes:
            env.say("  " + view.line(difference))
        env.say("")
        await env.confirm(f"Really edit {one.label}", force=False)
    updated = await one.update(draft)
    changed = {difference.key for difference in differences(one.live, updated["config"])}
    for key, before, after in changes:
        if after is not None and key not in changed:
            env.say(f"warning: the server keeps {key} as it is: {view.shown(key, before)}")
    return Result([Text(f"{one.label} was updated"), *one.sheet(updated).parts], data=updated)

"""Changes of a configuration by edit, the same for every noun."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jsctl.commands.cli import declare_all, option
from jsctl.commands.shared.editor import edit_text
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.files import read_input
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import find_differences
from jsctl.jetstream.config.schema import Schema
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text
from jsctl.views.shared.config import changes_result, format_change, format_value

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class EditOptions:
    """The flags that every edit takes; part of a verb's options.

    config_file: a path, `-` for stdin; None if not given.
    """

    config_file: str | None
    replace: bool
    force: bool
    interactive: bool
    dry_run: bool

    def read_config(self, env: Env, schema: Schema, *, changed: bool) -> Json | None:
        """Return the configuration of --config; None if there is none. changed: whether other flags ask for a
        change.

        Raises BadInput, also when nothing asks for one.
        """
        if not self.config_file and self.replace:
            raise BadInput("--replace needs --config")
        if not (self.config_file or changed or self.interactive):
            raise BadInput("there is nothing to change", "use flags, --config or --interactive")
        return (
            schema.parse_config(read_input(self.config_file, env.streams.stdin), self.config_file)
            if self.config_file
            else None
        )


@dataclass(frozen=True, slots=True)
class Editable:
    """A stream, consumer or bucket that edit changes.

    label: `Stream ORDERS`. info: as the server sent it. name_keys: the keys that identify it and cannot
    change. apply_flags: returns a copy of a configuration with the flags applied. update: sends a
    configuration and returns the new info. sheet: shows an info. find_warnings: returns warnings about
    settings that the server accepts but ignores or interprets differently. needs_force: whether scripts need
    --force; False if nats does not ask, so that scripts written for it still work.
    """

    schema: Schema
    label: str
    info: Json
    name_keys: Json
    apply_flags: Callable[[Json], Json]
    update: Callable[[Json], Awaitable[Json]]
    sheet: Callable[[Json], Result]
    find_warnings: Callable[[Json], Sequence[str]] = lambda draft: ()
    needs_force: bool = True

    @property
    def live(self) -> Json:
        """The configuration in the info, without what the server adds."""
        return self.schema.without_server_keys(self.info["config"])

    def complete(self, draft: Json) -> Json:
        """Return a draft with flags and names applied to it, validated. Raises BadInput."""
        config = {**self.apply_flags(draft), **self.name_keys}
        self.schema.validate(config)
        return config


def edit_flags(noun: str) -> Callable[[F], F]:
    """Add the flags that every edit takes, for `EditOptions`. noun: "stream"."""
    config_help = f"Apply this configuration (JSON or YAML) to the {noun}'s"
    replace_help = "--config is the whole configuration: what it leaves out takes its default"
    flags = (
        option("--config", "config_file", metavar="FILE", help=config_help),
        option("--replace", is_flag=True, help=replace_help),
        option("--force", "-f", is_flag=True, help="Change without asking"),
        option(
            "--interactive/--no-interactive", "-i", "interactive", default=False, help="Edit in your EDITOR"
        ),
        option("--dry-run", is_flag=True, help="Only show what would change; exit with 2 if anything would"),
    )

    return declare_all(flags)


async def edit_config(env: Env, target: Editable, file: Json | None, options: EditOptions) -> Result:
    """Show how the configuration changes, ask, and change it.

    file: the configuration of --config. Raises BadInput, Cancelled.
    """
    schema, live = target.schema, target.live
    draft = schema.with_defaults(file) if file and options.replace else schema.update(live, file or {})
    if options.interactive:
        name = f"{target.label.split()[-1]}.json"
        text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"

        async def apply_edited(edited: str) -> Result:
            edited_config = schema.with_defaults(schema.parse_config(edited, name, live={**live, **draft}))
            return await _change(env, target, target.complete(edited_config), options)

        result = await edit_text(env, text, name, apply_edited)
        if result is not None:
            return result
    return await _change(env, target, target.complete(draft), options)


async def _change(env: Env, target: Editable, draft: Json, options: EditOptions) -> Result:
    """Show how a complete draft differs from the live configuration, ask, and send it."""
    changes = find_differences(target.live, draft, target.schema)
    if not changes:
        data = [] if options.dry_run else target.info
        return Result([Text("No difference in configuration")], data=data)
    for warning in target.find_warnings(draft):
        env.say(f"warning: {warning}")
    if options.dry_run:
        return changes_result(changes)._replace(status=ExitStatus.DIFFERENT)
    env.say(f"Changes to {target.label}:")
    for change in changes:
        env.say("  " + format_change(change))
    env.say("")
    without_asking = options.force or not (target.needs_force or env.can_ask)
    await env.confirm(Intent(f"edit {target.label}", {}), force=without_asking)
    updated = await target.update(draft)
    changed = {change.key for change in find_differences(target.live, updated["config"], target.schema)}
    for change in changes:
        if change.after is not None and change.key not in changed:
            before = format_value(change.kind, change.before)
            env.say(f"warning: the server did not change {change.key}, which is still {before}")
    parts = target.sheet(updated).parts
    return Result([Text(f"{target.label} was updated"), *parts], data=updated)

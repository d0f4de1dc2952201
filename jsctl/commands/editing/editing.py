"""Changes of a configuration by edit, the same for every noun."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jsctl.base.files import read_input
from jsctl.commands.cli import declare_all, option, refusing_blanks
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.options.data_loss import Losing, LossOptions, describe_losses, loss_flags
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.differences import Difference, find_differences
from jsctl.jetstream.config.kind import KeepKey, leave_out_unknown, refuse_unknown
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.config.writing import read_fresh, verify
from jsctl.jetstream.message.data_loss import NOTHING, DataLoss, add_losses
from jsctl.views.intent import Intent
from jsctl.views.result import Result, Text
from jsctl.views.shared.config import changes_result, format_change, format_value

_NO_DIFFERENCE = "No difference in configuration"


def find_key_rule(env: Env) -> KeepKey:
    """Return what becomes of keys in a file that jsctl does not know."""
    return leave_out_unknown if env.mirrors_nats else refuse_unknown  # UNKNOWN_KEYS


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
    permits: LossOptions

    def read_config(self, env: Env, schema: Schema, *, changed: bool) -> Json | None:
        """Return the configuration of --config; None if there is none. changed: whether other flags ask for a
        change.

        Raises BadInput, also when nothing asks for one.
        """
        if not self.config_file and self.replace:
            raise BadInput("--replace needs --config")
        if not (self.config_file or changed or self.interactive or env.mirrors_nats):  # EDIT_NOTHING
            raise BadInput("there is nothing to change", "use flags, --config or --interactive")
        if not self.config_file:
            return None
        text = read_input(self.config_file, env.streams.stdin)
        return schema.parse_config(text, self.config_file, unknown=find_key_rule(env))


@dataclass(frozen=True, slots=True)
class Editable:
    """A stream, consumer or bucket that edit changes.

    label: `Stream ORDERS`. fetch: returns the info that the server has now. name_keys: the keys that identify
    it and cannot change. apply_flags: returns a copy of a configuration with the flags applied. update: sends
    a configuration and returns the new info. find_losing: returns what loses messages when the configuration
    of an info changes, and how many. info_page: shows an info. find_warnings: returns warnings about what the
    server accepts in a draft and ignores or interprets differently, or leaves undone. needs_force: whether
    scripts need --force; False if nats does not ask, so that scripts written for it still work.
    """

    schema: Schema
    label: str
    fetch: Callable[[], Awaitable[Json]]
    name_keys: Json
    apply_flags: Callable[[Json], Json]
    update: Callable[[Json], Awaitable[Json]]
    find_losing: Callable[[Json, Json], Awaitable[Sequence[Losing]]]
    info_page: Callable[[Json], Result]
    find_warnings: Callable[[Json, Json], Awaitable[Sequence[str]]] | None = None
    needs_force: bool = True

    def get_live(self, info: Json) -> Json:
        """Return the configuration in an info, without what the server adds."""
        return self.schema.without_server_keys(info["config"])

    def complete(self, draft: Json) -> Json:
        """Return a draft with flags and names applied to it, validated. Raises BadInput."""
        config = {**self.apply_flags(draft), **self.name_keys}
        self.schema.validate(config)
        return config


def edit_flags(noun: str) -> Decorator:
    """Add the flags that every edit takes, for `EditOptions`. noun: "stream"."""
    config_help = f"Apply this configuration (JSON or YAML) to the {noun}'s"
    replace_help = "--config is the whole configuration: what it leaves out takes its default"
    return declare_all(
        refusing_blanks,
        option("--config", "config_file", metavar="FILE", help=config_help),
        option("--replace", is_flag=True, help=replace_help),
        option("--force", "-f", is_flag=True, help="Change without asking"),
        option(
            "--interactive/--no-interactive", "-i", "interactive", default=False, help="Edit in your EDITOR"
        ),
        option("--dry-run", is_flag=True, help="Only show what would change; exit with 2 if anything would"),
        loss_flags,
    )


async def edit_config(env: Env, target: Editable, file: Json | None, options: EditOptions) -> Result:
    """Show how the configuration changes, ask, and change it.

    file: the configuration of --config. Raises BadInput, Cancelled.
    """
    schema, info = target.schema, await target.fetch()
    live = target.get_live(info)

    def draft_flags(live: Json) -> Json:
        if not (file and (options.replace or env.mirrors_nats)):  # EDIT_CONFIG
            return schema.update(live, file or {})
        fixed = [field.key for field in schema.fields if field.is_fixed and field.key in live]
        return schema.with_assumed({**{key: live[key] for key in fixed}, **file})

    if not options.interactive:
        return await _change(env, target, info, lambda live: target.complete(draft_flags(live)), options)
    draft = draft_flags(live)
    name = f"{target.label.split()[-1]}.json"
    text = json.dumps(draft, indent=2, ensure_ascii=False) + "\n"

    async def apply_edited(edited: str) -> Result:
        config = schema.with_assumed(schema.parse_config(edited, name, live={**live, **draft}))
        return await _change(
            env, target, info, lambda now: target.complete(_move(live, config, now)), options
        )

    from jsctl.commands.editing.editor import edit_text  # a flag changes most; consumer add needs it never

    result = await edit_text(env, text, name, apply_edited)
    if result is not None:
        return result
    return await _change(env, target, info, lambda live: target.complete(draft_flags(live)), options)


def _move(before: Json, after: Json, now: Json) -> Json:
    """Return the keys that differ between two configurations in a third one."""
    same = {key: value for key, value in now.items() if before.get(key) == after.get(key)}
    return {**same, **{key: value for key, value in after.items() if before.get(key) != value}}


async def _change(
    env: Env, target: Editable, info: Json, make_draft: Callable[[Json], Json], options: EditOptions
) -> Result:
    """Show how a configuration changes, ask, and send it.

    The server is asked again right before: nothing is written from an old read. make_draft: returns the
    complete configuration to send for a live one.
    """
    live = target.get_live(info)
    draft = make_draft(live)
    changes = find_differences(live, draft, target.schema)
    if not changes:
        data = [] if options.dry_run else info
        return Result([Text(_NO_DIFFERENCE)], data=data)
    for warning in await target.find_warnings(info, draft) if target.find_warnings else ():
        env.say(f"warning: {warning}")
    losing = await target.find_losing(info, draft)
    if options.dry_run:
        losses = [_add(losing)]
        if len(changes) > 1:
            losses = [await _estimate_alone(target, info, draft, change, losing) for change in changes]
        result = env.locate(changes_result(changes, losses)._replace(status=ExitStatus.DIFFERENT))
        try:
            options.permits.check(env, losing)
        except JsctlError as error:
            return result._replace(error=error, status=error.status)
        return result
    env.inform("\n  ".join([f"[{env.place}] Changes to {target.label}:", *map(format_change, changes)]))
    env.inform("")
    without_asking = options.force or not (target.needs_force or env.can_ask)
    options.permits.refuse(env, losing, force=options.force, needs_force=target.needs_force)
    action = " and ".join([f"edit {target.label}", *filter(None, map(Losing.describe, losing))])
    await env.confirm(Intent(action, {}), force=without_asking)
    updated = await _update(target, make_draft, changes, _add(losing), options)
    changed = {change.key for change in find_differences(live, target.get_live(updated), target.schema)}
    for change in changes:
        if change.after is not None and change.key not in changed:
            before = format_value(change.kind, change.before)
            env.say(f"warning: the server did not change {change.key}, which is still {before}")
    if not changed:
        return Result([Text(_NO_DIFFERENCE)], data=updated)
    return Result([Text(f"{target.label} was updated"), *target.info_page(updated).parts], data=updated)


async def _update(
    target: Editable,
    make_draft: Callable[[Json], Json],
    changes: Sequence[Difference],
    loss: DataLoss,
    options: EditOptions,
) -> Json:
    """Make the changes, and return the info after them.

    Raises JsctlError when somebody else changes the same, or when more would be deleted than was said.
    """

    async def draft_again() -> tuple[Json, Json]:
        info = await target.fetch()
        draft, left = _redraft(target, make_draft, info)
        if _to_json(left) != _to_json(changes):
            raise _build_conflict(target, "nothing was changed", left)
        if not options.permits.allow_data_loss:
            now = await target.find_losing(info, draft)
            if _add(now).exceeds(loss):
                raise JsctlError(f"nothing was changed: this now {describe_losses(now)}", "run it again")
        return info, draft

    before, draft = await read_fresh(draft_again)
    updated = await target.update(draft)
    changed = {
        change.key
        for change in find_differences(target.get_live(before), target.get_live(updated), target.schema)
    }

    async def repair(_: Editable) -> bool:
        nonlocal updated
        info = await target.fetch()
        draft, left = _redraft(target, make_draft, info)
        left = [change for change in left if change.key in changed]
        if not left:
            updated = info
            return False
        if any(change not in _to_json(changes) for change in _to_json(left)):
            raise _build_conflict(target, "it is not as it was sent", left)
        updated = await target.update(draft)
        return True

    if await verify([target], repair):
        raise _build_conflict(target, "it does not stay as it was sent", changes)
    return updated


def _redraft(
    target: Editable, make_draft: Callable[[Json], Json], info: Json
) -> tuple[Json, list[Difference]]:
    """Return the configuration to send for what the server has now, and what it changes."""
    live = target.get_live(info)
    draft = make_draft(live)
    return draft, find_differences(live, draft, target.schema)


def _to_json(changes: Sequence[Difference]) -> list[Json]:
    return [change.to_json() for change in changes]


def _build_conflict(target: Editable, outcome: str, left: Sequence[Difference]) -> JsctlError:
    shown = ", ".join(map(format_change, left)) or "nothing"
    return JsctlError(
        f"{outcome}: {target.label} was changed meanwhile, and this would now change {shown}", "run it again"
    )


async def _estimate_alone(
    target: Editable, info: Json, draft: Json, change: Difference, losing: Sequence[Losing]
) -> DataLoss:
    """Return what one of the changes deletes by itself. losing: what all of them delete."""
    if not _add(losing):
        return NOTHING
    key = change.key.partition(".")[0]
    return _add(await target.find_losing(info, {**target.get_live(info), key: draft.get(key)}))


def _add(losing: Sequence[Losing]) -> DataLoss:
    return add_losses(item.loss for item in losing)

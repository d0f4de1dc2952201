"""Changes of many streams at once: `stream edit` with a pattern."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop, gather
from jsctl.base.units import format_bytes, pluralize
from jsctl.commands.editing.editing import EditOptions
from jsctl.commands.options.data_loss import Losing
from jsctl.commands.options.idle import find_time_limit
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, is_transient
from jsctl.jetstream.api_levels import fetch_account_info
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.execute import Outcome, execute
from jsctl.jetstream.declared.model import Declared, Place, Stream
from jsctl.jetstream.declared.moves import Move, carry_out, plan_moves
from jsctl.jetstream.declared.plan import Plan, TryOut, make_plan
from jsctl.jetstream.declared.step import Step, Target
from jsctl.jetstream.declared.storage import StorageSource
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.config import STREAM
from jsctl.jetstream.stream.protection import endangers
from jsctl.jetstream.stream.replicas import find_shortage
from jsctl.jetstream.waiting import ask_again
from jsctl.monitor.server.requests import fetch_free_storage, fetch_visible_servers
from jsctl.views.declared import moves as moves_view
from jsctl.views.declared import plan as view
from jsctl.views.intent import Intent
from jsctl.views.result import Result

MAX_MOVES = 2
"""Streams that servers copy at the same time, unless --max-moves says otherwise."""


class _Edit(NamedTuple):
    """What is planned: `plan` has all steps, `moves` those after which servers copy a stream."""

    plan: Plan
    moves: Sequence[Move]

    @property
    def size(self) -> int:
        """The bytes that servers copy."""
        return sum(move.size for move in self.moves)

    @property
    def quick(self) -> list[Step]:
        """The steps after which no server copies anything."""
        moved = {move.step.key for move in self.moves}
        return [step for step in self.plan.steps if step.key not in moved]

    def describe(self) -> str:
        """Return it as part of a question: `edit 3 streams, of which servers copy 2.0 GiB`."""
        copied = f", of which servers copy {format_bytes(self.size)}" if self.moves else ""
        return f"edit {view.format_counts(self.plan.steps)}{copied}"


async def edit_many(
    env: Env,
    api: Api,
    names: Sequence[str],
    pattern: str,
    file: Json | None,
    apply_flags: Callable[[Json], Json],
    options: EditOptions,
    most: int,
    try_out: TryOut,
    *,
    has_replicas: bool,
) -> Result:
    """Change the streams that match a pattern, as one plan; return once servers have copied what they must.

    file: the configuration of --config. apply_flags: see `Editable`. most: how many streams are copied at the
    same time. try_out: see `make_plan`. has_replicas: whether --replicas was given, so that those lost are
    made again. Raises BadInput, Cancelled, and what requests raise.
    """
    if options.interactive or options.replace:
        flag = "--interactive" if options.interactive else "--replace"
        raise BadInput(f"{flag} changes one stream, and {pattern} is a pattern", "name one stream")
    if file and "name" in file:
        raise BadInput("the configuration has a name, and several streams are changed", "remove its name")
    await enter_event_loop()
    permits = options.permits
    rules = Rules(False, permits.allow_data_loss, frozenset(permits.unprotect))
    planned = await _plan(
        api,
        names,
        lambda live: apply_flags(STREAM.update(live, file or {})),
        rules,
        has_replicas=has_replicas,
        try_out=try_out,
        may_create=not options.dry_run,
    )
    plan = planned.plan
    for warning in plan.warnings:
        env.say(f"warning: {warning.removeprefix(': ')}")
    result = moves_view.add_moves(view.plan_result(plan), planned.moves, most)
    if plan.refused:
        step = plan.refused[0]
        key, reason = next(iter(step.refused.items()))
        text = f"nothing was changed: {view.format_counts(plan.refused)} cannot be edited"
        error = JsctlError(
            f"{text}; {step.format_name()}: {key}: {reason}",
            "a pattern without these can be edited",
        )
        return result._replace(error=error, status=error.status)
    if options.dry_run:
        return env.locate(result)
    if not plan.steps:
        return result
    losing = _list_losing(plan.steps)
    env.inform("\n".join([f"[{env.place}]", view.format_plan(plan), *moves_view.list_lines(planned.moves)]))
    permits.refuse(env, losing, force=options.force)
    action = " and ".join([planned.describe(), *filter(None, map(Losing.describe, losing))])
    await env.confirm(Intent(action, {}), force=options.force)
    outcome = await _run(env, api, pattern, planned, rules, most)
    return moves_view.add_moves(view.apply_result(outcome, plan), planned.moves, most)


async def _plan(
    api: Api,
    names: Sequence[str],
    make_draft: Callable[[Json], Json],
    rules: Rules,
    *,
    has_replicas: bool,
    try_out: TryOut,
    may_create: bool,
) -> _Edit:
    """Return what to do; what cannot be done has the reason. Raises BadInput, and what requests raise."""
    target = Target(api, "", api.own_domain)
    found = await gather(_fetch(api, name) for name in names)
    infos = {name: info for name, info in zip(names, found, strict=True) if not isinstance(info, str)}
    silent = [
        Step("change", target, name, "", "", None, {}, refused={"state": f"{why}; are its servers there?"})
        for name, why in zip(names, found, strict=True)
        if isinstance(why, str)
    ]
    declared = [Stream(name, _find_changes(info, make_draft), "", Place()) for name, info in infos.items()]
    reserved = {"": await _sum_reserved(api)}
    storage = StorageSource(lambda api: fetch_free_storage(api.connection), may_create)
    plan = await make_plan(
        Declared(declared), {Place(): target}, rules, try_out=try_out, limits=reserved, storage=storage
    )
    servers = await fetch_visible_servers(api.connection)
    steps = [_refuse(step, infos[step.stream], servers) for step in plan.steps]
    changed = {step.stream for step in steps}
    same = [
        Step("change", target, name, "", "", config := STREAM.without_server_keys(info["config"]), config)
        for name, info in infos.items()
        if name not in changed
    ]
    possible = [step for step in steps if not step.refused]
    moves = plan_moves([*possible, *same], infos, servers, has_replicas=has_replicas)
    moved = {move.step.key for move in moves}
    unfinished = [step for step in same if step.key in moved]
    kept = [step for step in plan.kept if step.key not in moved]
    plan = plan._replace(
        steps=[*steps, *unfinished, *silent], streams=plan.streams - len(unfinished), kept=kept
    )
    account = await fetch_account_info(api) if moves else {}
    warnings = [*plan.warnings, *_warn_of_room(moves, account)]
    return _Edit(plan._replace(warnings=warnings, wording="unchanged"), moves)


async def _fetch(api: Api, name: str) -> Json | str:
    """Return the info of a stream, or why it cannot be changed: it has had no leader for some seconds."""

    async def fetch(own: Api) -> Json:
        info = await streams.fetch_info(own, name)
        group = info.get("cluster") or {}
        if group.get("name") and not group.get("leader"):
            raise Unreachable("it has no leader")
        return info

    try:
        return await ask_again(api, fetch, lambda reason: None, timeouts=1)
    except JsctlError as error:
        if not is_transient(error):
            raise
        return error.message


async def _sum_reserved(api: Api) -> Json:
    """Return the bytes that streams of the account reserve in all replicas, as the server adds them up
    (jetstream_cluster.go: tieredStreamAndReservationCount; the account's info does not count replicas).
    Nothing where the login may not ask."""
    try:
        listed = await streams.collect(api, lambda info: info["config"])
    except JsctlError:
        return {}
    sums = Counter({"reserved_storage": 0, "reserved_memory": 0})
    for config in listed.items.values():
        key = "reserved_memory" if config.get("storage") == "memory" else "reserved_storage"
        sums[key] += max(0, int(config.get("max_bytes") or 0)) * int(config.get("num_replicas") or 1)
    return dict(sums)


def _find_changes(info: Json, make_draft: Callable[[Json], Json]) -> Json:
    """Return the keys that differ when flags and --config are applied to a stream; None for one that goes."""
    live = STREAM.without_server_keys(info["config"])
    draft = make_draft(live)
    STREAM.validate(draft)
    return _subtract(live, draft)


def _subtract(before: Json, after: Json) -> Json:
    changes: dict[str, Any] = {}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old != new:
            changes[key] = _subtract(old, new) if isinstance(old, dict) and isinstance(new, dict) else new
    return changes


def _warn_of_room(moves: Sequence[Move], account: Json) -> Iterator[str]:
    """Yield warnings about limits of the account that copies exceed: servers make them, and the account's
    streams store nothing more. Accounts with tiers are left out: each counts a stream once."""
    for kind, key in (("file", "storage"), ("memory", "memory")):
        most = int((account.get("limits") or {}).get(f"max_{key}", -1))
        added = [move.size for move in moves if (move.step.after or {}).get("storage", "file") == kind]
        total = int(account.get(key) or 0) + sum(added)
        if "tiers" not in account and added and 0 <= most < total:
            used = f"{format_bytes(total)} of {key}"
            yield f"copies bring the account to {used}, its limit is {format_bytes(most)}"


def _refuse(step: Step, info: Json, servers: Sequence[Json]) -> Step:
    """Return a step, refused if too few servers answer for its replicas, which would never be made, or if it
    moves the stream and does more (server: jetstream_cluster.go jsClusteredStreamUpdateRequest)."""
    if not step.is_placed:
        return step
    keys = step.changed_keys
    refused = dict(step.refused)
    if shortage := find_shortage(step.after or {}, servers):
        refused["num_replicas"] = shortage
    is_move = "placement" in keys and bool((step.after or {}).get("placement"))
    if is_move and keys & {"num_replicas", "retention"} and (info.get("cluster") or {}).get("name"):
        refused["placement"] = "a move, and a change of replicas or retention, are two edits for servers"
    return step._replace(refused=refused)


def _list_losing(steps: Sequence[Step]) -> list[Losing]:
    losing = []
    for step in steps:
        config = step.before or {}
        at_risk = endangers(config, step.after or {})
        losing.append(Losing(step.format_name(), {"config": config}, step.loss, endangers=at_risk))
        losing += [Losing(taken.origin, taken.info or {}, taken.loss, "take") for taken in step.taken]
    return losing


async def _run(env: Env, api: Api, pattern: str, planned: _Edit, rules: Rules, most: int) -> Outcome:
    """Carry out the plan: first what servers copy nothing for. Raises what requests raise."""
    again = (
        "what was begun goes on; the same line waits for it and does the rest,"
        f" {build_line('stream cluster cancel-move', pattern)} cancels what is not finished"
    )
    outcome = Outcome([], [], [])
    if planned.quick:
        outcome = await execute(planned.quick, rules, [], [], lambda _: None)
        if outcome.failed:
            return outcome._replace(not_tried=[*outcome.not_tried, *(move.step for move in planned.moves)])
    if not planned.moves:
        return outcome
    label = f"Copying {pluralize(len(planned.moves), 'stream')}"
    try:
        with env.progress(label, planned.size, in_bytes=True) as advance:
            moved = await carry_out(api, planned.moves, rules, most, find_time_limit(env), advance)
    except RequestTimeout as error:
        raise RequestTimeout(error.message, again) from None
    except asyncio.CancelledError:
        env.say(f"jsctl: {again}")
        raise
    for step, failure in moved.failed:
        env.say(f"jsctl: error: {step.format_name()}: {view.format_failure(failure)}")
    return moved._replace(done=[*outcome.done, *moved.done], remarks={**outcome.remarks, **moved.remarks})

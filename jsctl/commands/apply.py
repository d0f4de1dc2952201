"""`jsctl apply`."""

import asyncio
import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from jsctl.commands.cli import command, option
from jsctl.commands.shared.declared import (
    ask_servers,
    file_flags,
    open_targets,
    plan_operators,
    push_flags,
    read_texts,
)
from jsctl.commands.shared.declared_push import CONTINUE
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError
from jsctl.jetstream.declared.execute import execute
from jsctl.jetstream.declared.load import load
from jsctl.jetstream.declared.model import Declared
from jsctl.jetstream.declared.plan import Plan, Step, make_plan
from jsctl.jetstream.declared.variables import parse_variables
from jsctl.views.declared import plan as view
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.commands.shared.declared_accounts import AccountLogins


@command(
    "apply",
    examples=[
        "jsctl apply -f streams.yaml",
        "jsctl apply -f streams.yaml --dry-run",
        "jsctl apply -f streams/ --var keep=7d --prune",
    ],
)
@file_flags
@push_flags
@option("--prune", is_flag=True, help="Remove what carries a label of the files and is no longer declared")
@option("--dry-run", is_flag=True, help="Only show what would change")
@option("--force", "--yes", "-y", "force", is_flag=True, help="Change and remove without asking")
async def apply(
    env: Env,
    files: tuple[str, ...],
    var: tuple[str, ...],
    store: str,
    prune: bool,
    push: bool | None,
    dry_run: bool,
    force: bool,
) -> Result:
    """Read the streams, operators, accounts and users of YAML or JSON files such as this one:

    \b
    label: logs                       # for --prune; goes into the metadata
    context: hub                      # optional, here or on a stream
    domain: leaf
    account: SALES                    # of an operator, below or in the store
    vars: {keep: 1d}
    streams:
      - for: {i: 0..9}                # a stream for each; or a list: [eu, us]
        name: LOGS_{{i}}
        subjects: ["logs.p{{i}}.>"]
        max_age: "{{keep}}"
        max_bytes: 1GB
        sources: [A@east, B@west]     # or mirror: A@east; each may be an object
        consumers:
          - {name: TAIL, deliver_subject: "out.logs.p{{i}}", ack_policy: none}
    operators:                        # in the store of jsctl auth
      - name: ACME
        accounts:
          - name: SALES
            exports: [{subject: "orders.>", type: stream}]
            users: [{name: clerk, pub: {allow: ["orders.>"]}}]
          - name: SHOP
            imports: [{account: SALES, subject: "orders.>", type: stream}]
            signing_keys: [{role: reader, template: {sub: {allow: ["orders.>"]}}}]
            users: [{name: till, role: reader}]

    Keys are those of `jsctl stream info --json`. What a file does not name stays as it is; null removes a
    key; a key that jsctl does not know yet goes below `extra:`. {{name}} is a variable, \\{{name}} plain
    text. On a terminal it asks before it changes what exists; only --prune removes anything.
    With --push, accounts are sent to the servers before streams are created.
    """
    texts, variables = read_texts(env, files), parse_variables(var)
    declared = load(texts, variables)
    auth = plan_operators(env, texts, variables, store, prune=prune)
    if prune and not (declared.labels or (auth and auth.has_label)):
        raise BadInput("--prune needs a label", "add `label: NAME` to the file")
    logins = await ask_servers(env, declared, auth, store, push, is_planning=dry_run)
    apply_streams = partial(_apply_streams, env, declared, logins, prune=prune, dry_run=dry_run, force=force)
    if auth is None:
        return await apply_streams()
    if dry_run:
        return auth.show_plan(await apply_streams())._replace(status=ExitStatus.OK)
    outcome = await auth.apply(env, force)
    if auth.new_operators:
        env.say(_format_next(auth.new_operators, files, var, store, push))
        return auth.show_outcome(Result([], data={"unchanged": {}}), outcome)._replace(
            status=ExitStatus.FAILURE
        )
    if logins:
        logins.pushed = frozenset(name for name, _, _ in outcome.sent)
    return auth.show_outcome(await apply_streams(), outcome)


def _format_next(
    operators: Sequence[str], files: Sequence[str], var: Sequence[str], store: str, push: bool | None
) -> str:
    """Return the commands that make new operators known to the servers, and then apply the rest."""
    store_flags = ["--store", store] if store else []
    lines = [
        "servers do not know "
        f"{'operator' if len(operators) == 1 else 'operators'} {', '.join(operators)} yet; accounts were not"
        " sent to them, and streams were not made. Next:"
    ]
    for name in operators:
        line = shlex.join(
            ["jsctl", "auth", "operator", "config", name, "--output", f"{name}.conf", *store_flags]
        )
        lines += [f"  {line}", f"  include ./{name}.conf in the configuration of each server, and restart it"]
    flags = [word for file in files for word in ("-f", file)] + [
        word for value in var for word in ("--var", value)
    ]
    lines.append(f"  {shlex.join(['jsctl', 'apply', *flags, *store_flags, *(['--push'] if push else [])])}")
    return "\n".join(lines)


async def _apply_streams(
    env: Env, declared: Declared, logins: "AccountLogins | None", *, prune: bool, dry_run: bool, force: bool
) -> Result:
    plan = await make_plan(declared, await open_targets(env, declared, logins), prune=prune)
    for warning in plan.warnings:
        env.say(f"warning: {warning}")
    if dry_run or not plan.steps:
        return view.plan_result(plan)._replace(status=ExitStatus.OK)
    if plan.refused:
        env.say(view.format_plan(plan))
        raise JsctlError(
            f"nothing was changed: {view.format_counts(plan.refused)} cannot be changed as declared",
            "remove and create them again, or declare the present settings",
        )
    await _confirm(env, plan, force)
    return await _run(env, plan)


async def _confirm(env: Env, plan: Plan, force: bool) -> None:
    """Ask before removals, and on a terminal before changes. Raises Cancelled, BadInput."""
    removals = [step for step in plan.steps if step.action == "remove"]
    if force or not (removals or (plan.count("change") and env.can_ask)):
        return
    env.say(view.format_plan(plan))
    env.say("")
    await env.require_yes(view.format_question(plan))


async def _run(env: Env, plan: Plan) -> Result:
    done: list[Step] = []
    try:
        with env.progress("Applying", len(plan.steps)) as advance:
            outcome = await execute(plan.steps, done, advance)
    except asyncio.CancelledError:
        env.say(f"{len(done)} of {len(plan.steps)} were done; {CONTINUE}")
        raise
    for step, error in outcome.failed:
        env.say(f"jsctl: error: {view.format_name(step)}: {error}")
    return view.apply_result(outcome, plan)

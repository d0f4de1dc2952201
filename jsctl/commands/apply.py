"""`jsctl apply`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.units import SECOND, format_duration
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.declared.applied_places import save_places
from jsctl.commands.declared.push import CONTINUE
from jsctl.commands.declared.saved_plan import read_plan, refuse_stale
from jsctl.commands.declared.sources import (
    Comparison,
    SourceOptions,
    Sources,
    compare_sources,
    plan_streams,
    say_warnings,
    show_plan,
    source_flags,
)
from jsctl.commands.editing.data_loss import refuse_unasked_loss
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, Unreachable
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.current import wait_until_current
from jsctl.jetstream.declared.execute import execute
from jsctl.jetstream.declared.plan import Plan
from jsctl.jetstream.declared.step import Step
from jsctl.views.declared import plan as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """plan: the file of a plan, instead of declared files; empty for none."""

    plan: str
    sources: SourceOptions
    dry_run: bool
    exit_code: bool
    force: bool
    allow_data_loss: bool
    revoke_old: bool
    wait: int | None

    def read(self, env: Env) -> tuple[Sources, Any]:
        """Return what to apply, and the document of the plan that it must agree with, if there is one. Raises
        BadInput."""
        if not self.plan:
            return self.sources.read(env), None
        if self.sources != SourceOptions((), (), "", False, None, False, (), ()):
            raise BadInput("a plan says what is applied", "leave out -f and its flags, or the plan")
        return read_plan(self.plan)


@command(
    "apply",
    options=Options,
    examples=[
        "jsctl apply -f streams.yaml",
        "jsctl apply -f streams.yaml --dry-run",
        "jsctl apply -f streams/ --var keep=7d --prune",
        "jsctl apply plan.json",
    ],
)
@argument("plan", metavar="FILE", default="")
@source_flags
@option("--dry-run", is_flag=True, help="Only show what would change")
@option("--exit-code", is_flag=True, help="With --dry-run, exit with 2 for changes (1: not all can be done)")
@option("--force", "--yes", "-y", "force", is_flag=True, help="Change and remove without asking")
@option("--revoke-old", is_flag=True, help="Revoke the old credentials of users who may do less")
@option("--allow-data-loss", is_flag=True, help="Change and remove even if it deletes messages")
@option(
    "--wait",
    type=DURATION,
    is_flag=False,
    flag_value="1m",
    default=None,
    metavar="[DURATION]",
    help="Wait until replicas and mirrors are current (1m)",
)
async def apply(env: Env, options: Options) -> Result:
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

    A change that deletes messages says how many. Where nobody is asked, it needs --allow-data-loss, or
    `allow_data_loss: true` on the stream. Right before each change the server is asked again: if somebody
    else has changed what the file names, nothing is overwritten, and the status is 1. FILE is a plan of
    jsctl diff --out: just what it says is done, or nothing.
    """
    sources, planned = options.read(env)
    rules = sources.build_rules(allow_loss=options.allow_data_loss)
    is_previewed = planned is not None or options.dry_run or sources.may_have_operators
    if is_previewed:
        comparison = await compare_sources(env, sources, is_planning=True)
        plan, _ = await plan_streams(env, sources, comparison, rules)
        result = show_plan(env, plan, comparison)
        if planned is not None:
            refuse_stale(planned, result.document(), allow_loss=options.allow_data_loss)
        if options.dry_run:
            is_different = result.status is ExitStatus.DIFFERENT
            return result._replace(status=ExitStatus.OK) if is_different and not options.exit_code else result
        # What is wrong with streams is found before the store is written.
        if plan.refused:
            return view.refusal(plan)
        _refuse_unasked_loss(env, plan, options)
    comparison = await compare_sources(env, sources, is_planning=False)
    auth, logins = comparison.auth, comparison.logins
    if auth is None:
        return await _apply_streams(
            env, sources, comparison, rules, options, planned, is_previewed=is_previewed
        )
    outcome = await auth.apply(
        env, options.force, revoke_old=options.revoke_old, allow_loss=options.allow_data_loss
    )
    if auth.new_operators:
        env.say(_format_next(auth.new_operators, options))
        return auth.show_outcome(Result([], data={"unchanged": {}}), outcome)._replace(
            status=ExitStatus.FAILURE
        )
    if logins:
        logins.pushed = frozenset(name for name, _, _ in outcome.sent)
    return auth.show_outcome(await _apply_streams(env, sources, comparison, rules, options), outcome)


def _format_next(operators: Sequence[str], options: Options) -> str:
    """Return the commands that make new operators known to the servers, and then apply the rest."""
    sources = options.sources
    files, var, store, push = sources.files, sources.var, sources.store, sources.push
    store_flags = build_flag("--store", store) if store else []
    lines = [
        "servers do not know "
        f"{'operator' if len(operators) == 1 else 'operators'} {', '.join(operators)} yet; accounts were not"
        " sent to them, and streams were not made. Next:"
    ]
    for name in operators:
        flags = [*build_flag("--output", f"{name}.conf"), *store_flags]
        line = build_line("auth operator config", name, flags=flags, place=[])
        lines += [f"  {line}", f"  include ./{name}.conf in the configuration of each server, and restart it"]
    flags = [word for file in files for word in ("-f", file)]
    flags += [word for value in var for word in ("--var", value)]
    flags += [*store_flags, *(["--push"] if push else [])]
    lines.append(f"  {build_line('apply', flags=flags)}")
    return "\n".join(lines)


async def _apply_streams(
    env: Env,
    sources: Sources,
    comparison: Comparison,
    rules: Rules,
    options: Options,
    planned: Any = None,
    *,
    is_previewed: bool = True,
) -> Result:
    """Plan, ask, and change streams. planned: the document that the plan must agree with; None for any.
    is_previewed: whether its warnings were shown before."""
    plan, targets = await plan_streams(env, sources, comparison, rules)
    result = view.plan_result(plan)
    if not is_previewed:
        say_warnings(env, plan)
    if planned is not None:
        refuse_stale(planned, result.document(), allow_loss=options.allow_data_loss)
    if plan.refused:
        return view.refusal(plan)
    if plan.steps:
        await _confirm(env, plan, options)
        result = await _run(env, plan, rules)
    if options.wait and result.status is ExitStatus.OK:
        streams = comparison.declared.streams
        behind = await wait_until_current(streams, targets, options.wait / SECOND)
        if behind:
            error = Unreachable(f"not current after {format_duration(options.wait)}: {'; '.join(behind[:5])}")
            return result._replace(error=error, status=ExitStatus.UNREACHABLE)
    if result.status is ExitStatus.OK:
        save_places(env, comparison.labels, targets, pruned=sources.prune)
    return result


async def _confirm(env: Env, plan: Plan, options: Options) -> None:
    """Ask before removals, and on a terminal before changes. Raises Cancelled, BadInput; the latter also for
    deleted messages where nobody is asked."""
    _refuse_unasked_loss(env, plan, options)
    removals = plan.count("remove")
    if options.force or not (removals or (plan.count("change") and env.can_ask)):
        return
    env.say(view.format_plan(plan))
    env.say("")
    await env.require_yes(view.format_question(plan))


def _refuse_unasked_loss(env: Env, plan: Plan, options: Options) -> None:
    refuse_unasked_loss(
        env,
        [(step.format_name(), step.loss) for step in plan.steps if not step.allows_loss],
        force=options.force,
        allow=options.allow_data_loss,
        needs_force=plan.count("remove") > 0,
        also=", or `allow_data_loss: true` in the file",
    )


async def _run(env: Env, plan: Plan, rules: Rules) -> Result:
    done: list[Step] = []
    try:
        with env.progress("Applying", len(plan.steps)) as advance:
            outcome = await execute(plan.steps, rules, done, advance)
    except asyncio.CancelledError:
        env.say(f"{len(done)} of {len(plan.steps)} were done; {CONTINUE}")
        raise
    for step, error in outcome.failed:
        env.say(f"jsctl: error: {step.format_name()}: {view.format_failure(error)}")
    return view.apply_result(outcome, plan)

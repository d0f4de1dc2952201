"""`jsctl apply`."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.units import SECOND, format_duration
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.declared.applied_places import save_places
from jsctl.commands.declared.push import CONTINUE
from jsctl.commands.declared.saved_plan import (
    PLAN_AGAIN,
    SavedPlan,
    read_plan,
    refuse_other_places,
    refuse_stale,
)
from jsctl.commands.declared.sources import (
    Comparison,
    SourceOptions,
    Sources,
    compare_sources,
    plan_streams,
    show_plan,
    source_flags,
)
from jsctl.commands.options.data_loss import Losing, refuse_unasked_loss, say_unasked_loss
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus, JsctlError, Unreachable
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.current import wait_until_current
from jsctl.jetstream.declared.execute import execute
from jsctl.jetstream.declared.model import Place
from jsctl.jetstream.declared.plan import Plan
from jsctl.jetstream.declared.step import Step, Target, group_losses
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

    def read(self, env: Env) -> tuple[Sources, SavedPlan | None]:
        """Return what to apply, and the plan that it must agree with, if there is one. Raises BadInput."""
        if not self.plan:
            return self.sources.read(env), None
        if self.sources != SourceOptions((), (), "", False, None, False, (), (), False):
            raise BadInput("a plan says what is applied", "leave out -f and its flags, or the plan")
        planned = read_plan(self.plan)
        return planned.sources, planned


@command(
    "apply",
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
    rules = sources.build_rules(allow_loss=options.allow_data_loss, is_exact=planned is not None)
    may_have_accounts = sources.may_have_operators
    comparison = await compare_sources(env, sources, is_planning=may_have_accounts or options.dry_run)
    plan, targets = await plan_streams(env, sources, comparison, rules)
    result = show_plan(env, plan, comparison)
    if planned is not None:
        await refuse_other_places(planned, comparison.declared, targets)
        refuse_stale(planned.document, result.document())
    if options.dry_run:
        is_different = result.status is ExitStatus.DIFFERENT
        return result._replace(status=ExitStatus.OK) if is_different and not options.exit_code else result
    if plan.refused:
        return view.refusal(plan)
    _refuse_unasked_loss(env, plan, options)
    if not may_have_accounts:
        return await _apply_streams(env, sources, comparison, plan, targets, rules, options)
    done = ""
    # Accounts come before the streams in them; what is wrong with streams was found before the store is
    # written.
    comparison = await compare_sources(env, sources, is_planning=False)
    auth, outcome = comparison.auth, None
    if auth:
        if planned is not None:
            refuse_stale(
                {"auth": planned.document["auth"]}, {"auth": auth.show_plan(result).document()["auth"]}
            )
        outcome = await auth.apply(env, rules, options.force, revoke_old=options.revoke_old)
        done = outcome.describe()
        if auth.new_operators:
            env.say(_format_next(auth.new_operators, options))
            return auth.show_outcome(Result([], data={"unchanged": {}}), outcome)._replace(
                status=ExitStatus.FAILURE
            )
    first, (plan, targets) = plan, await plan_streams(env, sources, comparison, rules)
    if plan.refused:
        result = view.refusal(plan, done)
        return auth.show_outcome(result, outcome) if auth and outcome else result
    if planned is not None and not plan.is_within(first):
        raise JsctlError("streams have changed since the plan was made, and were not changed", PLAN_AGAIN)
    result = await _apply_streams(env, sources, comparison, plan, targets, rules, options)
    return auth.show_outcome(result, outcome) if auth and outcome else result


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
    plan: Plan,
    targets: Mapping[Place, Target],
    rules: Rules,
    options: Options,
) -> Result:
    """Ask, and change streams."""
    result = view.plan_result(plan)
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
        await save_places(env, comparison.labels, targets, pruned=sources.prune)
    return result


async def _confirm(env: Env, plan: Plan, options: Options) -> None:
    """Ask before removals and what cannot be undone, and on a terminal before changes. Raises Cancelled,
    BadInput; the latter also for deleted messages where nobody is asked."""
    _refuse_unasked_loss(env, plan, options)
    is_final = plan.count("remove") or any(step.is_sealing or step.takes for step in plan.steps)
    if options.force or not (is_final or (plan.count("change") and env.can_ask)):
        say_unasked_loss(env, _list_losing(plan.steps), force=True)
        return
    env.say(view.format_plan(plan))
    env.say("")
    await env.require_yes(view.format_question(plan))


def _refuse_unasked_loss(env: Env, plan: Plan, options: Options) -> None:
    refuse_unasked_loss(
        env,
        _list_losing([step for step in plan.steps if not step.allows_loss]),
        force=options.force,
        allow=options.allow_data_loss,
        needs_force=plan.count("remove") > 0,
        also=", or `allow_data_loss: true` in the file",
    )


def _list_losing(steps: Sequence[Step]) -> list[Losing]:
    losing = [
        Losing(", ".join(map(view.locate_name, group)), {}, loss) for group, loss in group_losses(steps)
    ]
    return losing + [Losing(each.origin, {}, each.loss, "take") for step in steps for each in step.taken]


async def _run(env: Env, plan: Plan, rules: Rules) -> Result:
    done: list[Step] = []
    try:
        with env.progress("Applying", len(plan.steps)) as advance:
            outcome = await execute(plan.steps, rules, done, advance)
    except asyncio.CancelledError:
        env.say(f"{len(done)} of {len(plan.steps)} were done; {CONTINUE}")
        raise
    for step, error in outcome.failed:
        where = f"{step.position}: " * bool(step.position)
        env.say(f"jsctl: error: {where}{step.format_name()}: {view.format_failure(error)}")
    return view.apply_result(outcome, plan)

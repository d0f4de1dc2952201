"""`jsctl apply`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.units import SECOND, format_duration
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.declared.applied_places import save_places
from jsctl.commands.declared.ending import describing_end
from jsctl.commands.declared.plan import DeclaredPlan, plan_declared
from jsctl.commands.declared.saved_plan import (
    PLAN_AGAIN,
    SavedPlan,
    read_plan,
    refuse_other_places,
    refuse_stale,
)
from jsctl.commands.declared.sources import SourceOptions, Sources, source_flags
from jsctl.commands.options.data_loss import Losing, refuse_unasked_loss, say_unasked_loss
from jsctl.env import Env
from jsctl.errors import BadInput, Declined, ExitStatus, JsctlError, Unreachable
from jsctl.jetstream.declared.current import wait_until_current
from jsctl.jetstream.declared.execute import execute
from jsctl.jetstream.declared.step import Step, group_losses
from jsctl.views.declared import plan as view
from jsctl.views.declared.plan import Asked
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.commands.declared.auth import DeclaredAuth


@dataclass(frozen=True, slots=True)
class Options:
    """plan: the file of a plan, instead of declared files; empty for none. wait: ns, None for no wait."""

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
        if self.sources != SourceOptions():
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
    plan = await plan_declared(env, sources, rules, only_shows=options.dry_run)
    result, auth = plan.show(env), plan.comparison.auth
    if planned is not None:
        await refuse_other_places(planned, plan.comparison.declared, plan.targets)
        refuse_stale(planned.document, result.document())
    if options.dry_run:
        is_different = result.status is ExitStatus.DIFFERENT
        return result._replace(status=ExitStatus.OK) if is_different and not options.exit_code else result
    if plan.streams.refused:
        return view.refusal(plan.streams)
    revoke_old = await _confirm(env, plan, auth, options)
    if auth is None:
        return await _apply_streams(env, plan, options)
    outcome = await auth.apply(env, rules, revoke_old=revoke_old)
    if auth.new_operators:
        env.say(_format_next(auth.new_operators, options))
        result = Result([], data={"unchanged": {}}, status=ExitStatus.FAILURE)
    else:
        result = await _apply_streams(env, plan, options, outcome.describe())
    return auth.show_outcome(result, outcome)


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


async def _apply_streams(env: Env, plan: DeclaredPlan, options: Options, done: str = "") -> Result:
    """Do the steps on servers. done: what was done to accounts before, in words."""
    if await plan.compare_again(env):
        if plan.streams.refused:
            return view.refusal(plan.streams, done)
        if plan.rules.is_exact:
            raise JsctlError("streams have changed since the plan was made, and were not changed", PLAN_AGAIN)
        try:
            await _confirm(env, plan, None, options)
        except Declined:
            raise Declined(f"{done}, and no stream was changed" if done else "nothing was changed") from None
    result = view.plan_result(plan.streams)
    if plan.streams.steps:
        result = await _run(env, plan, done)
    if options.wait and result.status is ExitStatus.OK:
        streams = plan.comparison.declared.streams
        behind = await wait_until_current(streams, plan.targets, options.wait / SECOND)
        if behind:
            error = Unreachable(f"not current after {format_duration(options.wait)}: {'; '.join(behind[:5])}")
            return result._replace(error=error, status=ExitStatus.UNREACHABLE)
    if result.status is ExitStatus.OK:
        await save_places(env, plan.comparison.labels, plan.targets, pruned=plan.sources.prune)
    return result


async def _confirm(env: Env, plan: DeclaredPlan, auth: "DeclaredAuth | None", options: Options) -> bool:
    """Ask before removals and what cannot be undone, and on a terminal before changes; return whether to
    revoke old credentials. auth: None if the accounts are done.

    Raises Declined, and BadInput, also for deleted messages where nobody is asked.
    """
    streams = plan.streams
    refuse_unasked_loss(
        env,
        _list_losing([step for step in streams.steps if not step.allows_loss]),
        force=options.force,
        allow=options.allow_data_loss,
        needs_force=streams.count("remove") > 0,
        also=", or `allow_data_loss: true` in the file",
    )
    if auth:
        auth.refuse(env, plan.rules, force=options.force)
    asked = auth.list_asked() if auth else Asked()
    is_final = asked.removed or streams.count("remove")
    is_final = is_final or any(step.is_sealing or step.takes for step in streams.steps)
    is_change = asked.changed or asked.sent or streams.count("change")
    if options.force or not (is_final or (is_change and env.can_ask)):
        losing = [*(auth.losses if auth else ()), *_list_losing(streams.steps)]
        say_unasked_loss(env, losing, force=True)
        return options.revoke_old
    texts = [asked.plan, view.format_plan(streams) if streams.steps else ""]
    env.say("\n\n".join(filter(None, texts)))
    env.say("")
    await env.require_yes(view.format_question(streams, asked))
    return options.revoke_old or (auth is not None and await auth.ask_revoking(env))


def _list_losing(steps: Sequence[Step]) -> list[Losing]:
    losing = [
        Losing(", ".join(map(view.locate_name, group)), {}, loss) for group, loss in group_losses(steps)
    ]
    return losing + [Losing(each.origin, {}, each.loss, "take") for step in steps for each in step.taken]


async def _run(env: Env, plan: DeclaredPlan, before: str) -> Result:
    steps, begun, done = plan.streams.steps, list[Step](), list[Step]()

    def describe() -> str:
        count = f"{len(done)} of {len(steps)} were done"
        interrupted = f"{len(begun) - len(done)} interrupted" * (len(begun) > len(done))
        return "; ".join(filter(None, (before, ", ".join(filter(None, (count, interrupted))))))

    with describing_end(env, describe), env.progress("Applying", len(steps)) as advance:
        outcome = await execute(steps, plan.rules, begun, done, advance)
    for step, error in outcome.failed:
        where = f"{step.position}: " * bool(step.position)
        env.say(f"jsctl: error: {where}{step.format_name()}: {view.format_failure(error)}")
    return view.apply_result(outcome, plan.streams)

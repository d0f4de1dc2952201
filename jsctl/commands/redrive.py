"""`jsctl redrive`."""

import time
from collections.abc import Collection

import click

from jsctl.base.signals import stoppable
from jsctl.base.units import join_some
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.options.criteria import EXPRESSION
from jsctl.commands.options.decoding import NO_DECODING
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.commands.options.redriving import COUNT, RedriveOptions, choosing_flags, target_flags
from jsctl.commands.picking.pick import open_consumer, open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.redrive import plan as plans
from jsctl.jetstream.redrive.choose import choose_messages
from jsctl.jetstream.redrive.journal import Journal
from jsctl.jetstream.redrive.lag import is_behind
from jsctl.jetstream.redrive.room import describe_removals, list_other_receivers
from jsctl.jetstream.redrive.run import (
    Pace,
    build_head,
    check_sizes,
    check_streams,
    count_lost,
    publish_remaining,
    settle_uncertain,
)
from jsctl.jetstream.redrive.target import Streams, Target, build_target
from jsctl.jetstream.redrive.undo import plan_undo, undo
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.waiting import PatientApi
from jsctl.views import redrive as view
from jsctl.views.result import Result

HELP = """\
Choose messages by dead letter, sequence, time, subject, header and payload; all flags that are given must
hold. The set is counted and frozen before the first message is published. Each one gets a Nats-Msg-Id, so
that a repeat stores nothing twice, and headers that say from where it is, and how often it was redriven.

With --journal, the same line goes on where a run was stopped or killed, and --undo removes what it stored.
The original messages stay in their stream.
"""


@command(
    "redrive",
    help=HELP,
    sections={
        "Messages": (
            *("--dead", "--sequences", "--since", "--until", "--first-seq", "--last-seq", "--filter"),
            *("--header", "--match", "--limit"),
        ),
        "Target": ("--subject", "--stream", "--to-consumer", "--quarantine", "--max-redrives"),
        "Way": ("--rate", "--pause-on", "--journal", "--undo"),
    },
    examples=[
        "jsctl redrive ORDERS NEW --dead --subject retry.orders --rate 20 --journal redrive.jsonl",
        "jsctl redrive ORDERS NEW --dead --to-consumer --filter ORDERS.eu --dry-run",
        "jsctl redrive ORDERS --since 2h --match 'amount > 100' --subject 'retry.>'",
        "jsctl redrive --undo redrive.jsonl",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@choosing_flags
@target_flags
@option("--rate", type=COUNT, metavar="N", help="At most N messages per second")
@option(
    "--pause-on",
    type=EXPRESSION,
    metavar="CONDITION",
    help="Pause while it holds for the target's consumers: 'lag > 100', unacknowledged, redelivered",
)
@option(
    "--max-redrives",
    type=COUNT,
    default=5,
    metavar="N",
    help="Leave out what was published again N times (5)",
)
@option(
    "--quarantine",
    selects=True,
    metavar="SUBJECT",
    default="",
    help="Publish those here that --max-redrives leaves out",
)
@option("--again", is_flag=True, help="Publish with new message ids what was published again before")
@option(
    "--journal",
    selects=True,
    metavar="FILE",
    default="",
    help="Write down what is done, to go on and to undo it",
)
@option(
    "--uncertain",
    type=click.Choice(["send", "skip"]),
    help="What becomes of messages that may be stored, if their stream cannot tell",
)
@option(
    "--undo", selects=True, metavar="FILE", default="", help="Remove what the redrive of this journal stored"
)
@unprotect_flag
@destructive("Publish or remove without asking")
async def redrive(env: Env, options: RedriveOptions) -> Result:
    if options.undo:
        return await _undo(env, options)
    existing = Journal.peek(options.journal) if options.journal else None
    if options.consumer or options.choice.dead or options.to_consumer:
        api, stream, consumer = await open_consumer(env, options.stream, options.consumer)
    else:
        (api, stream), consumer = await open_stream(env, options.stream), ""
    api = PatientApi(api, env.say)
    if existing is not None:
        return await _continue(env, api, options, existing, stream, consumer)
    info = await streams.fetch_info(api, stream)
    known = await Streams.fetch(api)
    target = Target("", stream)
    if not options.to_consumer:
        target = build_target(known, options.subject, options.to_stream)
    own = await consumers.fetch_info(api, stream, consumer) if consumer else {"config": {}}
    reader = NO_DECODING.build_reader(env, options.choice.condition)
    choice = await options.choice.read(env, api, stream, consumer, reader)
    frozen = await choose_messages(api, info, choice)
    if reader is not None and (summary := reader.summarize()):
        env.say(summary)
    limits = plans.Limits(options.max_redrives, options.quarantine, options.allow_loop or options.to_consumer)
    loop = stream, get_filters(own["config"])
    plan = await plans.plan_redrive(api, known, target, limits, frozen, loop)
    if not plan.items:
        return view.nothing(stream, plan, Journal())
    head = build_head(api, consumers.generate_name(), info, consumer, options.list_fixed(), plan.targets)
    sizes = {one.sequence: one.bytes for one in frozen.messages}
    await check_sizes(api, head, plan, sizes)
    for removals in await describe_removals(api, plan, sizes):
        env.say(f"warning: {removals}")
    subjects = [name for name, found in plan.targets.items() if found["config"]["name"] == stream]
    if subjects and (others := await list_other_receivers(api, stream, consumer, subjects)):
        env.say(f"warning: other consumers get these messages again, too: {join_some(others)}")
    await env.confirm(view.plan_intent(stream, consumer, plan, options.journal), force=options.force)
    with Journal.open(options.journal, create=True) if options.journal else Journal() as journal:
        if journal.is_ready:
            raise BadInput(f"journal {options.journal} was begun by another process", "repeat the line")
        journal.begin(head, plan.items)
        return await _publish(env, api, options, journal, plan.left)


async def _continue(
    env: Env, api: PatientApi, options: RedriveOptions, existing: Journal, stream: str, consumer: str
) -> Result:
    """Go on with the redrive of a journal, if it is the same."""
    fixed = {"stream": stream, "consumer": consumer, "domain": api.domain, **options.list_fixed()}
    for name, value in {**existing.head, **existing.head["options"]}.items():
        if name in fixed and fixed[name] != value:
            shown = value if value not in ("", None, []) else "nothing"
            raise BadInput(
                f"journal {options.journal} is of another redrive: its {name.replace('_', '-')} is {shown}",
                "repeat the line that it was begun with, or use another file",
            )
    if existing.is_undoing:
        raise BadInput(f"the redrive of journal {options.journal} was undone", "use another file")
    await check_streams(api, existing.head)
    if not existing.remaining:
        return view.nothing(stream, None, existing)
    await env.confirm(view.continue_intent(existing), force=options.force)
    with Journal.open(options.journal, create=False) as journal:
        before = frozenset(journal.stored)
        await settle_uncertain(api, journal, options.uncertain)
        return await _publish(env, api, options, journal, 0, before)


async def _publish(
    env: Env,
    api: PatientApi,
    options: RedriveOptions,
    journal: Journal,
    left: int,
    before: Collection[int] = (),
) -> Result:
    """Publish what has no outcome yet. left: number of messages that were redriven too often. before: those
    that were stored by an earlier run."""
    condition = options.pause_on

    async def should_pause() -> bool:
        return condition is not None and await is_behind(api, condition, journal.head)

    pace = Pace(options.rate or 0, should_pause if condition else None)
    start = time.perf_counter()
    try:
        async with stoppable():
            with env.progress("Publishing", len(journal.remaining)) as advance:
                await publish_remaining(api, journal, pace, advance, env.say)
    except ValueError as error:
        raise BadInput(f"--pause-on: {error}") from None
    finally:
        if journal.remaining:
            on = "; the same line goes on" if options.journal else ""
            env.say(f"{len(journal.remaining):,} of {len(journal.items):,} messages are not published{on}")
    lost = await count_lost(api, journal)
    if lost:
        env.say(
            f"warning: {lost:,} of them were stored before and are not in their stream any more; if they"
            " were not processed, --again publishes them with new message ids"
        )
    return view.published(journal, before, time.perf_counter() - start, left, lost)


async def _undo(env: Env, options: RedriveOptions) -> Result:
    if Journal.peek(options.undo) is None:
        raise BadInput(f"there is no journal {options.undo}, or it holds no redrive", "specify --undo FILE")
    with Journal.open(options.undo, create=False) as journal:
        api = PatientApi(await env.jetstream(), env.say)
        if journal.head["domain"] != api.domain:
            raise BadInput(
                f"the redrive was in domain {journal.head['domain'] or 'none'}", "specify it with --js-domain"
            )
        plan = await plan_undo(api, journal)
        refuse_protected(plan.infos, options.unprotect)
        await env.confirm(view.undo_intent(journal, plan), force=options.force or not plan.removals)
        with env.progress("Removing", plan.removals) as advance:
            removed = await undo(api, journal, plan, advance)
        return view.undone(journal, plan, removed)

"""`jsctl events`."""

import re
from dataclasses import dataclass

from jsctl.base.patterns import compile_pattern
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.options.idle import choose_idle_limit, wait_flag
from jsctl.commands.options.past_time import build_start_since
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor import events as domain
from jsctl.monitor.event_listener import EventListener, EventSelection, ServerEvent
from jsctl.nats.subjects import validate_subject
from jsctl.views.events import Events
from jsctl.views.message import events as view

HELP = """\
The events are advisories and metrics of JetStream, and the connections, disconnections and refused logins of
clients, which only users of the system account receive. With --js-advisory or --js-metric alone, the other is
left out. With --js-domain, only JetStream events of that domain are shown. --json writes each event as the
server sent it, one per line.

Ack samples come from consumers that were created with --sample. Ctrl-C ends the command with status 0, or 130
if --count was not reached.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. since: ns."""

    all_: bool
    cloudevent: bool
    short: bool
    pattern: str
    js_metric: bool
    js_advisory: bool
    servers: bool
    subjects: tuple[str, ...]
    stream: str
    since: int | None
    count: int
    wait: int  #: ns

    def __post_init__(self) -> None:
        if self.stream and (self.selects_kinds or self.subjects):
            raise BadInput(
                "--stream cannot be used with flags that select events", "all events of the stream are shown"
            )
        if self.since is not None and not self.stream:
            raise BadInput("--since is for --stream")

    @property
    def selects_kinds(self) -> bool:
        """Whether flags select kinds of events."""
        return self.all_ or self.js_metric or self.js_advisory


@command(
    "events",
    help=HELP,
    examples=[
        "jsctl events",
        "jsctl events --js-metric --no-srv-advisory --short",
        "jsctl events --subjects '$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>' --json",
    ],
)
@option("--all", "-a", "all_", is_flag=True, help="Show all events (the default without other flags)")
@option("--cloudevent", is_flag=True, help="Write CloudEvents 1.0, one per line")
@option("--short", is_flag=True, help="Show each event on one line")
@option("--filter", "pattern", metavar="REGEX", default=".", help="Only events whose JSON matches")
@option("--js-metric", is_flag=True, help="Show JetStream metrics")
@option("--js-advisory", is_flag=True, help="Show JetStream advisories")
@option("--srv-advisory/--no-srv-advisory", "servers", default=True, help="Show server advisories (yes)")
@option("--subjects", metavar="SUBJECT", multiple=True, help="Show only events on these subjects")
@option("--stream", metavar="STREAM", default="", help="Read events from a stream")
@option(
    "--since",
    type=DURATION,
    metavar="DURATION",
    help="With --stream: only events that are not older than this",
)
@option("--count", type=int, default=0, metavar="N", help="End after N events")
@wait_flag
async def events(env: Env, options: Options) -> Events[ServerEvent]:
    pattern = compile_pattern(options.pattern, re.IGNORECASE)
    extra = [validate_subject(subject, "subscribe to") for subject in options.subjects]
    connection = await env.connection()
    start = {"deliver_policy": "all"}
    if options.since is not None:
        start = build_start_since(env, options.since)
    selection = EventSelection(
        subjects=_select_subjects(options, connection.settings.js_event_prefix, extra),
        stream=options.stream,
        start=start,
        pattern=pattern,
        limit=options.count,
        idle=choose_idle_limit(env, options.wait, options.count),
    )
    as_lines = env.wants_json or options.cloudevent
    listener = EventListener(
        connection,
        selection,
        api=await env.jetstream() if options.stream else None,
        warn=env.say,
        announce=(lambda text: None) if as_lines else env.say,
    )
    return view.events(listener, short=options.short, cloudevent=options.cloudevent)


def _select_subjects(options: Options, prefix: str, extra: list[str]) -> list[str]:
    """Return the subjects of the selected events. prefix: that of JetStream events."""
    if extra and not options.selects_kinds:
        return extra
    both = options.all_ or not (options.js_metric or options.js_advisory)
    jetstream = domain.list_jetstream_subjects(
        prefix, advisories=both or options.js_advisory, metrics=both or options.js_metric
    )
    system = domain.SYSTEM if options.servers or options.all_ else ()
    return [*jetstream, *system, *extra]

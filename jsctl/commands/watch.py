"""`jsctl watch`."""

from collections.abc import AsyncGenerator, Sequence

import click

from jsctl.base.units import SECOND
from jsctl.commands.alerting.watching import Alerting
from jsctl.commands.cli import INTERVAL, argument, command, option
from jsctl.commands.options.watch import check_interval
from jsctl.commands.places.targets import resolve_targets
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.monitor.alerts.machine import Event
from jsctl.monitor.report.places import Place, Places
from jsctl.views.events import Events
from jsctl.views.report import alerts as view


@command(
    "watch",
    examples=[
        "jsctl watch alerts.yaml",
        "jsctl watch alerts.yaml --all-contexts --interval 10s",
        "jsctl watch alerts.yaml --count 1 --json",
    ],
)
@argument("file", label="File of alerts", path=True)
@option("--interval", type=INTERVAL, default=5 * SECOND, metavar="DURATION", help="Time between rounds (5s)")
@option("--count", type=click.IntRange(min=1), metavar="N", help="End after N rounds")
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option("--all-contexts", is_flag=True, help="Watch all contexts")
@option(
    "--group",
    "groups",
    metavar="NAME",
    multiple=True,
    help="Watch the contexts named in ~/.config/jsctl/groups/NAME, one per line; may be repeated",
)
@option(
    "--alert-state",
    metavar="FILE",
    default="",
    help="Keep the states of alerts in FILE (a file below ~/.local/state/jsctl)",
)
async def watch(
    env: Env,
    file: str,
    interval: int,
    count: int | None,
    pattern: str,
    all_contexts: bool,
    groups: tuple[str, ...],
    alert_state: str,
) -> Events[Event]:
    """Watch streams, consumers and replication without a screen, such as in a service of systemd, tell the
    receivers of FILE what fires, and write what changes, a line for each, also what is only pending.
    jsctl alert defaults prints a FILE to begin with; jsctl manual alerts describes it.

    --context and --js-domain may be repeated. The states of alerts are kept between two runs, so that a
    restart repeats nothing. Ctrl-C ends it with status 0; with --count, the status is 1 if an alert fires
    after the last round, and 4 if a context could not be reached.
    """
    check_interval(interval, "5s is the default", "--interval")
    targets = resolve_targets(env, groups, all_contexts=all_contexts)
    alerting = Alerting(env, file, alert_state, targets, pattern, has_stderr=False)
    places = Places(
        targets,
        pattern=pattern,
        with_consumers=True,
        needs=alerting.needs,
        clock=env.clock,
        trace=env.trace,
        say=env.say,
    )
    last: list[Place] = []

    async def rounds() -> AsyncGenerator[Sequence[Event], None]:
        number = 0
        try:
            async for current in places.rounds(interval / SECOND, count):
                number += 1
                last[:] = current if number == count else []
                yield alerting.add(current, env.clock())
        finally:
            await places.close()
            await alerting.close()

    def find_status() -> ExitStatus | None:
        if any(place.failure is not None for place in last):
            return ExitStatus.UNREACHABLE
        return ExitStatus.FAILURE if last and alerting.is_firing else None

    return view.show_events(rounds(), find_status)

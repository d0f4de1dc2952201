"""`jsctl report`: several contexts and domains on one screen."""

from collections.abc import AsyncIterator, Sequence

import click

from jsctl.base.user_folders import expand_home
from jsctl.commands.alerting.files import try_alerts
from jsctl.commands.alerting.watching import Alerting
from jsctl.commands.cli import command, option
from jsctl.commands.cli.values import parse_interval
from jsctl.commands.places.targets import resolve_targets
from jsctl.commands.report.acting import permit_changes
from jsctl.commands.report.fail_on import FailOn
from jsctl.commands.report.flags import Options, condition_flags, recording_flags
from jsctl.commands.report.rounds import fetch_rounds, open_recorder
from jsctl.commands.report.screen import (
    ReportInterval,
    Selection,
    build_replay_screen,
    build_screen,
    choose_rows,
    watch_places,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.report.lines import PARTS
from jsctl.monitor.report.places import Needs, Place, Round
from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.spark_queries import SparkQuery, read_queries
from jsctl.spark.session.folders import parse_folder
from jsctl.views.events import Events
from jsctl.views.report import report as view
from jsctl.views.report import rounds as rounds_view
from jsctl.views.report.choice import SORTS
from jsctl.views.result import Result

_PARTS = (*PARTS, *map(str, range(1, len(PARTS) + 1)))


class _Presentation:
    """What rounds look like without a screen."""

    def __init__(self, env: Env, options: Options, selection: Selection) -> None:
        self._env = env
        self._count = options.count
        self._folder = parse_folder(options.spark, "--spark") if options.spark else None
        self.read_queries()  # a wrong folder fails before anything is shown
        self._order = options.sort or "name"
        self._choice = choose_rows(selection)

    def read_queries(self) -> Sequence[SparkQuery] | None:
        """Return Spark's queries; None without --spark."""
        return None if self._folder is None else read_queries(self._folder)

    def build(self, places: Sequence[Place], *, at: float, timed: bool = False) -> Result:
        """Return the result of a round. at: seconds since 1970. timed: whether it says when that was."""
        if self._env.form not in ("csv", "tsv") and not self._env.is_selective:
            queries = self.read_queries()
            return view.result(places, at, self._order, timed=timed, queries=queries, choice=self._choice)
        for failure in view.failures(places):  # for which CSV and TSV have no place
            self._env.say(f"jsctl: {failure}")
        return view.flat(places, at, self._choice, self._order)

    def show(self, rounds: AsyncIterator[Round]) -> Events[Round]:
        """Return the rounds as events."""
        return rounds_view.events(
            rounds,
            lambda round: self.build(round.places, at=round.at or self._env.clock(), timed=True),
            count=self._count,
            clock=self._env.clock,
            choice=self._choice,
            queries=self.read_queries,
            sort=self._order,
        )


@command(
    "report",
    columns=(),
    examples=[
        "jsctl report",
        "jsctl report --watch --context east --context west",
        "jsctl report --watch 5s --js-domain hub --js-domain leaf",
        "jsctl report --watch --part consumers --sort lag --stream 'ORDERS*'",
        "jsctl report --watch 10s --count 6 --json",
        "jsctl report --watch --all-contexts --problems --filter '!^test'",
        "jsctl report --watch --spark /shared/progress",
        "jsctl report --record today.jsctl --keep 48h",
        "jsctl report --replay today.jsctl",
        "jsctl report --fail-on 'lag_messages > 1000 or problems > 0'",
    ],
)
@option(
    "--watch",
    metavar="[INTERVAL]",
    type=ReportInterval("duration", parse_interval),
    is_flag=False,
    flag_value="2s",
    help="Repeat it every INTERVAL (2s) until ctrl-C or q",
)
@option(
    "--count",
    metavar="N",
    type=click.IntRange(min=1),
    help="End after N rounds; without --watch, every 2s",
)
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option(
    "--sort",
    type=click.Choice(SORTS),
    metavar="KEY",
    default=None,
    help="Order of the rows: name, trouble or a number of --json, the largest first (name; on the screen of"
    " --watch what is wrong first)",
)
@option(
    "--part",
    type=click.Choice(_PARTS),
    metavar="PART",
    help="Show only this part, by name or number; the screen of --watch begins with it: " + ", ".join(PARTS),
)
@option(
    "--filter",
    "search",
    metavar="REGEX",
    default="",
    help="Show only rows whose texts match; !REGEX for all others",
)
@option("--problems", is_flag=True, help="Show only what is wrong")
@recording_flags
@option("--all-contexts", is_flag=True, help="Report on all contexts")
@option(
    "--group",
    "groups",
    metavar="NAME",
    multiple=True,
    help="Report on the contexts named in ~/.config/jsctl/groups/NAME, one per line; may be repeated",
)
@option(
    "--consumers/--no-consumers",
    default=True,
    help="Include consumers, a request for each stream (yes)",
)
@condition_flags
@option(
    "--spark",
    metavar="DIR",
    default="",
    help="Show Spark's streaming queries too, which jsctl.spark.progress writes to DIR",
)
async def report(env: Env, options: Options) -> Result | Events[Round]:
    """Show each domain of each context in a part of its own; --context and --js-domain may be repeated. A
    domain that cannot be reached is named, and does not delay the others.

    With --json, one document {"at", "reports": [{"context", "domain", "at", "error", "trouble", "login",
    "not_checked", "as_of", "streams", "replication", "consumers", "servers", "accounts"}]}; with --watch, one
    on each line. On a terminal, --watch is a screen with keys: ? lists them. Without --allow-changes, none of
    them changes anything on a server. --part servers, accounts, buckets, objects, services, connections and
    schedules are shown only if they are asked for; the last five are a further list of the JSON then.
    --columns takes the keys of a list, of --part or of streams, of a report that is shown once; of problems
    it takes context, domain, kind, name, bad, trouble and codes, which are their CSV.

    --fail-on names the keys of a row of --json (jsctl schema info io.jsctl.v1.report), context, domain, kind
    (stream, mirror, source, consumer, server, account or login) and problems, their number; lag is of copies
    and consumers. What servers do, such as cpu, only a login of the system account sees; for others
    it was not checked.
    It is about all rows, also those left out, and so are the first line of a context and its "trouble".
    What could not be looked at ("not_checked") fails it, too, unless --allow-unchecked is given; what a flag
    leaves out does not. A condition is refused if one of the parts between its "or" can never hold: about
    consumers with --no-consumers, or about a rate in a single round.

    The exit status is 4 when a context could not be reached; with --watch it is 0, even after ctrl-C, unless
    --count was not reached, and 1 when the condition of --fail-on held, which ends it.
    """
    selection = options.build_selection(env)
    shown = _Presentation(env, options, selection)
    condition = FailOn(env, options.fail_on, options.allow_unchecked)
    has_rates = not options.is_single and options.count != 1
    condition.check_can_hold(has_consumers=options.consumers, has_rates=has_rates)
    if options.replay:
        return await _replay(env, options, selection, shown)
    targets = resolve_targets(env, options.groups, all_contexts=options.all_contexts)
    if options.allow_changes:
        await permit_changes(env, targets, is_watch=not options.is_single)
    alerting = None
    needs: Needs = "all" if options.record or selection.part in ("servers", "connections") else "lists"
    needs = condition.needs or needs
    if options.alert:
        alerting = Alerting(
            env, options.alert, options.alert_state, targets, options.pattern, has_stderr=True
        )
        alerting.check_can_hold(has_consumers=options.consumers)
        needs = alerting.needs if needs == "lists" else needs
    watched = watch_places(env, targets, selection, needs, is_recorded=bool(options.record))
    if options.is_single:
        try:
            places = await watched.ask_once()
        finally:
            await watched.close()
        if len(places) == 1 and places[0].failure is not None and not env.wants_json:
            raise places[0].failure
        return condition.apply(shown.build(places, at=env.clock()), places)
    recorder = open_recorder(options.record, options.keep)
    rounds = fetch_rounds(
        watched,
        recorder,
        interval=selection.interval,
        count=options.count,
        clock=env.clock,
        alerting=alerting,
    )
    screen = build_screen(env, targets, selection, shown.read_queries, recorder, condition, alerting)
    return shown.show(condition.until_found(rounds, options.count))._replace(
        result=lambda: condition.status, live=screen
    )


async def _replay(
    env: Env, options: Options, selection: Selection, shown: _Presentation
) -> Result | Events[Round]:
    """Return the recorded rounds, or the alerts about them."""
    if options.record or options.fail_on or selection.is_by_name or options.allow_changes:
        hint = "leave out --record, --fail-on, --allow-changes and contexts"
        raise BadInput("--replay shows a recorded file", hint)
    if options.alert:
        return await try_alerts(env, options.alert, options.replay)
    recording = Replay(expand_home(options.replay))
    return shown.show(recording.rounds())._replace(live=build_replay_screen(recording, selection))

"""`jsctl report`: several contexts and domains on one screen."""

from collections.abc import AsyncIterator, Sequence

import click

from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.commands.alerting.files import try_alerts
from jsctl.commands.alerting.watching import Alerting
from jsctl.commands.cli import command, option
from jsctl.commands.cli.values import parse_interval
from jsctl.commands.options.watch import check_interval
from jsctl.commands.places.targets import resolve_targets
from jsctl.commands.report.acting import permit_changes
from jsctl.commands.report.fail_on import FailOn
from jsctl.commands.report.flags import condition_flags, recording_flags
from jsctl.commands.report.screen import (
    ReportInterval,
    Selection,
    build_replay_screen,
    build_screen,
    choose_rows,
    fetch_rounds,
    open_recorder,
    watch_places,
)
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.alerts.conditions import TimedCondition
from jsctl.monitor.report.lines import PARTS
from jsctl.monitor.report.places import Place, Round
from jsctl.monitor.report.replay import Replay
from jsctl.monitor.report.spark_queries import SparkQuery, read_queries
from jsctl.spark.session.folders import parse_folder
from jsctl.views.events import Events
from jsctl.views.report import report as view
from jsctl.views.report import rounds as rounds_view
from jsctl.views.report.choice import SORTS
from jsctl.views.result import Result

_PARTS = (*PARTS, *map(str, range(1, len(PARTS) + 1)))


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
async def report(
    env: Env,
    watch: int | None,
    count: int | None,
    pattern: str,
    sort: str | None,
    part: str | None,
    search: str,
    problems: bool,
    all_contexts: bool,
    groups: tuple[str, ...],
    record: str,
    keep: int | None,
    replay: str,
    consumers: bool,
    fail_on: TimedCondition | None,
    allow_unchecked: bool,
    alert: str,
    allow_changes: bool,
    alert_state: str,
    spark: str,
) -> Result | Events[Round]:
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
    check_interval(watch, "2s is the default")
    folder = parse_folder(spark, "--spark") if spark else None

    def queries() -> Sequence[SparkQuery] | None:
        return None if folder is None else read_queries(folder)

    queries()  # a wrong folder fails before anything is shown
    order = sort or "name"
    if allow_unchecked and fail_on is None:
        raise BadInput("--allow-unchecked needs --fail-on", "without it nothing fails")
    condition = FailOn(env, fail_on, allow_unchecked)
    if alert_state and (not alert or replay):
        raise BadInput("--alert-state needs --alert, and no --replay", "it says where states are kept")
    is_single = watch is None and count is None and not record and not alert
    condition.refuse_what_cannot_hold(has_consumers=consumers, has_rates=not is_single and count != 1)
    if keep is not None and not record:
        raise BadInput("--keep needs --record", "it says how long recorded rounds are kept")
    interval = watch or 2 * SECOND
    is_by_name = bool(env.repeated.get("context") or all_contexts or groups)
    selection = Selection(
        part=PARTS[int(part) - 1] if part and part.isdigit() else part or "",
        filter=search,
        sort=sort or "",
        problems=problems,
        pattern=pattern,
        consumers=consumers,
        interval=interval,
        rounds=count or 0,
        allow_changes=allow_changes,
        is_by_name=is_by_name,
    )
    choice = choose_rows(selection)

    def build(places: Sequence[Place], *, at: float, timed: bool = False) -> Result:
        if env.form not in ("csv", "tsv") and not env.is_selective:
            return view.result(places, at, order, timed=timed, queries=queries(), choice=choice)
        for failure in view.failures(places):  # for which CSV and TSV have no place
            env.say(f"jsctl: {failure}")
        return view.flat(places, at, choice, order)

    def events(rounds: AsyncIterator[Round]) -> Events[Round]:
        return rounds_view.events(
            rounds,
            lambda round: build(round.places, at=round.at or env.clock(), timed=True),
            count=count,
            clock=env.clock,
            choice=choice,
            queries=queries,
            sort=order,
        )

    if replay:
        if record or fail_on or is_by_name or allow_changes:
            hint = "leave out --record, --fail-on, --allow-changes and contexts"
            raise BadInput("--replay shows a recorded file", hint)
        if alert:
            return await try_alerts(env, alert, replay)
        recording = Replay(expand_home(replay))
        return events(recording.rounds())._replace(live=build_replay_screen(recording, selection))
    targets = resolve_targets(env, groups, all_contexts=all_contexts)
    if allow_changes:
        await permit_changes(env, targets, is_watch=not is_single)
    alerting = Alerting(env, alert, alert_state, targets, pattern, has_stderr=True) if alert else None
    if alerting is not None:
        alerting.refuse_what_cannot_hold(has_consumers=consumers)
    needs = condition.needs or ("all" if record or selection.part in ("servers", "connections") else "lists")
    needs = alerting.needs if alerting is not None and needs == "lists" else needs
    watched = watch_places(env, targets, selection, needs, is_recorded=bool(record))
    if is_single:
        try:
            places = await watched.ask_once()
        finally:
            await watched.close()
        if len(places) == 1 and places[0].failure is not None and not env.wants_json:
            raise places[0].failure
        return condition.apply(build(places, at=env.clock()), places)
    recorder = open_recorder(record, keep)
    rounds = fetch_rounds(
        watched, recorder, interval=interval, count=count, clock=env.clock, alerting=alerting
    )
    screen = build_screen(env, targets, selection, queries, recorder, condition, alerting)
    return events(condition.until_found(rounds, count))._replace(result=lambda: condition.status, live=screen)

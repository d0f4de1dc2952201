"""`jsctl export reports`."""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass

import click

from jsctl.base.signals import handle_signals, signals_as_interrupts
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.commands.places.targets import resolve_targets
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.report.replay import Replay
from jsctl.spark.export.report_tables import SCHEMAS
from jsctl.spark.export.sampling import SamplingOptions, export_recording, export_reports
from jsctl.spark.export.target import FORMATS
from jsctl.spark.export.targets import open_folder
from jsctl.spark.session.folders import parse_place
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `export reports`. Intervals are in ns."""

    to: str
    format: str
    every: int  #: ns
    duration: int  #: ns
    replay: str
    spark: SparkOptions

    def __post_init__(self) -> None:
        if self.replay and (self.every or self.duration):
            raise BadInput(
                "--replay cannot be used with --every and --for", "the rounds are those of the file"
            )
        if self.every < 0 or self.duration < 0 or (self.duration and not self.every):
            raise BadInput("--for needs --every", "add the interval, such as --every 30s")


@command(
    "reports",
    examples=[
        "jsctl export reports --to reports",
        "jsctl export reports --to reports --every 30s --for 1h --context hub --context leaf",
        "jsctl export reports --to reports --js-domain hub --js-domain leaf --format json",
        "jsctl export reports --to reports --replay today.jsctl",
    ],
)
@option("--to", metavar="DIR", required=True, help="Folder or URI for the tables; a later run appends to it")
@option("--format", type=click.Choice(FORMATS), default="parquet", help="Format of the files (parquet)")
@option("--every", type=DURATION, metavar="DURATION", default=0, help="Take samples at this interval")
@option("--for", "duration", type=DURATION, metavar="DURATION", default=0, help="How long to take samples")
@option(
    "--replay", metavar="FILE", default="", help="Write the rounds of a file that jsctl report --record wrote"
)
@spark_options
async def reports(env: Env, options: Options) -> Result:
    """Write a table for each report: DIR/streams, DIR/replication, DIR/consumers, DIR/servers and
    DIR/accounts, partitioned by date. Times are in UTC, sizes in bytes, durations in nanoseconds. Only a
    login of the system account gets the reports of servers: add its context. --context and --js-domain may be
    repeated. With --every, ctrl-C ends the sampling and writes the samples that were taken.
    """
    place = parse_place(options.to, "--to")
    session = options.spark.prepare("jsctl export reports", place)
    replay = Replay(expand_home(options.replay)) if options.replay else None
    target = open_folder(place, "reports", options.format, list(SCHEMAS))
    if replay is not None:
        written = await export_recording(replay, target, session)
        return view.reports(written.rows, str(place), int(written.seconds * SECOND), written.status)
    sampling = SamplingOptions(resolve_targets(env), options.every, options.duration, session)

    def announce_start() -> None:
        if options.every:
            end = f"for {format_exact_duration(options.duration)}" if options.duration else "until Ctrl-C"
            env.inform(f"taking a sample every {format_exact_duration(options.every)} {end}")

    stop = asyncio.Event()
    with signals_as_interrupts(), handle_signals(stop.set, once=True) if options.every else nullcontext():
        exported = await export_reports(
            sampling, target, stop, clock=env.clock, notify=env.say, started=announce_start
        )
    return view.reports(exported.rows, str(place), int(exported.seconds * SECOND), exported.status)

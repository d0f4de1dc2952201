"""`jsctl exporter`."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.signals import handle_signals
from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.options.flag_file import flag_file, use_global_flags
from jsctl.commands.options.watch import check_interval
from jsctl.commands.places.targets import resolve_targets
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.exporter.collect import Exporter
from jsctl.monitor.exporter.http import MetricsServer, parse_address
from jsctl.monitor.exporter.metrics import Names
from jsctl.monitor.report.places import Place
from jsctl.views.events import Events, results
from jsctl.views.result import Result, Text

_DEFAULT_ADDRESS = "127.0.0.1:7777"


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. interval: ns. count: rounds; None for no end."""

    listen: str
    textfile: str
    interval: int
    count: int | None
    pattern: str
    consumers: bool
    names: Names
    prefix: str
    web_config: str
    subjects: int
    config: dict[str, Any]

    @property
    def address(self) -> tuple[str, int] | None:
        """The address to listen on; None for none. Raises BadInput."""
        if self.textfile and not self.listen:
            return None
        return parse_address(self.listen or _DEFAULT_ADDRESS)


prefix_flag = option(
    "--prefix",
    metavar="PREFIX",
    default="",
    help="Begin names of prometheus-nats-exporter with this; nats for the dashboards of Helm charts",
)
"""What begins names of metrics."""


def check_prefix(prefix: str) -> None:
    """Raise BadInput for a prefix that no metric may have."""
    if not re.fullmatch(r"([a-zA-Z_:][a-zA-Z0-9_:]*)?", prefix):
        raise BadInput(
            f"'{prefix}' is not a valid prefix", "use letters, digits and _, beginning with a letter"
        )


@command(
    "exporter",
    examples=[
        "jsctl exporter",
        "jsctl exporter --listen :7777 --context east --context west",
        "jsctl exporter --listen :7777 --web-config web.yml",
        "jsctl exporter --textfile /var/lib/node_exporter/jetstream.prom --interval 30s",
        "jsctl exporter --textfile - --count 1",
        "jsctl exporter --config exporter.yaml",
    ],
)
@option("--listen", metavar="HOST:PORT", default="", help=f"Where to answer scrapes ({_DEFAULT_ADDRESS})")
@option(
    "--web-config",
    metavar="FILE",
    default="",
    help="Certificate and logins for scrapes: the web configuration file of Prometheus' exporters",
)
@option("--textfile", metavar="FILE", default="", help="Write to this file each round instead; - is stdout")
@option(
    "--interval", type=DURATION, default=15 * SECOND, metavar="DURATION", help="Time between two rounds (15s)"
)
@option("--count", type=click.IntRange(min=1), metavar="N", help="End after N rounds")
@option(
    "--stream", "pattern", metavar="PATTERN", default="", help="Only streams whose name matches, with * and ?"
)
@option("--consumers/--no-consumers", default=True, help="Include consumers, a request for each stream (yes)")
@option(
    "--names",
    type=click.Choice(["all", "jetstream", "jsctl"]),
    default="all",
    help="Metrics with the names of prometheus-nats-exporter, those of jsctl, or all",
)
@prefix_flag
@option(
    "--subjects",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Messages by subject, for N subjects of each stream and the rest (0)",
)
@flag_file("Read flags from a YAML file, by name, such as context: [east, west]", ("web-config", "textfile"))
async def exporter(env: Env, options: Options) -> Events[Result]:
    """Export the metrics of streams, consumers, replication and problems, with the login of an account, and
    those of servers, if a context has a login of the system account. --context and --js-domain may be
    repeated. Servers are asked once per interval, however often metrics are scraped; jsctl_up is 0 for a
    context or domain that does not answer.

    Several exporters with the same configuration may run side by side. Their series differ in labels that
    Prometheus adds, such as instance, so that max by the other labels counts each once: the dashboards and
    rules of jsctl exporter dashboards do so.

    --subjects asks each stream for its subjects, in each round. A subject that has a series keeps it; the
    places that are free go to those with the most messages, and all others are the subject "(other)".
    Advisories are counted since the exporter started.

    The keys of --config are flags without the two hyphens, with those for contexts and logins (context,
    js-domain, server, creds, ...). What is on the command line or in the environment replaces them; paths
    begin at the folder of the file.

    It runs until ctrl-C, or for --count rounds: the exit status is then 4 if one did not answer in the last
    round.
    """
    use_global_flags(env, options.config)
    check_interval(options.interval, "15s is the default", "--interval")
    check_prefix(options.prefix)
    _check_folder(options.textfile)
    if options.web_config and options.address is None:
        raise BadInput("--web-config is for scrapes, which need --listen with --textfile")
    stop = asyncio.Event()
    places: list[Place] = []

    def last() -> Result | None:
        if options.count is None or stop.is_set() or not any(place.error for place in places):
            return None
        return Result(data={"places": len(places)}, status=ExitStatus.UNREACHABLE)

    return results(_collect_rounds(env, options, stop, places), last)


async def _collect_rounds(
    env: Env, options: Options, stop: asyncio.Event, last_places: list[Place]
) -> AsyncGenerator[Result, None]:
    """Collect the metrics of each round, until `stop` is set; yield those that go to stdout.

    last_places: receives the contexts and domains of the last round.
    """
    collector = Exporter(
        resolve_targets(env),
        pattern=options.pattern,
        consumers=options.consumers,
        names=options.names,
        prefix=options.prefix,
        subjects=options.subjects,
        clock=env.clock,
        trace=env.trace,
    )
    config = None
    if options.web_config:
        from jsctl.monitor.exporter.web_config import load_web_config  # imports ssl

        config = load_web_config(str(expand_home(options.web_config)))
    with handle_signals(stop.set, once=True):
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(collector.close)
            if (address := options.address) is not None:
                server = MetricsServer(address, lambda: collector.text, config)
                await stack.enter_async_context(server)
                host, every = address[0] or "every address", options.interval / SECOND
                env.say(f"Metrics on {host}, port {server.port}, path /metrics, collected every {every:g}s")
            errors: dict[str, str] = {}
            async for places in collector.rounds(options.interval / SECOND, options.count, stop):
                last_places[:] = places
                if config is not None and config.tls:
                    config.tls.renew()
                _report_changes(env, last_places, errors)
                if options.textfile == "-":
                    yield Result(
                        [Text(collector.text.rstrip("\n"), whole=True)], data={"metrics": collector.text}
                    )
                elif options.textfile:
                    with naming_write_errors(options.textfile):
                        write_atomically(expand_home(options.textfile), collector.text, mode=None)


def _report_changes(env: Env, places: Sequence[Place], errors: dict[str, str]) -> None:
    """Report when a context or domain stops answering, and when it answers again."""
    for place in places:
        before = errors.get(place.title, "")
        if place.error and not before:
            env.say(f"jsctl: {place.title}: {place.error}")
        elif before and not place.error:
            env.say(f"jsctl: {place.title} answers again")
        errors[place.title] = place.error


def _check_folder(file: str) -> None:
    """Raise BadInput for a file whose folder does not exist."""
    if file and file != "-" and not expand_home(file).parent.is_dir():
        raise BadInput(f"the folder of {file} does not exist")

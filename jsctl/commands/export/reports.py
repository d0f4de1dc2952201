"""`jsctl export reports`."""

import time
from pathlib import Path

import click

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.export.options import spark_options
from jsctl.commands.report.targets import targets
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.report.watching import Poller, Watch, watch
from jsctl.signals import graceful_stop
from jsctl.spark.export.reports import SCHEMAS, Sample, rows, take
from jsctl.spark.export.sampling import sample
from jsctl.spark.export.target import FORMATS, Target
from jsctl.spark.export.write import Rows
from jsctl.spark.export.writer import Writer
from jsctl.spark.session.session import check
from jsctl.units import SECOND, exact_duration
from jsctl.views.export import export as view
from jsctl.views.result import Result


@command(
    "reports",
    examples=[
        "jsctl export reports --to reports",
        "jsctl export reports --to reports --every 30s --for 1h --context hub --context leaf",
        "jsctl export reports --to reports --js-domain hub --js-domain leaf --format json",
    ],
)
@option("--to", metavar="DIR", required=True, help="Folder for the tables; a later run appends to it")
@option("--format", type=click.Choice(FORMATS), default="parquet", help="Form of the files (parquet)")
@option("--every", type=DURATION, metavar="DURATION", default=0, help="Take a sample again and again")
@option("--for", "duration", type=DURATION, metavar="DURATION", default=0, help="How long to take samples")
@spark_options
async def reports(
    env: Env, to: str, format: str, every: int, duration: int, master: str, remote: str
) -> Result:
    """A table a report, in DIR/streams, DIR/replication, DIR/consumers and DIR/servers, partitioned by date;
    times are in UTC, sizes in bytes, durations in nanoseconds. Servers answer the system account only: give
    its context beside the others. --context and --js-domain may be given several times. With --every,
    Ctrl-C ends the sampling and writes what was taken.
    """
    if every < 0 or duration < 0 or (duration and not every):
        raise BadInput("--for needs --every", "say how often, such as --every 30s")
    check(master, remote)
    wanted = targets(env)
    target = Target.open(Path(to).expanduser(), "reports", format, list(SCHEMAS))
    begin = time.monotonic()
    with graceful_stop(graceful=bool(every)) as stop:
        async with watch(wanted, take, clock=env.clock) as asked:
            sampler = _Sampler(env, asked)
            first = await sampler.first()
            async with Writer(target, SCHEMAS, master, remote) as writer:
                if every:
                    end = f"for {exact_duration(duration)}" if duration else "until Ctrl-C"
                    env.say(f"taking a sample every {exact_duration(every)} {end}")
                await sample(first, sampler.take, writer, every, duration, stop)
            status = sampler.status
    took = int((time.monotonic() - begin) * SECOND)
    return view.reports(writer.rows, str(target.path), took, status)


class _Sampler:
    """Takes samples of all that was asked for. What cannot be reached is said once, and when it is back."""

    def __init__(self, env: Env, asked: Watch[Sample]) -> None:
        self._env = env
        self._asked = asked
        self._failing: set[int] = set()

    @property
    def status(self) -> ExitStatus:
        """That of a failure in the last sample, if any."""
        return next((p.failure.status for p in self._asked.pollers if p.failure), ExitStatus.OK)

    async def first(self) -> Rows:
        """Raises a failure when nothing at all answers."""
        await self._asked.once()
        failures = [poller.failure for poller in self._asked.pollers if poller.failure]
        if len(failures) == len(self._asked.pollers):
            raise failures[0]
        return self._rows()

    async def take(self) -> Rows:
        await self._asked.once()
        return self._rows()

    def _rows(self) -> Rows:
        for at, poller in enumerate(self._asked.pollers):
            if poller.failure and at not in self._failing:
                self._failing.add(at)
                self._env.say(f"jsctl: not in the samples: {_name(poller)}: {poller.failure}")
            elif not poller.failure and at in self._failing:
                self._failing.discard(at)
                self._env.say(f"jsctl: in the samples again: {_name(poller)}")
        return rows(
            _placed(poller.history[-1].data, poller) for poller in self._asked.pollers if not poller.failure
        )


def _placed(sample: Sample, poller: Poller[Sample]) -> Sample:
    return sample._replace(snap=sample.snap._replace(context=poller.context, domain=poller.domain))


def _name(poller: Poller[Sample]) -> str:
    return " ".join(part for part in (poller.context, poller.domain) if part) or poller.where

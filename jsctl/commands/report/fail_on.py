"""`jsctl report --fail-on`: one alert, which ends the report when it fires."""

from collections.abc import AsyncGenerator, Sequence

from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli.values import Parsed
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.alerts.conditions import TimedCondition, list_holders, list_rates, parse_condition
from jsctl.monitor.alerts.machine import States, collect_seen, list_firing, step
from jsctl.monitor.alerts.rules import AlertFile, Rule
from jsctl.monitor.report.places import Needs, Place, Round
from jsctl.views.report import report as view
from jsctl.views.result import Result

CONDITION = Parsed("expression", lambda text: parse_condition(text) if text else None)
"""A condition on rows, as `monitor.alerts.conditions` reads it; an empty one matches everything."""

_MAX_SHOWN = 5


class FailOn:
    """The condition of --fail-on. It also holds for what could not be looked at, unless that is allowed."""

    def __init__(self, env: Env, timed: TimedCondition | None, allow_unchecked: bool) -> None:
        self._env = env
        self._condition = None if timed is None else timed.condition
        self._hold = 0 if timed is None else timed.hold
        self._states: States = {}
        self._allow_unchecked = allow_unchecked
        self._names: Sequence[str] = ()
        self._unchecked: Sequence[str] = ()
        self._holders = [] if timed is None else list_holders(timed.condition)

    @property
    def needs(self) -> Needs | None:
        """What it needs of places; None without a condition."""
        if self._condition is None:
            return None
        return "everything" if ["servers"] in self._holders else "all"

    def check_can_hold(self, *, has_consumers: bool, has_rates: bool) -> None:
        """Raise BadInput if an alternative of the condition asks for what the report lacks."""
        if not has_consumers and ["consumers"] in self._holders:
            raise BadInput("--fail-on is about consumers, which --no-consumers leaves out", "use one of them")
        if not has_rates and self._condition and (rates := list_rates(self._condition)):
            raise BadInput(f"--fail-on: {rates[0]} needs two rounds", "add --count 2 or --watch")
        if not has_rates and self._hold:
            raise BadInput("--fail-on: what holds for a time needs several rounds", "add --watch")

    @property
    def status(self) -> ExitStatus:
        """The status that the condition gives."""
        return ExitStatus.FAILURE if self._names or self._unchecked else ExitStatus.OK

    def evaluate(self, places: Sequence[Place], *, is_last: bool = False) -> bool:
        """Return whether the condition holds for a row, or cannot be answered. is_last: whether no round
        follows."""
        if self._condition is None:
            return False
        file = AlertFile([Rule("", self._condition, self._hold, tells_no_data=False)])
        self._states, _ = step(file, self._states, seconds_to_ns(self._env.clock()), collect_seen(places))
        self._names = [standing.name for standing in list_firing(self._states)]
        are_servers_enough = self._holders and all("servers" in lists for lists in self._holders)
        self._unchecked = view.unchecked(places, "servers" if are_servers_enough else "", is_last=is_last)
        if self._allow_unchecked:
            self._unchecked = ()
        return self.status is ExitStatus.FAILURE

    def report(self) -> None:
        """Name the rows for which it holds, and what could not be looked at."""
        for name in self._names[:_MAX_SHOWN]:
            self._env.say(f"jsctl: --fail-on holds for {name}")
        if len(self._names) > _MAX_SHOWN:
            self._env.say(f"jsctl: --fail-on holds for {len(self._names) - _MAX_SHOWN:,} more")
        for sentence in self._unchecked[:_MAX_SHOWN]:
            self._env.say(f"jsctl: --fail-on: not checked: {sentence}; --allow-unchecked lets it pass")

    def apply(self, result: Result, places: Sequence[Place]) -> Result:
        """Return the result of a single report with its status, and name the rows."""
        if not self.evaluate(places):
            return result
        self.report()
        return result._replace(status=self.status) if result.status is ExitStatus.OK else result

    async def until_found(
        self, rounds: AsyncGenerator[Round, None], count: int | None
    ) -> AsyncGenerator[Round, None]:
        """Yield rounds up to the first one in which the condition holds, and then name its rows. count: of
        rounds; None for no end."""
        number = 0
        try:
            async for round in rounds:
                number += 1
                holds = self.evaluate(round.places, is_last=number == count)
                yield round
                if holds:
                    return
        finally:
            self.report()  # also when the last round was read, and nothing asks for another
            await rounds.aclose()

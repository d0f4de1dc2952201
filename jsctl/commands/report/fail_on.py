"""`jsctl report --fail-on`."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager

from jsctl.base.command_lines import build_line
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.jetstream.find.expression import Condition
from jsctl.monitor.report.places import Needs, Place, Round
from jsctl.views.report import report as view
from jsctl.views.report.conditions import list_holders, list_rates, matching_rows
from jsctl.views.result import Result

_MAX_SHOWN = 5


class FailOn:
    """The condition of --fail-on. It also holds for what could not be looked at, unless that is allowed."""

    def __init__(self, env: Env, condition: Condition | None, allow_unchecked: bool) -> None:
        self._env = env
        self._condition = condition
        self._allow_unchecked = allow_unchecked
        self._names: Sequence[str] = ()
        self._unchecked: Sequence[str] = ()
        with _naming_faults():
            self._holders = [] if condition is None else list_holders(condition)

    @property
    def needs(self) -> Needs | None:
        """What it needs of places; None without a condition."""
        if self._condition is None:
            return None
        return "everything" if ["servers"] in self._holders else "all"

    def refuse_what_cannot_hold(self, *, has_consumers: bool, has_rates: bool) -> None:
        """Raise BadInput if an alternative of the condition asks for what the report lacks."""
        if not has_consumers and ["consumers"] in self._holders:
            raise BadInput("--fail-on is about consumers, which --no-consumers leaves out", "use one of them")
        if not has_rates and self._condition and (rates := list_rates(self._condition)):
            raise BadInput(f"--fail-on: {rates[0]} needs two rounds", "add --count 2 or --watch")

    @property
    def status(self) -> ExitStatus:
        """The status that the condition gives."""
        return ExitStatus.FAILURE if self._names or self._unchecked else ExitStatus.OK

    def evaluate(self, places: Sequence[Place], *, is_last: bool = False) -> bool:
        """Return whether the condition holds for a row, or cannot be answered. is_last: whether no round
        follows. Raises BadInput for a condition that no row can have."""
        if self._condition is None:
            return False
        with _naming_faults():
            self._names = matching_rows(view.document(places, self._env.clock()), self._condition)
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


@contextmanager
def _naming_faults() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise BadInput(
            f"--fail-on: {error}", f"{build_line('schema info', 'io.jsctl.v1.report')} shows the keys"
        ) from None

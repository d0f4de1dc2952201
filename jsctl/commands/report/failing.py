"""`jsctl report --fail-on`."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.report.rounds import Round
from jsctl.monitor.report.rows import DomainState
from jsctl.views.report import report as view
from jsctl.views.report.conditions import matching_rows
from jsctl.views.result import Result

Condition = Callable[[Mapping[str, Any]], bool]

_MAX_SHOWN = 5


class FailOn:
    """The condition of --fail-on. status: FAILURE once it held, else OK."""

    def __init__(self, env: Env, condition: Condition | None) -> None:
        self._env = env
        self._condition = condition
        self._names: Sequence[str] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether there is a condition."""
        return self._condition is not None

    @property
    def status(self) -> ExitStatus:
        """The status that the condition gives."""
        return ExitStatus.FAILURE if self._names else ExitStatus.OK

    def look(self, states: Sequence[DomainState]) -> bool:
        """Return whether the condition holds for a row. Raises BadInput for one that no row can have."""
        if self._condition is None:
            return False
        try:
            self._names = matching_rows(view.document(states, self._env.clock()), self._condition)
        except ValueError as error:
            raise BadInput(
                f"--fail-on: {error}", "jsctl schema info io.jsctl.v1.report shows the keys"
            ) from None
        return bool(self._names)

    def tell(self) -> None:
        """Name the rows for which it holds."""
        for name in self._names[:_MAX_SHOWN]:
            self._env.say(f"jsctl: --fail-on holds for {name}")
        if len(self._names) > _MAX_SHOWN:
            self._env.say(f"jsctl: --fail-on holds for {len(self._names) - _MAX_SHOWN:,} more")

    def judge(self, result: Result, states: Sequence[DomainState]) -> Result:
        """Return the result of a single report with its status, and name the rows."""
        if not self.look(states):
            return result
        self.tell()
        return result._replace(status=self.status) if result.status is ExitStatus.OK else result

    async def until_found(self, rounds: AsyncGenerator[Round, None]) -> AsyncGenerator[Round, None]:
        """Yield rounds up to the first one in which the condition holds, and then name its rows."""
        try:
            async for round in rounds:
                holds = self.look(round.states)
                yield round
                if holds:
                    self.tell()
                    return
        finally:
            await rounds.aclose()

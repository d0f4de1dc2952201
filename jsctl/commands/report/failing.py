"""`jsctl report --fail-on`."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.report.places import Place, Round
from jsctl.views.report import report as view
from jsctl.views.report.conditions import matching_rows
from jsctl.views.result import Result

Condition = Callable[[Mapping[str, Any]], bool]

_MAX_SHOWN = 5


class FailOn:
    """The condition of --fail-on. It also holds for what could not be looked at, unless that is allowed."""

    def __init__(self, env: Env, condition: Condition | None, allow_unchecked: bool) -> None:
        self._env = env
        self._condition = condition
        self._allow_unchecked = allow_unchecked
        self._names: Sequence[str] = ()
        self._unchecked: Sequence[str] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether there is a condition."""
        return self._condition is not None

    @property
    def status(self) -> ExitStatus:
        """The status that the condition gives."""
        return ExitStatus.FAILURE if self._names or self._unchecked else ExitStatus.OK

    def look(self, places: Sequence[Place], *, is_last: bool = False) -> bool:
        """Return whether the condition holds for a row, or cannot be answered. is_last: whether no round
        follows. Raises BadInput for a condition that no row can have."""
        if self._condition is None:
            return False
        try:
            self._names = matching_rows(view.document(places, self._env.clock()), self._condition)
        except ValueError as error:
            raise BadInput(
                f"--fail-on: {error}", f"{build_line('schema info', 'io.jsctl.v1.report')} shows the keys"
            ) from None
        self._unchecked = () if self._allow_unchecked else view.unchecked(places, is_last=is_last)
        return self.status is ExitStatus.FAILURE

    def tell(self) -> None:
        """Name the rows for which it holds, and what could not be looked at."""
        for name in self._names[:_MAX_SHOWN]:
            self._env.say(f"jsctl: --fail-on holds for {name}")
        if len(self._names) > _MAX_SHOWN:
            self._env.say(f"jsctl: --fail-on holds for {len(self._names) - _MAX_SHOWN:,} more")
        for sentence in self._unchecked[:_MAX_SHOWN]:
            self._env.say(f"jsctl: --fail-on: not checked: {sentence}; --allow-unchecked lets it pass")

    def judge(self, result: Result, places: Sequence[Place]) -> Result:
        """Return the result of a single report with its status, and name the rows."""
        if not self.look(places):
            return result
        self.tell()
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
                holds = self.look(round.places, is_last=number == count)
                yield round
                if holds:
                    return
        finally:
            self.tell()  # also when the last round was read, and nothing asks for another
            await rounds.aclose()

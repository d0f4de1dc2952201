"""`jsctl report --fail-on`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.report.rows import DomainState
from jsctl.views.report import report as view
from jsctl.views.report.conditions import matching_rows
from jsctl.views.result import Result

Condition = Callable[[Mapping[str, Any]], bool]

_SHOWN = 5


def failing(env: Env, result: Result, states: Sequence[DomainState], condition: Condition | None) -> Result:
    """Return the result with the status that a condition gives it, and name the rows for which it holds.

    Raises BadInput for a condition that does not fit the rows.
    """
    if condition is None:
        return result
    try:
        names = matching_rows(view.document(states, env.clock()), condition)
    except ValueError as error:
        raise BadInput(f"--fail-on: {error}", "jsctl schema info io.jsctl.v1.report shows the keys") from None
    for name in names[:_SHOWN]:
        env.say(f"jsctl: --fail-on holds for {name}")
    if len(names) > _SHOWN:
        env.say(f"jsctl: --fail-on holds for {len(names) - _SHOWN:,} more")
    failed = bool(names) and result.status is ExitStatus.OK
    return result._replace(status=ExitStatus.FAILURE) if failed else result

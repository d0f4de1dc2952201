"""`--watch INTERVAL`: a result once, or repeated until ctrl-C."""

from collections.abc import Awaitable, Callable

from jsctl.errors import BadInput
from jsctl.monitor.polling import fetch_again
from jsctl.units import MS
from jsctl.views.events import Events, repeated
from jsctl.views.result import Result

Report = Result | Events[Result]


def check_interval(watch: int | None, hint: str = "") -> None:
    """Raise BadInput for an interval that is too short. watch: ns; None without --watch."""
    if watch is not None and watch < 100 * MS:
        raise BadInput("--watch takes 100ms or more", hint)


async def once_or_repeated(fetch: Callable[[], Awaitable[Result]], watch: int | None) -> Report:
    """Return the result of `fetch`; with `watch` (ns), one in every such interval."""
    return await fetch() if watch is None else repeated(fetch_again(fetch, watch))

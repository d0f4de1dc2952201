"""Waiting until a stream, a consumer or a key is as expected: its state is asked for repeatedly, so nothing
is created on the server."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from jsctl.base.loops import sleep, time_limit
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.errors import JsctlError, NoJetStream, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json, is_transient

T = TypeVar("T")

REQUEST_TIMEOUT = 5 * SECOND
"""Maximum ns that one answer is waited for: --timeout is that of the whole wait, and may be hours."""

_PAUSE = 0.1  #: seconds between two questions
_FOREVER = 1e9  #: seconds


async def wait_until(
    fetch: Callable[[Api], Awaitable[T]],
    describe_missing: Callable[[T], str],
    api: Api,
    *,
    limit: int,
    hint: str = "",
    report: Callable[[str], None] = lambda text: None,
) -> T:
    """Return what `fetch` returns, once nothing is missing. A server or leader that does not answer is waited
    for; without a limit, what is wrong with the first answer is raised.

    describe_missing: returns what is missing as a sentence; empty for nothing. limit: of the wait, ns; 0 for
    none. hint: of the error. report: takes each sentence, and an empty text at the end. Raises RequestTimeout
    at the limit.
    """
    end = time.monotonic() + (limit / SECOND if limit else _FOREVER)
    missing = ""
    try:
        while True:
            left = max(_PAUSE, end - time.monotonic())
            own = api.with_timeout(min(api.timeout, REQUEST_TIMEOUT, int(left * SECOND)))
            try:
                async with time_limit(left if missing else _FOREVER):
                    found = await fetch(own)
                missing = reason = describe_missing(found)
                if not missing:
                    return found
            except (TimeoutError, JsctlError) as error:
                is_hopeless = not missing and (not limit or time.monotonic() >= end)
                if isinstance(error, JsctlError) and (
                    not is_transient(error) or is_hopeless or (not missing and _is_nobody(error))
                ):
                    raise
                reason = f"{missing}, and no answer came since" if missing else "no answer came yet"
            if time.monotonic() >= end:
                raise RequestTimeout(f"after {format_exact_duration(limit)}, {reason}", hint)
            report(f"waiting: {reason}")
            await sleep(max(0, min(_PAUSE, end - time.monotonic())))
    finally:
        report("")


def _is_nobody(error: JsctlError) -> bool:
    """Return whether an error says that nobody could answer, rather than that nobody has yet."""
    return isinstance(error, NoResponders | NoJetStream)


async def ask_again(
    api: Api,
    ask: Callable[[Api], Awaitable[T]],
    report: Callable[[str], object],
    *,
    timeouts: int = 2,
    count_done: Callable[[], int] = lambda: 0,
    is_temporary: Callable[[JsctlError], bool] = is_transient,
) -> T:
    """Return what `ask` returns; repeat it while a stream has no leader, or a server starts.

    ask: takes the API, with a short timeout after a failure, as what is asked before an election gets no
    answer. report: takes the reason of the first failure, and of the first one after progress. timeouts: how
    long it is repeated without progress, in timeouts of the API; 2 are longer than an election. count_done:
    how far `ask` has come. Raises what `ask` raises.
    """
    limit, end, done_before = timeouts * api.timeout / SECOND, 0.0, -1
    while True:
        try:
            return await ask(api)
        except JsctlError as error:
            if not is_temporary(error):
                raise
            if not end:
                api = api.with_timeout(api.timeout // 4)
            if (done := count_done()) != done_before:
                done_before, end = done, time.monotonic() + limit
                report(error.message)
            elif time.monotonic() >= end:
                raise
        await sleep(_PAUSE)


class PatientApi(Api):
    """An API whose requests change nothing, or nothing more when they come twice: each is repeated while a
    stream has no leader, or a server starts, for twice the timeout after its first failure, which is longer
    than an election.

    say: writes a line for people, once for each outage. What `Api.call` raises is raised at the end, and at
    once as long as nothing has answered and nobody is there who could.
    """

    def __init__(self, api: Api, say: Callable[[str], None]) -> None:
        vars(self).update(vars(api))
        self.once = api  #: whose requests are not repeated
        self._say = say
        self._has_answered = self._is_silent = False

    async def call(
        self, subject: str, body: Mapping[str, Any] | None = None, *, timeout: int | None = None
    ) -> Json:
        return await self.repeat(lambda api: api.call(subject, body, timeout=_limit(timeout, api)))

    async def call_raw(
        self, subject: str, body: Mapping[str, Any] | None = None, timeout: int | None = None
    ) -> bytes:
        return await self.repeat(lambda api: api.call_raw(subject, body, _limit(timeout, api)))

    async def repeat(self, ask: Callable[[Api], Awaitable[T]]) -> T:
        """Return what `ask` returns; repeat it as a request."""
        answer = await ask_again(self.once, ask, self._report, is_temporary=self._is_temporary)
        self._has_answered, self._is_silent = True, False
        return answer

    def _is_temporary(self, error: JsctlError) -> bool:
        return is_transient(error) and (self._has_answered or not _is_nobody(error))

    def _report(self, reason: str) -> None:
        if not self._is_silent:
            self._say(f"jsctl: {reason}; trying again; ctrl-C ends it")
        self._is_silent = True


def _limit(timeout: int | None, api: Api) -> int:
    return min(timeout or api.timeout, api.timeout)

"""Waiting until a stream, a consumer or a key is as expected: its state is asked for repeatedly, so nothing
is created on the server."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jsctl.base.loops import sleep, time_limit
from jsctl.base.units import SECOND, format_exact_duration
from jsctl.errors import JsctlError, RequestTimeout
from jsctl.jetstream.api import Api, is_transient

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
    """Return what `fetch` returns, once nothing is missing. What is wrong with the first answer is raised;
    later, a server or leader that does not answer is waited for.

    describe_missing: returns what is missing as a sentence; empty for nothing. limit: of the wait, ns; 0 for
    none. hint: of the error. report: takes each sentence, and an empty text at the end. Raises RequestTimeout
    at the limit.
    """
    end = time.monotonic() + (limit / SECOND if limit else _FOREVER)
    api = api.with_timeout(min(api.timeout, REQUEST_TIMEOUT))
    silence = ""
    try:
        found = await fetch(api)
        while missing := describe_missing(found):
            if time.monotonic() >= end:
                raise RequestTimeout(f"after {format_exact_duration(limit)}, {missing}{silence}", hint)
            report(f"waiting: {missing}{silence}")
            await sleep(max(0, min(_PAUSE, end - time.monotonic())))
            silence = ""
            try:
                async with time_limit(max(_PAUSE, end - time.monotonic())):
                    found = await fetch(api)
            except (TimeoutError, JsctlError) as error:
                if isinstance(error, JsctlError) and not is_transient(error):
                    raise
                silence = ", and no answer came since"
    finally:
        report("")
    return found


async def ask_again(api: Api, ask: Callable[[Api], Awaitable[T]], say: Callable[[str], None]) -> T:
    """Return what `ask` returns; repeat it while a stream has no leader, or a server starts, for twice the
    API's timeout after the first failure, which is longer than an election.

    ask: changes nothing. say: writes a line for people. Raises what `ask` raises.
    """
    end = 0.0
    while True:
        try:
            return await ask(api)
        except JsctlError as error:
            if not is_transient(error) or (end and time.monotonic() >= end):
                raise
            if not end:
                say(f"jsctl: {error.message}; trying again; ctrl-C ends it")
                end = time.monotonic() + 2 * api.timeout / SECOND
                api = api.with_timeout(api.timeout // 4)  # what is asked before the election gets no answer
        await sleep(_PAUSE)

"""Work that is repeated while a leader is away."""

import asyncio
from typing import cast

import pytest

from jsctl.base.units import MS, SECOND
from jsctl.errors import JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api
from jsctl.jetstream.waiting import ask_again, wait_until
from jsctl.nats.connection import Connection


def test_progress_extends_the_time_and_is_reported_once() -> None:
    done, asked, reasons = 0, list[int](), list[str]()

    async def ask(api: Api) -> str:
        nonlocal done
        asked.append(api.timeout)
        done = len(asked) // 2
        if len(asked) < 9:
            raise Unreachable(f"away {done}")
        return "there"

    api = Api(cast(Connection, None), timeout=150 * MS)  # less than it takes
    assert asyncio.run(ask_again(api, ask, reasons.append, count_done=lambda: done)) == "there"
    assert reasons == [f"away {number}" for number in range(5)]
    assert asked[0] == api.timeout > asked[1]


@pytest.mark.parametrize("error", [Unreachable("away"), JsctlError("wrong")])
def test_without_progress_the_error_is_raised(error: JsctlError) -> None:
    tries = 0

    async def ask(api: Api) -> None:
        nonlocal tries
        tries += 1
        raise error

    with pytest.raises(JsctlError, match=error.message):
        asyncio.run(ask_again(Api(cast(Connection, None), timeout=100 * MS), ask, lambda reason: None))
    assert (tries > 1) == isinstance(error, Unreachable)


@pytest.mark.parametrize(
    ("error", "limit", "is_waited_for"),
    [
        (RequestTimeout("no answer"), 5 * SECOND, True),
        (RequestTimeout("no answer"), 0, False),
        (NoResponders("nobody"), 5 * SECOND, False),
        (JsctlError("wrong"), 5 * SECOND, False),
    ],
)
def test_a_wait_that_begins_without_a_leader(error: JsctlError, limit: int, is_waited_for: bool) -> None:
    tries, reasons = 0, list[str]()

    async def fetch(api: Api) -> int:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise error
        return tries

    api = Api(cast(Connection, None), timeout=limit or SECOND)
    waiting = wait_until(fetch, lambda found: "", api, limit=limit, report=reasons.append)
    if is_waited_for:
        assert asyncio.run(waiting) == 3
        assert reasons == ["waiting: no answer came yet"] * 2 + [""]
        return
    with pytest.raises(type(error)):
        asyncio.run(waiting)
    assert tries == 1


def test_a_wait_without_any_answer_ends_with_what_is_wrong() -> None:
    async def fetch(api: Api) -> int:
        await asyncio.sleep(api.timeout / SECOND)
        raise RequestTimeout("no answer")

    api = Api(cast(Connection, None), timeout=SECOND // 2)
    with pytest.raises(RequestTimeout, match="no answer"):
        asyncio.run(wait_until(fetch, lambda found: "", api, limit=SECOND // 2))

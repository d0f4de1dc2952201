"""Work that is repeated while a leader is away."""

import asyncio
from typing import cast

import pytest

from jsctl.base.units import MS
from jsctl.errors import JsctlError, Unreachable
from jsctl.jetstream.api import Api
from jsctl.jetstream.waiting import ask_again
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

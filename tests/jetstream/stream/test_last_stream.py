"""A stream that is made just after the last one of its account was removed."""

import asyncio

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.connection import Connection

ROUNDS = 6_000
"""Without the second attempt, a server refuses one in some thousand."""


@pytest.mark.long
def test_it_is_made(url: str) -> None:
    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        api = Api(connection)
        for number in range(ROUNDS):
            await streams.create(api, {"name": f"S{number}", "subjects": ["s"], "num_replicas": 1})
            await api.call(f"STREAM.DELETE.S{number}")
        await connection.close()

    asyncio.run(work())

"""Partitioned consumer groups that somebody else changes meanwhile."""

import asyncio

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream import partitioned_groups as groups
from jsctl.jetstream.api import Api
from jsctl.nats.connection import Connection
from tests.support import js


def test_no_change_of_members_is_lost(url: str) -> None:
    js.stream(url, "S", "s.*")
    source = js.info(url, "S")["config"]

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        try:
            api = Api(connection)
            config = {"max_members": 2, "partitioning_filters": None}
            group = await groups.create(api, groups.build_group("S", "G", "elastic", config), source)
            theirs, ours = (groups.with_members(group, {"members": [name]}) for name in ("theirs", "ours"))
            await groups.change_members(api, group, theirs)
            with pytest.raises(JsctlError, match="was changed meanwhile"):
                await groups.change_members(api, group, ours)
            assert (await groups.fetch_group(api, "S", "G")).members == ["theirs"]
        finally:
            await connection.close()

    asyncio.run(work())

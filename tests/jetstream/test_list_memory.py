"""Lists that are fetched again and again: what has not changed is not parsed, and nothing is missed."""

import asyncio
import json
import random
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.paging import Memory
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.connection import Connection
from tests.support import js

TAIL = ',"ts":"2026-11-21T06:57:05.123456789Z"}'


def page(*entries: str, tail: str = TAIL) -> bytes:
    """A page of a list with these entries, all but their times."""
    body = ",".join(entry.removesuffix("}") + tail for entry in entries)
    return f'{{"type":"x","total":9,"limit":9,"streams":[{body}],"missing":["M"]}}'.encode()


def entry(name: str, **fields: Any) -> str:
    return json.dumps({"config": {"name": name}, **fields}, separators=(",", ":"))


def remember(memory: Memory[int], data: bytes) -> tuple[Any, list[Any]]:
    """One round of one page: what is left to parse, and what is known."""
    shorter, known = memory.shorten(data, "streams")
    names = [item["config"]["name"] for item in json.loads(shorter)["streams"]]
    memory.add(known.changed, [(name, len(name)) for name in names])
    memory.end_round()
    return names, known.items


def test_only_what_changed_is_left() -> None:
    memory: Memory[int] = Memory()
    first, second = entry("A", n=1), entry("BB", text=',"ts":"x"},{"config"')
    assert remember(memory, page(first, second)) == (["A", "BB"], [])
    later = TAIL.replace("57:05", "57:07")
    assert remember(memory, page(first, second, tail=later)) == ([], [("A", 1), ("BB", 2)])
    assert remember(memory, page(entry("A", n=2), second)) == (["A"], [("BB", 2)])
    assert remember(memory, page(second)) == ([], [("BB", 2)])
    assert remember(memory, page(first, second)) == (["A"], [("BB", 2)])  # it was forgotten
    assert remember(memory, page()) == ([], [])


def test_pages_of_another_form_are_left_as_they_are() -> None:
    nested = '{"config":{"name":"A"},"x":[{"a":1,"ts":"t"},{"config":1,"ts":"t"}]}'
    for data in (
        page(nested),
        page(entry("A"), tail=',"ts":"t" }'),
        b'{"streams":[{"config":{"name":"A"}}]}',
    ):
        memory: Memory[int] = Memory()
        for _ in range(3):
            assert remember(memory, data) == (["A"], [])


@pytest.mark.slow
def test_the_same_as_without_a_memory(url: str) -> None:
    """While streams are made, filled, purged, edited and removed."""
    chosen = random.Random(4)
    for number in range(300):
        js.stream(url, f"S{number}", f"s{number}.>", storage="memory")
    js.ask(url, "CONSUMER.CREATE.S0.C", {"stream_name": "S0", "config": {"durable_name": "C"}})

    def take(info: Json) -> Json | None:
        parsed.append(info["config"]["name"])
        return None if info["config"]["name"] == "S7" else {**info, "ts": ""}

    async def work() -> None:
        connection = await Connection.open(Settings(url=url))
        api, memory = Api(connection), Memory[Json]()
        for turn in range(8):
            with_memory = await streams.collect(api, take, memory=memory)
            assert len(parsed) == 300 if turn == 0 else len(parsed) <= 8
            assert with_memory.items.keys() == (await streams.collect(api, take)).items.keys()
            assert dict(with_memory.items) == dict((await streams.collect(api, take)).items)
            one, two, three = (f"S{chosen.randrange(300)}" for _ in range(3))
            await api.call(f"STREAM.PURGE.{one}")
            await connection.request(f"{two.lower()}.x", b"x")
            config = (await streams.fetch_info(api, three))["config"]
            await api.call(f"STREAM.UPDATE.{three}", {**config, "description": f"turn {turn}"})
            await api.call("STREAM.DELETE.S9")
            await api.call("STREAM.CREATE.S9", {**config, "name": "S9", "subjects": ["s9.>"]})
            parsed.clear()
        await connection.close()

    parsed: list[str] = []
    asyncio.run(work())

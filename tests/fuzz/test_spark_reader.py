"""Answers of another shape for Spark's reader: what plans on the driver and what reads in a task."""

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from jsctl.spark.datasource.data_source import JetStreamSource
from tests.fuzz.record import Record, cases
from tests.support import js
from tests.support.hostile import Middleman, middleman, mutate_answer
from tests.support.servers import Account

PATIENCE = {"requestTimeout": "300ms", "retries": "0", "retryTimeout": "100ms"}
WAYS = ({"fetchMode": "direct"}, {"fetchMode": "consumer"})


@pytest.fixture
def man(own_account: Account) -> Iterator[Middleman]:
    js.stream(own_account.url, "S", "s.>", allow_direct=True)
    js.publish(own_account.url, "s.a", b"one", count=20)
    with middleman(own_account.server.port) as raised:
        raised.account_url = own_account.url.replace(str(own_account.server.port), str(raised.port))
        yield raised


def _perhaps(chance: random.Random, _: bytes, payload: bytes) -> bytes:
    return mutate_answer(payload, chance) if chance.random() < 0.2 else payload


def read_batch(options: dict[str, str]) -> None:
    """What `spark.read.load` does: the schema, the partitions, and each of them as a task."""
    source = JetStreamSource(options)
    reader = source.reader(source.schema())
    for partition in reader.partitions():
        for _ in reader.read(partition):
            pass


def read_stream(options: dict[str, str]) -> None:
    """What a streaming query does in its first batch."""
    source = JetStreamSource({**options, "startingOffsets": "earliest"})
    reader = source.streamReader(source.schema())
    try:
        start = reader.initialOffset()
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        for partition in reader.partitions(start, end):
            for _ in reader.read(partition):
                pass
        reader.commit(end)
    finally:
        reader.stop()


@pytest.mark.long
@pytest.mark.parametrize("read", [read_batch, read_stream])
def test_mutated_answers(man: Middleman, read: Callable[[dict[str, str]], None]) -> None:
    with Record(f"mutated answers of Spark's {read.__name__}") as record:
        for number in range(cases(60)):
            options = {"servers": man.account_url, "stream": "S", **PATIENCE, **WAYS[number % 2]}
            man.change = partial(_perhaps, random.Random(number)) if number > 1 else None
            record.tried(partial(read, options))
        assert record.outcomes["done"] > 2

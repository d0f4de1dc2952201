"""Answers of another shape for Spark's sink, which imports use, too: its check, and what publishes."""

import random
from collections.abc import Iterator
from functools import partial

import pytest

from jsctl.contexts.settings import Settings
from jsctl.spark.sink.publishing import WriteJob, check_stream, publish
from jsctl.spark.sink.row import Row
from tests.fuzz.record import Record, cases
from tests.support import js
from tests.support.hostile import Middleman, middleman, mutate_answer
from tests.support.servers import Account


@pytest.fixture
def man(own_account: Account) -> Iterator[Middleman]:
    js.stream(own_account.url, "S", "s.>", allow_direct=True)
    with middleman(own_account.server.port) as raised:
        raised.account_url = own_account.url.replace(str(own_account.server.port), str(raised.port))
        yield raised


def _perhaps(chance: random.Random, _: bytes, payload: bytes) -> bytes:
    return mutate_answer(payload, chance) if chance.random() < 0.03 else payload


def write(job: WriteJob) -> None:
    check_stream(job)
    publish(job, 0, (Row(f"s.{number}", b"x") for number in range(20)))


@pytest.mark.long
def test_mutated_answers(man: Middleman) -> None:
    job = WriteJob(Settings(url=man.account_url, timeout=300_000_000), "S")
    with Record("mutated answers of Spark's sink") as record:
        for number in range(cases(40)):
            man.change = partial(_perhaps, random.Random(number)) if number > 1 else None
            record.tried(partial(write, job), ())
        assert record.outcomes["done"] > 2 and record.outcomes["refused"]

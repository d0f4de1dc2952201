"""Slow lines, and servers that only look as if theirs were slow: what holds a read of Spark, and what does
not."""

import time
from collections.abc import Iterator

import pytest

from jsctl.base.units import SECOND
from tests.spark.source.test_reader import BOTH, Kind, job, reading, sequences
from tests.support import js
from tests.support.hostile import Middleman, middleman
from tests.support.servers import Account

SIZE, TIMEOUT = 200_000, 300_000_000
"""Bytes of a message, and ns without an answer."""


@pytest.fixture
def man(own_account: Account) -> Iterator[Middleman]:
    url = own_account.url
    js.stream(url, "S", "s.>", allow_direct=True)
    js.publish(url, "s.a", b"x" * SIZE, count=4)
    with middleman(own_account.server.port) as raised:
        raised.account_url = url.replace(str(own_account.server.port), str(raised.port))
        yield raised


@pytest.mark.long
@BOTH
def test_an_answer_that_drips_is_not_waited_for(reader: Kind, own_account: Account, man: Middleman) -> None:
    man.drip, man.pause, man.unhindered = 1, 0.01, 20_000
    what = job(own_account.url, timeout=SECOND, retries=0, retry_timeout=0)
    started = time.monotonic()
    with pytest.raises(Exception, match="no answer for S from sequence 1 on"):
        sequences(reading(reader, man.account_url, what))
    assert time.monotonic() - started < 10


@pytest.mark.long
@BOTH
def test_messages_on_a_slow_line_take_longer_than_the_timeout(
    reader: Kind, own_account: Account, man: Middleman
) -> None:
    man.drip, man.pause = 4000, 0.01  # 400 kB/s: half a second for a message
    what = job(own_account.url, timeout=TIMEOUT, retries=0, retry_timeout=0, batch=2, max_bytes=SIZE + 50_000)
    assert sequences(reading(reader, man.account_url, what)) == [1, 2, 3, 4]

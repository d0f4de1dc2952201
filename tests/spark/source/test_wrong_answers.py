"""Answers of replicas and mirrors that the reader of Spark tasks does not believe."""

import pytest

from jsctl.spark.source.direct import DirectReader, MirrorAnswered
from jsctl.spark.source.pull import ConsumerReader
from tests.spark.source.test_reader import delete, fill, job, reading, sequences
from tests.support import js
from tests.support.lagging import Lagging


@pytest.mark.slow
def test_a_lagging_replica_is_not_taken_for_a_deletion(url: str) -> None:
    fill(url, 2000)
    deleted = {1000, 1001, 1500, 2000}
    for sequence in deleted:
        delete(url, sequence)
    with Lagging(url) as lagging:
        range_reader = reading(DirectReader, url, job(url, batch=50, prefix="LAG"))
        assert sequences(range_reader) == [n for n in range(1, 2001) if n not in deleted]
        assert (range_reader.deleted, range_reader.lost) == (len(deleted), 0)
        assert lagging.short > 10
        filtered = reading(DirectReader, url, job(url, batch=50, prefix="LAG", subjects=("S.1",)))
        assert sequences(filtered) == [n for n in range(1, 2001) if n % 3 == 2 and n not in deleted]


@pytest.mark.slow
def test_a_replica_that_lacks_messages_is_not_trusted(url: str) -> None:
    """Servers that lost messages of theirs, or lose some on their way, leave a hole without a word."""
    fill(url, 300)
    with Lagging(url, hole=True) as lagging:
        range_reader = reading(DirectReader, url, job(url, batch=50, prefix="LAG"))
        assert sequences(range_reader) == list(range(1, 301))
        assert (range_reader.deleted, range_reader.lost) == (0, 0)
        assert lagging.short > 1


def test_a_mirror_that_answers_for_its_origin_is_not_trusted(url: str) -> None:
    fill(url, 1000)
    js.stream(url, "COPY", mirror={"name": "S"}, mirror_direct=True, allow_direct=True)
    js.wait_until_stored(url, "COPY", 1000)
    for sequence in range(100, 200):
        delete(url, sequence)
    assert js.ask(url, "STREAM.INFO.COPY")["state"]["messages"] == 1000, "the mirror has what was deleted"
    mirror_answered = False
    for _ in range(20):
        range_reader = reading(DirectReader, url, job(url, batch=100, retries=50))
        with pytest.MonkeyPatch.context() as patch:
            dropped = _count_dropped(patch)
            assert sequences(range_reader) == [*range(1, 100), *range(200, 1001)]
        assert range_reader.deleted == 100
        mirror_answered = mirror_answered or bool(dropped)
        if mirror_answered:
            break
    assert mirror_answered, "the mirror never answered"
    assert sequences(reading(DirectReader, url, job(url, "COPY"))) == list(range(1, 1001))


def _count_dropped(patch: pytest.MonkeyPatch) -> list[Exception]:
    dropped: list[Exception] = []
    failed = DirectReader.count_failure

    def count(self: DirectReader, error: Exception) -> None:
        if isinstance(error, MirrorAnswered):
            dropped.append(error)
        failed(self, error)

    patch.setattr(DirectReader, "count_failure", count)
    return dropped


def test_messages_that_are_larger_than_a_request_are_fetched_one_by_one(url: str) -> None:
    """Not all that are left at once, which may not fit into memory."""
    fill(url, 5, size=200_000)
    batches = list(reading(ConsumerReader, url, job(url, max_bytes=100_000)))
    assert [len(batch) for batch in batches] == [1] * 5

"""What a reader plans from: offsets, timestamps, modes; random ranges and deletions."""

import random
import time

import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.source.direct import DirectReader
from jsctl.spark.source.pull import ConsumerReader
from tests.spark.source.test_reader import delete, fill, job, planned, reading, sequences
from tests.support import js


def test_offsets(url: str) -> None:
    fill(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 11})
    assert planned(url) == (11, 101, True)
    assert planned(url, startingOffsets="20", endingOffsets="30") == (20, 30, True)
    assert planned(url, endingOffsets="earliest") == (11, 11, True)
    assert planned(url, startingOffsets="101") == (101, 101, True)
    assert planned(url, startingOffsets="1", failOnDataLoss="false") == (11, 101, True)
    for wrong, words in (
        ({"startingOffsets": "1"}, "starts at sequence 11, after startingOffsets 1"),
        ({"startingOffsets": "102"}, "is beyond the stream, whose last message is 100"),
        ({"startingOffsets": "latest"}, "startingOffsets latest is only for spark.readStream"),
        ({"endingOffsets": "102"}, "is beyond the stream, whose last message is 100"),
        ({"startingOffsets": "50", "endingOffsets": "40"}, "startingOffsets 50 is after endingOffsets 40"),
    ):
        with pytest.raises(JsctlError, match=words):
            planned(url, **wrong)


def test_timestamps(url: str) -> None:
    fill(url, 50)
    time.sleep(0.01)  # the server's clock and this one may differ by as little
    moment = time.time()
    time.sleep(0.01)  # as above
    js.publish(url, "S.x", count=10)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f"{moment % 1:.6f}"[1:] + "Z"
    assert planned(url, startingTimestamp=text) == (51, 61, True)
    assert planned(url, endingTimestamp=text) == (1, 51, True)
    assert planned(url, startingTimestamp="2100-01-01T00:00:00Z") == (61, 61, True)
    assert planned(url, startingTimestamp="2000-01-01T00:00:00Z") == (1, 61, True)


def test_empty_stream(url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    assert planned(url) == (1, 1, True)


def test_direct_gets_are_refused_where_they_cannot_be_used(url: str) -> None:
    fill(url, 10)
    assert planned(url, fetchMode="consumer")[2] is False
    assert planned(url, subject="S.1,S.2")[2] is False
    with pytest.raises(BadInput, match="it takes one subject"):
        planned(url, subject="S.1,S.2", fetchMode="direct")
    js.stream(url, "OFF", "OFF.>")
    with pytest.raises(BadInput, match="OFF does not allow it"):
        planned(url, stream="OFF", fetchMode="direct")
    js.stream(url, "WORK", "WORK.>", retention="workqueue")
    with pytest.raises(BadInput, match="a consumer removes what it reads"):
        planned(url, stream="WORK")


def test_unknown_stream(url: str) -> None:
    with pytest.raises(JsctlError, match="stream S not found"):
        planned(url)


@pytest.mark.long
def test_random_ranges_and_deletions_against_what_was_stored(url: str) -> None:
    """Both readers, many shapes, one truth: the set of what was not deleted."""
    fill(url, 2000)
    seeded = random.Random(7)
    deleted = set(seeded.sample(range(2, 2000), 700))
    for sequence in deleted:
        delete(url, sequence)
    for _ in range(15):
        start, end = sorted(seeded.sample(range(1, 2002), 2))
        size = seeded.choice([1, 3, 17, 100, 1000])
        if end - start > 200:
            size = max(size, 17)
        wanted = [n for n in range(start, end) if n not in deleted]
        for kind in (DirectReader, ConsumerReader):
            range_reader = reading(kind, url, job(url, start=start, end=end, batch=size))
            assert sequences(range_reader) == wanted, (kind, start, end, size)
            assert range_reader.deleted == end - start - len(wanted)

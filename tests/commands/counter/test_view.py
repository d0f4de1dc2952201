"""`counter view`."""

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_parts_of_sources(hits: Cli) -> None:
    hits("counter incr hits.a 5", status=0)
    wait_for(lambda: hits("counter get hits.a --stream ALL").out == "5\n", "the sum arrives")
    document = hits("counter view hits.a --stream ALL --json", status=0).json
    assert document["sources"] == {"HITS": {"hits.a": "5"}}
    shown = hits("counter view hits.a --stream ALL", tty=True, status=0).out
    assert "HITS: hits.a: 5" in shown
    assert (
        "does not store what is published to hits.a" in hits("counter incr hits.a --stream ALL", status=1).err
    )


def test_what_is_counted_here_and_elsewhere(hits: Cli, url: str) -> None:
    move = {"src": "hits.>", "dest": "sum.>"}
    source = {"name": "HITS", "subject_transforms": [move]}
    js.stream(url, "SUM", "sum.>", allow_msg_counter=True, allow_direct=True, sources=[source])
    hits("counter incr hits.a 5", status=0)
    wait_for(lambda: hits("counter get sum.a").out == "5\n", "the part of the source arrives")
    assert hits("counter incr sum.a 2", status=0).out == "7\n"
    assert hits("counter view sum.a --json", status=0).json["sources"] == {"HITS": {"hits.a": "5"}}
    shown = hits("counter view sum.a", status=0).out
    assert "HITS: hits.a: 5" in shown
    assert "Counted Here: 2" in shown


def test_a_counter_that_only_sources_bring(hits: Cli, url: str) -> None:
    """The stream listens to no subject of its own, or to another: its counters are found by what it holds."""
    move = {"src": "hits.>", "dest": "moved.>"}
    js.stream(url, "MOVED", allow_msg_counter=True, sources=[{"name": "HITS", "subject_transforms": [move]}])
    hits("counter incr hits.a 5", status=0)
    wait_for(lambda: "moved.a" in hits("counter ls --names").out.split(), "the counter arrives")
    assert hits("counter view moved.a --json", status=0).json["stream"] == "MOVED"
    assert hits("counter get moved.a", status=0).out == "5\n"
    assert hits("counter ls 'moved.*' --names", status=0).out == "moved.a\n"
    assert "moved.a" in hits("counter watch 'moved.*' --count 1", status=0).out
    assert "stream MOVED does not store" in hits("counter incr moved.a", status=1).err
    assert "moved.b" in hits("counter view moved.b", status=3).err
    also = {"name": "MOVED"}
    js.stream(url, "COPY", allow_msg_counter=True, sources=[also])
    wait_for(lambda: "COPY" in hits("counter ls --stream COPY --rows --json").out, "the copy arrives")
    assert "moved.a is in COPY, MOVED; name one with --stream" in hits("counter view moved.a", status=64).err

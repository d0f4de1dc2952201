"""`jsctl counter` and its commands."""

import json
from pathlib import Path

from tests.support import js
from tests.support.run import Cli
from tests.support.waiting import wait_for


def test_list(hits: Cli) -> None:
    assert "There are no counters" in hits("counter list", status=0).out
    for subject, value in (("hits.b", 2), ("hits.a", 1), ("all.x", 3)):
        hits(f"counter incr {subject} {value}", status=0)
    wait_for(lambda: len(hits("counter ls --json").json) == 5, "the sums arrive")
    assert hits("counter ls 'hits.*' --json", status=0).json == ["hits.a", "hits.b"]
    row = hits("counter ls 'hits.*' --rows --json", status=0).json[0]
    assert (row["subject"], row["value"], row["stream"]) == ("hits.a", "1", "HITS")
    assert hits("counter ls 'hits.*' --names", status=0).out == "hits.a\nhits.b\n"
    lines = hits("counter ls 'hits.*'", status=0).out.splitlines()[2:]
    assert [row.split()[:3] for row in lines] == [["hits.a", "1", "HITS"], ["hits.b", "2", "HITS"]]
    assert len(hits("counter l --stream ALL --json", status=0).json) == 3
    assert "no counter that matches hits.x.*" in hits("counter ls 'hits.x.*'", status=0).out
    assert "not found" in hits("counter ls nope.x", status=3).err


def test_a_list_of_long_numbers_fits(hits: Cli) -> None:
    number = "7" * 300
    hits(f"counter increment hits.long {number}", status=0)
    shown = hits("counter list", tty=True, width=80, status=0).out
    assert max(map(len, shown.splitlines())) <= 80 and "7…7" in shown
    assert number in hits("counter list", status=0).out


def test_subjects_that_are_not_counters(hits: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.a", b'{"val": "x"}')
    assert (
        "stream ORDERS, which stores orders.a, cannot hold counters"
        in hits("counter get orders.a", status=1).err
    )
    assert "counter hits.a not found" in hits("counter get hits.a", status=3).err
    assert "counter nope not found" in hits("counter incr nope", status=3).err
    for value in ("x", "1.5", "", "1_000", "٣"):
        assert "is not a whole number" in hits(["counter", "incr", "hits.a", value], status=64).err
    for verb in ("get", "incr"):
        refused = hits(["counter", verb, "hits.*"], status=64)
        assert "contains a wildcard; name one counter; jsctl counter list 'hits.*'" in refused.err
    js.ask(url, "STREAM.CREATE.ODD", {"name": "ODD", "subjects": ["odd"], "allow_direct": True})
    refused = hits("counter get odd", status=1)
    assert len(refused.err.splitlines()) == 1


def test_a_counter_with_a_message_that_is_none(cli: Cli, url: str, tmp_path: Path) -> None:
    """As an older server stores them, which does not know counters; here it is restored as a counter."""
    js.stream(url, "HITS", "hits.>", allow_direct=True)
    js.publish(url, "hits.bad", b"x")
    cli(f"backup stream HITS {tmp_path}/backup", status=0)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(js.info(url, "HITS")["config"] | {"allow_msg_counter": True}))
    cli("stream rm HITS --force", status=0)
    cli(f"backup restore stream {tmp_path}/backup --config {config}", status=0)
    for line in ("get hits.bad", "increment hits.bad", "list"):
        refused = cli(f"counter {line}", status=1)
        assert refused.out == ""
        assert (
            "the newest message on hits.bad holds no counter; jsctl stream get HITS 1 shows it" in refused.err
        )
    cli("counter increment hits.good 3", status=0)
    listed = cli("counter list --names", status=1)
    assert listed.out == "hits.good\n" and "hits.bad" in listed.err
    cli("stream rmm HITS 1 --force", status=0)  # as the error says
    assert cli("counter increment hits.bad 2", status=0).out == "2\n"


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


def test_each_change_shows_the_new_value(hits: Cli) -> None:
    for line, value in (
        ("increment hits.a", "1"),
        ("incr hits.a 5", "6"),
        ("i hits.a -2", "4"),
        ("incr hits.a +3", "7"),
        ("decrement hits.a 10", "-3"),
        ("decr hits.a", "-4"),
        ("d hits.a -4 --stream HITS", "0"),
        ("incr hits.a 007", "7"),
    ):
        assert hits(f"counter {line}", status=0).out == f"{value}\n", line
    assert hits("counter get hits.a", status=0).out == "7\n"
    assert hits("ctr incr hits.a --json", status=0).json == {
        "subject": "hits.a",
        "stream": "HITS",
        "value": "8",
    }


HUGE = "1" + "0" * 5000


def test_numbers_of_any_size(hits: Cli) -> None:
    assert hits(f"counter incr hits.b {HUGE}", status=0).out == f"{HUGE}\n"
    assert hits("counter decr hits.b 1", status=0).out == "9" * 5000 + "\n"
    assert hits("counter get hits.b --json", status=0).json["value"] == "9" * 5000
    assert hits("counter decr hits.c 36893488147419103232", status=0).out == "-36893488147419103232\n"
    assert HUGE[1:-1] not in hits("counter view hits.c", status=0).out


def test_watch(hits: Cli) -> None:
    hits("counter incr hits.a 5", status=0)
    hits("counter incr hits.b -5", status=0)
    shown = hits("counter watch 'hits.*' --count 2", tty=True, status=0).out.splitlines()
    assert [line.split("] ")[1] for line in shown] == ["hits.a: 5 (+5)", "hits.b: -5 (-5)"]
    lines = hits("counter watch 'hits.*' --count 2 --json", status=0).out.splitlines()
    assert [json.loads(line)["value"] for line in lines] == ["5", "-5"]

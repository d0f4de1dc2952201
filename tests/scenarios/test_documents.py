"""The documents' command lines: each parses, and those that real servers can answer run in document order.

The guide runs in test_guide and test_consumer_imports.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.contract.test_commands import parse
from tests.support import documents
from tests.support.run import Cli, Terminal

Run = Callable[..., str]


@pytest.mark.parametrize(
    "line", [line for lines in documents.LINES.values() for line in lines], ids=lambda line: line[6:60]
)
def test_each_line_parses(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(("line", "what"), documents.REPLACED.items())
def test_what_servers_no_longer_have(line: str, what: str, offline_cli: Cli) -> None:
    shown = offline_cli(line.removeprefix("jsctl "), status=1).out
    assert f"no longer has {what}" in shown and "jsctl apply" in shown


def runner(cli: Cli, lines: Sequence[str]) -> Run:
    """Runs lines of a document. The first argument begins a line there, `with_` is added and `replaced` put
    into it."""

    def run(
        start: str,
        words: str = "",
        *,
        status: int = 0,
        answers: Sequence[Any] | Mapping[str, Any] | None = None,
        with_: str = "",
        replaced: tuple[str, str] = ("jsctl", "jsctl"),
    ) -> str:
        wanted = f"jsctl {start}"
        line = wanted if wanted in lines else next(line for line in lines if line.startswith(wanted))
        line = line.removeprefix("jsctl ").replace(*replaced)
        done = cli(f"{line} {with_}", answers=answers, terminal_error=True, status=status)
        both = done.out + done.err
        assert re.search(words, both), f"{line}: {both}"
        return done.out

    return run


@contextmanager
def watching(cli: Cli, line: str, ready: str = "") -> Iterator[Terminal]:
    """A command that goes on, once it is there."""
    child = cli.terminal(line, columns=200)
    try:
        child.expect(ready)
        yield child
    finally:
        child.close(force=True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tour_streams(cli: Cli, here: Path) -> None:
    run = runner(cli, documents.TOUR)
    created = "Stream ORDERS was created"
    run("str add ORDERS --subjects", created)
    for consumer in ("NEW", "DISPATCH", "MONITOR"):
        run(f"con add ORDERS {consumer}", f"Information for Consumer ORDERS > {consumer}")
    run("account info", r"Streams: 1")
    run("str rm ORDERS", "was removed")
    run("str add ORDERS", created, answers={"Subjects": "ORDERS.*"})
    run("str rm ORDERS", "was removed")
    run("str add ORDERS --subjects", created)
    (here / "orders.json").write_text(json.dumps(json.loads(run("str info ORDERS -j"))["config"]))
    run("str rm ORDERS", "was removed")
    run("str add ORDERS --config", created)
    run("str ls", "ORDERS")
    run("str info ORDERS", r"Maximum Age: 1y")
    run("str cp", r"Stream ARCHIVE was created\n\nInformation for Stream ARCHIVE .*(.|\n)*Maximum Age: 2y")
    cli("str edit ORDERS --subjects ORDERS.new -f", status=0)
    run("str edit ORDERS --subjects", "Stream ORDERS was updated", answers=[True])
    run("str edit ORDERS --config", "No difference")
    run("pub ORDERS.scratch hello", 'Published 5 bytes to "ORDERS.scratch"')
    run("pub ORDERS.scratch hello --wait", "Stored in Stream: ORDERS Sequence: 2")
    run("req ORDERS.scratch hello", r'"stream": ?"ORDERS", ?"seq": ?3')
    run("str info ORDERS", r" Messages: 3\n")
    run("str rmm ORDERS 1")
    run("str purge ORDERS -f", r"Messages: 0\n(.|\n)*First Sequence: 4\n")
    run("str rm ORDERS", "was removed")
    run(documents.ORDERS.removeprefix("jsctl "), created)


@pytest.mark.slow
def test_the_tour_consumers(cli: Cli, here: Path) -> None:
    run = runner(cli, documents.TOUR)
    run("str add ORDERS --subjects")
    run("con ls ORDERS", "No Consumers defined")
    new = run(
        "con add --sample",
        answers=["ORDERS", "NEW", "", "all", ..., "instant", "ORDERS.received", 20, *[...] * 3],
    )
    assert re.search(r"Pull Mode: true(.|\n)*Maximum Deliveries: 20(.|\n)*Sampling Rate: 100", new)
    dispatch = next(line for line in documents.TOUR if line.endswith("--max-deliver 20"))
    run(dispatch.removeprefix("jsctl "), "Maximum Deliveries: 20")
    run(
        "con add",
        "Delivery Subject: monitor.ORDERS",
        answers=["ORDERS", "MONITOR", "monitor.ORDERS", "", "last", "none", "instant", "", "0s", ...],
    )
    config = json.loads(run("con info ORDERS MONITOR -j"))["config"]
    (here / "monitor.json").write_text(json.dumps(config))
    (here / "orders_new.json").write_text(json.dumps(cli("con info ORDERS NEW -j").json["config"]))
    for line in (
        "con add ORDERS MONITOR --config",
        "con add ORDERS --config",
        "con add ORDERS MONITOR --ack",
    ):
        cli("con rm ORDERS MONITOR -f", status=0)
        run(line, "Information for Consumer ORDERS > MONITOR")
    cli("con rm ORDERS NEW -f", status=0)
    run("con add ORDERS NEW --config", "Information for Consumer ORDERS > NEW")
    assert re.findall(r"DISPATCH|MONITOR|NEW", run("con ls ORDERS")) == ["DISPATCH", "MONITOR", "NEW"]
    run("con info ORDERS DISPATCH", r"Filter Subject: ORDERS.processed")
    with watching(cli, "sub monitor.ORDERS", "Subscribing") as monitor:
        for number in (1, 2, 3):
            run("pub ORDERS.processed", replaced=("order 1", f"order {number}"))
        monitor.expect("order 3")
    for number in (1, 2):
        run(
            "con next ORDERS DISPATCH",
            rf"subj: ORDERS.processed(.|\n)*order {number}(.|\n)*Acknowledged message",
        )
    # The documents' older subjects: nobody answers on them in a present server.
    run("req '$JS.NEXT", "no responders", status=4)
    run("req '$JS.STREAM.INFO", "no responders", status=4)
    run("req '$JS.API.STREAM.INFO.nonexisting'", "stream not found")
    cli("con add ORDERS test --pull --defaults", status=0)
    run("req '$JS.API.CONSUMER.MSG.NEXT", "order 1")
    run("req '$JS.API.STREAM.MSG.GET", "stream_msg_get_response")
    run("con info ORDERS MONITOR", "Delivery Subject: monitor.ORDERS")


@pytest.mark.slow
def test_the_tour_acknowledgements(cli: Cli) -> None:
    run = runner(cli, documents.TOUR)
    run("str add ORDERS --subjects")
    # The wait is not the document's: it is 30 seconds there.
    cli(
        "con add ORDERS DISPATCH --filter ORDERS.processed --ack explicit --pull --wait 1s --defaults",
        status=0,
    )
    for number in (4, 5):
        run("pub ORDERS.processed", replaced=("order 1", f"order {number}"))
    run("con next ORDERS DISPATCH", "order 4(.|\\n)*Acknowledged message")
    unacknowledged = run("con next ORDERS DISPATCH --no-ack", "order 5")
    assert "Acknowledged" not in unacknowledged
    run("con info ORDERS DISPATCH", r"Outstanding Acks: 1 ")
    run("con next ORDERS DISPATCH --no-ack", r"tries: 2(.|\n)*order 5")
    run("con next ORDERS DISPATCH", r"tries: 3(.|\n)*order 5(.|\n)*Acknowledged message")
    run("con info ORDERS DISPATCH", r"Outstanding Acks: 0 ")


@pytest.mark.slow
def test_the_tour_start_policies(cli: Cli) -> None:
    run = runner(cli, documents.TOUR)
    run("str add ORDERS --subjects")
    cli("pub ORDERS.processed 'order {{Count}}' --count 100 --jetstream", status=0)
    for consumer, order in (("ALL", 1), ("LAST", 100), ("TEN", 10)):
        run(f"con add ORDERS {consumer}")
        run(f"con next ORDERS {consumer}", rf"order {order}\n")
    run("con add ORDERS 2MIN")
    run("con next ORDERS 2MIN", "order 1\n")
    with watching(cli, "sub my.monitor", "Subscribing") as monitor:
        run(
            "con add ORDERS --filter '' --ack none --target 'my.monitor'",
            "Information for Consumer ORDERS > ",
        )
        monitor.expect("order 100")
    run("str purge ORDERS", "Messages: 0", answers=[True])
    for number in (1, 2):
        run("pub ORDERS.processed", replaced=("order 1", f"order {number}"))
    run("con add ORDERS REPLAY", "Replay Policy: Original")
    with watching(cli, "sub -t out.original", "order 1") as replayed:
        replayed.expect("order 2")
    run("pub CLIENT.acme hello")


@pytest.mark.slow
def test_the_tour_events(cli: Cli) -> None:
    run = runner(cli, documents.TOUR)
    run("str add ORDERS --subjects")
    run("con add ORDERS NEW")
    run("con info ORDERS NEW", "Sampling Rate: 100")
    for line, sample in (
        ("con events ORDERS NEW", "Consumer Acknowledgement"),
        ("con events ORDERS NEW --json", '"stream_seq"'),
    ):
        with watching(cli, line) as events:
            for _ in range(40):  # with --json it does not say that it listens
                cli("pub ORDERS.received hello", status=0)
                cli("con next ORDERS NEW", status=0)
                if events.expect([sample, pexpect.TIMEOUT], timeout=0.5) == 0:
                    break
            else:
                raise AssertionError(f"{line} shows no sample")


def test_the_tour_backups(cli: Cli, here: Path) -> None:
    run = runner(cli, documents.TOUR)
    run("str add ORDERS --subjects")
    run("con add ORDERS NEW")
    run("pub ORDERS.processed")
    place = ("/data", str(here))
    run("stream backup", replaced=place)
    run("str rm ORDERS")
    run("str restore", replaced=place)
    run("str info ORDERS", r" Messages: 1\n(.|\n)*Active Consumers: 1")
    run("backup", replaced=("/data/js-backup", str(here / "all")))
    cli("str edit ORDERS --max-age 3h -f", status=0)
    run("restore", replaced=("/tmp/backup", str(here / "all")))
    run("str info ORDERS", "Maximum Age: 1y")


def test_the_partitions(cli: Cli) -> None:
    run = runner(cli, documents.PARTITIONS)
    for number in range(10):
        partition = ("4", str(number))
        run("str add", f"Stream LOGS_{number} was created", replaced=partition)
        run("consumer add", f"Delivery Subject: out.logs.p{number}", replaced=partition)
    assert run("str ls").count("LOGS_") == 10
    run("consumer info", r"Information for Consumer LOGS_4 > TAIL(.|\n)*Delivery Subject: out.logs.p4")
    with watching(cli, "sub out.logs.p4", "Subscribing") as tail:
        cli("pub logs.p4.grit 'ASL Sender Statistics'", status=0)
        tail.expect(
            "consumer: LOGS_4 > TAIL / subject: logs.p4.grit / delivered: 1 / consumer seq: 1 / stream seq: 1"
        )
        tail.expect("ASL Sender Statistics")
    report = run("str report -n")
    assert re.findall(r"^LOGS_\d", report, re.M) == [f"LOGS_{number}" for number in range(10)]
    assert re.search(r"^LOGS_4 +File +1 +1 ", report, re.M)

"""`redrive` on a real server: frozen, counted, journaled, continued and undone, exact to the message."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jsctl.errors import BadInput
from jsctl.jetstream.redrive.choose import parse_sequences
from jsctl.nats.message import Message
from tests.support import js
from tests.support.dead_letters import consumer, work_off
from tests.support.relay import relay
from tests.support.run import Cli
from tests.support.servers import Account
from tests.support.stored import stored
from tests.support.waiting import wait_for


def header(message: Message, name: str) -> str:
    """Return one of the headers that a redrive adds; empty if it is missing."""
    return dict(message.headers).get(f"Jsctl-Redrive-{name}", "")


def sources(url: str, stream: str = "R") -> list[int]:
    """Return the source sequences of the messages of a stream, in their order."""
    return [int(header(one, "Sequence")) for one in stored(url, stream)]


@pytest.fixture
def retry(url: str) -> None:
    """W with consumer C, and R, which stores retry.>."""
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>", duplicate_window=100_000_000)
    consumer(url, "W")


@pytest.mark.slow
@pytest.mark.parametrize("retention", ["limits", "workqueue"])
def test_forty_dead_letters_killed_continued_and_undone(
    cli: Cli, url: str, tmp_path: Path, retention: str
) -> None:
    js.stream(url, "W", "w.*", retention=retention)
    js.stream(url, "R", "retry.x", duplicate_window=100_000_000)  # over long before the second run
    consumer(url, "W")
    failing = sorted(random.Random(7).sample(range(1, 10_000), 40))
    js.publish_all(url, [(f"w.{number % 3}", str(number).encode()) for number in range(1, 10_001)])
    work_off(url, "W", failing=failing)
    journal = tmp_path / "a journal.jsonl"
    line = ["redrive", "W", "C", "--dead", "--subject", "retry.x", "--rate", "20", "--journal", str(journal)]
    preview = cli([*line, "--dry-run", "--json"], status=0).json
    assert (preview["messages"], preview["first"], preview["last"]) == (40, failing[0], failing[-1])
    assert js.info(url, "R")["state"]["messages"] == 0 and not journal.exists()
    for _ in range(2):  # killed twice
        before = js.info(url, "R")["state"]["messages"]
        environ = {**os.environ, "NATS_URL": url}
        process = subprocess.Popen([sys.executable, "-m", "jsctl", *line, "--force"], env=environ)
        wait_for(lambda: js.info(url, "R")["state"]["messages"] >= before + 10, "nothing is redriven")  # noqa: B023
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 20 <= js.info(url, "R")["state"]["messages"] < 40
    assert "would publish the remaining" in cli([*line, "--dry-run"], status=0).out.lower()
    result = cli([*line, "--force", "--json"], status=0).json
    assert (result["total"], result["stored"], result["remaining"]) == (40, 40, 0)
    assert sources(url) == failing
    first = stored(url, "R")[0]
    assert first.data == str(failing[0]).encode() and header(first, "Count") == "1"
    assert cli([*line, "--force", "--json"], status=0).json["messages"] == 0
    assert js.info(url, "R")["state"]["messages"] == 40
    # Undone: what it stored goes, and nothing else.
    js.publish(url, "retry.x", b"other")
    js.ask(url, "STREAM.MSG.DELETE.R", {"seq": 3})
    undo = ["redrive", "--undo", str(journal)]
    assert cli([*undo, "--dry-run", "--json"], status=0).json["messages"] == 39
    undone = cli([*undo, "--force", "--json"], status=0).json
    assert (undone["removed"], undone["gone"]) == (39, 1)
    assert [one.data for one in stored(url, "R")] == [b"other"]
    assert cli([*undo, "--force", "--json"], status=0).json["removed"] == 0
    assert "was undone" in cli([*line, "--force"], status=64).err
    assert [letter["sequence"] for letter in cli("consumer dead W C --json").json] == failing


def test_filters_hold_together_and_the_set_is_frozen(cli: Cli, url: str, retry: None) -> None:
    js.publish_all(url, [(f"w.{'ab'[n % 2]}", json.dumps({"n": n}).encode()) for n in range(1, 21)])

    def chosen(*flags: str) -> int:
        line = ["redrive", "W", *flags, "--subject", "retry.x"]
        count = cli([*line, "--dry-run", "--json"], status=0).json["messages"]
        before = js.info(url, "R")["state"]["messages"]
        result = cli([*line, "--force", "--json", "--again"], status=0).json
        assert result["messages"] == count == js.info(url, "R")["state"]["messages"] - before
        return int(count)

    assert chosen("--filter", "w.a") == 10
    assert chosen("--filter", "w.a", "--first-seq", "5") == 8
    assert chosen("--filter", "w.a", "--filter", "w.b", "--last-seq", "6") == 6
    assert chosen("--match", "n > 4", "--filter", "w.b", "--limit", "3") == 3
    assert chosen("--match", "n > 15 and subject == 'w.a'", "--since", "1h") == 3
    for flag in (
        "--match",
        "--filter",
        "--since",
        "--header",
        "--sequences",
        "--journal",
    ):  # an unset variable
        cli(["redrive", "W", "--first-seq", "1", flag, "", "--subject", "retry.x", "-f"], status=64)
    assert chosen("--since", "1h", "--until", "30m") == 0
    assert chosen("--header", "Nope:1") == 0
    assert (
        cli(
            ["redrive", "W", "--sequences", "-", "--filter", "w.a", "--subject", "retry.x", "-f", "--json"],
            stdin='1\n2\n{"sequence": 4}\n99\n',
            status=0,
        ).json["messages"]
        == 2
    )


def test_sequences_are_lines_or_json() -> None:
    objects = [{"sequence": 1, "subject": "w"}, {"sequence": 2}]
    texts = ("1\n\n# two\n 2", "[1, 2]", json.dumps(objects, indent=2), "\n".join(map(json.dumps, objects)))
    assert [parse_sequences(text, "f") for text in texts] == [[1, 2]] * 4
    for text, says in (
        ("", "f holds no"),
        ("[]", "f holds no"),
        ("1\nx", "line 2 of f is not"),
        ("{}", "line 1 of f is not"),
        ("[1, true]", "entry 2 of f is not"),
        ("[1,\n2,\n", "f is not a whole JSON list"),
    ):
        with pytest.raises(BadInput, match=says):
            parse_sequences(text, "f")


def test_a_repeat_stores_nothing_twice(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", count=5)
    line = ["redrive", "W", "--first-seq", "1", "--subject", "retry.>", "--force", "--json"]
    assert cli(line, status=0).json["stored"] == 5
    again = cli(line, status=0).json
    assert (again["messages"], again["duplicates"], again["duplicates_gone"]) == (0, 5, 0)
    assert js.info(url, "R")["state"]["messages"] == 5
    assert {one.subject for one in stored(url, "R")} == {"retry.w.a"}
    assert cli([*line, "--again"], status=0).json["duplicates"] == 0
    assert js.info(url, "R")["state"]["messages"] == 10
    js.ask(url, "STREAM.PURGE.R")
    outcome = cli(line, status=0)
    assert outcome.json["duplicates_gone"] == 5 and "--again publishes them" in outcome.err


def test_a_target_that_does_not_acknowledge_is_refused(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>", no_ack=True)
    js.publish(url, "w.a")
    error = cli("redrive W --first-seq 1 --subject retry.x --force", status=64).err
    assert "stream R does not acknowledge messages" in error
    assert js.info(url, "R")["state"]["messages"] == 0


def test_loops_are_refused(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*", sources=[{"name": "R"}])
    js.stream(url, "R", "retry.>")
    js.stream(url, "S", "s.*", republish={"src": "s.*", "dest": "w.{{wildcard(1)}}"})
    js.stream(url, "FREE", "free.>")
    consumer(url, "W")
    consumer(url, "W", "NARROW", filter_subject="w.b")
    js.publish(url, "w.a", count=3)
    choice = ["--first-seq", "1", "--dry-run"]
    for subject in ("w.z", "retry.x", "s.1"):
        error = cli(["redrive", "W", "C", *choice, "--subject", subject], status=64).err
        assert "comes back to stream W" in error and "--allow-loop" in error
        cli(["redrive", "W", "C", *choice, "--subject", subject, "--allow-loop"], status=0)
    cli(["redrive", "W", "NARROW", *choice, "--subject", "w.z"], status=0)
    assert "comes back" in cli(["redrive", "W", "NARROW", *choice, "--subject", "w.b"], status=64).err
    cli(["redrive", "W", "C", *choice, "--subject", "free.x"], status=0)
    assert (
        "no stream stores nowhere"
        in cli(["redrive", "W", "C", *choice, "--subject", "nowhere"], status=64).err
    )
    assert (
        "so that there is a choice"
        not in cli(["redrive", "W", "C", *choice, "--stream", "FREE"], status=0).err
    )
    cli(["redrive", "W", "C", *choice, "--subject", "free.x", "--stream", "R"], status=64)


@pytest.mark.slow
def test_the_same_consumer_again_and_quarantine(cli: Cli, url: str) -> None:
    js.stream(url, "W", "w.*")
    js.stream(url, "Q", "quarantine.>")
    consumer(url, "W")
    js.publish(url, "w.a", b"bad", count=2)
    line = ["redrive", "W", "C", "--dead", "--to-consumer", "--max-redrives", "2", "--force", "--json"]
    counts = []
    for _ in range(4):
        work_off(url, "W", failing=range(1, 100))
        outcome = cli([*line, "--filter", "w.a", "--quarantine", "quarantine.>"], status=0).json
        counts.append((outcome["messages"], outcome["duplicates"], outcome["quarantined"]))
    # Every run sees all dead letters: what was published again before is not stored twice.
    assert [header(message, "Count") for message in stored(url, "W")] == [*("", "", "1", "1", "2", "2")]
    assert [message.subject for message in stored(url, "Q")] == ["quarantine.w.a"] * 2
    assert [header(message, "Subject") for message in stored(url, "Q")] == ["w.a"] * 2
    left = cli(line, status=0).json
    assert left["left"] == 2


def test_uncertain_messages(cli: Cli, url: str, tmp_path: Path) -> None:
    """What was sent without an answer is looked for; it is neither stored twice nor forgotten."""
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.x", duplicate_window=100_000_000)
    js.stream(url, "Q", "queue.x", retention="workqueue", duplicate_window=100_000_000)
    js.publish(url, "w.a", count=6)
    for subject, stream in (("retry.x", "R"), ("queue.x", "Q")):
        journal = tmp_path / f"{stream}.jsonl"
        line = [
            "redrive",
            "W",
            "--first-seq",
            "1",
            "--subject",
            subject,
            "--journal",
            str(journal),
            "--force",
        ]
        cli(line, status=0)
        lines = [json.loads(one) for one in journal.read_text().splitlines()]
        kept = [one for one in lines if "stored" not in one or one["stored"][0][0] <= 3]
        journal.write_text("".join(json.dumps(one) + "\n" for one in kept) + '{"stored":[[4,')  # killed
        if stream == "Q":
            js.ask(url, "STREAM.PURGE.Q", {"seq": 5})  # consumed meanwhile: 1 to 4
            time.sleep(0.2)  # the duplicate window
            error = cli(line, status=64).err
            assert "1 message may be stored already, or not: 4" in error and "--uncertain" in error
            assert cli([*line, "--uncertain", "skip", "--json"], status=0).json["skipped"] == 1
        else:
            assert cli([*line, "--json"], status=0).json["stored"] == 6
        assert js.info(url, stream)["state"]["last_seq"] == 6


@pytest.mark.slow
def test_what_was_sent_twice_is_undone(own_account: Account, tmp_path: Path) -> None:
    """Answers are lost with a connection; sent again, their messages are duplicates, but of this redrive."""
    url, journal = own_account.url, tmp_path / "j"
    js.stream(url, "W", "w.*")
    js.stream(url, "R", "retry.>")
    js.publish(url, "w.a", b"x" * 4000, count=60)  # which are read before the first is published
    with relay(own_account.server.port) as line:
        cli = Cli(tmp_path, url.replace(str(own_account.server.port), str(line.port)))
        line.then.append((100_000, line.cut_at_answer))
        redrive = ["redrive", "W", "--first-seq", "1", "--subject", "retry.x", "--journal", str(journal)]
        result = cli([*redrive, "--force", "--json"], status=0).json
    assert (result["stored"], result["duplicates"] > 0) == (60, True)
    assert js.info(url, "R")["state"]["messages"] == 60
    undone = Cli(tmp_path, url)(["redrive", "--undo", str(journal), "--force", "--json"], status=0).json
    assert (undone["removed"], undone["earlier"], undone["gone"]) == (60, 0, 0)


def test_journals_are_checked(cli: Cli, url: str, tmp_path: Path, retry: None) -> None:
    js.publish(url, "w.a", count=2)
    path = tmp_path / "notes.txt"
    path.write_text("mine\n")
    line = ["redrive", "W", "--first-seq", "1", "--subject", "retry.x", "--force", "--journal"]
    assert "is not a journal" in cli([*line, str(path)], status=64).err and path.read_text() == "mine\n"
    assert "is not a journal" in cli(["redrive", "--undo", str(path), "-f"], status=64).err
    assert "there is no journal" in cli(["redrive", "--undo", str(tmp_path / "none"), "-f"], status=64).err
    cli([*line, str(tmp_path / "j")], status=0)
    whole = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged"
    for number, record in (
        (1, b'{"jsctl_redrive":1}'),
        (2, b'{"set":[[1,"elsewhere",1,false]]}'),
        (2, b"[]"),
        (3, b'{"gone":[1e400]}'),
        (4, b'{"stored":[[1,2]]}'),
    ):
        damaged.write_bytes(b"".join([*whole[: number - 1], record, b"\n", *whole[number:]]))
        says = "is not a journal" if number == 1 else f"line {number} of journal {damaged} is damaged"
        assert says in cli([*line, str(damaged)], status=64).err
        assert says in cli(["redrive", "--undo", str(damaged), "-f"], status=64).err
    other = cli(
        ["redrive", "W", "--first-seq", "2", "--subject", "retry.x", "-f", "--journal", str(tmp_path / "j")]
    )
    assert other.status == 64 and "its first-seq is 1" in other.err
    js.ask(url, "STREAM.DELETE.R")
    js.stream(url, "R", "retry.>")
    assert "created anew" in cli([*line, str(tmp_path / "j")], status=1).err


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--dead", "the target is missing"),
        ("--since 1h --until 2h --subject retry.x", "--since must be earlier than --until"),
        ("--subject retry.x", "nothing chooses messages"),
        ("--dead --sequences x --subject retry.x", "cannot be used together"),
        ("--dead --to-consumer --subject retry.x", "cannot be used together"),
        ("--dead --subject retry.*", "contains a wildcard"),
        ("--dead --subject retry.x --pause-on 'lags > 1'", "does not know lags"),
        ("--undo x", "stands alone"),
        ("--dead --subject retry.x --match 'a ='", "expression"),
        ("--dead --subject retry.x --filter a..b", "not a valid subject"),
        ("--sequences /nowhere/x --subject retry.x", "/nowhere/x"),
        ("--dead --subject retry.x --rate 0", "--rate"),
        ("--first-seq 1 --subject retry.x", "--force"),
    ],
)
def test_what_is_refused(cli: Cli, url: str, retry: None, flags: str, says: str) -> None:
    js.publish(url, "w.a")
    outcome = cli(f"redrive W C {flags}", status=64)
    assert says in outcome.err and len(outcome.err.splitlines()) == 1


@pytest.mark.slow
def test_pause(cli: Cli, url: str, retry: None) -> None:
    consumer(url, "R", "SLOW")
    js.publish(url, "w.a", count=130)
    environ = {**os.environ, "NATS_URL": url}
    line = ["redrive", "W", "--first-seq", "1", "--subject", "retry.x", "--pause-on", "lag > 50", "--force"]
    process = subprocess.Popen([sys.executable, "-m", "jsctl", *line], env=environ, stderr=subprocess.PIPE)
    wait_for(lambda: js.info(url, "R")["state"]["messages"] >= 64, "nothing is redriven")
    assert process.stderr is not None and b"Paused by --pause-on" in process.stderr.readline()
    assert js.info(url, "R")["state"]["messages"] == 64
    cli("consumer next R SLOW --count 64", status=0)
    wait_for(lambda: js.info(url, "R")["state"]["messages"] == 128, "it does not continue")
    cli("consumer next R SLOW --count 64", status=0)
    assert process.wait(20) == 0 and js.info(url, "R")["state"]["messages"] == 130

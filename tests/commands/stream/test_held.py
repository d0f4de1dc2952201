"""What servers do not do for messages that a stream got by a restore, a copy or as a mirror."""

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer
from tests.support.waiting import wait_for

IDS = "the ids of the messages that it holds are not known"


def schedule(url: str, subject: str, target: str, seconds: float) -> None:
    """Store a schedule that fires this much later."""
    at = (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    header = f"NATS/1.0\r\nNats-Schedule: @at {at}\r\nNats-Schedule-Target: {target}\r\n\r\n".encode()
    js.publish_framed(url, subject, header, b"x")


def subjects(url: str, stream: str) -> dict[str, int]:
    found: dict[str, int] = (
        js.ask(url, f"STREAM.INFO.{stream}", {"subjects_filter": ">"})["state"].get("subjects") or {}
    )
    return found


@pytest.mark.slow
def test_schedules_fire_in_a_copy(cli: Cli, url: str, tmp_path: Path) -> None:
    """A server never arms what it stored while schedules were not allowed, as in a mirror."""
    js.stream(url, "S", "s.>", allow_msg_schedules=True, allow_direct=True)
    js.stream(url, "M", mirror={"name": "S"})
    schedule(url, "s.late", "s.fired", 3)
    copied = cli("stream copy S COPY --data --subjects copy", status=0)
    assert "fire in each of S and COPY" in copied.err
    wait_for(lambda: js.info(url, "M")["state"]["messages"] == 1, "nothing is mirrored")
    promoted = cli("stream edit M --no-mirror --subjects m --allow-schedules --force", status=0)
    assert "never fire" in promoted.err and "jsctl stream copy M M_NEW --data" in promoted.err
    cli("stream copy M M_NEW --data --subjects new", status=0)
    cli(f"stream backup S {tmp_path}/backup", status=0)
    restored = cli(f"stream restore {tmp_path}/backup --name BACK --subjects back", status=0)
    assert "fire in each of S and BACK" in restored.err
    names = "S", "COPY", "M_NEW", "BACK"
    wait_for(lambda: all(subjects(url, name) == {"s.fired": 1} for name in names), "one does not fire")
    assert subjects(url, "M") == {"s.late": 1}, "its server arms it after all"


@pytest.mark.slow
def test_schedules_that_fire_while_they_are_copied(cli: Cli, url: str) -> None:
    """They are none of the failures of a copy."""
    js.stream(url, "S", "s.>", allow_msg_schedules=True, allow_direct=True)
    for number in range(40):
        schedule(url, f"s.{number}", f"s.out.{number}", 0.5 + number % 2)
    numbers = itertools.count()

    def copy_while_they_fire() -> bool:
        number = next(numbers)
        cli(f"stream copy S C{number} --data --subjects c{number}", status=0)
        return all(subject.startswith("s.out.") for subject in subjects(url, "S"))

    wait_for(copy_while_they_fire, "some never fire")
    assert len(subjects(url, "S")) == 40


@pytest.mark.slow
def test_ids_of_messages_that_came_otherwise(offline_cli: Cli, tmp_path: Path) -> None:
    """They are not known until the server restarts, but for a mirror with a window: each gets one."""
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    server = RealServer(tmp_path / "server", config).start()
    try:
        url = server.url
        cli = Cli(tmp_path / "config", url)
        js.stream(url, "O", "o")
        cli("stream add M --mirror O --defaults", status=0)
        js.stream(url, "BARE", mirror={"name": "O"})
        js.publish_framed(url, "o", b"NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n", b"x")
        cli(f"stream backup O {tmp_path}/backup", status=0)
        assert IDS in cli(f"stream restore {tmp_path}/backup --name R --subjects r", status=0).err
        assert IDS in cli("stream copy O C --data --subjects c", status=0).err
        file = tmp_path / "streams.yaml"
        file.write_text("streams: [{name: NEW, renamed_from: O, subjects: [o]}]")
        assert IDS in cli(f"diff -f {file}").err
        cli(f"account backup {tmp_path}/account", status=0)
        js.ask(url, "STREAM.DELETE.C")
        restored = cli(f"account restore {tmp_path}/account --json", status=0).json
        assert [one["stream"] for one in restored if IDS in one["remark"]] == ["C"]
        mirrors = "M", "BARE"
        wait_for(
            lambda: all(js.info(url, name)["state"]["messages"] for name in mirrors), "nothing is mirrored"
        )
        assert IDS not in cli("stream edit M --no-mirror --subjects m --force", status=0).err
        assert IDS in cli("stream edit BARE --no-mirror --subjects b --force", status=0).err
        known = {subject: cli(f"publish {subject} x -H Nats-Msg-Id:1 -J").err for subject in "rcmb"}
        assert {subject for subject, err in known.items() if "Duplicate" in err} == {"m"}
        server.stop()
        server.start()
        cli("publish r x -H Nats-Msg-Id:1 -J", status=0)
        assert "Duplicate" in cli("publish r x -H Nats-Msg-Id:1 -J", status=0).err
        # Where the newest message is older than the window, nothing is said.
        js.stream(url, "OLD", "old", duplicate_window=100_000_000)
        js.publish(url, "old")
        numbers = itertools.count()

        def copy_old() -> str:
            number = next(numbers)
            return cli(f"stream copy OLD OLD{number} --data --subjects old{number}", status=0).err

        wait_for(lambda: IDS not in copy_old(), "it is said of an old message, too")
    finally:
        server.stop()

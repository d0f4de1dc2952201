"""`jsctl demo`: real servers, real commands, and nothing left."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.demo import DemoProcesses, ending
from tests.support.processes import children
from tests.support.tables import read_table
from tests.support.waiting import wait_for


class Demo(DemoProcesses):
    """`jsctl demo` in a folder of its own."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, home / "work")

    def leaves_nothing(self) -> None:
        wait_for(lambda: not children(self.work), f"left: {children(self.work)}")
        assert list(self.work.iterdir()) == []
        contexts = self.home / "config" / "nats" / "context"
        assert not contexts.exists() or list(contexts.iterdir()) == []


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with ending(Demo(tmp_path)) as demo:
        yield demo
    for line in children(demo.work):  # of --keep, where the test failed before it stopped them
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), signal.SIGTERM)


def lags(out: str) -> list[int]:
    """The unprocessed messages of the demo's consumer in each round of the live report."""
    rounds = [
        part for part in re.split(r"^\d{4}-\d\d-\d\d .*\n", out, flags=re.MULTILINE) if "WORKER" in part
    ]
    rows = [row for part in rounds for row in read_table(part, "Consumer Report")]
    return [int(row["Unprocessed"].replace(",", "")) for row in rows if row["Consumer"] == "WORKER"]


@pytest.mark.slow
def test_a_folder_is_never_overwritten(demo: Demo) -> None:
    (demo.work / "jsctl-demo").mkdir()
    (demo.work / "jsctl-demo" / "mine").write_text("mine")
    _, err = demo.run("demo", "--to", "jsctl-demo", "--no-spark", status=64)
    assert err == "jsctl: error: jsctl-demo exists; name a new folder with --to\n"
    process = demo.start("demo", "--no-spark")
    wait_for((demo.work / "jsctl-demo-2").exists, "no fresh folder")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert [path.name for path in demo.work.iterdir()] == ["jsctl-demo"]
    assert (demo.work / "jsctl-demo" / "mine").read_text() == "mine"


@pytest.mark.long
def test_keep_leaves_the_network_and_stop_ends_it(demo: Demo) -> None:
    out, _ = demo.run("demo", "--keep", "--no-spark", "--json")
    record: dict[str, Any] = json.loads(out)
    assert len(record["contexts"]) == 3
    commands = [step["command"] for step in record["steps"]]
    assert commands[0].startswith("jsctl server report jetstream")
    assert not [command for command in commands if "export" in command]
    assert len(children(demo.work)) == 3, "two servers and their guard"
    own = {"NATS_URL": "", "NATS_CONTEXT": ""}
    listed, _ = demo.run("stream", "ls", "--context", "demo-leaf", "--json", environ=own)
    assert json.loads(listed) == ["test"]
    demo.run("server", "stop", "demo-hub", environ=own)
    assert children(demo.work) == []
    assert list((demo.home / "config" / "nats" / "context").iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "there"),
    [
        (signal.SIGINT, ""),
        (signal.SIGINT, "*/hub.conf"),
        (signal.SIGINT, "*/leaf.log"),
        (signal.SIGTERM, "*/store_*/jetstream/*/streams/test"),
    ],
)
def test_a_signal_at_any_point_leaves_nothing(demo: Demo, there: str, number: signal.Signals) -> None:
    process = demo.start("demo", "--no-spark")
    wait_for(lambda: not there or list(demo.work.glob(there)), f"no {there}")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    # A signal that comes before jsctl has read its own code is Python's to answer.
    assert process.returncode in (130, -number), err
    assert process.returncode < 0 or "Traceback" not in err, err
    demo.leaves_nothing()


def test_kill_9_leaves_no_process_and_the_next_demo_removes_its_folder(demo: Demo) -> None:
    (demo.work / "jsctl-demo-notes").mkdir()
    (demo.work / "jsctl-demo-notes" / "mine").touch()
    process = demo.start("demo", "--no-spark")
    wait_for(lambda: len(children(demo.work)) >= 3, "no servers")
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not children(demo.work), "a server outlived the demo")
    process = demo.start("demo", "--no-spark")
    wait_for(lambda: (demo.work / "jsctl-demo").exists() and len(children(demo.work)) >= 3, "no servers")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert [path.name for path in demo.work.iterdir()] == ["jsctl-demo-notes"]
    assert (demo.work / "jsctl-demo-notes" / "mine").exists()


@pytest.mark.long
def test_without_java_one_line_says_what_is_wrong(demo: Demo) -> None:
    out, err = demo.run("demo", status=1, environ={"JAVA_HOME": "/nonexistent"})
    assert "# Both domains on one screen" in out
    errors = [line for line in err.splitlines() if line.startswith("jsctl: error: ")]
    assert len(errors) == 1
    assert "JAVA_HOME is /nonexistent, which has no bin/java" in errors[0]
    assert (demo.work / "jsctl-demo" / "hub.log").exists()
    wait_for(lambda: not children(demo.work), "a server is left")


def test_no_folder_to_write_to(demo: Demo) -> None:
    _, err = demo.run("demo", "--to", "nope/demo", "--no-spark", status=64)
    assert err == "jsctl: error: there is no folder nope; name a folder in an existing one with --to\n"
    (demo.work / "file").touch()
    _, err = demo.run("demo", "--to", "file/demo", "--no-spark", status=1)
    assert err.startswith("jsctl: error: cannot create file/demo: Not a directory")


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_the_whole_demo(demo: Demo) -> None:
    out, err = demo.run("demo")
    assert "error" not in err
    commands = [line[2:] for line in out.splitlines() if line.startswith("$ ")]
    assert commands[0] == "jsctl server report jetstream --context demo-system"
    assert "jsctl pub test 'hello world' --context demo-hub" in commands
    # A command's output follows its line.
    places = [out.index(f"$ {command}\n") for command in dict.fromkeys(commands)]
    assert places == sorted(places)
    last = out[out.index("# Both have copied") : out.index("# Both domains on one screen")]
    rows = {row["Stream"]: row for row in read_table(last, "Replication Report")}
    assert rows["backup-test-leaf"]["Kind"] == "Mirror"
    assert "$JS.leaf.API" in last
    assert "Source" in last
    folder = demo.work / "jsctl-demo"
    assert {"hub.conf", "leaf.conf", "accounts.conf", "hub.log", "leaf.log", "store_server"} <= {
        path.name for path in folder.iterdir()
    }

    query = out[out.index("# Read back with SQL") :]
    counts = {(row["domain"], row["stream"]): row["messages"] for row in read_table(query, "domain")}
    assert (counts["hub", "aggregate-test-leaf"], counts["leaf", "test"]) == ("1", "1")
    assert "Mirror" in query or "mirror" in query
    assert list((folder / "reports").glob("streams/date=*/*.parquet"))
    assert "Reports: jsctl-demo/reports" in out

    # A lag that grows and drains, and why it does not drain wholly.
    live, why = out[out.index("# The live report") :].split("# Why the rest still waits")
    waiting = lags(live)
    top = waiting.index(max(waiting))
    assert waiting[0] < waiting[top] > waiting[-1], waiting
    assert waiting == [*sorted(waiting[:top]), *sorted(waiting[top:], reverse=True)]
    assert "num_pending=101" in why
    wait_for(lambda: not children(demo.work), "a process is left")
    assert list((demo.home / "config" / "nats" / "context").iterdir()) == []

    # The last line is a command that works in the shell which ran the demo.
    again = shlex.split(out.strip().splitlines()[-1].split(": ", 1)[1])
    started = subprocess.Popen(
        [*again, "--background"], cwd=demo.work, env=demo.environ, stdout=subprocess.PIPE, text=True
    )
    demo.processes.append(started)
    assert started.communicate(timeout=60)[0] and started.returncode == 0
    own = {"NATS_URL": "", "NATS_CONTEXT": ""}
    listed, _ = demo.run("consumer", "ls", "aggregate-test-leaf", "--context", "hub", "--json", environ=own)
    assert json.loads(listed) == ["WORKER"]
    demo.run("server", "stop", "hub", environ=own)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_ctrl_c_during_the_export_leaves_nothing(demo: Demo, tmp_path: Path) -> None:
    """As soon as it starts Spark; tests/commands/export/test_stream_stopped.py interrupts one that writes."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = demo.start("demo", environ={"TMPDIR": str(temporary)})
    wait_for(lambda: list(temporary.glob("*/spark.log")), "the export does not start Spark", 120)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    demo.leaves_nothing()
    wait_for(lambda: not children(temporary), "the JVM outlived the demo")

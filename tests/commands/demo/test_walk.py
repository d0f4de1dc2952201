"""`jsctl demo guide` and `jsctl demo hub-spokes`: the documents, played on real servers, and nothing left."""

import json
import re
import shlex
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jsctl.commands.demo import walk
from jsctl.localserver import walkthrough
from jsctl.localserver.walkthrough import Check, Step, Walkthrough
from tests.contract.test_commands import parse
from tests.support import documents
from tests.support.demo import DemoProcesses, ending
from tests.support.processes import children
from tests.support.run import Cli
from tests.support.waiting import wait_for

pytestmark = pytest.mark.long

ADDRESSES = {"{hub}": "localhost:4222", "{leaf}": "localhost:4111", "auth/keys/": "keys/"}
"""How a walkthrough writes what the documents do."""


def words(line: str) -> list[str]:
    """A line of a walkthrough or of a document, so that the two can be compared."""
    for ours, theirs in ADDRESSES.items():
        line = line.replace(ours, theirs)
    return shlex.split(re.sub(r"\{srv-(\d+)\}", r"127.0.0.1:\1", line).removeprefix("jsctl "))


def lines(name: str) -> list[str]:
    return [line for step in walkthrough.load_walkthrough(name).steps for line in step.lines]


class TestData:
    """What the walkthroughs are, without playing them."""

    @pytest.mark.parametrize(("name", "document"), [("guide", "guide"), ("hub-spokes", "demo")])
    def test_they_hold_every_command_of_their_document(self, name: str, document: str) -> None:
        played = [words(line) for line in lines(name)]
        assert [line for line in documents.LINES[document] if words(line) not in played] == []

    @pytest.mark.parametrize("name", walkthrough.NAMES)
    def test_they_are_well_written(self, name: str) -> None:
        known = walkthrough.load_walkthrough(name)
        for step in known.steps:
            assert re.fullmatch(r"([A-Z0-9]|spoke).*\.", step.say), step
            assert ". " not in step.say, f"one sentence: {step.say}"
            assert step.lines or step.file, step
            assert {check.place for check in step.checks} <= {"", *known.places}, step
            for line in step.lines:
                parse(f"jsctl {line}")
        assert sum(len(step.checks) for step in known.steps) >= len(known.steps)

    @pytest.mark.parametrize("name", walkthrough.NAMES)
    def test_20_000_messages_go_through_each_part_across_accounts(self, name: str) -> None:
        known = walkthrough.load_walkthrough(name)
        bulk = {step.part for step in known.steps if "--count 20000" in " ".join(step.lines)}
        across = {"accounts", "client"} if name == "guide" else {"across", "consumer", "through"}
        assert bulk == across

    def test_parts_are_found(self) -> None:
        known = walkthrough.load_walkthrough("guide")
        first, last = known.find("copies")
        assert {step.part for step in known.steps[first - 1 : last]} == {"copies"}
        assert known.find("3") == (3, 3)

    def test_wrong_flags(self, offline_cli: Cli) -> None:
        error = offline_cli("demo guide --only nowhere", status=64).err
        assert "no part and no step 'nowhere'; its parts are domains, copies, accounts, client" in error
        assert "cannot be used together" in offline_cli("demo guide --only 1 --from 2", status=64).err
        assert "needs a terminal" in offline_cli("demo guide --step", status=64).err
        offline_cli.home.mkdir(exist_ok=True)
        assert "exists" in offline_cli(["demo", "guide", "--to", str(offline_cli.home)], status=64).err

    def test_the_list(self, offline_cli: Cli) -> None:
        listed = offline_cli("demo hub-spokes --list --json", status=0).json
        assert [row["step"] for row in listed] == list(range(1, len(listed) + 1))
        assert "outage" in offline_cli("demo hub-spokes --list", status=0).out


class Demo(DemoProcesses):
    """`jsctl demo ...` in a process of its own, with a folder for what is temporary."""

    def __init__(self, home: Path) -> None:
        self.temporary = home / "tmp"
        super().__init__(home, self.temporary, {"TMPDIR": str(self.temporary)})

    def leaves_nothing(self) -> None:
        wait_for(lambda: not children(self.home), f"left: {children(self.home)}")
        assert list(self.temporary.iterdir()) == []
        assert not (self.home / "config").exists()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with ending(Demo(tmp_path)) as demo:
        yield demo


@pytest.mark.slow
def test_the_guide(demo: Demo) -> None:
    out, err = demo.run("demo", "guide")
    known = walkthrough.load_walkthrough("guide")
    numbers = [int(number) for number in re.findall(rf"^# (\d+)/{len(known.steps)} ", out, re.MULTILINE)]
    assert numbers == list(range(1, len(known.steps) + 1))
    assert out.count("\nok: ") == sum(len(step.checks) for step in known.steps)
    assert "? Foreign JetStream domain name leaf\n" in out
    assert "ok: account IMPORT_MIRROR: aggregate-test-leaf-from-acc holds 20,001 messages, lag 0\n" in out
    assert "checks passed.\nAll servers have stopped, and everything was removed.\n" in out
    assert "error" not in err
    demo.leaves_nothing()


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.timeout(600)
def test_the_nine_servers(demo: Demo) -> None:
    out, err = demo.run("demo", "hub-spokes", "--json")
    assert "error: cannot connect" not in err  # it is a step's own output
    document: dict[str, Any] = json.loads(out)
    known = walkthrough.load_walkthrough("hub-spokes")
    assert [len(step["checks"]) for step in document["steps"]] == [len(step.checks) for step in known.steps]
    outage = next(
        step for step in document["steps"] if step["part"] == "outage" and step["commands"][0]["status"]
    )
    assert "cannot connect" in outage["commands"][0]["output"]
    demo.leaves_nothing()


SMALL = Walkthrough(
    "small",
    "A small walkthrough",
    {"local": "--context=local"},
    {"start": "Start", "go": "Go on"},
    (
        Step(1, "start", "A server.", ("server network up single --store . --port 0",)),
        Step(
            2,
            "go",
            "A stream.",
            ("stream add one --subjects one --context=local",),
            answers={"Storage": "memory"},
            checks=(Check("local", {"one": {"messages": 0}}, only=True),),
        ),
        Step(
            3,
            "go",
            "A message.",
            ("pub one 1 --context=local",),
            seconds=0.2,
            checks=(Check("local", {"one": {"messages": 1}}),),
        ),
    ),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(walk, "load_walkthrough", lambda _: SMALL)
    return monkeypatch


@pytest.mark.slow
def test_from_and_only(small: pytest.MonkeyPatch, offline_cli: Cli) -> None:
    out = offline_cli("demo guide --from 3", status=0).out
    assert "# steps 1 to 2 are played without their output\n" in out
    assert "$ jsctl pub one 1" in out and "$ jsctl stream add" not in out
    out = offline_cli("demo guide --only 2", status=0).out
    assert "# 2/3 A stream.\n$ jsctl stream add" in out and "$ jsctl pub" not in out


@pytest.mark.slow
def test_a_check_that_fails_is_named(small: pytest.MonkeyPatch, offline_cli: Cli, tmp_path: Path) -> None:
    wrong = replace(SMALL.steps[2], checks=(Check("local", {"one": {"messages": 2}}),))
    small.setattr(walk, "load_walkthrough", lambda _: replace(SMALL, steps=(*SMALL.steps[:2], wrong)))
    outcome = offline_cli(["demo", "guide", "--to", str(tmp_path / "here")], status=1)
    expected = (
        "step 3, check failed: local: one holds 2 messages; one has messages 1; configurations and logs"
    )
    assert expected in outcome.err
    assert (tmp_path / "here" / "server.log").exists()
    assert not children(tmp_path)
    outcome = offline_cli(["demo", "guide", "--to", str(tmp_path / "there"), "--json"], status=1)
    assert [step["step"] for step in outcome.json["steps"]] == [1, 2, 3]


@pytest.mark.slow
def test_a_command_that_fails_is_named(small: pytest.MonkeyPatch, offline_cli: Cli, tmp_path: Path) -> None:
    wrong = replace(SMALL.steps[2], lines=("stream info none --context=local",))
    small.setattr(walk, "load_walkthrough", lambda _: replace(SMALL, steps=(*SMALL.steps[:2], wrong)))
    error = offline_cli(["demo", "guide", "--to", str(tmp_path / "here")], status=1).err
    assert "step 3 failed: jsctl stream info none --context=local ended with status 3, not 0" in error


@pytest.mark.slow
def test_keep_and_a_folder_of_a_name(small: pytest.MonkeyPatch, offline_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    out = offline_cli(["demo", "guide", "--keep", "--to", str(folder)], status=0).out
    assert f"jsctl server network down {folder} --force" in out
    variables = offline_cli(f"server network env {folder} --json", status=0).json
    assert offline_cli("stream ls --names", environ=variables, status=0).out == "one\n"
    offline_cli(f"server network down {folder} --force", status=0)
    assert not children(tmp_path)


@pytest.mark.slow
def test_it_fits_a_terminal_of_80_columns(small: pytest.MonkeyPatch, offline_cli: Cli) -> None:
    out = offline_cli("demo guide", status=0, tty=True, width=80).out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert "ok: local: one holds 0 messages; no other stream\n" in plain
    assert "? Storage memory\n" in plain
    for line in plain.splitlines():
        assert len(line) <= 80 or "jsctl" in line, line


@pytest.mark.slow
def test_a_key_continues_and_q_ends(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "config")
    cli.environ["TMPDIR"] = str(tmp_path)
    with cli.terminal("demo guide --step", columns=80) as screen:
        screen.expect("any key continues, q ends")
        screen.send(" ")
        screen.expect("# 2/23")
        screen.expect("any key continues, q ends")
        screen.send("q")
        screen.expect("everything was removed")
        screen.wait()
        assert screen.exitstatus == 0
    assert not children(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "there"), [(signal.SIGINT, "*/hub.conf"), (signal.SIGTERM, "*/store_leaf/jetstream/ACC")]
)
def test_a_signal_at_any_moment_leaves_nothing(demo: Demo, number: signal.Signals, there: str) -> None:
    process = demo.start("demo", "guide")
    wait_for(lambda: list(demo.temporary.glob(there)), f"no {there}")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "the walkthrough was stopped and removed" in err and "Traceback" not in err
    demo.leaves_nothing()


@pytest.mark.slow
def test_a_kill_leaves_no_server_and_the_next_one_removes_its_folder(demo: Demo) -> None:
    process = demo.start("demo", "guide")
    wait_for(lambda: [line for line in children(demo.home) if "nats-server" in line], "no server")
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not children(demo.home), "a server is left")
    assert list(demo.temporary.glob("jsctl-demo-*/hub.conf"))
    process = demo.start("demo", "guide")
    wait_for(lambda: not list(demo.temporary.glob("jsctl-demo-*/hub.conf")), "the folder is left")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    demo.leaves_nothing()

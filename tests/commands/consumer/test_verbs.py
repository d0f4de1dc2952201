"""consumer ls, info, state, rm, find, edit, copy, reset, pause, resume, unpin, sub, graph."""

import json
import time
from pathlib import Path

import pexpect
import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture(autouse=True)
def orders(url: str) -> None:
    js.stream(url, "ORDERS", "ORDERS.*")


@pytest.fixture
def pull(cli: Cli) -> None:
    cli("consumer add ORDERS C --pull --filter ORDERS.a --sample 50", status=0)


def test_ls(cli: Cli) -> None:
    assert cli("con ls ORDERS", status=0).out == "No Consumers defined\n"
    assert cli("con ls ORDERS --json", status=0).json == []
    for name in ("NEW", "DISPATCH"):
        cli(f"con add ORDERS {name} --pull --description 'what {name} does'", status=0)
    assert cli("con ls ORDERS --names", status=0).out == "DISPATCH\nNEW\n"
    assert cli("con list ORDERS -j", status=0).json == ["DISPATCH", "NEW"]
    shown = cli("con ls ORDERS", tty=True, status=0).out
    for text in ("Consumers", "Ack Pending", "Unprocessed", "Last Delivery", "what NEW does", "never", "╭"):
        assert text in shown
    plain = cli("con ls ORDERS", status=0).out.splitlines()
    assert plain[1].split("  ")[0] == "Name"
    assert plain[2].startswith("DISPATCH")


def test_many_consumers_are_listed_all(cli: Cli, url: str) -> None:
    for number in range(300):
        config = {"durable_name": f"C{number}", "ack_policy": "explicit"}
        js.ask(url, f"CONSUMER.DURABLE.CREATE.ORDERS.C{number}", {"stream_name": "ORDERS", "config": config})
    assert len(cli("con ls ORDERS --as csv", status=0).out.splitlines()) == 301
    assert len(cli("con report ORDERS --json", status=0).json["consumers"]) == 300


def test_info_and_state(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a", count=3)
    cli("con next ORDERS C", status=0)
    shown = cli("con info ORDERS C", status=0).out
    for line in (
        "Information for Consumer ORDERS > C created 20",
        "                    Name: C\n",
        "               Pull Mode: true\n",
        "          Filter Subject: ORDERS.a\n",
        "          Deliver Policy: All\n",
        "              Ack Policy: Explicit\n",
        "                Ack Wait: 30s\n",
        "           Replay Policy: Instant\n",
        "           Sampling Rate: 50\n",
        "         Max Ack Pending: 1,000\n",
        "       Max Waiting Pulls: 512\n",
        "  Last Delivered Message: Consumer sequence: 1 Stream sequence: 1 Last delivery: ",
        "    Acknowledgment Floor: Consumer sequence: 1 Stream sequence: 1 Last Ack: ",
        "        Outstanding Acks: 0 out of maximum 1,000\n",
        "    Redelivered Messages: 0\n",
        "    Unprocessed Messages: 2\n",
        "           Waiting Pulls: 0 of maximum 512\n",
    ):
        assert line in shown
    state = cli("con state ORDERS C", status=0).out
    assert state.startswith("State for Consumer ORDERS > C created ")
    assert "Ack Policy" not in state
    assert cli("con nfo ORDERS C -j", status=0).json["config"]["sample_freq"] == "50"


def test_info_of_a_push_consumer(cli: Cli) -> None:
    line = (
        "con add ORDERS P --target p.x --deliver-group g --ack all --flow-control --heartbeat 5s --deliver 7"
    )
    shown = cli(line, status=0).out
    for line in (
        "Delivery Subject: p.x\n", "Deliver Queue Group: g\n", "Deliver Policy: From Sequence 7\n",
        "Ack Policy: All\n", "Idle Heartbeat: 5s\n", "Flow Control: true\n", "Active Interest: No interest\n",
    ):  # fmt: skip
        assert line in shown
    assert "Waiting Pulls" not in shown


def test_foreign_text_is_made_safe(cli: Cli, url: str) -> None:
    config = {"durable_name": "C", "ack_policy": "explicit", "description": "[red]\x1b[31mx\x1b[0m"}
    js.ask(url, "CONSUMER.DURABLE.CREATE.ORDERS.C", {"stream_name": "ORDERS", "config": config})
    for line in ("con info ORDERS C", "con ls ORDERS", "con report ORDERS", "con info ORDERS C --json"):
        shown = cli(line, tty=True, status=0).out
        assert "\x1b[31m" not in shown
    assert "[red]\\x1b[31mx" in cli("con info ORDERS C", tty=True, status=0).out


def test_names_can_be_picked(cli: Cli, pull: None) -> None:
    done = cli("con info", tty=True, answers=["ORDERS", "C"], status=0)
    assert done.asked == ["Select a Stream", "Select a Consumer"]
    assert "the consumer's name is missing" in cli("con info ORDERS", status=64).err
    for verb in ("info", "state"):
        assert (
            "a name is missing" in cli(f"con {verb} ORDERS --no-select", tty=True, answers=[], status=64).err
        )


def test_rm(cli: Cli, pull: None) -> None:
    asked = cli("con rm ORDERS C", tty=True, answers=[False], status=1)
    assert asked.asked == ["Really delete Consumer ORDERS > C"]
    assert "give --force" in cli("con rm ORDERS C", status=64).err
    assert cli("con rm ORDERS C -f", status=0).out == "Consumer ORDERS > C was removed\n"
    assert "consumer ORDERS > C not found" in cli("con rm ORDERS C -f", status=3).err
    assert "--force needs both names" in cli("con rm ORDERS -f", status=64).err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--pull", {"ack_policy": "explicit"}),
        ("--pull --ack none", {"ack_policy": "none"}),
        ("--target to.me", {"deliver_subject": "to.me"}),
    ],
)
def test_a_whole_configuration_leaves_the_servers_defaults_out(
    cli: Cli, tmp_path: Path, flags: str, said: dict[str, str]
) -> None:
    cli(f"con add ORDERS W {flags} --defaults", status=0)
    file = tmp_path / "whole.json"
    file.write_text(json.dumps(said))
    same = cli(f"con edit ORDERS W --config {file} --replace --force", status=0)
    assert same.out == "No difference in configuration\n"


def test_find(cli: Cli, url: str) -> None:
    js.publish(url, "ORDERS.a", count=5)
    cli("con add ORDERS FULL --pull --metadata team=red", status=0)
    cli("con add ORDERS DONE --pull --deliver new --max-pending 5", status=0)
    cli("con add ORDERS PUSH --target p --heartbeat 1s", status=0)
    cli("con next ORDERS FULL --no-ack", status=0)

    def found(line: str) -> list[str]:
        return cli(f"con find ORDERS {line}", status=0).out.split()

    assert found("") == ["DONE", "FULL", "PUSH"]
    assert found("--pull") == ["DONE", "FULL"]
    assert found("--push") == ["PUSH"]
    assert found("--pull --invert") == ["PUSH"]
    assert found("--pending 1") == ["DONE"]
    assert found("--pending 1 --invert") == ["FULL", "PUSH"]
    assert found("--ack-pending 1 --invert") == ["FULL"]
    assert found("--idle 1h") == ["DONE", "PUSH"]
    assert found("--idle 1h --invert") == ["FULL"]
    assert found("--created 1h") == []
    assert found("--created 1h --invert") == ["DONE", "FULL", "PUSH"]
    assert found("--bound") == []
    assert found("--replicas 1") == ["DONE", "FULL", "PUSH"]
    assert found("--leader nobody") == []
    assert found("--pinned") == []
    assert found("--expression 'config.max_ack_pending == 5'") == ["DONE"]
    assert found("--expression 'state.num_pending > 0 && config.metadata.team == \"red\"'") == ["FULL"]
    assert found("--expression 'Info.NumAckPending == 1'") == ["FULL"]
    assert cli("con find ORDERS --push --json", status=0).json == ["PUSH"]
    assert cli("con query ORDERS --expression 'config.'", status=64).err.startswith("jsctl: error: ")


def test_edit_changes_what_was_said_and_nothing_else(cli: Cli, pull: None) -> None:
    before = cli("con info ORDERS C --json", status=0).json["config"]
    shown = cli("con edit ORDERS C --max-pending 77 --wait 10s --dry-run", status=0).out
    assert shown.splitlines()[0] == "Changes"
    assert "ack_wait" in shown and "30s" in shown and "10s" in shown
    assert cli("con info ORDERS C --json", status=0).json["config"] == before
    done = cli("con edit ORDERS C --max-pending 77 --wait 10s", tty=True, answers=[True], status=0)
    assert done.asked == ["Really edit Consumer ORDERS > C"]
    assert "max_ack_pending: 1000 -> 77" in done.err
    assert done.out.startswith("Consumer ORDERS > C was updated\n")
    after = cli("con info ORDERS C --json", status=0).json["config"]
    assert after == {**before, "max_ack_pending": 77, "ack_wait": 10**10}
    assert cli("con edit ORDERS C --max-pending 77", status=0).out == "No difference in configuration\n"


def test_edit_more(cli: Cli, pull: None) -> None:
    def config(line: str) -> dict[str, object]:
        found: dict[str, object] = cli(f"con edit ORDERS C {line} -f --json", status=0).json["config"]
        return found

    assert config("--filter ORDERS.b --filter ORDERS.c")["filter_subjects"] == ["ORDERS.b", "ORDERS.c"]
    assert config("--filter ORDERS.d")["filter_subject"] == "ORDERS.d"
    assert "filter_subject" not in config("--filter ''")
    assert config("--backoff linear --backoff-steps 2 --backoff-min 1s --backoff-max 5s")["backoff"] == [
        10**9,
        5 * 10**9,
    ]
    assert "backoff" not in config("--backoff none")
    assert config("--sample 5")["sample_freq"] == "5"
    assert "sample_freq" not in config("--sample 0")
    assert config("--description new --metadata a=b --headers-only --replicas 1")["headers_only"] is True
    assert "headers_only" not in config("--no-headers-only")
    assert "nothing to change was given" in cli("con edit ORDERS C", status=64).err
    assert "give --force" in cli("con edit ORDERS C --sample 9", status=64).err
    refused = cli("con edit ORDERS C --target push.x -f", status=64)
    assert "pulls and cannot become a push consumer; jsctl consumer copy --target" in refused.err


def test_edit_by_file(cli: Cli, pull: None, tmp_path: Path) -> None:
    document = tmp_path / "c.json"
    document.write_text(cli("con info ORDERS C --json", status=0).out)
    assert cli(f"con edit ORDERS C --config {document}", status=0).out == "No difference in configuration\n"
    file = tmp_path / "c.yaml"
    file.write_text("filter_subjects: [ORDERS.x, ORDERS.y]\nack_wait: 1m\n")
    config = cli(f"con edit ORDERS C --config {file} -f --json", status=0).json["config"]
    assert config["filter_subjects"] == ["ORDERS.x", "ORDERS.y"]
    assert (config["ack_wait"], config["sample_freq"]) == (60 * 10**9, "50")
    replaced = cli(f"con edit ORDERS C --config {file} --replace -f --json", status=0).json["config"]
    assert "sample_freq" not in replaced


def test_edit_in_the_editor(cli: Cli, pull: None, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/"sample_freq": "50"/"sample_freq": "60"/\' "$1"\n')
    editor.chmod(0o755)
    environ = {"EDITOR": str(editor)}
    done = cli("con edit ORDERS C -i -f --json", environ=environ, status=0).json
    assert done["config"]["sample_freq"] == "60"


def test_copy(cli: Cli, pull: None) -> None:
    made = cli("con cp ORDERS C D --filter ORDERS.b --json", status=0).json["config"]
    assert (made["durable_name"], made["filter_subject"], made["sample_freq"]) == ("D", "ORDERS.b", "50")
    push = cli("con copy ORDERS C E --target e.x --heartbeat 1s --json", status=0).json["config"]
    assert (push["deliver_subject"], push.get("max_waiting")) == ("e.x", None)
    back = cli("con copy ORDERS E F --pull --json", status=0).json["config"]
    assert (back.get("deliver_subject"), back.get("idle_heartbeat")) == (None, None)
    assert "exists already" in cli("con copy ORDERS C D --filter ORDERS.b", status=0).out
    temporary = cli("con copy ORDERS C T --ephemeral --json", status=0).json
    assert (temporary["name"], temporary["config"].get("durable_name")) == ("T", None)
    assert "a name of its own" in cli("con copy ORDERS C C", status=64).err
    assert "consumer ORDERS > NO not found" in cli("con copy ORDERS NO D", status=3).err


def test_reset(cli: Cli, url: str) -> None:
    cli("con add ORDERS R --pull", status=0)
    js.publish(url, "ORDERS.a", count=5)
    cli("con next ORDERS R --count 2", status=0)
    cli("con next ORDERS R --count 3 --no-ack", status=0)
    state = cli("con reset ORDERS R --force --json", status=0).json
    assert (state["num_pending"], state["ack_floor"]["stream_seq"]) == (3, 2)
    assert "str seq: 3" in cli("con next ORDERS R", status=0).out
    assert cli("con reset ORDERS R --sequence 1 -f --json", status=0).json["num_pending"] == 5
    # What was given up comes again, too.
    cli("con add ORDERS TRY --pull --max-deliver 1 --wait 200ms", status=0)
    cli("con next ORDERS TRY", status=0)
    cli("con next ORDERS TRY --count 4 --no-ack", status=0)
    cli("con next ORDERS TRY --timeout 500ms", status=3)
    assert cli("con reset ORDERS TRY -f --json", status=0).json["num_pending"] == 4
    cli("con add ORDERS LAST --pull --deliver last", status=0)
    assert cli("con reset ORDERS LAST -f --json", status=0).json["num_pending"] == 1
    assert "can only go back to its floor" in cli("con reset ORDERS LAST --sequence 2 -f", status=64).err
    asked = cli("con reset ORDERS R --sequence 1000", tty=True, answers=[False], status=1).asked
    assert asked == ["Really reset Consumer ORDERS > R to sequence 1,000"]


def test_pause_and_resume(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a")
    assert cli("con pause ORDERS C 1h -f", status=0).out.endswith("(1h0m0s)\n")
    assert "Paused Until" in cli("con info ORDERS C", status=0).out
    assert cli("con next ORDERS C --timeout 300ms").status == 3
    done = cli("con resume ORDERS C", tty=True, answers=[True], status=0)
    assert done.asked == ["Really resume Consumer ORDERS > C"]
    assert done.out.startswith("Consumer ORDERS > C was resumed while previously paused until 20")
    assert cli("con next ORDERS C --timeout 1s").status == 0
    assert "is not paused" in cli("con resume ORDERS C -f", status=1).err
    assert "in the past" in cli(["con", "pause", "ORDERS", "C", "2020-01-01 00:00:00", "-f"], status=1).err
    assert "neither a time" in cli("con pause ORDERS C whenever -f", status=64).err
    assert "give UNTIL" in cli("con pause ORDERS C -f", status=64).err
    asked = cli("con pause ORDERS C", tty=True, answers=[..., True], status=0).asked
    assert asked[0] == "Pause until (time or duration)"
    assert asked[1].startswith("Really pause Consumer ORDERS > C until 20")


def test_unpin(cli: Cli, url: str, pull: None) -> None:
    assert "pins no clients" in cli("con unpin ORDERS C -f", status=1).err
    cli("con add ORDERS PIN --pull --pinned-groups a --pinned-ttl 1m", status=0)
    assert "no client is pinned" in cli("con unpin ORDERS PIN -f", status=1).err
    assert "has no priority group b" in cli("con unpin ORDERS PIN b -f", status=3).err
    js.publish(url, "ORDERS.a")
    cli("con next ORDERS PIN --group a", status=0)
    assert "pinned " in cli("con info ORDERS PIN", status=0).out
    assert "pinned a: " in cli("con report ORDERS", status=0).out
    assert cli("con find ORDERS --pinned", status=0).out == "PIN\n"
    done = cli("con unpin ORDERS PIN", tty=True, answers=["a", True], status=0)
    assert done.asked == ["Select a Group", "Really unpin client from group ORDERS > PIN > a"]
    assert done.out.startswith("Unpinned client ")
    assert "No client" in cli("con info ORDERS PIN", status=0).out


def test_sub(cli: Cli, url: str) -> None:
    js.publish(url, "ORDERS.a", b"one")
    js.publish(url, "ORDERS.a", b"two")
    cli("con add ORDERS PULL --pull", status=0)
    assert cli("con sub ORDERS PULL --count 2 --raw", status=0).out == "one\ntwo\n"
    assert cli("con info ORDERS PULL --json", status=0).json["ack_floor"]["stream_seq"] == 2
    cli("con add ORDERS PUSH --target p.x --deliver-group g", status=0)
    assert "two" in cli("con sub ORDERS PUSH --count 2 --deliver-group g", status=0).out
    assert "does not deliver to h" in cli("con sub ORDERS PUSH --deliver-group h", status=64).err
    assert "consumer ORDERS > NO not found" in cli("con sub ORDERS NO", status=3).err
    assert cli("con ls ORDERS --json", status=0).json == ["PULL", "PUSH"]


def test_graph(cli: Cli, url: str, pull: None) -> None:
    js.publish(url, "ORDERS.a", count=3)
    lines = cli("con graph ORDERS C --every 100ms --count 2 --json", status=0).out.splitlines()
    assert [json.loads(line)["num_pending"] for line in lines] == [3, 3]
    assert "Delivered/s" in cli("con graph ORDERS C --every 100ms --count 1", status=0).out
    screen = cli.terminal("con graph ORDERS C --every 100ms", rows=40)
    screen.expect_exact("Consumer Statistics for ORDERS > C")
    screen.expect_exact("Messages Delivered / second")
    time.sleep(0.3)
    screen.send("q")
    screen.expect(pexpect.EOF)
    screen.wait()
    assert screen.exitstatus == 0


def test_events(cli: Cli, url: str, pull: None) -> None:
    cli("con edit ORDERS C --sample 100 -f", status=0)
    cli("con add ORDERS OTHER --pull --sample 100", status=0)
    screen = cli.terminal("con events ORDERS C --count 2 --short")
    screen.expect_exact("Listening for events on $JS.EVENT.METRIC.CONSUMER.*.ORDERS.C")
    time.sleep(0.5)
    js.publish(url, "ORDERS.a")
    cli("con next ORDERS OTHER", status=0)
    cli("con next ORDERS C --nak", status=0)
    cli("con next ORDERS C", status=0)
    screen.expect(pexpect.EOF)
    shown = str(screen.before)
    assert shown.count("ORDERS > C") == 2
    assert "OTHER" not in shown
    assert "consumer ORDERS > NO not found" in cli("con events ORDERS NO", status=3).err

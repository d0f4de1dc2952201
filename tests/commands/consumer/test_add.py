"""consumer add: flags, files, defaults, the questionnaire."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.usefixtures("orders")


def config(cli: Cli, line: str, name: str = "C") -> dict[str, Any]:
    """What the server has after `consumer add ORDERS NAME ...`."""
    result: dict[str, Any] = cli(f"consumer add ORDERS {name} {line} --json", status=0).json
    assert result["name"] == name
    config: dict[str, Any] = result["config"]
    return config


def has(config: dict[str, Any], **wanted: Any) -> None:
    assert {key: config.get(key) for key in wanted} == wanted


def test_the_tour(cli: Cli) -> None:
    line = "--filter ORDERS.received --ack explicit --pull --deliver all --max-deliver=-1 --sample 100"
    has(
        config(cli, line),
        durable_name="C",
        filter_subject="ORDERS.received",
        ack_policy="explicit",
        deliver_policy="all",
        max_deliver=-1,
        sample_freq="100",
        deliver_subject=None,
    )
    line = "--ack none --target monitor.ORDERS --deliver last --replay instant --filter ''"
    has(
        config(cli, line, "MONITOR"),
        ack_policy="none",
        deliver_subject="monitor.ORDERS",
        deliver_policy="last",
        filter_subject=None,
        replay_policy="instant",
    )
    for number, start in enumerate(("last", "10", "2m")):
        line = f"--pull --filter ORDERS.processed --ack none --replay instant --deliver {start}"
        cli(f"con add ORDERS S{number} {line}", status=0)
    line = "--target out.original --filter ORDERS.processed --ack none --deliver all --sample 100"
    has(config(cli, f"{line} --replay original", "REPLAY"), replay_policy="original", sample_freq="100")


def test_defaults_without_a_terminal(cli: Cli) -> None:
    has(
        config(cli, "", "P"),
        ack_policy="explicit",
        deliver_policy="all",
        replay_policy="instant",
        durable_name="P",
        deliver_subject=None,
    )
    has(config(cli, "--target x.y", "T"), ack_policy="none", deliver_subject="x.y")


def test_replay_is_kept_with_defaults(cli: Cli) -> None:
    has(config(cli, "--target x --replay original --defaults"), replay_policy="original")


def test_all_the_rest(cli: Cli) -> None:
    pull = (
        "--pull --max-pending 50 --max-waiting 20 --max-pull-batch 10 --max-pull-expire 5s"
        " --max-pull-bytes 1MB --wait 1s --inactive-threshold 1h --memory --replicas 1 --headers-only"
        " --metadata a=b --metadata c=d"
        " --description words --filter ORDERS.a --filter ORDERS.b --max-deliver 5 --backoff 1s,5s --pause 1h"
    )
    result = config(cli, pull)
    has(
        result,
        max_ack_pending=50,
        max_waiting=20,
        max_batch=10,
        max_expires=5 * 10**9,
        max_bytes=1 << 20,
        ack_wait=10**9,
        inactive_threshold=3600 * 10**9,
        mem_storage=True,
        num_replicas=1,
        headers_only=True,
        description="words",
        filter_subjects=["ORDERS.a", "ORDERS.b"],
        max_deliver=5,
        backoff=[10**9, 5 * 10**9],
    )
    assert {key: value for key, value in result["metadata"].items() if not key.startswith("_nats.")} == {
        "a": "b",
        "c": "d",
    }
    assert result["pause_until"] > "2026"
    push = "--target t --deliver-group g --flow-control --heartbeat 5s --bps 8000 --ack all --deliver subject"
    has(
        config(cli, push, "P"),
        deliver_group="g",
        flow_control=True,
        idle_heartbeat=5 * 10**9,
        rate_limit_bps=8000,
        ack_policy="all",
        deliver_policy="last_per_subject",
        filter_subject=">",
    )


def test_priority_groups(cli: Cli) -> None:
    has(
        config(cli, "--pull --pinned-groups a --pinned-ttl 1m"),
        priority_policy="pinned_client",
        priority_groups=["a"],
        priority_timeout=60 * 10**9,
    )
    has(config(cli, "--pull --overflow-groups o", "O"), priority_policy="overflow", priority_groups=["o"])
    has(config(cli, "--pull --prioritized-groups p", "Q"), priority_policy="prioritized")


def test_ephemeral(cli: Cli) -> None:
    result = cli("consumer add ORDERS --ephemeral --pull --defaults --json", status=0).json
    assert len(result["name"]) == 8
    assert "durable_name" not in result["config"]
    named = cli("consumer add ORDERS MINE --ephemeral --target my.monitor --json", status=0).json
    assert (named["name"], named["config"].get("durable_name")) == ("MINE", None)


def test_what_is_there_already(cli: Cli) -> None:
    first = cli("consumer add ORDERS C --pull", status=0)
    assert first.out.startswith("Information for Consumer ORDERS > C created ")
    again = cli("consumer add ORDERS C --pull", status=0)
    assert again.out.startswith("Consumer ORDERS > C already exists, nothing was changed\n")
    other = cli("consumer add ORDERS C --pull --max-pending 7", status=1)
    assert "exists with another configuration (10148); jsctl consumer edit changes it" in other.err


def test_output_and_config(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    cli(f"consumer add ORDERS C --pull --sample 10 --output {file}", status=0)
    assert json.loads(file.read_text())["sample_freq"] == "10"
    assert cli("consumer ls ORDERS --json", status=0).json == []
    config = cli(f"consumer add ORDERS D --config {file} --max-pending 9 --json", status=0).json["config"]
    has(config, durable_name="D", name="D", sample_freq="10", max_ack_pending=9)
    # A whole info document, its name taken along.
    cli("consumer info ORDERS D --json", status=0)
    document = tmp_path / "d.json"
    document.write_text(cli("consumer info ORDERS D --json", status=0).out)
    cli("consumer rm ORDERS D --force", status=0)
    has(cli(f"consumer add ORDERS --config {document} --json", status=0).json["config"], durable_name="D")
    assert json.loads(cli("consumer add ORDERS C --pull --output - ", status=0).out)["name"] == "C"


def test_validate_asks_no_server(offline_cli: Cli) -> None:
    assert "is valid" in offline_cli("consumer add ORDERS C --pull --validate", status=0).out
    wrong = offline_cli("consumer add ORDERS C --pull --heartbeat 1s --validate", status=64)
    assert "--heartbeat is for push consumers" in wrong.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--pull --target x", "cannot be used together"),
        ("--deliver sometime", "--deliver: 'sometime' is not a start policy"),
        ("--backoff never", "--backoff: "),
        ("--pause tomorrow", "--pause: "),
        ("--sample 101", "--sample"),
        ("--ack maybe", "--ack"),
        ("--filter a..b", "'a..b' is not a valid subject"),
        ("--metadata x", "not KEY=VALUE"),
    ],
)
def test_wrong_flags(cli: Cli, line: str, words: str) -> None:
    wrong = cli(f"consumer add ORDERS C {line}", status=64)
    assert words in wrong.err
    assert len(wrong.err.splitlines()) == 1


def test_names_that_no_consumer_can_have(cli: Cli) -> None:
    for name in ("a.b", "a*", "a b", "a/b", ">"):
        refused = cli(["consumer", "add", "ORDERS", name, "--pull"], status=64)
        assert "not a valid consumer name" in refused.err


def test_a_missing_name_names_the_argument(cli: Cli) -> None:
    assert "specify the consumer's name" in cli("consumer add ORDERS --pull", status=64).err


def test_an_unknown_stream(cli: Cli) -> None:
    assert "stream NOPE not found" in cli("consumer add NOPE C --pull", status=3).err


def test_unknown_fields_reach_the_server(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("durable_name: C\nack_policy: explicit\nextra: {never_heard_of: 1}\n")
    assert "never_heard_of" in cli(f"consumer add ORDERS --config {file}", status=1).err


@pytest.mark.parametrize(
    ("flags", "deliveries"),
    [
        ("--backoff linear --backoff-steps 3", 4),
        ("--backoff 1s,5s", 3),
        ("--backoff 1s,5s --max-deliver 7", 7),
        ("--backoff 1s,5s --max-deliver=-1", -1),
        ("--backoff none", -1),
    ],
)
def test_each_wait_of_a_backoff_is_used_once(cli: Cli, flags: str, deliveries: int) -> None:
    cli(f"consumer add ORDERS B --pull --defaults {flags}", status=0)
    assert cli("consumer info ORDERS B --json", status=0).json["config"]["max_deliver"] == deliveries


@pytest.mark.parametrize(
    "flags",
    [
        "--backoff 1s,1500ms --max-pending 7 --sample 5 --wait 1s",
        "--ephemeral --deliver 3 --filter ORDERS.a --filter ORDERS.b",
        "--target out --deliver-group g --heartbeat 5s --flow-control --ack all",
        "--pinned-groups g --no-headers-only --metadata a=b --metadata 'c=d e'",
        "--deliver 2026-11-21T06:57:05Z --backoff 1s,5s --max-deliver=-1",
    ],
)
def test_the_command_line_makes_the_same_consumer(cli: Cli, flags: str) -> None:
    answered = cli(f"consumer add ORDERS C {flags}", answers={}, status=0)
    assert answered.asked
    line = answered.err.splitlines()[-1]
    config = cli("consumer info ORDERS C --json", status=0).json["config"]
    cli("consumer rm ORDERS C -f", status=0)
    cli(shlex.split(line)[1:], status=0)
    assert cli("consumer info ORDERS C --json", status=0).json["config"] == config


def test_update_creates_or_updates(cli: Cli, url: str) -> None:
    """As `nats consumer add` does; what the line leaves out takes its default."""
    line = "consumer add ORDERS C --pull --ack explicit --defaults"
    cli(f"{line} --update --max-pending 5 --description first", status=0)
    has(cli("consumer info ORDERS C --json", status=0).json["config"], max_ack_pending=5, description="first")
    refused = cli(f"{line} --max-pending 7", status=1)
    assert (
        "exists with another configuration (10148); jsctl consumer edit changes it; with --upd" in refused.err
    )
    done = cli(f"{line} --update --max-pending 7", status=0)
    assert done.out.startswith("Consumer ORDERS > C was updated\n") and done.err == ""
    config = cli("consumer info ORDERS C --json", status=0).json["config"]
    has(config, max_ack_pending=7, description=None)
    assert cli(f"{line} --update --max-pending 7 --json", status=0).json["config"] == config


def test_update_does_not_delete_messages_unasked(cli: Cli, url: str) -> None:
    js.stream(url, "INTEREST", "i.>", retention="interest")
    cli("consumer add INTEREST C --pull --filter i.a --defaults", status=0)
    js.publish(url, "i.a", count=3)
    line = "consumer add INTEREST C --pull --filter i.b --defaults --update"
    assert "this deletes 3 messages" in cli(line, status=64).err
    cli(f"{line} --allow-data-loss", status=0)
    assert js.ask(url, "STREAM.INFO.INTEREST")["state"]["messages"] == 0

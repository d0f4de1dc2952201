"""What the registry says that a verb may do: what reads sends no request that changes anything, and what
removes something for good has --force and --dry-run."""

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from jsctl import registry
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message
from jsctl.registry.model import CHANGES, DESTROYS, READS
from tests.contract.test_commands import VERBS, resolve
from tests.contract.test_json import account_lines, fill, here, service
from tests.fuzz.commands import is_endless, without_spark
from tests.support import js
from tests.support.run import Cli
from tests.support.subscribing import subscribing

__all__ = ["here", "service"]

READING = re.compile(
    r"_INBOX\.|\$JS\.S\.|\$JS\.EVENT\.|\$SYS\.|\$SRV\.|\$JS\.SNAPSHOT\.ACK\."
    r"|\$JS\.API\.(INFO$|DIRECT\.GET\.|STREAM\.(INFO|LIST|NAMES|MSG\.GET|SNAPSHOT)\b|CONSUMER\.(INFO|LIST|NAMES)\b)"
)
"""Requests that only read, and what servers send by themselves: `$JS.S.` is what a stream copies."""
OWN = re.compile(r"\$JS\.(API\.CONSUMER\.(CREATE|DELETE|MSG\.NEXT)|FC)\.|\$JS\.ACK\.")
"""Requests about consumers; those that a verb creates to read, and removes, are its own."""


def snapshot(url: str) -> object:
    """The configurations of all streams and consumers of an account, and what they hold."""
    streams = js.ask(url, "STREAM.LIST").get("streams") or []
    states = {
        key: value for stream in streams for key, value in stream["state"].items() if key != "consumer_count"
    }
    consumers = [
        (consumer["config"], consumer["ack_floor"], consumer["num_ack_pending"])
        for stream in streams
        for consumer in js.ask(url, f"CONSUMER.LIST.{stream['config']['name']}").get("consumers") or []
    ]
    return [stream["config"] for stream in streams], states, consumers


def run(cli: Cli, path: str, line: list[str]) -> None:
    if not is_endless(path):
        cli(line)
        return
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(0.4):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        cli(line)
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
def test_what_reads_sends_no_request_that_changes_anything(
    cli: Cli, url: str, here: Path, service: None
) -> None:
    fill(cli, url, here)
    subjects: list[str] = []

    def note(connection: Connection, message: Message) -> None:
        if not message.reply.startswith("$JS.ACK."):  # a delivery has the subject of the stored message
            subjects.append(message.subject)

    faults, seen = [], 0
    with without_spark(), subscribing(url, ">", handle=note):
        for path, line in account_lines(here).items():
            if registry.list_commands()[path].impact != READS:
                continue
            before = snapshot(url)
            subjects.clear()
            run(cli, path, line)
            asked = [subject for subject in subjects if not READING.match(subject)]
            seen += len(subjects)
            if others := [subject for subject in asked if not OWN.match(subject)]:
                faults.append(f"{path} published on {others[:3]}")
            if snapshot(url) != before:
                faults.append(f"{path} changed a stream or a consumer")
    assert "\n".join(faults) == ""
    assert seen > 100, "the subscription sees the requests"


def test_what_destroys_asks_and_has_a_dry_run() -> None:
    for path, entry in registry.list_commands().items():
        if entry.impact == DESTROYS:
            flags = {flag for param in resolve(path.split()).params for flag in param.opts}
            assert {"--force", "--dry-run"} <= flags, path
        elif entry.changes_with:
            flags = {flag for param in resolve(path.split()).params for flag in param.opts}
            assert entry.impact == READS and {entry.changes_with, "--dry-run"} <= flags, path
        elif entry.group and not entry.runs:
            assert entry.impact == READS, f"{path} is a group: its verbs have impacts"


def test_help_for_models_has_tags(offline_cli: Cli) -> None:
    for path in VERBS:
        entry = registry.list_commands()[path]
        page = offline_cli([*path.split(), "--help-llm"], status=0).out
        assert page.startswith(f"# jsctl {path}\n\n{entry.help}\n"), path
        tags = re.findall(r"^\*\*Tags:\*\* (.*)$", page, re.MULTILINE)
        impact = "impact:ro" if entry.impact == READS else "impact:rw"
        with_flag = f", impact:rw with {entry.changes_with}" if entry.changes_with else ""
        destroys = ", destroys" * (entry.impact == DESTROYS)
        assert tags == [f"scope:{entry.scope}, {impact}{with_flag}{destroys}"], path
        assert page.isprintable() or "\n" in page


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("request", "| `--reply-timeout` | {help} | `DURATION` | `300ms` | No |  |"),
        ("publish", "| `--header`, `-H` | {help} | `K:V` |  | No, repeatable |  |"),
        ("publish", "| `--ttl` | {help} | `DURATION` |  | No |  |"),
        ("stream rm", "| `stream` | No, repeatable |"),
    ],
)
def test_rows_of_flags_say_defaults_and_what_may_be_repeated(line: str, row: str, offline_cli: Cli) -> None:
    page = offline_cli(f"{line} --help-llm", status=0).out
    pattern = re.escape(row).replace(re.escape("{help}"), "[^|]+")
    assert re.search(f"^{pattern}$", page, re.MULTILINE), page


def test_help_and_tables_are_markdown(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.>", description="a|b")
    cli.environ["LLMFORMAT"] = "1"
    assert cli("stream ls --help", status=0).out == cli("stream ls --help-llm", status=0).out
    title, head, rule, row, *_ = cli("stream ls", status=0).out.splitlines()
    assert title == "# Streams"
    assert head.startswith("| Name | Description |") and set(rule) == {"|", " ", "-"}
    assert row.startswith("| ORDERS | a\\|b |")
    page = cli("stream info ORDERS", status=0).out
    assert page.startswith("# Information for Stream ORDERS created ")
    assert "\n## Limits\n\n- **Maximum Messages:** unlimited\n" in page
    assert json.loads(cli("stream info ORDERS --json", status=0).out)["config"]["name"] == "ORDERS"
    assert cli("stream ls --as plain", status=0).out.split()[0] != "#"
    assert "# jsctl\n" in cli("--help", status=0).out
    assert registry.list_commands()["stream edit"].impact == CHANGES

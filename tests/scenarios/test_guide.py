"""The leaf node guide, line by line with `jsctl` in place of `nats`, up to the import across accounts."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.waiting import wait_until

STREAM_QUESTIONS = [
    "Stream Name",
    "Subjects",
    "Storage",
    "Replication",
    "Retention Policy",
    "Discard Policy",
    "Stream Messages Limit",
    "Per Subject Messages Limit",
    "Total Stream Size",
    "Message TTL",
    "Max Message Size",
    "Duplicate tracking time window",
    "Allow message Roll-ups",
    "Allow message deletion",
    "Allow purging subjects or the entire stream",
]
MIRROR_QUESTIONS = [
    "Stream Name",
    "Storage",
    "Replication",
    "Retention Policy",
    "Discard Policy",
    "Stream Messages Limit",
    "Total Stream Size",
    "Message TTL",
    "Max Message Size",
    *STREAM_QUESTIONS[-3:],
    "Configure a custom durable consumer",
    "Adjust mirror start",
    "Adjust mirror filter and transform",
    "Import mirror from a different JetStream domain",
]
SOURCE_QUESTIONS = [
    *MIRROR_QUESTIONS[:9],
    *STREAM_QUESTIONS[-4:],
    'Configure a custom durable consumer for "test"',
    'Adjust source "test" start',
    'Adjust source "test" filter and transform',
    'Import "test" from a different JetStream domain',
    "test Source foreign JetStream domain name",
    "test Source foreign JetStream domain delivery prefix",
]

# The guide's accounts.conf with the exports that a present server needs: flow control of the mirror.
ACCOUNTS = """
accounts {
    SYS: { users: [{user: admin, password: admin}] }
    ACC: {
        users: [{user: acc, password: acc}], jetstream: enabled
        exports: [
            {service: "$JS.hub.API.CONSUMER.CREATE.>", response_type: "stream"}
            {stream: "deliver.acc.hub.>"}
            {service: "$JS.FC.aggregate-test-leaf.>"}
        ]
    }
    IMPORT_MIRROR: {
        users: [{user: import_mirror, password: import_mirror}], jetstream: enabled
        imports: [
            {
                service: {account: ACC, subject: "$JS.hub.API.CONSUMER.CREATE.>"}
                to: "JS.acc@hub.API.CONSUMER.CREATE.>"
            }
            {service: {account: ACC, subject: "$JS.FC.aggregate-test-leaf.>"}}
            {stream: {account: ACC, subject: deliver.acc.hub.import_mirror.>}}
        ]
    }
}
system_account: SYS
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubLeaf]:
    pair = HubLeaf(tmp_path_factory.mktemp("guide"), ACCOUNTS)
    try:
        yield pair.start()
    finally:
        pair.stop()


def until(cli: Cli, line: str, pattern: str, seconds: float = 15) -> str:
    """The output of a command once it matches."""

    def matches(out: str) -> bool:
        return re.search(pattern, out) is not None

    return wait_until(lambda: cli(line, status=0).out, matches, seconds)


@pytest.mark.slow
def test_the_whole_guide(network: HubLeaf, tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    hub = f"--server {network.url}"
    importer = f"--server {network.hub.url_for('import_mirror')}"

    for row in (r"leaf-server +leaf-server +leaf +0 +0 +0 +0 B", r"hub-server +hub +0 +0 +0 +0 B"):
        until(cli, f"--server {network.system_url} server report jetstream", row)

    for domain in ("", "--js-domain leaf"):
        outcome = cli(
            f"{hub} stream add {domain}",
            answers={"Stream Name": "test", "Subjects": "test"},
            status=0,
        )
        assert outcome.asked == STREAM_QUESTIONS
        assert outcome.out.startswith("Stream test was created\n\nInformation for Stream test created ")
        assert re.search(r"Subjects: test\n", outcome.out)
        assert re.search(r"Duplicate Window: 2m0s\n", outcome.out)

    result = cli(f'{hub} pub test "hello world"', status=0)
    assert 'Published 11 bytes to "test"' in result.err

    for domain in ("leaf", "hub"):
        until(cli, f"{hub} stream report --js-domain {domain}", r"test +File +0 +1 +45 B +0 +0")

    outcome = cli(
        f"{hub} stream add --js-domain hub --mirror test",
        answers={
            "Stream Name": "backup-test-leaf",
            "Import mirror from a different JetStream domain": True,
            "Foreign JetStream domain name": "leaf",
        },
        status=0,
    )
    assert outcome.asked == [*MIRROR_QUESTIONS, "Foreign JetStream domain name", "Delivery prefix"]
    assert "Mirror: test, API Prefix: $JS.leaf.API\n" in outcome.out

    outcome = cli(
        f"{hub} stream add --js-domain hub --source test",
        answers={
            "Stream Name": "aggregate-test-leaf",
            'Import "test" from a different JetStream domain': True,
            "test Source foreign JetStream domain name": "leaf",
        },
        status=0,
    )
    assert outcome.asked == SOURCE_QUESTIONS
    assert "Sources: test, API Prefix: $JS.leaf.API\n" in outcome.out

    for row in (r"backup-test-leaf +File +0 +1 +45 B", r"aggregate-test-leaf +File +0 +1 +1\d\d B"):
        until(cli, f"{hub} stream report --js-domain hub", row)
    for row in (r"backup-test-leaf +Mirror", r"aggregate-test-leaf +Source"):
        link = row + r" +\$JS\.leaf\.API +test +[\d.]+m?s +0\n"
        assert "Replication Report" in until(cli, f"{hub} stream report --js-domain hub", link)

    name = "aggregate-test-leaf-from-acc"
    prefix = f"deliver.acc.hub.import_mirror.hub.{name}"
    outcome = cli(
        f"{importer} stream add --js-domain hub --mirror aggregate-test-leaf",
        answers={
            "Stream Name": name,
            "Import mirror from a different account": True,
            "Foreign account API prefix": "JS.acc@hub.API",
            "Foreign account delivery prefix": prefix,
        },
        status=0,
    )
    assert outcome.asked == [
        *MIRROR_QUESTIONS,
        "Import mirror from a different account",
        "Foreign account API prefix",
        "Foreign account delivery prefix",
    ]
    assert (
        f"Mirror: aggregate-test-leaf, API Prefix: JS.acc@hub.API, Delivery Prefix: {prefix}\n" in outcome.out
    )
    report = until(cli, f"{importer} stream report --js-domain hub", rf"{name} +File +0 +1 +")
    assert re.search(rf"{name} +Mirror +JS\.acc@hub\.API +aggregate-test-leaf", report)


def test_imports_by_flags(network: HubLeaf, tmp_path: Path) -> None:
    """The same without questions, as a script would write it."""
    cli = Cli(tmp_path, network.url)
    cli("stream add origin --subjects origin --js-domain leaf", status=0)
    cli("pub origin one", status=0)
    cli("stream add by-name --mirror origin@leaf", status=0)
    cli("stream add by-flag --mirror origin --mirror-domain leaf", status=0)
    cli("stream add by-source --source origin@leaf,filter=origin:renamed", status=0)
    for name in ("by-name", "by-flag", "by-source"):
        until(cli, f"stream info {name}", r"Messages: 1\n")
    config = cli("stream info by-source --json", status=0).json["config"]
    assert config["sources"] == [
        {
            "name": "origin",
            "external": {"api": "$JS.leaf.API", "deliver": ""},
            "subject_transforms": [{"src": "origin", "dest": "renamed"}],
        }
    ]


@pytest.mark.slow
def test_the_questionnaire_in_a_terminal(hub_cli: Cli) -> None:
    """A real pseudo-terminal: questionary's own widgets, defaults taken with Enter."""
    with hub_cli.terminal("stream add --js-domain leaf", columns=100) as screen:
        screen.expect("Stream Name")
        screen.send("a.b\r")  # refused on the spot
        screen.expect("not a valid stream name")
        screen.send("\x15test\r")
        screen.expect("Subjects")
        screen.send("test\r")
        for question in STREAM_QUESTIONS[2:]:
            screen.expect(question)
            screen.send("\r")
        screen.expect("Stream test was created")
        screen.expect("Maximum Consumers: unlimited")
        screen.wait()
        assert screen.exitstatus == 0
    config = hub_cli("stream info test --json --js-domain leaf", status=0).json["config"]
    assert config["subjects"] == ["test"]
    assert config["duplicate_window"] == 120_000_000_000
    assert (config["max_msgs"], config["discard"], config["storage"]) == (-1, "old", "file")


def test_leaving_the_questionnaire_creates_nothing(hub_cli: Cli) -> None:
    with hub_cli.terminal("stream add", columns=100) as screen:
        screen.expect("Stream Name")
        screen.send("test\r")
        screen.expect("Subjects")
        screen.send("\x03")
        screen.expect("nothing was changed")
        screen.wait()
        assert screen.exitstatus == 130
    assert hub_cli("stream ls --json", status=0).json == []

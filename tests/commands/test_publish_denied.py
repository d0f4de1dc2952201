"""`pub -J` that a server refuses says what was not stored, as far as that is certain."""

from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import RealServer

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream: { store_dir: "{store}" }
authorization { users: [
  {user: u, password: u, permissions: {publish: {deny: "s.denied"}}}
] }
"""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("pub -J s.denied x", "1 message was refused and is not stored"),
        ("pub -J s.denied x --count 20", "20 messages were refused and are not stored"),
    ],
)
def test_what_was_refused_is_not_stored(tmp_path: Path, line: str, says: str) -> None:
    server = RealServer(tmp_path / "s", CONFIG).start()
    try:
        url = server.url_for("u")
        js.stream(url, "S", "s.>")
        refused = Cli(tmp_path / "c", url)(line, status=5)
        assert says in refused.err and "may be stored" not in refused.err, refused
        assert js.info(url, "S")["state"]["messages"] == 0
    finally:
        server.stop()

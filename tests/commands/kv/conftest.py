"""A bucket that the tests of several verbs use."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def config(cli: Cli, url: str) -> Cli:
    """CONFIG, which keeps five values of a key, with user.1 (Ann at revision 1, Bob at 2), user.2 (deleted at
    revision 4) and logo (binary, revision 5)."""
    js.bucket(url, "CONFIG", max_msgs_per_subject=5)
    values = (("user.1", b"Ann"), ("user.1", b"Bob"), ("user.2", b"Cid"))
    js.publish_all(url, ((f"$KV.CONFIG.{key}", value) for key, value in values))
    js.publish_framed(url, "$KV.CONFIG.user.2", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", b"")
    js.publish(url, "$KV.CONFIG.logo", b"\x00\xff\n")
    return cli

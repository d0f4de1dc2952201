"""A bucket that the tests of several verbs use."""

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def config(cli: Cli, url: str) -> Cli:
    """CONFIG, which keeps five values of a key, with user.1 (Ann at revision 1, Bob at 2), user.2 (deleted at
    revision 4) and logo (binary, revision 5)."""
    js.bucket(url, "CONFIG", max_msgs_per_subject=5)
    for line in ("put CONFIG user.1 Ann", "put CONFIG user.1 Bob", "put CONFIG user.2 Cid"):
        cli(f"kv {line}", status=0)
    cli("kv del CONFIG user.2 --force", status=0)
    js.publish(url, "$KV.CONFIG.logo", b"\x00\xff\n")
    return cli

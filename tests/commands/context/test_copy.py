"""`context copy`."""

import pytest

from jsctl.contexts.model import KEYS
from jsctl.errors import ExitStatus
from tests.support.contexts import stored, write
from tests.support.run import Cli


@pytest.mark.parametrize("verb", ["copy", "cp"])
def test_copy(cli: Cli, verb: str) -> None:
    write(cli, "a", '{"url": "nats://h", "description": "A", "x_unknown": 1}')
    cli(f"context {verb} a b --js-domain leaf --description B --select", status=0)
    assert stored(cli, "b") == KEYS | {
        "url": "nats://h",
        "description": "B",
        "jetstream_domain": "leaf",
        "x_unknown": 1,
    }
    assert (cli.home / "nats" / "context.txt").read_text() == "b"
    assert "already exists" in cli("context cp a b", status=ExitStatus.USAGE).err
    cli("context cp nope c", status=ExitStatus.NOT_FOUND)

"""Verbs that write fewer keys with some flags or names: what their schemas require is there."""

import pytest

from tests.support import js
from tests.support.run import Cli

LINES = [
    "kv del B key --force",
    "kv del B --force",
    "object rm O --force",
    "object rm O --unfinished --force",
    "publish s.x y",
    "publish s.x y --count 2 --jetstream",
    "publish s.x y --count 2 --atomic",
    "stream purge S --keep 1 --force",
    "consumer rm S C --force",
    "consumer report S",
    "consumer report",
]


@pytest.mark.parametrize("line", LINES)
def test_what_it_writes_is_valid(line: str, cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_atomic=True)
    cli("kv add B", status=0)
    cli("kv put B key value", status=0)
    cli("object add O", status=0)
    cli("consumer add S C --pull --defaults", status=0)
    assert cli(f"{line} --json", status=0).json

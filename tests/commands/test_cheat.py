"""`cheat`."""

from pathlib import Path

import jsctl.cheats
from tests.support.run import Cli

THEIRS = (
    *("account", "auth", "backup", "bench", "consumer", "context", "contexts", "errors", "events", "kv"),
    *(
        "latency",
        "obj",
        "object",
        "pub",
        "publish",
        "reply",
        "schemas",
        "server",
        "stream",
        "sub",
        "subscribe",
    ),
)
"""The topics of the `nats` tool."""

SHEETS = [file.stem for file in Path(jsctl.cheats.__file__).parent.glob("*.txt")]


def test_cheat(offline_cli: Cli) -> None:
    shown = offline_cli("cheat", status=0).out
    assert SHEETS and all(info_page in shown for info_page in SHEETS)
    assert "jsctl stream add" in offline_cli("cheat streams", status=0).out
    assert offline_cli("cheat streams --json", status=0).json["topic"] == "streams"
    for topic in THEIRS:
        assert "jsctl " in offline_cli(f"cheat {topic}", status=0).out
    assert offline_cli("cheat kv", status=0).out == offline_cli("cheat buckets", status=0).out
    assert "choose one of" in offline_cli("cheat nothing", status=3).err

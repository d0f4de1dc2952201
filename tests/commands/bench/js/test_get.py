"""`bench js get`."""

from pathlib import Path

from tests.support.benching import run
from tests.support.run import Cli


def test_getting(filled: Cli) -> None:
    document = run(filled, "js get sync --msgs 250")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    document = run(filled, "js get batch --msgs 250 --batch 60")
    assert (document["messages"], document["message_bytes"]) == (250, 128)
    assert run(filled, "js get batch --msgs 30 --filter events.03")["messages"] == 30
    err = filled("bench js get batch --filter nope --msgs 5", status=3).err
    assert "no message on nope" in err


def test_a_line_for_each_client(filled: Cli, tmp_path: Path) -> None:
    filled(f"bench js get sync --msgs 20 --clients 2 --processes 0 --csv {tmp_path}/out.csv", status=0)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec") and len(lines) == 3
    assert lines[1].split(",")[1:4] == ["C1", "20", "2560"]
    table = filled("bench js get sync --msgs 20 --as csv", status=0).out.splitlines()
    assert table[0].startswith("client,messages,time_ns") and len(table) == 2

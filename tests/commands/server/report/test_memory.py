"""`server report memory`: which streams and consumers hold a server's memory."""

from pathlib import Path

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf
from tests.support.tables import read_table


def test_it_needs_the_system_account(cli: Cli) -> None:
    assert "system account" in cli("server report memory", status=5).err


def test_what_holds_memory(tmp_path: Path) -> None:
    network = HubLeaf(tmp_path / "servers")
    network.hub.start()
    try:
        url = network.hub.url_for("acc")
        system = Cli(tmp_path / "system", network.hub.url_for("admin"))
        js.stream(url, "FAST", "fast.>", storage="memory")
        js.stream(url, "SLOW", "slow.>")
        js.publish(url, "fast.x", b"x" * 10_000, count=50)
        js.publish_all(url, [(f"slow.{number}", b"x") for number in range(30)])
        shown = system("server report memory --json", status=0).json
        [server] = shown["servers"]
        size = js.ask(url, "STREAM.INFO.FAST")["state"]["bytes"]
        assert server["memory"] > size and server["jetstream_memory"] == size
        assert server["other"] == server["memory"] - size
        first, second = shown["holders"]
        assert (first["stream"], first["storage"], first["bytes"]) == ("FAST", "memory", size)
        assert (second["stream"], second["bytes"], second["subjects"]) == ("SLOW", None, 30)
        page = system("server report memory hub-server --top 1", status=0).out
        [row] = read_table(page, "What Holds Memory: 1 of 2")
        assert row["Stream"] == "FAST" and "Servers say how many bytes" in page
        assert "no server 'NOPE'" in system("server report memory NOPE", status=3).err
        assert system("server report memory --top 0", status=64).err.count("\n") == 1
    finally:
        network.hub.stop()

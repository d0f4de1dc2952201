"""`consumer wait`."""

from tests.support import js
from tests.support.run import Cli


def test_wait(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    js.publish(url, "s", count=3)
    cli("consumer add S C --pull --defaults", status=0)
    late = cli("consumer wait S C --drained --timeout 200ms", status=4).err
    assert "after 200ms, consumer S > C has 3 unprocessed and 0 unacknowledged messages" in late
    assert "jsctl consumer why S C" in late
    cli("consumer next S C --count 2 --ack", status=0)
    cli("consumer next S C --no-ack", status=0)
    late = cli("consumer wait S C --drained --timeout 200ms", status=4).err
    assert "0 unprocessed and 1 unacknowledged messages" in late
    late = cli("consumer wait S C --sequence 3 --timeout 200ms", status=4).err
    assert "has acknowledged everything up to sequence 2, not 3" in late
    document = cli("consumer wait S C --sequence 2 --json", status=0).json
    assert (document["num_ack_pending"], document["ack_floor"]["stream_seq"]) == (1, 2)
    for flags in ("", "--drained --sequence 3"):
        cli(f"consumer wait S C {flags}", status=64)


def test_drained(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    js.publish(url, "s.other", count=3)
    cli("consumer add S C --pull --filter s.none --defaults", status=0)
    assert cli("consumer wait S C --drained --json", status=0).json["num_pending"] == 0
    cli("consumer wait S C --sequence 99", status=0)  # nothing is left to acknowledge
    assert "S > C is drained" in cli("consumer wait S C --drained", tty=True, status=0).err

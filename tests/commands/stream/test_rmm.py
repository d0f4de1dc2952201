"""`stream rmm` on a real server."""

from tests.support import js
from tests.support.run import Cli


def test_rmm(orders: Cli, url: str) -> None:
    dry = orders("stream rmm ORDERS 1 --dry-run", status=0).out
    assert dry.endswith(
        "] Would remove from Stream ORDERS: 1 message, 47 B\n  1  ORDERS.new\nNothing was changed\n"
    )
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    removed = orders("str rmm ORDERS 1 -f", terminal_error=True, status=0)
    assert (removed.out, removed.err) == ("", "Removed message 1 from Stream ORDERS\n")
    state = js.info(url, "ORDERS")["state"]
    assert (state["messages"], state["bytes"]) == (4, 233 - 47)
    assert "no message 1" in orders("stream rmm ORDERS 1 -f", status=3).err
    assert "use --force" in orders("stream rmm ORDERS 2", status=64).err
    assert "specify ID" in orders("stream rmm ORDERS -f", status=64).err


def test_rmm_asks(orders: Cli, url: str) -> None:
    no = orders("stream rmm", tty=True, answers=["ORDERS", "2", False], status=0)
    assert no.asked == [
        "Select a Stream",
        "Message Sequence to remove",
        "Really remove message 2 (ORDERS.new, 47 B) from Stream ORDERS",
    ]
    assert "nothing was changed" in no.err
    assert js.info(url, "ORDERS")["state"]["messages"] == 5
    orders("stream rmm ORDERS 2 4", tty=True, answers=[True], status=0)
    assert js.info(url, "ORDERS")["state"]["messages"] == 3

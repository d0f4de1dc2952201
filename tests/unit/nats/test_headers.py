"""Header blocks."""

from jsctl.nats.headers import find_header


def test_the_last_of_several_values_counts() -> None:
    """Servers add theirs after those of the publisher, who may imitate them."""
    block = b"NATS/1.0\r\nNats-Sequence: 777\r\nA: 1\r\nNats-Sequence: 5\r\n\r\n"
    assert find_header(block, "Nats-Sequence") == "5"
    assert find_header(block, "B") == ""

"""The subjects to which messages of a stream are acknowledged, in both forms."""

import pytest

from jsctl.nats.acks import find_ack_tokens, parse_ack_subject

TOKENS = ["S", "C", "2", "70", "9", "1700000000000000000", "4"]
"""Stream, consumer, deliveries, sequence, consumer sequence, time and what is pending."""


@pytest.mark.parametrize(
    "subject",
    [
        f"$JS.ACK.{'.'.join(TOKENS)}",  # of servers before 2.10
        f"$JS.ACK._.hash.{'.'.join(TOKENS)}",
        f"$JS.ACK.hub.hash.{'.'.join(TOKENS)}.token",
    ],
)
def test_both_forms_say_the_same(subject: str) -> None:
    assert find_ack_tokens(subject.split(".")) == TOKENS
    metadata = parse_ack_subject(subject)
    assert metadata and (metadata.stream, metadata.consumer, metadata.sequence) == ("S", "C", 70)


def test_other_subjects_are_none() -> None:
    assert find_ack_tokens(["$JS", "ACK", "S", "C", "2"]) is None
    assert parse_ack_subject("$JS.ACK.S.C.2") is None and parse_ack_subject("orders.new") is None

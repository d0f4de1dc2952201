"""What requests to the JetStream API are about."""

import pytest

from jsctl.monitor.server.api_requests import RequestCounter, parse_request_type
from jsctl.nats.message import Message


@pytest.mark.parametrize(
    ("subject", "kind", "asset"),
    [
        ("$JS.API.INFO", "info", ""),
        ("$JS.API.STREAM.INFO.LIST", "stream_info", "LIST"),
        ("$JS.API.STREAM.MSG.GET.S", "stream_msg_get", "S"),
        ("$JS.API.CONSUMER.CREATE.S.C.a.b", "consumer_create", "S > C"),
        ("$JS.API.CONSUMER.MSG.NEXT.S.C", "consumer_msg_next", "S > C"),
        ("$JS.API.DIRECT.GET.S.a.b", "direct_get", "S"),
        ("$JS.API.SOMETHING.ELSE", "", "SOMETHING"),
    ],
)
def test_types(subject: str, kind: str, asset: str) -> None:
    assert parse_request_type(subject, consumers=True) == (kind, asset)
    assert parse_request_type(subject, consumers=False) == (kind, asset.split(" > ")[0])


def test_counts_within_the_interval() -> None:
    now = 100.0
    counter = RequestCounter(10, lambda: now)
    header = b'NATS/1.0\r\nNats-Request-Info: {"acc":"APP"}\r\n\r\n'
    for _ in range(3):
        counter.count_request(Message("$JS.API.STREAM.INFO.S", header_block=header))
    counter.count_request(
        Message("$JS.API.UNKNOWN", header_block=b"NATS/1.0\r\nNats-Request-Info: {\r\n\r\n")
    )
    (row,) = counter.rows()
    assert (row.type, row.account, row.asset, row.count, row.recent) == ("stream_info", "APP", "S", 3, 3)
    now = 120.0
    (row,) = counter.rows()
    assert (row.count, row.recent) == (3, 0)

"""Acknowledgements of streams, in the form that servers write and in others."""

import pytest

from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream.api import parse_response
from jsctl.jetstream.message.publish import parse_ack
from jsctl.nats.message import Message


@pytest.mark.parametrize(
    "data",
    [
        b'{"stream":"ORDERS","seq":1}',
        b'{"stream":"ORDERS", "seq":999999999999999999}',
        b'{"stream":"ORDERS", "domain":"hub", "seq":12}',
        b'{"stream":"ORDERS","domain":"leaf.one","seq":12,"duplicate":true}',
        b'{"stream":"ORDERS","seq":12,"val":"7"}',
        b'{"seq":12,"stream":"ORDERS","type":"x"}',
        '{"stream":"caf\u00e9 \\u00e9\\"","seq":12}'.encode(),
        b'{"stream":"A\\\\B","seq":12}',
    ],
)
def test_an_ack_is_what_its_json_says(data: bytes) -> None:
    assert parse_ack("orders.new", Message("_INBOX.1", data)) == parse_response(data, "orders.new")


@pytest.mark.parametrize(
    "data",
    [
        b'{"stream":"ORDERS","seq":1234567890123456789012}',
        b'{"stream":"ORDERS","seq":01}',
        b'{"stream":"ORDERS","seq":1}x',
        b'{"stream":"OR\nDERS","seq":1}',
        b"[]",
        b"",
    ],
)
def test_replies_that_are_not_acks_are_refused(data: bytes) -> None:
    with pytest.raises(JsctlError, match="is not from a stream"):
        parse_ack("orders.new", Message("_INBOX.1", data))


def test_an_error_is_one_of_the_api() -> None:
    with pytest.raises(ApiError, match="maximum messages exceeded"):
        parse_ack(
            "orders.new",
            Message(
                "_INBOX.1",
                b'{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},'
                b'"stream":"ORDERS","seq":0}',
            ),
        )

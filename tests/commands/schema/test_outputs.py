"""Schemas of what verbs write, on a real server."""

import json

import pytest

from tests.support import js
from tests.support.run import Cli


@pytest.mark.parametrize(
    ("line", "schema"),
    [
        ("stream ls", "stream_ls"),
        ("stream info ORDERS", "io.jsctl.v1.stream_info"),
        ("stream report", "stream_report"),
        ("consumer ls ORDERS", "consumer_ls"),
        ("account info", "account_info"),
        ("stream get ORDERS 1", "stream_get"),
        ("context ls", "context_ls"),
    ],
)
def test_what_a_verb_writes_is_valid(cli: Cli, url: str, line: str, schema: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    js.publish(url, "orders.1")
    written = cli(f"{line} --json", status=0).out
    assert "is a valid" in cli(f"schema validate {schema}", stdin=written, status=0).out
    wrong = json.dumps([[written]])
    assert cli(f"schema validate {schema}", stdin=wrong, status=1).out


def test_schemas_of_verbs_are_found(offline_cli: Cli) -> None:
    names = offline_cli("schema ls 'jsctl.v1.stream_(ls|info)$' --json", status=0).json
    assert names == ["io.jsctl.v1.stream_info", "io.jsctl.v1.stream_ls"]
    schema = offline_cli("schema info io.jsctl.v1.stream_info", status=0).json
    assert schema["properties"]["state"]["properties"]["messages"] == {"type": ["null", "number"]}
    assert (
        schema["description"]
        == "What stream info writes with --json: Show the configuration and state of a stream"
    )
    lines = offline_cli("schema info io.jsctl.v1.subscribe", status=0).json
    assert lines["description"].startswith("Each line that subscribe writes with --json: ")
    assert "did you mean" in offline_cli("schema info io.jsctl.v1.stream_inf", status=3).err

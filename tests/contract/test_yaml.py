"""`--as yaml` is the document of `--json`, or its documents, as YAML."""

import json
from typing import Any

import pytest
import yaml

from tests.support import js
from tests.support.run import Cli

LINES = (
    "stream ls",
    "stream ls --names",
    "stream info S",
    "stream view S",
    "stream report",
    "consumer ls S --names",
    "kv ls CONFIG --names",
    "sub --stream S --all -T",
    "export config",
    "doctor --fix --dry-run",
)
VARYING = ("ts", "at", "age_ns", "last_active", "rtt_ns", "measured", "uptime")


def strip(value: Any) -> Any:
    """Without what differs between two calls."""
    if isinstance(value, dict):
        return {key: strip(inner) for key, inner in value.items() if key not in VARYING}
    return [strip(inner) for inner in value] if isinstance(value, list) else value


def read_json(text: str) -> list[Any]:
    """The only document, or that of each line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
def test_yaml_is_the_document_of_json(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", description="a: 'b' \u202e é", max_consumers=1)
    js.bucket(url, "CONFIG")
    js.ask(
        url,
        "CONSUMER.CREATE.S.C",
        {"stream_name": "S", "config": {"durable_name": "C", "ack_policy": "none"}},
    )
    js.publish_all(url, [("s.a", b"plain"), ("s.b", b"\x1b[2J: -\xff"), ("s.c", "é\u202e".encode())])
    for line in LINES:
        document, written = cli(f"{line} --json"), cli(f"{line} --as yaml")
        assert written.status == document.status, line
        assert written.out.replace("\n", "").isprintable(), line
        assert strip([*yaml.safe_load_all(written.out)]) == strip(read_json(document.out)), line

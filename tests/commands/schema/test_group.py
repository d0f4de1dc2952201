"""`jsctl schema` and its commands."""

import json
import re
from itertools import islice, repeat
from typing import Any

import pytest

from jsctl.commands.schema.group import show_validated
from jsctl.render.emit import format_json_pieces, format_lines
from jsctl.schema import catalog
from jsctl.schema.outputs import load_outputs
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.run import Cli


def test_search(offline_cli: Cli) -> None:
    everything = offline_cli("schema search --json", status=0).json
    assert len(everything) > 75 and everything == sorted(everything)
    some = offline_cli("schema ls v1.STREAM.*request", status=0).out.splitlines()
    assert "io.nats.jetstream.api.v1.stream_create_request" in some and len(some) < 20
    assert "No schemas matched" in offline_cli("schema search zzz", status=0).out
    assert "regular expression" in offline_cli("schema search '('", status=64).err


_STREAM = "io.nats.jetstream.api.v1.stream_configuration"


@pytest.mark.parametrize("name", [name for name in catalog.list_names() if name not in load_outputs()])
def test_each_schema_is_whole(name: str, offline_cli: Cli) -> None:
    schema = offline_cli(["schema", "info", name, "--json"], status=0).json
    assert schema["title"] == name and schema["description"]
    text = json.dumps(schema)
    for reference in re.findall(r"#/definitions/(\w+)", text):
        assert reference in schema["definitions"]


def test_a_last_part_of_several(offline_cli: Cli) -> None:
    refused = offline_cli("schema info consumer_pause", status=64).err
    assert "io.jsctl.v1.consumer_pause" in refused and "write the whole name" in refused
    offline_cli("schema info io.jsctl.v1.consumer_pause", status=0)


def test_info(offline_cli: Cli) -> None:
    short = offline_cli("schema info stream_configuration --json", status=0).json
    assert short["title"] == _STREAM and short["additionalProperties"] is False
    assert short["properties"]["max_age"]["description"]
    assert "title: io.nats" in offline_cli("schema info stream_configuration --yaml", status=0).out
    assert "did you mean" in offline_cli("schema info stream_configuratio", status=3).err


def test_validate(offline_cli: Cli) -> None:
    good = json.dumps({"name": "A", "subjects": None, "max_age": 0, "storage": "file"})
    assert "is a valid" in offline_cli("schema validate stream_configuration -", stdin=good, status=0).out
    assert "is a valid" in offline_cli("schema validate stream_configuration", stdin=good, status=0).out
    bad = json.dumps(
        {"subjects": [1], "max_age": "1h", "storage": "disk", "limit": 1, "max_msgs": -2, "mirror": {}}
    )
    errors = offline_cli("schema validate stream_configuration - --json", stdin=bad, status=1).json
    assert sorted(errors) == [
        "limit is unknown",
        "max_age is '1h', not a whole number",
        "max_msgs is -2, but must be at least -1",
        "mirror lacks name",
        "storage is 'disk', not one of file, memory",
        "subjects[0] is 1, not a text",
        "the document lacks name",
    ]
    assert "is not JSON" in offline_cli("schema validate stream_configuration -", stdin="{", status=64).err


@pytest.mark.parametrize(
    ("value", "kind", "wrong"),
    [
        (True, {"type": "integer"}, "the document is true, not a whole number"),
        (1.5, {"type": "integer"}, "the document is 1.5, not a whole number"),
        ("2026-13-01T00:00:00Z", {"type": "string", "format": "date-time"}, "not a time in RFC 3339"),
        ("*", {"type": "string", "contentEncoding": "base64"}, "the document is not base64"),
        ([], {"type": ["string", "null"]}, "the document is a list, not a text or null"),
        (
            {"a": {}},
            {"type": "object", "additionalProperties": {"type": "string"}},
            "a is an object, not a text",
        ),
    ],
)
def test_what_is_wrong(value: Any, kind: dict[str, Any], wrong: str) -> None:
    [error] = validate(value, kind)
    assert wrong in error


def test_a_message_of_an_unknown_type_is_any_object(offline_cli: Cli) -> None:
    line = "schema validate unknown_message -"
    assert "is a valid" in offline_cli(line, stdin='{"type": "io.example.v1.x", "a": [1]}', status=0).out
    assert "is not a valid" in (outcome := offline_cli(line, stdin="[]")).out + outcome.err


def test_keys_are_foreign_text(offline_cli: Cli) -> None:
    """None of it begins a line, and long keys are cut."""
    keys = {"a\nlimit is not known": 1, "\x1b[2J\u202e": 1, "k" * 5000: 1}
    text = json.dumps({"name": "S", "storage": "file", **keys})
    lines = offline_cli("schema validate stream_configuration -", stdin=text, status=1).out.splitlines()
    assert lines[2:] == [
        r"  a\nlimit is not known is unknown",
        r"  \x1b[2J\u202e is unknown",
        f"  {'k' * 100}... is unknown",
    ]


def test_errors_without_end_are_shown_as_they_are_found() -> None:
    result = show_validated("x.json", "x", repeat("wrong"))
    assert [*islice(format_lines(result, "plain"), 4)][2:] == ["  wrong", "  wrong"]
    assert next(format_json_pieces(result.document())).count("wrong") > 1


def test_request(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    shown = cli("schema request '$JS.API.STREAM.INFO.S' '' --show", status=0).out
    assert '"config"' in shown and "is a valid io.nats.jetstream.api.v1.stream_info_response" in shown
    data = cli("schema request '$JS.API.STREAM.NAMES' --schema stream_list_response --json", status=1).json
    assert not data["valid"] and "type is" in data["errors"][0]
    assert data["response"]["streams"] == ["S"]
    piped = '{"offset": 1}'
    data = cli("schema request '$JS.API.STREAM.NAMES' --json", stdin=piped, status=0).json
    assert data["response"]["offset"] == 1
    assert "nobody answers" in cli("schema request nobody", status=4).err

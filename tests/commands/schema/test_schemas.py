"""`jsctl schema`: the schemas agree with what a real server sends and takes."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.jetstream.consumer.fields import FIELDS as CONSUMER_FIELDS
from jsctl.jetstream.stream.fields import FIELDS as STREAM_FIELDS
from jsctl.monitor.events import KINDS
from jsctl.nats.connection import Connection
from jsctl.schema import catalog
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf

_STREAM = "io.nats.jetstream.api.v1.stream_configuration"


def test_search(offline_cli: Cli) -> None:
    everything = offline_cli("schema search --json", status=0).json
    assert len(everything) > 75 and everything == sorted(everything)
    some = offline_cli("schema ls v1.STREAM.*request", status=0).out.splitlines()
    assert "io.nats.jetstream.api.v1.stream_create_request" in some and len(some) < 20
    assert "No schemas matched" in offline_cli("schema search zzz", status=0).out
    assert "regular expression" in offline_cli("schema search '('", status=64).err


@pytest.mark.parametrize("name", catalog.names())
def test_each_schema_is_whole(name: str, offline_cli: Cli) -> None:
    schema = offline_cli(["schema", "info", name, "--json"], status=0).json
    assert schema["title"] == name and schema["description"]
    text = json.dumps(schema)
    for reference in re.findall(r"#/definitions/(\w+)", text):
        assert reference in schema["definitions"]


def test_info(offline_cli: Cli) -> None:
    short = offline_cli("schema info stream_configuration --json", status=0).json
    assert short["title"] == _STREAM and short["additionalProperties"] is False
    assert short["properties"]["max_age"]["description"]
    assert "title: io.nats" in offline_cli("schema info stream_configuration --yaml", status=0).out
    assert "did you mean" in offline_cli("schema info stream_configuratio", status=3).err


def test_configurations_have_the_keys_that_flags_set() -> None:
    for fields, name in ((STREAM_FIELDS, "stream"), (CONSUMER_FIELDS, "consumer")):
        properties = catalog.schema(f"io.nats.jetstream.api.v1.{name}_configuration")["properties"]
        assert {field.key.partition(".")[0] for field in fields} <= properties.keys()


def test_events_that_are_shown_have_a_schema() -> None:
    assert KINDS.keys() - {"auth_error"} <= set(catalog.names())


def test_validate(offline_cli: Cli) -> None:
    good = json.dumps({"name": "A", "subjects": None, "max_age": 0, "storage": "file"})
    assert "is a valid" in offline_cli("schema validate stream_configuration -", stdin=good, status=0).out
    bad = json.dumps(
        {"subjects": [1], "max_age": "1h", "storage": "disk", "limit": 1, "max_msgs": -2, "mirror": {}}
    )
    errors = offline_cli("schema validate stream_configuration - --json", stdin=bad, status=1).json
    assert sorted(errors) == [
        "limit is not known",
        "max_age is '1h', not a whole number",
        "max_msgs is -2, at least -1 is possible",
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


def ask(url: str, subject: str, body: Any = None) -> Any:
    async def work() -> Any:
        connection = await Connection.open(Settings(url=url))
        try:
            data = json.dumps(body).encode() if body is not None else b""
            return json.loads((await connection.request(subject, data)).data)
        finally:
            await connection.close()

    return asyncio.run(work())


def test_what_a_server_answers_is_valid(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>", allow_direct=True, metadata={"a": "b"})
    js.stream(url, "M", mirror={"name": "S"})
    js.stream(url, "X", sources=[{"name": "S", "filter_subject": "s.x"}])
    js.publish(url, "s.x", b"data", count=3)
    consumer = {"durable_name": "C", "ack_policy": "explicit"}
    requests: list[tuple[str, Any]] = [
        ("INFO", None),
        ("STREAM.INFO.S", {"subjects_filter": ">", "deleted_details": True}),
        ("STREAM.INFO.X", None),
        ("STREAM.INFO.NOPE", None),
        ("STREAM.NAMES", None),
        ("STREAM.LIST", None),
        ("STREAM.MSG.GET.S", {"seq": 1}),
        ("STREAM.MSG.DELETE.S", {"seq": 2}),
        ("CONSUMER.CREATE.S.C", {"stream_name": "S", "config": consumer}),
        ("CONSUMER.INFO.S.C", None),
        ("CONSUMER.NAMES.S", None),
        ("CONSUMER.LIST.S", None),
        ("CONSUMER.PAUSE.S.C", {"pause_until": "2036-01-01T00:00:00Z"}),
        ("CONSUMER.DELETE.S.C", None),
        ("STREAM.PURGE.S", None),
        ("STREAM.UPDATE.S", {"name": "S", "subjects": ["s.>"], "allow_direct": True, "storage": "file"}),
        ("STREAM.DELETE.S", None),
    ]
    for subject, body in requests:
        answer = ask(url, f"$JS.API.{subject}", body)
        assert validate(answer, catalog.schema(answer["type"])) == [], subject


def test_request(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s.>")
    shown = cli("schema request '$JS.API.STREAM.INFO.S' '' --show", status=0).out
    assert '"config"' in shown and "is a valid io.nats.jetstream.api.v1.stream_info_response" in shown
    data = cli("schema request '$JS.API.STREAM.NAMES' --schema stream_list_response --json", status=1).json
    assert not data["valid"] and "type is" in data["errors"][0]
    assert data["response"]["streams"] == ["S"]
    assert "nobody answers" in cli("schema request nobody", status=4).err


def test_variables_of_servers(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    system = Cli(tmp_path / "system", hub_leaf.system_url)
    schema = catalog.schema("io.nats.server.monitor.v1.varz")
    for answer in system("server request varz --json", status=0).json:
        assert validate(answer["data"], schema) == []
        assert undescribed(answer["data"], schema, schema["definitions"]) == []


def undescribed(data: Any, schema: Any, definitions: Any) -> list[str]:
    """The keys of an answer that its schema does not have."""
    schema = next((one for one in schema.get("anyOf", ()) if one != {"type": "null"}), schema)
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if isinstance(data, list):
        return [key for one in data for key in undescribed(one, schema["items"], definitions)]
    if not isinstance(data, dict) or "properties" not in schema:
        return []
    known = schema["properties"]
    inner = [key for name in data.keys() & known for key in undescribed(data[name], known[name], definitions)]
    return sorted(data.keys() - known) + inner


def test_a_message_of_an_unknown_type_is_any_object(offline_cli: Cli) -> None:
    line = "schema validate unknown_message -"
    assert "is a valid" in offline_cli(line, stdin='{"type": "io.example.v1.x", "a": [1]}', status=0).out
    assert "is not a valid" in (outcome := offline_cli(line, stdin="[]")).out + outcome.err

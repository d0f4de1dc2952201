"""The schemas agree with what a real server sends and takes."""

import asyncio
import json
from pathlib import Path
from typing import Any

from jsctl.contexts.settings import Settings
from jsctl.jetstream.config.consumer_fields import FIELDS as CONSUMER_FIELDS
from jsctl.jetstream.config.stream_fields import FIELDS as STREAM_FIELDS
from jsctl.monitor.events import KINDS
from jsctl.nats.connection import Connection
from jsctl.schema import catalog
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.run import Cli
from tests.support.servers import HubLeaf


def test_configurations_have_the_keys_that_flags_set() -> None:
    for fields, name in ((STREAM_FIELDS, "stream"), (CONSUMER_FIELDS, "consumer")):
        properties = catalog.load_schema(f"io.nats.jetstream.api.v1.{name}_configuration")["properties"]
        assert {field.key.partition(".")[0] for field in fields} <= properties.keys()


def test_events_that_are_shown_have_a_schema() -> None:
    assert KINDS.keys() - {"auth_error"} <= set(catalog.list_names())


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
        assert validate(answer, catalog.load_schema(answer["type"])) == [], subject


def test_variables_of_servers(tmp_path: Path, hub_leaf: HubLeaf) -> None:
    system = Cli(tmp_path / "system", hub_leaf.system_url)
    schema = catalog.load_schema("io.nats.server.monitor.v1.varz")
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

"""A client of schema registries, on a registry that this machine runs: answers, logins, references."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.errors import BadInput, Denied, ExitStatus, JsctlError, Unreachable
from jsctl.schema.payloads.decoder import PayloadDecoder
from jsctl.schema.remote import registry as registries
from jsctl.schema.remote.definitions import join_avro, join_protobuf
from jsctl.schema.remote.registry import RegistrySchema, SchemaRegistry, UnknownSchema, parse_url, read_login
from tests.support.schema_registry import Registry, serve, split_descriptors, with_id
from tests.support.schemas import AVRO, avro_payload, descriptors, protobuf_payload

ADDRESS = """{"type": "record", "name": "Address", "namespace": "shop",
 "fields": [{"name": "city", "type": "string"}]}"""
LINE = """{"type": "record", "name": "Line", "namespace": "shop",
 "fields": [{"name": "from", "type": "Address"}, {"name": "to", "type": ["null", "Address"]}]}"""
ORDER = """{"type": "record", "name": "Order", "namespace": "shop",
 "fields": [{"name": "lines", "type": {"type": "array", "items": "Line"}},
            {"name": "home", "type": "Address"}]}"""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registries, "_PAUSE", 0.01)
    with serve() as registry:
        yield registry


def test_a_schema_is_fetched_once(served: Registry) -> None:
    served.add(7, AVRO)
    client = SchemaRegistry(served.url)
    assert client.fetch(7).text == AVRO
    assert client.fetch(7).kind == "AVRO"
    assert served.requests == ["/schemas/ids/7"]


def test_an_unknown_id_is_asked_for_rarely(served: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    client = SchemaRegistry(served.url)
    for _ in range(3):
        with pytest.raises(UnknownSchema, match="has no schema 9"):
            client.fetch(9)
    assert len(served.requests) == 1
    served.add(9, AVRO)
    monkeypatch.setattr(registries, "_FORGET_UNKNOWN", 0)
    assert client.fetch(9).text == AVRO


def test_apicurio_has_the_api_below_a_path() -> None:
    with serve("/apis/ccompat/v7") as registry:
        registry.add(1, AVRO)
        assert SchemaRegistry(registry.url).fetch(1).text == AVRO
        without_path = registry.url.removesuffix("/apis/ccompat/v7")
        with pytest.raises(JsctlError, match="answers 404; check the address; that of Apicurio ends with"):
            SchemaRegistry(without_path).fetch(1)


@pytest.mark.parametrize(
    ("environ", "header"),
    [
        ({"JSCTL_REGISTRY_USER": "u", "JSCTL_REGISTRY_PASSWORD": "p:s"}, "Basic dTpwOnM="),
        ({"JSCTL_REGISTRY_TOKEN": "t0k"}, "Bearer t0k"),
        ({"JSCTL_REGISTRY_TOKEN": "file://{folder}/token"}, "Bearer t0k"),
    ],
)
def test_logins(served: Registry, tmp_path: Path, environ: dict[str, str], header: str) -> None:
    (tmp_path / "token").write_text("t0k\n")
    served.add(1, AVRO)
    served.authorization = header
    login = read_login({name: text.format(folder=tmp_path) for name, text in environ.items()})
    assert SchemaRegistry(served.url, login).fetch(1).text == AVRO
    assert not any(secret in repr(login) for secret in ("p:s", "t0k"))
    with pytest.raises(
        Denied, match=r"refuses the login \(401\); set JSCTL_REGISTRY_USER and JSCTL_REGISTRY_P"
    ):
        SchemaRegistry(served.url).fetch(1)
    served.authorization = "Basic other"
    with pytest.raises(Denied) as raised:
        SchemaRegistry(served.url, login).fetch(1)
    assert "check JSCTL_REGISTRY" in str(raised.value)
    assert not any(secret in str(raised.value) for secret in ("p:s", "t0k", "dTpwOnM"))


def test_wrong_logins_and_addresses_say_so() -> None:
    with pytest.raises(BadInput, match="cannot be used together"):
        read_login({"JSCTL_REGISTRY_USER": "u", "JSCTL_REGISTRY_TOKEN": "t"})
    for text in ("registry:8081", "ftp://h", "http://", "http://h?x=1"):
        with pytest.raises(BadInput, match="is not the address of a schema registry"):
            parse_url(text)
    with pytest.raises(BadInput, match="cannot hold a login") as raised:
        parse_url("http://u:secret@h:8081")
    assert "secret" not in str(raised.value)
    login = read_login({"JSCTL_REGISTRY_TOKEN": "a\nb"})
    with pytest.raises(BadInput) as failed:
        SchemaRegistry("http://127.0.0.1:9", login).fetch(1)
    assert "a\nb" not in str(failed.value)


def test_what_may_pass_is_tried_again(served: Registry) -> None:
    served.add(1, AVRO)
    served.failures = [500, 503]
    assert SchemaRegistry(served.url).fetch(1).text == AVRO
    served.failures = [500, 502, 503]
    with pytest.raises(Unreachable, match="answers with status 503; try again later") as raised:
        SchemaRegistry(served.url).fetch(1)
    assert raised.value.status is ExitStatus.UNREACHABLE
    assert served.failures == []


def test_a_slow_registry_is_given_up(served: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries, "TIMEOUT", 0.2)
    served.add(1, AVRO)
    served.delay = 0.6
    with pytest.raises(Unreachable, match=r"no answer within 0\.2s"):
        SchemaRegistry(served.url).fetch(1)
    with pytest.raises(Unreachable, match=r"cannot reach the schema registry http://127\.0\.0\.1:9: "):
        SchemaRegistry("http://127.0.0.1:9").fetch(1)


def test_a_login_does_not_follow_a_redirect(served: Registry) -> None:
    with serve() as other:
        other.add(1, AVRO)
        served.location = f"{other.url}/schemas/ids/1"
        with pytest.raises(JsctlError, match="answers 302"):
            SchemaRegistry(served.url, read_login({"JSCTL_REGISTRY_TOKEN": "t"})).fetch(1)
        assert other.requests == []


@pytest.mark.parametrize("answer", [[], {"id": 1}, {"schema": "x", "references": [1]}, "x"])
def test_answers_of_something_else(served: Registry, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    monkeypatch.setattr(served, "answer", lambda *args: (200, answer))
    with pytest.raises(JsctlError, match="is not that of a schema registry; check the address"):
        SchemaRegistry(served.url).fetch(1)


def add_order(served: Registry) -> None:
    """Order names Line and Address, and Line names Address."""
    served.add(1, ADDRESS)
    address = {"name": "shop.Address", **served.add_subject("addresses/eu", 1, 1)}
    served.add(2, LINE, references=[address])
    line = {"name": "shop.Line", **served.add_subject("lines", 3, 2)}
    served.add(3, ORDER, references=[line, address])


def test_references_of_avro(served: Registry) -> None:
    add_order(served)
    client = SchemaRegistry(served.url)
    schema = json.loads(join_avro(client.fetch(3)))
    parsed = fastavro.parse_schema(schema)
    out = io.BytesIO()
    order = {"lines": [{"from": {"city": "X"}, "to": None}], "home": {"city": "Y"}}
    fastavro.schemaless_writer(out, parsed, order)
    assert PayloadDecoder(["avro"], registry=client).decode(with_id(3, out.getvalue())) == order
    assert [path for path in served.requests if "eu" in path] == ["/subjects/addresses%2Feu/versions/1"]


def test_references_of_protobuf(served: Registry) -> None:
    files = split_descriptors(descriptors())
    served.add(5, 'syntax = "proto3"; ...', "PROTOBUF")
    served.serialized[5] = files["shop.proto"]  # google's own files need no reference
    decoder = PayloadDecoder(["protobuf"], registry=SchemaRegistry(served.url))
    decoded = decoder.decode(with_id(5, protobuf_payload(4, city="X"), b"\0"))
    assert (decoded["id"], decoded["to"]["city"], decoded["state"]) == (4, "X", "PAID")
    address = decoder.decode(with_id(5, b"\x0a\x01Y", b"\x02\x02"))  # the second message of the file
    assert address == {"city": "Y"}
    served.add(
        6, 'import "shop.proto"; ...', "PROTOBUF", [{"name": "shop.proto", **served.add_subject("s", 1, 5)}]
    )
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="cart.proto", package="shop", dependency=["shop.proto"])
    field = descriptor_pb2.FieldDescriptorProto
    file.message_type.add(name="Cart").field.add(
        name="to", number=1, type=field.TYPE_MESSAGE, label=field.LABEL_OPTIONAL, type_name=".shop.Address"
    )
    served.serialized[6] = split_descriptors(
        descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    )["cart.proto"]
    assert decoder.decode(with_id(6, b"\x0a\x03\x0a\x01Z", b"\0")) == {"to": {"city": "Z"}}


def test_protobuf_that_is_only_source_says_what_to_do(served: Registry) -> None:
    served.add(5, 'syntax = "proto3"; ...', "PROTOBUF")
    with pytest.raises(BadInput, match="only as source; compile it with protoc"):
        join_protobuf(SchemaRegistry(served.url).fetch(5))


@given(number=st.sampled_from([7, 5]), place=st.binary(max_size=3), data=st.binary(max_size=300))
def test_any_bytes_are_a_value_or_bad(number: int, place: bytes, data: bytes) -> None:
    client = SchemaRegistry("http://127.0.0.1:9")
    client._schemas = {
        7: RegistrySchema("AVRO", AVRO, {}),
        5: RegistrySchema("PROTOBUF", split_descriptors(descriptors())["shop.proto"], {}),
    }
    with contextlib.suppress(ValueError):
        json.dumps(PayloadDecoder(["auto"], registry=client).decode(with_id(number, data, place)))


def test_a_schema_that_refers_to_itself(served: Registry) -> None:
    served.add(1, LINE, references=[{"name": "shop.Line", **served.add_subject("lines", 1, 1)}])
    with pytest.raises(JsctlError, match="refers to too many others"):
        SchemaRegistry(served.url).fetch(1)
    assert len(served.requests) < 30


def test_payloads_that_are_not_of_a_schema_are_bad_or_as_without_one(served: Registry) -> None:
    served.add(7, AVRO)
    served.add(8, '{"type": "object"}', "JSON")
    decoder = PayloadDecoder(["auto"], registry=SchemaRegistry(served.url))
    good = avro_payload(1, city="X")
    assert decoder.decode(with_id(7, good))["to"] == {"city": "X"}
    assert decoder.decode(with_id(8, b'{"a": 1}')) == {"a": 1}
    assert [decoder.decode(data) for data in (b"", b"plain", b"[1]")] == [b"", b"plain", [1]]
    for payload in (with_id(7, good[:5]), with_id(99, good)):
        with pytest.raises(ValueError, match=r"not a record|no schema 99"):
            decoder.decode(payload)

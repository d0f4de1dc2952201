"""`--registry` with a real registry, which `JSCTL_REGISTRY=http://127.0.0.1:8080/apis/ccompat/v7` names.

That of Apicurio is `java -jar quarkus-run.jar` of io.apicurio:apicurio-registry-app, classifier all.
"""

import json
import os
import urllib.request
import uuid

import pytest

from tests.support import js
from tests.support.run import Cli
from tests.support.schema_registry import CONTENT_TYPE, with_id

REGISTRY = os.environ.get("JSCTL_REGISTRY", "")
pytestmark = pytest.mark.skipif(not REGISTRY, reason="JSCTL_REGISTRY names no registry")


def register(schema: str, kind: str) -> int:
    body = json.dumps({"schema": schema, "schemaType": kind}).encode()
    url = f"{REGISTRY}/subjects/{uuid.uuid4().hex}/versions"
    request = urllib.request.Request(url, body, {"Content-Type": CONTENT_TYPE})
    with urllib.request.urlopen(request, timeout=60) as response:
        return int(json.load(response)["id"])


def test_avro(cli: Cli, url: str) -> None:
    fields = [{"name": "id", "type": "long"}, {"name": f"f{uuid.uuid4().hex}", "type": "null"}]
    id = register(json.dumps({"type": "record", "name": "Order", "fields": fields}), "AVRO")
    js.stream(url, "S", "S.>")
    js.publish(url, "S.a", with_id(id, b"\x0e"))
    assert '"id": 7' in cli(f"stream view S --registry {REGISTRY}", status=0).out.replace('":7', '": 7')


@pytest.mark.parametrize("package", ["", "package shop;"])
def test_protobuf_as_source_only(cli: Cli, url: str, package: str) -> None:
    id = register(f'syntax = "proto3"; {package} message M{uuid.uuid4().hex} {{ int64 id = 1; }}', "PROTOBUF")
    js.stream(url, "S", "S.>")
    js.publish(url, "S.a", with_id(id, b"\x00\x08\x07"))
    outcome = cli(f"stream view S --registry {REGISTRY}")
    assert "source" in outcome.err + outcome.out and "try again later" not in outcome.err

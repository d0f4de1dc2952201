"""A schema registry on this machine, written from the specification of Confluent's API (v1; Apicurio's
/apis/ccompat/v7 is the same): GET /schemas/ids/{id} and GET /subjects/{subject}/versions/{version}."""

import base64
import json
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"


class Registry:
    """The registry: its schemas, how it answers, and the requests that it had.

    base: a path before those of the API. authorization: the only value of that header that it accepts; empty
    for any. failures: statuses of the next answers. delay: seconds before an answer.
    """

    def __init__(self, base: str = "") -> None:
        self.base = base
        self.authorization = ""
        self.failures: list[int] = []
        self.delay = 0.0
        self.requests: list[str] = []
        self.schemas: dict[int, dict[str, Any]] = {}
        self.versions: dict[tuple[str, int], int] = {}
        self.serialized: dict[int, str] = {}
        self.location = ""
        self.url = ""

    def add(
        self, id: int, schema: str, kind: str = "AVRO", references: list[dict[str, Any]] | None = None
    ) -> None:
        """Register a schema. Answers leave the kind out for Avro, as the specification has it."""
        self.schemas[id] = {"schema": schema}
        if kind != "AVRO":
            self.schemas[id]["schemaType"] = kind
        if references:
            self.schemas[id]["references"] = references

    def add_subject(self, subject: str, version: int, id: int) -> dict[str, Any]:
        """Make a schema a version of a subject; return a reference to it, without a name."""
        self.versions[subject, version] = id
        return {"subject": subject, "version": version}

    def answer(self, target: str, authorization: str) -> tuple[int, Any]:
        """Return the status and the document for a GET."""
        parts = urlsplit(target)
        if self.failures:
            return self.failures.pop(0), {"error_code": 50001, "message": "Error in the backend data store"}
        if self.authorization and authorization != self.authorization:
            return 401, {"error_code": 401, "message": "HTTP 401 Unauthorized"}
        words = [unquote(word) for word in parts.path.removeprefix(self.base).split("/")[1:]]
        match words if parts.path.startswith(self.base) else []:
            case ["schemas", "ids", id]:
                if int(id) not in self.schemas:
                    return 404, {"error_code": 40403, "message": f"Schema {id} not found"}
                return 200, self._describe(int(id), parts.query)
            case ["subjects", subject, "versions", version]:
                if (subject, int(version)) not in self.versions:
                    return 404, {"error_code": 40402, "message": f"Version {version} not found."}
                id_of_version = self.versions[subject, int(version)]
                version_fields = {"subject": subject, "version": int(version), "id": id_of_version}
                return 200, version_fields | self._describe(id_of_version, parts.query)
        return 404, {"message": "HTTP 404 Not Found"}

    def _describe(self, id: int, query: str) -> dict[str, Any]:
        schema = dict(self.schemas[id])
        if parse_qs(query).get("format") == ["serialized"] and id in self.serialized:
            schema["schema"] = self.serialized[id]
        return schema


@contextmanager
def serve(base: str = "") -> Iterator[Registry]:
    """Run a registry on a free port of this machine."""
    registry = Registry(base)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.requests.append(self.path)
            time.sleep(registry.delay)
            status, document = registry.answer(self.path, self.headers.get("Authorization", ""))
            if registry.location:
                status = 302
            body = json.dumps(document).encode()
            self.send_response(status)
            if registry.location:
                self.send_header("Location", registry.location)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    registry.url = f"http://127.0.0.1:{server.server_address[1]}{base}"
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def with_id(id: int, payload: bytes, place: bytes = b"") -> bytes:
    """Return a payload as clients of a registry write it. place: of a Protobuf message in its schema."""
    return struct.pack(">bI", 0, id) + place + payload


def split_descriptors(descriptors: bytes) -> dict[str, str]:
    """Return each file of a descriptor set as a registry has it in its serialized format, by name."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    return {file.name: base64.b64encode(file.SerializeToString()).decode() for file in files}

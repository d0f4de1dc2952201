"""An S3 on this machine: moto's server, with the bucket `lake`."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import Popen
from typing import Any

import pyarrow.dataset
import pyarrow.fs

from tests.support.servers import free_port
from tests.support.waiting import wait_for

LOGIN = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "us-east-1"}
"""Variables of a process that uses it."""


class _Metadata(BaseHTTPRequestHandler):
    """Amazon's "Instance metadata service" (version 2), as far as logins go."""

    def do_PUT(self) -> None:
        self._answer("a-token" if self.path == "/latest/api/token" else None)

    def do_GET(self) -> None:
        below = self.path.removeprefix("/latest/meta-data/iam/security-credentials").strip("/")
        is_asked = below != self.path.strip("/")
        self._answer({"": "the-role", "the-role": json.dumps(ROLE)}.get(below) if is_asked else None)

    def _answer(self, text: str | None) -> None:
        self.send_response(404 if text is None else 200)
        self.send_header("x-aws-ec2-metadata-token-ttl-seconds", "21600")
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, *_: object) -> None:
        pass


ROLE = {
    "Code": "Success",
    "Type": "AWS-HMAC",
    "AccessKeyId": "the-role",
    "SecretAccessKey": "hush",
    "Token": "for-a-while",
    "LastUpdated": "2026-01-01T00:00:00Z",
    "Expiration": "2099-01-01T00:00:00Z",
}
"""What a machine with a role is told."""


@contextmanager
def serve_metadata() -> Iterator[str]:
    """Serve what a machine with a role is told, and yield the URL."""
    with HTTPServer(("127.0.0.1", 0), _Metadata) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Store:
    """An S3 with the bucket `lake`. conf: the settings with which Spark finds it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.conf = {
            "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{port}",
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }
        words = [word for name, value in self.conf.items() for word in ("--conf", f"{name}={value}")]
        self.settings = [*words, "--packages", "auto"]
        self.files: Any = pyarrow.fs.S3FileSystem(
            access_key=LOGIN["AWS_ACCESS_KEY_ID"],
            secret_key=LOGIN["AWS_SECRET_ACCESS_KEY"],
            region="us-east-1",
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            allow_bucket_creation=True,
        )

    def sequences(self, folder: str) -> list[int]:
        found = pyarrow.dataset.dataset(folder, filesystem=self.files).to_table(columns=["sequence"])
        return sorted(found["sequence"].to_pylist())


@contextmanager
def serve_s3(log: Path) -> Iterator[Store]:
    """Start the server, and end it at the end. log: the file for what it writes."""
    port = free_port()
    with log.open("wb") as output:
        line = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = Popen(line, stdout=output, stderr=output)
        try:
            store = Store(port)

            def has_bucket() -> bool:
                try:
                    store.files.create_dir("lake")
                except OSError:
                    return False
                return True

            wait_for(has_bucket, "no S3", 60)
            yield store
        finally:
            process.kill()
            process.wait()

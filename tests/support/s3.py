"""An S3 on this machine: moto's server, with the bucket `lake`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import pyarrow.dataset
import pyarrow.fs

from tests.support.servers import free_port
from tests.support.waiting import wait_for

LOGIN = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "us-east-1"}
"""Variables of a process that uses it."""


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

"""Objects of bucket FILES, stored by jsctl or as any other client may."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import js
from tests.support.run import Cli

DATA = os.urandom(300_000)


def put(cli: Cli, name: str, data: bytes = DATA, *flags: str) -> Any:
    """Store an object; its JSON."""
    Path("source").write_bytes(data)
    return cli(["object", "put", "FILES", "source", "--name", name, "--json", *flags], status=0).json


def store_info(url: str, key: str, **record: Any) -> None:
    """Store the description of an object as any client may."""
    subject = f"$O.FILES.M.{base64.urlsafe_b64encode(key.encode()).decode()}"
    whole = {"name": key, "bucket": "FILES", "nuid": "N", "size": 0, "chunks": 0, "digest": "", **record}
    js.publish(url, subject, json.dumps(whole).encode())


def start(cli: Cli, *args: str) -> subprocess.Popen[bytes]:
    """Start a command of `jsctl object`."""
    return subprocess.Popen(
        [sys.executable, "-m", "jsctl", "object", *args],
        env={**os.environ, **cli.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

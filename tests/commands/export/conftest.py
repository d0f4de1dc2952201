"""What exports read in these tests, and a place for them that is no folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jsctl.spark.export import commit_log
from jsctl.spark.session.hadoop import HadoopPath
from tests.support import js
from tests.support.run import Cli


@pytest.fixture
def streams(cli: Cli, url: str) -> Cli:
    """ORDERS with two messages, and COPY that mirrors it."""
    js.stream(url, "ORDERS", "ORDERS.>")
    js.stream(url, "COPY", mirror={"name": "ORDERS"}, storage="memory")
    js.publish_all(url, [("ORDERS.new", b"one"), ("ORDERS.new", b"two")])
    js.wait_until_stored(url, "COPY", 2)
    return cli


@dataclass
class Lake:
    """A file system of Hadoop, whose files are in a folder of this machine."""

    folder: Path
    root: HadoopPath


@pytest.fixture
def lake(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    monkeypatch.setattr(commit_log, "_DEAD_AFTER", 1.0)
    monkeypatch.setattr(commit_log, "RENEWAL", 0.2)
    monkeypatch.setattr(commit_log, "_POLL", 0.1)
    folder = tmp_path / "lake"
    folder.mkdir()
    name = f"l{abs(hash(tmp_path)) % 10**9}"  # file systems are cached by name
    setting = f"fs.viewfs.mounttable.{name}.link./data"
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set(setting, f"file://{folder}")
    yield Lake(folder, HadoopPath(f"viewfs://{name}/data", spark))
    settings.unset(setting)

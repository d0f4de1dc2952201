"""What `export query`, `export rollup` and an export that goes on find in a folder: markers, checkpoints.

No session of Spark is needed: all of it is read before one is opened.
"""

import json
import random
from functools import partial
from pathlib import Path

import pytest

from jsctl.errors import JsctlError
from jsctl.spark.export.query import find_tables
from jsctl.spark.export.stream_target import CHECKPOINTS, read_checkpoint
from jsctl.spark.export.target import MARKER
from jsctl.spark.rollup.rollup import check_source, open_target
from tests.fuzz.record import Record, cases
from tests.support.hostile import mutate_bytes, mutate_json

MARKERS = (
    {"kind": "reports", "format": "parquet", "tables": ["streams", "consumers"]},
    {"kind": "streams", "format": "json", "tables": ["ORDERS"]},
    {"kind": "rollup", "format": "parquet", "tables": ["streams_daily"]},
)
CHECKPOINT = {
    "created": "2026-11-21T06:57:05Z",
    "from": 1,
    "next": 5,
    "exported": 4,
    "deleted": None,
    "lost": 0,
    "bad": 0,
    "settings": {"decode": "json", "schema": "", "given": ""},
    "columns": {
        "type": "struct",
        "fields": [{"name": "seq", "type": "long", "nullable": False, "metadata": {}}],
    },
}


def changed(value: object, chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return mutate_bytes(json.dumps(value).encode(), chance)
    return json.dumps(mutate_json(value, chance)).encode()


def read_all(folder: Path) -> None:
    for name in find_tables(folder):
        assert (folder / name).parent == folder
        read_checkpoint(folder, name)


def test_markers_and_checkpoints(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINTS).mkdir()
    with Record("folders of exports") as record:
        for number in range(cases(300)):
            chance = random.Random(number)
            (tmp_path / MARKER).write_bytes(changed(chance.choice(MARKERS), chance))
            (tmp_path / CHECKPOINTS / "ORDERS.json").write_bytes(changed(CHECKPOINT, chance))
            for read in (
                read_all,
                check_source,
                open_target,
                lambda folder: read_checkpoint(folder, "ORDERS"),
            ):
                record.tried(partial(read, tmp_path), ())
        assert record.outcomes["done"] and record.outcomes["refused"]


@pytest.mark.parametrize("name", ["../other", "..", "/", "a/b", "", ".", "nul\0"])
def test_no_marker_leads_elsewhere(tmp_path: Path, name: str) -> None:
    """A folder that somebody hands over may not name others to be removed."""
    folder, other = tmp_path / "export", tmp_path / "other"
    other.mkdir()
    folder.mkdir()
    (folder / MARKER).write_text(json.dumps({"kind": "streams", "format": "parquet", "tables": [name]}))
    with pytest.raises(JsctlError):
        find_tables(folder)
    assert other.is_dir()


def test_a_marker_without_tables(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text('{"kind": "streams", "format": "parquet", "tables": null}')
    assert find_tables(tmp_path) == {}

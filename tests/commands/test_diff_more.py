"""`diff --owners`, `diff --watch`, and the schema of declared files."""

import json
from typing import Any

import pytest
import yaml

from jsctl.schema import catalog
from jsctl.schema.validator import validate
from tests.support import js
from tests.support.declared import BUCKETS, Files
from tests.support.run import Cli

OWNED = """
label: l
streams:
- {name: S, subjects: s, max_msgs: 5, max_age: 1y, consumers: [{name: C, description: d, ack_wait: 90s}]}
"""


def test_owners(files: Files, url: str) -> None:
    files("apply", OWNED, status=0)
    js.ask(url, "STREAM.UPDATE.S", {**js.info(url, "S")["config"], "max_bytes": 1000})
    rows = files("diff", OWNED, "--owners --json", status=0).json
    by_key = {(row["consumer"], row["key"]): row for row in rows}
    assert by_key["", "max_msgs"]["at"].endswith("streams.yaml:4")
    assert by_key["", "max_msgs"]["label"] == "l"
    assert by_key["", "max_bytes"]["at"] == ""
    assert by_key["C", "description"]["value"] == "d"
    shown = files("diff", OWNED, "--owners", status=0).out
    assert "max_bytes" in shown
    assert "1y" in shown and "90s" in shown and "000000000" not in shown


def test_watch_reads_files_and_servers_again(files: Files) -> None:
    files.path.write_text(OWNED)
    process = files.cli.start(["diff", "-f", str(files.path), "--watch", "200ms"])
    assert process.stdout
    try:
        line = ""
        while "to create" not in line:
            line = process.stdout.readline()
        files("apply", OWNED, status=0)
        while "Nothing to change" not in line:
            line = process.stdout.readline()
    finally:
        process.terminate()
        process.wait(10)
    assert "stdin can be read once" in files.cli("diff -f - --watch 1s", status=64).err


def check(document: Any) -> list[str]:
    return validate(document, catalog.load_schema("io.jsctl.v1.declared"))


@pytest.mark.parametrize(
    "text",
    [
        OWNED,
        BUCKETS,
        "{vars: {n: 1}, streams: [{name: A, max_msgs: '{{n}}', sources: [B@leaf, {name: C}]}]}",
        "x-a: {b: c}\nstreams: [{for: {i: 0..9}, name: A, placement: {tags: [a]}, extra: {new: 1}}]",
        "buckets: [{name: V, values: {a: b}, protect: true}]",
    ],
)
def test_the_schema_accepts_what_apply_accepts(text: str) -> None:
    assert check(yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "{streams: [{name: A, max_mgs: 5}]}",
        "{stream: []}",
        "{streams: [{subjects: a}]}",
        "{streams: [{name: A, storage: paper}]}",
        "{streams: [{name: A, consumers: [{name: C, nope: 1}]}]}",
        "{object_buckets: [{name: V, values: {a: b}}]}",
    ],
)
def test_the_schema_finds_what_apply_refuses(files: Files, text: str) -> None:
    assert check(yaml.safe_load(text))
    files("diff", text, status=64)


def test_an_export_names_its_schema(cli: Cli, url: str) -> None:
    js.stream(url, "S", "s")
    written = cli("export config", status=0).out
    assert written.startswith("# yaml-language-server: $schema=jsctl-declared.json\n")
    assert check(yaml.safe_load(written)) == []
    shown = cli("schema info declared", status=0).out
    assert json.loads(shown)["title"] == "io.jsctl.v1.declared"

"""`export config`: what it writes, `apply` makes again."""

import json
from pathlib import Path

import pytest

from jsctl.jetstream.config.documents import parse_documents
from tests.support import js
from tests.support.cases import sample
from tests.support.declared import BUCKETS, DAY, Files, config
from tests.support.run import Cli


def test_export_comes_back(files: Files, cli: Cli, tmp_path: Path) -> None:
    cli(
        "stream add E --subjects 'e.>' --max-age 90m --max-bytes 1GB --metadata 'k={{name}}' "
        "--transform-source 'e.*' --transform-destination 'f.{{wildcard(1)}}' --description 'a\u202eb' "
        "--republish-source 'f.>' --republish-destination 'g.>' --defaults",
        status=0,
    )
    cli("consumer add E PULL --pull --backoff 1s,10s --max-deliver 5 --filter e.a,e.b --defaults", status=0)
    cli("consumer add E GONE --pull --ephemeral --defaults", status=0)
    cli("stream add M --mirror E --no-allow-direct --defaults", status=0)
    cli("stream add KV_bucket --subjects '$KV.bucket.>' --defaults", status=0)
    written = cli("export config", status=0)
    assert "max_age: 90m" in written.out
    assert "max_bytes: 1GiB" in written.out
    assert "\u202e" not in written.out
    assert "KV_bucket" not in written.out
    assert "_nats." not in written.out
    assert "left out: 1 consumer without a durable name" in written.err
    assert files("diff", written.out, status=0).out.startswith("Nothing to change: 2 streams and 1 consumer ")
    assert files("diff", cli("export config --json").out, status=0).out.startswith("Nothing to change")
    before = {name: config(cli, name) for name in ("E", "M")}, config(cli, "E", "PULL")
    for name in ("M", "E"):
        cli(f"stream rm {name} --force", status=0)
    files("apply", written.out, status=0)
    assert ({name: config(cli, name) for name in ("E", "M")}, config(cli, "E", "PULL")) == before
    target = tmp_path / "out.yaml"
    assert "wrote 1 stream and 0 consumers" in cli(f"export config M --output {target}", status=0).out
    assert "name: M" in target.read_text()
    assert "no stream matches" in cli("export config NOPE", status=3).err
    assert "KV_bucket" in cli("export config --all", status=0).out


def test_buckets_come_back_from_an_export(files: Files, url: str) -> None:
    files("apply", BUCKETS, status=0)
    js.bucket(url, "ODD", max_consumers=5)
    exported = files.cli("export config --all --json", status=0).json
    assert [bucket["name"] for bucket in exported["buckets"]] == ["CONFIG", "COPY", "MIRROR_1", "MIRROR_2"]
    assert [stream["name"] for stream in exported["streams"]] == ["KV_ODD", "ORDERS"], "more than a bucket"
    text = files.cli("export config --all", status=0).out
    assert "  history: 5\n" in text
    assert "  ttl: 30d\n" in text
    assert "2 streams and 4 buckets are as declared" in files("diff", text, status=0).out
    files.cli("kv del CONFIG --force", status=0)
    files("apply", text, status=0)
    assert files.cli("kv info CONFIG --json", status=0).json["config"]["ttl"] == 30 * DAY


@pytest.mark.slow
@pytest.mark.parametrize("flag", sample(["", "--json"], 2))
def test_an_export_of_5000_streams_is_read(cli: Cli, flag: str) -> None:
    cli("stream add E --subjects 'e.>' --max-age 90m --metadata team=x --defaults", status=0)
    for name in ("ONE", "TWO"):
        cli(f"consumer add E {name} --pull --filter e.a --defaults", status=0)
    text = cli(f"export config {flag}", status=0).out
    if flag:
        text = json.dumps({"streams": json.loads(text)["streams"] * 5000})
    else:
        head, mark, entry = text.partition("streams:\n")
        text = f"{head}{mark}{entry * 5000}"
    (document,) = parse_documents(text, "exported")
    assert len(document.value["streams"].value) == 5000

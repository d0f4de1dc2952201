"""A counter whose delete markers have a TTL: a server creates it, and does not load it again."""

from pathlib import Path

from jsctl.base.units import SECOND
from tests.support import js
from tests.support.run import Cli


def test_a_counter_that_its_server_would_drop(cli: Cli, url: str, tmp_path: Path) -> None:
    js.stream(url, "HITS", "hits.>", allow_msg_counter=True, subject_delete_marker_ttl=60 * SECOND)
    cli("counter increment hits.a 5", status=0)
    (finding,) = cli("doctor --json", status=1).json["findings"]
    assert finding["code"] == "COUNTER_NOT_LOADED" and "jsctl backup stream" in finding["fix"]
    assert "gone at the next start" in cli("report", status=None).out
    cli(f"backup stream HITS {tmp_path}/backup", status=0)
    cli("stream rm HITS --force", status=0)
    (tmp_path / "config.yaml").write_text("{subject_delete_marker_ttl: 0, allow_msg_ttl: false}")
    cli(f"backup restore stream {tmp_path}/backup --config {tmp_path}/config.yaml", status=0)
    assert cli("doctor --json", status=0).json["findings"] == []
    assert cli("counter increment hits.a 2", status=0).out == "7\n"


def test_it_is_not_made(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "streams: [{name: HITS, subjects: [hits.>], allow_msg_counter: true, subject_delete_marker_ttl: 60s}]"
    )
    flags = "--subjects hits.> --allow-counter --subject-del-markers-ttl 60s --defaults"
    for line in (f"stream add HITS {flags}", f"apply -f {tmp_path}/a.yaml --dry-run"):
        refused = cli(line, status=64).err
        assert "cannot be used together: at its next start the server drops the stream" in refused, line

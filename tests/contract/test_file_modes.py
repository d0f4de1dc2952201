"""What jsctl writes can be read by its user alone, whatever the umask of the shell allows."""

import io
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from jsctl import app
from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.slow

LINES = """
context add C --description x
context copy C D
stream backup S backup
stream backup S backup.tgz
account backup account
sub --stream S --all --count 1 --dump dump.jsonl
sub --stream S --all --count 1 --dump dump-folder
export config --output declared.yaml
kv put CONFIG a one
kv export CONFIG --output bucket.jsonl
object put BOX here.txt --force
object get BOX here.txt --output object.txt
object sync BOX synced --down --force
audit gather --output audit.zip --server {system}
server request profile allocs profiles --server {system}
server network up single --store networks --port 0
report --record rounds --count 1
bench pub x --msgs 10 --processes 0 --csv bench.csv
auth operator add O --store store
auth account add A --operator O --store store --defaults
auth user add U A --operator O --store store --defaults
auth user credential U.creds U A --operator O --store store
auth operator backup O operator.json --store store
auth operator config O --output server.conf --store store
auth nkey gen curve --output mine.nk
auth nkey seal here.txt mine.nk {reader} --output sealed
server generate generated --source leaf --set credentials=U.creds --defaults
exporter --server {url} --textfile metrics.prom --count 1
server network down networks --force
"""

EXPORTS = """
export stream S --to parquet --partition-by date
export stream S --to json --format json --incremental
export stream S --to csv --format csv
export stream S --to orc --format orc
export stream S --to xml --format xml
export kv CONFIG --to kv --format csv
export objects BOX --to objects --format json
export reports --to reports
export reports --to reports-json --format json
export rollup --from reports
"""


def run(cli: Cli, line: str) -> int:
    """Run the program itself, in a fork: it sets the umask."""
    pid = os.fork()
    if not pid:
        status = 99
        try:
            os.umask(0o022)
            os.environ.update(cli.environ)
            sys.argv = ["jsctl", *line.split()]
            sys.stdin, sys.stdout, sys.stderr = io.StringIO(), os.fdopen(1, "w"), os.fdopen(2, "w")
            app.main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_every_file_is_private(
    cli: Cli,
    url: str,
    system_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"one")
    cli("kv add CONFIG", status=0)
    cli("object add BOX", status=0)
    (tmp_path / "here.txt").write_text("x")
    (tmp_path / "synced").mkdir()
    ours = {tmp_path / "here.txt", tmp_path / "synced"}
    ours.add(tmp_path / "metrics.prom")  # another program reads it, as another user: that is what it is for
    failed = []
    seen: dict[str, str] = {}
    for line in LINES.strip().splitlines():
        reader = cli("auth nkey show mine.nk", status=0).out.strip() if "{reader}" in line else ""
        if status := run(cli, line.format(url=url, system=system_url, reader=reader)):
            failed.append((line, status, capfd.readouterr().err[-300:]))
        found = [*tmp_path.rglob("*"), *cli.home.rglob("*")]
        for path in found:
            mode = stat.S_IMODE(path.lstat().st_mode)
            if path not in ours and not path.is_symlink() and mode & 0o077:
                seen.setdefault(f"{path} {mode:o}", line)
    assert len(found) > 40
    assert not failed, "\n".join(map(str, failed))
    assert not seen, seen


@pytest.mark.spark
def test_every_format_of_an_export_is_private(
    cli: Cli, url: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Spark's JVM, its tasks and jsctl itself write: tables, markers, checkpoints and what hides."""
    to = tmp_path / "exports"
    to.mkdir()
    monkeypatch.chdir(to)
    js.stream(url, "S", "s.>", allow_direct=True)
    js.publish(url, "s.a", b"one")
    js.bucket(url, "CONFIG")
    js.publish(url, "$KV.CONFIG.a", b"one")
    cli("object add BOX", status=0)
    (tmp_path / "file").write_text("x")
    cli(["object", "put", "BOX", str(tmp_path / "file"), "--force"], status=0)
    mask = os.umask(0o077)  # as the program does
    try:
        for line in EXPORTS.strip().splitlines():
            cli(line, status=0)
    finally:
        os.umask(mask)
    written = list(to.rglob("*"))
    assert {path.suffix for path in written} >= {".parquet", ".json", ".csv", ".orc", ".xml"}
    open_to_others = {str(path): oct(path.stat().st_mode) for path in written if path.stat().st_mode & 0o077}
    assert not open_to_others

"""Secrets that jsctl writes can be read by its user alone, whatever the umask; data follow the umask."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli

SECRETS = """
context add C --description x
context copy C D
server network up single --store networks --port 0
auth operator add O --store store
auth account add A --operator O --store store --defaults
auth user add U A --operator O --store store --defaults
auth user credential U.creds U A --operator O --store store
auth operator backup O operator.json --store store
auth operator config O --output server.conf --store store
auth nkey gen curve --output mine.nk
auth nkey seal here.txt mine.nk {reader} --output sealed
server generate generated --source leaf --set credentials=U.creds --defaults
diff -f declared.json --out plan.json
server network down networks --force
"""

DATA = """
backup stream S backup
backup stream S above/backup
backup stream S backup.tgz
backup account account
sub --stream S --all --count 1 --dump dump.jsonl
sub --stream S --all --count 1 --dump dump-folder
export config --output declared.yaml
stream add NEW --subjects new --defaults --output new.json
stream report --dot streams.dot
kv put CONFIG a one
kv export CONFIG --output bucket.jsonl
object put BOX here.txt --force
object get BOX here.txt --output object.txt
object sync BOX synced --down --force
audit gather --output audit.zip --server {system} --no-server-profiles
audit analyze audit.zip --save audit.json
server request profile allocs profiles --server {system}
report --record rounds --count 1
report --record rounds --count 1 --keep 1ms
report history --from rounds --html rounds.html
bench pub x --msgs 10 --processes 0 --csv bench.csv --hdr bench.hlog
exporter --server {url} --textfile metrics.prom --count 1
server check connection --outfile check.txt
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


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def list_modes(folder: Path) -> dict[Path, int]:
    paths = (path for path in folder.rglob("*") if not path.is_symlink())
    return {path: stat.S_IMODE(path.stat().st_mode) for path in paths}


def get_open(path: Path, mask: int) -> int:
    """Return the permissions that the shell gives a new file or folder."""
    return (0o777 if path.is_dir() else 0o666) & ~mask


@pytest.fixture
def place(cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in; beside it is what the lines need."""
    js.stream(url, "S", "s.>")
    js.publish(url, "s.a", b"one")
    cli("kv add CONFIG", status=0)
    cli("object add BOX", status=0)
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "here.txt").write_text("x")
    (folder / "declared.json").write_text('{"streams": []}')
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_secrets_are_private_whatever_the_umask(mask: int, cli: Cli, url: str, place: Path) -> None:
    ours = set(place.iterdir())
    seen: dict[str, str] = {}
    for line in SECRETS.strip().splitlines():
        reader = cli("auth nkey show mine.nk", status=0).out.strip() if "{reader}" in line else ""
        with umask(mask):
            cli(line.format(url=url, reader=reader), status=0)
        for path, mode in (list_modes(place) | list_modes(cli.home)).items():
            if path not in ours and mode & 0o077:
                seen.setdefault(f"{path} {mode:o}", line)
    assert not seen, seen
    assert len(list_modes(place)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_data_follows_the_umask(mask: int, cli: Cli, url: str, system_url: str, place: Path) -> None:
    """As with every other program; what jsctl writes by the way below the home folder is private."""
    ours = set(place.iterdir())
    seen: dict[str, str] = {}
    for line in DATA.strip().splitlines():
        before = len(list_modes(place))
        with umask(mask):
            cli(line.format(url=url, system=system_url), status=0)
        for path, mode in list_modes(place).items():
            if path not in ours and mode != get_open(path, mask):
                seen.setdefault(f"{path} {mode:o}", line)
        rewrites = ("kv put", "object put", "--keep")
        assert len(list_modes(place)) > before or any(word in line for word in rewrites), line
    seen |= {f"{path} {mode:o}": "home" for path, mode in list_modes(cli.home).items() if mode & 0o077}
    assert not seen, seen


@pytest.mark.spark
def test_every_format_of_an_export_follows_the_umask(
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
    for line in EXPORTS.strip().splitlines():
        cli(line, status=0)
    modes = list_modes(to)
    assert {path.suffix for path in modes} >= {".parquet", ".json", ".csv", ".orc", ".xml"}
    mask = os.umask(0o022)
    os.umask(mask)
    assert {str(path): f"{mode:o}" for path, mode in modes.items() if mode != get_open(path, mask)} == {}

"""Folders as people name them, and places that jsctl cannot use."""

from pathlib import Path

import pytest

from jsctl.spark.session.folders import parse_folder
from tests.support.run import Cli


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("orders", "orders"),
        ("file:///data/my%20orders", "/data/my orders"),
        ("file:/data/orders", "/data/orders"),
        ("file://localhost/data", "/data"),
        ("~/a", str(Path.home() / "a")),
        ("a:b/c", "a:b/c"),
        ("~nobody-has-this-name/a", "~nobody-has-this-name/a"),
        ("file:///data/a#b?c%23", "/data/a#b?c#"),
        ("FILE:///data", "/data"),
    ],
)
def test_paths_and_uris(text: str, path: str) -> None:
    assert parse_folder(text, "--to") == Path(path)


@pytest.mark.parametrize(
    "line",
    [
        "export stream ORDERS --to {}",
        "export reports --to {}",
        "export rollup --from {}",
        "export rollup --from . --to {}",
        "export query --from {} 'SELECT 1'",
        "import {} --stream ORDERS",
        "report history --from {}",
        "report --spark {}",
    ],
)
@pytest.mark.parametrize("uri", ["s3a://key:secret@bucket/x", "hdfs://host:8020/x", "abfss://c@a.net/x"])
def test_other_file_systems_are_refused_before_anything_runs(
    offline_cli: Cli, line: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_jsctl_export.json").write_text('{"kind": "reports", "format": "parquet", "tables": []}')
    refused = offline_cli(line.format(uri), status=64)
    assert f"{uri.partition(':')[0]}://... is not a folder on this machine" in refused.err
    assert refused.err.count("\n") == 1 and "secret" not in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["_jsctl_export.json"]

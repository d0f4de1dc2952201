"""Folders as people name them, and places that jsctl cannot use."""

from pathlib import Path

import pytest

from jsctl.spark.session.folders import parse_folder, parse_place
from jsctl.spark.session.hadoop import HadoopPath
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
def test_a_uri_with_a_password_is_refused_before_anything_runs(
    offline_cli: Cli, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_jsctl_export.json").write_text('{"kind": "reports", "format": "parquet", "tables": []}')
    refused = offline_cli(line.format("s3a://key:secret@bucket/x"), status=64)
    assert "s3a://... is not a folder" in refused.err or "s3a://... holds a password" in refused.err
    assert refused.err.count("\n") == 1 and "secret" not in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["_jsctl_export.json"]


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s3a://lake/a b/c%2F", "s3a://lake/a b/c%2F"),
        ("HDFS://host:8020/x/", "hdfs://host:8020/x"),
        ("abfss://c@a.net/x", "abfss://c@a.net/x"),
    ],
)
def test_uris(text: str, uri: str) -> None:
    place = parse_place(text, "--to")
    assert isinstance(place, HadoopPath) and str(place) == uri
    assert str(place / "T") == f"{uri}/T" and (place / "T").parents[0].uri == uri


def test_paths_of_a_uri() -> None:
    path = HadoopPath("s3a://lake/a/b")
    assert [str(folder) for folder in path.parents] == ["s3a://lake/a", "s3a://lake/"]
    assert (path.name, path.scheme, HadoopPath("s3a://lake").name) == ("b", "s3a", "")
    assert str((path / "T" / "date=1").relative_to(path)) == "T/date=1"

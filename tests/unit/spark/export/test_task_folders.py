"""Folders that tasks write to, and who can reach S3 without the JVM."""

from pathlib import Path
from typing import Any

import pytest

from jsctl.errors import JsctlError
from jsctl.spark.export.task_folders import DiskFolder, name_in_errors
from jsctl.spark.session import s3

KEYS = {"access.key": "somebody", "secret.key": "hush"}
LOGIN = {"access_key": "somebody", "secret_key": "hush"}


def test_a_file_is_there_when_it_is_complete(tmp_path: Path) -> None:
    folder = DiskFolder.of(tmp_path / "x")
    with folder.create("a=1/whole") as file:
        file.write(b"whole")
    with pytest.raises(ZeroDivisionError), folder.create("a=1/whole") as file:
        file.write(b"a part")
        raise ZeroDivisionError
    assert (tmp_path / "x" / "a=1" / "whole").read_bytes() == b"whole"
    (tmp_path / "y").write_text("no folder")
    folder = DiskFolder(tmp_path / "y", str(tmp_path))
    with pytest.raises(JsctlError, match=f"Spark cannot write to {tmp_path}"), name_in_errors(folder.target):
        folder.create("z").__enter__()


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (
            {**KEYS, "endpoint": "http://minio:9000/", "path.style.access": "true"},
            {**LOGIN, "scheme": "http", "endpoint_override": "minio:9000", "region": "us-east-1"},
        ),
        (
            {**KEYS, "endpoint": "minio:9000", "connection.ssl.enabled": "false", "endpoint.region": "here"},
            {
                **LOGIN,
                "scheme": "http",
                "endpoint_override": "minio:9000",
                "force_virtual_addressing": True,
                "region": "here",
            },
        ),
        (
            {**KEYS, "session.token": "for-a-while", "endpoint": "s3.eu-west-1.amazonaws.com"},
            {**LOGIN, "session_token": "for-a-while", "region": "eu-west-1"},
        ),
        ({**KEYS, "endpoint.region": "eu-west-1"}, {**LOGIN, "region": "eu-west-1"}),
        ({"endpoint.region": "eu-west-1", "downgrade.syncable.exceptions": "true"}, {"region": "eu-west-1"}),
        (KEYS, None),
        ({"access.key": "somebody", "endpoint.region": "eu-west-1"}, None),
        ({**KEYS, "endpoint.region": "eu-west-1", "encryption.algorithm": "SSE-KMS"}, None),
        ({"aws.credentials.provider": "some.Provider", "endpoint.region": "eu-west-1"}, None),
    ],
)
def test_settings_of_hadoop_for_pyarrow(
    settings: dict[str, str], options: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = s3.translate(settings)
    assert (found and {"force_virtual_addressing": False, **dict(found)}) == (
        options and {"force_virtual_addressing": False, **options}
    )


def test_a_profile_is_not_what_hadoop_uses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    assert s3.translate({"endpoint.region": "eu-west-1"}) is None

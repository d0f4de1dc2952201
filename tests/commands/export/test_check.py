"""`jsctl export check`."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.export.conftest import Lake
from tests.support.run import Cli

pytestmark = pytest.mark.spark


def test_a_place_is_checked(
    cli: Cli, spark: Any, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)  # the tests' own has no versions
    parts = cli(f"export check --to {lake.root}/x --json", status=0).json["parts"]
    found = {part["part"]: part["source"] for part in parts[-4:]}
    assert found["Reading"] == "0 entries" and found["Two runs at once"] == "one is refused"
    assert [path.name for path in lake.folder.rglob("*")] in ([], ["x"])
    assert f"exports to {lake.root}/x can run here" in cli(f"export check --to {lake.root}/x", status=0).out
    refused = cli("export check --to s3a://lake/x", status=1)
    assert "Reading" in refused.out and "add --packages auto" in refused.out
    assert "free" in cli(f"export check --to {tmp_path}/new", status=0).out
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").touch()
    assert "cannot write below" in cli(f"export check --to {tmp_path}/file/x", status=1).out

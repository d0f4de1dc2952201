"""`server request profile`."""

from pathlib import Path

from tests.support.run import Cli


def test_profiles_are_written(system: Cli, tmp_path: Path) -> None:
    rows = system(f"server request profile goroutine {tmp_path / 'p'} --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    assert all(Path(row["file"]).stat().st_size == row["size"] > 100 for row in rows)

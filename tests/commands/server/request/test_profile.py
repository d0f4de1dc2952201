"""`server request profile`."""

import re
from pathlib import Path

import pytest

from tests.support.run import Cli


def test_profiles_are_written(system: Cli, tmp_path: Path) -> None:
    rows = system(f"server request profile goroutine {tmp_path / 'p'} --json", status=0).json
    assert {row["server"] for row in rows} == {"hub-server", "leaf-server"}
    names = [Path(row["file"]).name for row in rows]
    assert all(re.fullmatch(r"goroutine-\d{8}-\d{6}-(hub|leaf)-server", name) for name in names), names
    again = system(f"server request profile goroutine {tmp_path / 'p'} --json", status=0).json
    assert not {row["file"] for row in rows} & {row["file"] for row in again}
    assert len(list((tmp_path / "p").iterdir())) == 4
    assert all(Path(row["file"]).stat().st_size == row["size"] > 100 for row in rows)


def test_a_cpu_profile_takes_as_long_as_the_timeout(system: Cli, tmp_path: Path) -> None:
    rows = system(
        f"server request profile cpu {tmp_path} --name hub-server --timeout 1s --json", status=0
    ).json
    assert [(row["server"], row["size"] > 100) for row in rows] == [("hub-server", True)]


@pytest.mark.slow
def test_profiles_of_an_archive(system: Cli, tmp_path: Path) -> None:
    file = tmp_path / "audit.zip"
    line = "--no-account-endpoints --no-streams --no-consumers"
    system(f"audit gather --output {file} {line}", status=0)
    asked = f"server request profile goroutine {tmp_path} --archive {file}"
    (row,) = system(f"{asked} --level 1 --name hub-server --json", status=0).json
    assert Path(row["file"]).stat().st_size == row["size"] > 100
    assert "its profiles: allocs, " in system(f"{asked} --level 9", status=3).err

"""`auth operator backup`."""

import json
import stat
from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.run import Cli


def test_backup(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    told = auth_cli(f"auth operator backup ACME {file}", terminal_error=True, width=400, status=0).err
    assert f"wrote operator ACME with 2 accounts to {file}" in told and "encrypt it with --key" in told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["name"] == "ACME"
    assert "there is no operator 'NOPE'" in auth_cli(f"auth operator backup NOPE {file}.2", status=3).err

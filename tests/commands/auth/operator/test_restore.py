"""`auth operator restore`."""

import stat
from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.auth_store import root_of
from tests.support.run import Cli


def read_files(root: Path) -> dict[Path, str]:
    """Return the files of a store, but for what it remembers of earlier versions: that begins anew."""
    files = (path for path in root.rglob("*") if path.is_file() and ".jsctl-seen" not in path.parts)
    return {path.relative_to(root): path.read_text() for path in files}


def test_backup_and_restore(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account keys add ORDERS shipper", status=0)
    before = read_files(root_of(acme))
    key, plain, sealed = tmp_path / "b.nk", tmp_path / "plain", tmp_path / "sealed"
    auth_cli(f"auth nkey gen curve --output {key}", status=0)
    assert "not encrypted" in auth_cli(f"auth operator backup ACME {plain}", status=0).err
    assert "not encrypted" not in auth_cli(f"auth operator backup ACME {sealed} --key {key}", status=0).err
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o600 and "ORDERS" not in sealed.read_text()
    assert "--force" in auth_cli(f"auth operator backup ACME {plain}", status=64).err
    assert "already" in auth_cli(f"auth operator restore ACME {plain}", status=64).err
    for number, line in enumerate((f"{plain}", f"{sealed} --key {key}")):
        auth_cli.environ["XDG_DATA_HOME"] = str(tmp_path / f"restored{number}")
        auth_cli(f"auth operator restore ACME {line}", status=0)
        root = tmp_path / f"restored{number}" / "nats" / "nsc"
        assert read_files(root) == before
    assert "restore it as ACME" in auth_cli(f"auth operator restore OTHER {plain}", status=64).err
    assert "decrypt it with --key" in auth_cli(f"auth operator restore OTHER {sealed}", status=64).err
    wrong = tmp_path / "w.nk"
    auth_cli(f"auth nkey gen curve --output {wrong}", status=0)
    assert "decrypted" in auth_cli(f"auth operator restore OTHER {sealed} --key {wrong}", status=64).err
    for text in ("{}", '{"name": 1}', '{"name": "OTHER", "token": "a.b.c"}', "[1]"):
        plain.write_text(text)
        err = auth_cli(f"auth operator restore OTHER {plain}", status=64).err
        assert "backup" in err and len(err.splitlines()) == 1

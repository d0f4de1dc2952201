"""`auth operator` edit, import, select, backup, restore, keys, config."""

import json
import stat
from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.auth_store import root_of
from tests.support.run import Cli


def test_edit(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator edit --service nats://a:1 --service nats://b:2 --tags X", status=0)
    nats = acme.read_operator().nats
    assert nats["operator_service_urls"] == ["nats://a:1", "nats://b:2"] and nats["tags"] == ["x"]
    auth_cli("auth operator edit ACME --service '' --no-tags x --system-account ORDERS", status=0)
    nats = acme.read_operator().nats
    assert "operator_service_urls" not in nats and "tags" not in nats
    assert nats["system_account"] == acme.read_account("ORDERS").public
    assert "not a valid URL" in auth_cli("auth operator edit --service nonsense", status=64).err


def test_select(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator add OTHER", status=0)
    assert "give NAME, one of ACME, OTHER" in auth_cli("auth account ls", status=64).err
    auth_cli("auth operator select OTHER", status=0)
    config = auth_cli.home / "nats" / "cli" / "config.json"
    assert json.loads(config.read_text()) == {"select_operator": "OTHER"}
    assert [row["name"] for row in auth_cli("auth account ls --json", status=0).json] == ["SYSTEM"]
    config.write_text('{"select_operator": "GONE", "of_2030": 1}')
    auth_cli("auth operator select", answers=["ACME"], status=0)
    assert json.loads(config.read_text()) == {"select_operator": "ACME", "of_2030": 1}
    assert "ORDERS" in auth_cli("auth account ls --names", status=0).out


def test_signing_keys(acme: AuthStore, auth_cli: Cli) -> None:
    (first,) = auth_cli("auth operator keys ls --json", status=0).json
    key = auth_cli("auth operator keys add ACME", status=0).out.strip()
    auth_cli(f"auth account edit ORDERS --key {key}", status=0)
    assert acme.read_account("ORDERS").issuer == key
    removed = auth_cli(f"auth operator keys rm ACME {key} --force", status=0)
    assert "it signed ORDERS" in removed.err and not acme.has_seed(key)
    assert auth_cli("auth operator keys ls --json", status=0).json == [first]
    assert "no signing key" in auth_cli(f"auth operator keys rm ACME {key} --force", status=3).err


def test_backup_and_restore(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account keys add ORDERS shipper", status=0)
    before = {p.relative_to(root_of(acme)): p.read_text() for p in root_of(acme).rglob("*") if p.is_file()}
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
        assert {p.relative_to(root): p.read_text() for p in root.rglob("*") if p.is_file()} == before
    assert "give ACME" in auth_cli(f"auth operator restore OTHER {plain}", status=64).err
    assert "give --key" in auth_cli(f"auth operator restore OTHER {sealed}", status=64).err
    wrong = tmp_path / "w.nk"
    auth_cli(f"auth nkey gen curve --output {wrong}", status=0)
    assert "decrypted" in auth_cli(f"auth operator restore OTHER {sealed} --key {wrong}", status=64).err
    for text in ("{}", '{"name": 1}', '{"name": "OTHER", "token": "a.b.c"}', "[1]"):
        plain.write_text(text)
        err = auth_cli(f"auth operator restore OTHER {plain}", status=64).err
        assert "backup" in err and len(err.splitlines()) == 1


def test_import(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    operator = acme.read_operator()
    seed = acme.seed(operator.public)
    auth_cli.environ["XDG_DATA_HOME"] = str(tmp_path / "elsewhere")
    auth_cli(f"auth operator import {acme.operator_jwt} {seed}", status=0)
    assert auth_cli("auth operator info --json", status=0).json == operator.claims
    auth_cli("auth account add NEW", status=0)
    assert "already" in auth_cli(f"auth operator import {acme.operator_jwt}", status=64).err
    auth_cli(f"auth operator import {acme.operator_jwt} --force", status=0)
    user = acme.user_jwt("ORDERS", "alice")
    assert "not the JWT of an operator" in auth_cli(f"auth operator import {user}", status=64).err
    other = acme.seed(acme.read_account("ORDERS").public)
    assert (
        "is not a key of operator"
        in auth_cli(f"auth operator import {acme.operator_jwt} {other} --force", status=64).err
    )


def test_config(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    system, orders = (acme.read_account(name).public for name in ("SYSTEM", "ORDERS"))
    full = auth_cli("auth operator config --json", status=0).json
    assert full["system_account"] == system and list(full["resolver_preload"]) == [system]
    assert full["resolver"]["type"] == "full" and full["resolver"]["allow_delete"] is True
    memory = auth_cli("auth operator config ACME --resolver memory --json", status=0).json
    assert memory["resolver"] == "MEMORY" and set(memory["resolver_preload"]) == {system, orders}
    file = tmp_path / "r.conf"
    assert auth_cli(f"auth operator config --output {file}", status=0).out == ""
    assert f"system_account: {system}" in file.read_text() and "# SYSTEM" in file.read_text()

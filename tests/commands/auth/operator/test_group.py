"""`jsctl auth operator` and its commands."""

import json
import stat
from pathlib import Path

from jsctl.auth.store import AuthStore
from tests.support.auth_store import root_of
from tests.support.run import Cli
from tests.support.tables import read_table


def test_list(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator add OTHER", status=0)
    auth_cli("auth operator select OTHER", status=0)
    rows = auth_cli("auth operator list --json", status=0).json
    assert [(row["name"], row["accounts"]) for row in rows] == [("ACME", 2), ("OTHER", 1)]
    shown = read_table(auth_cli("auth operator ls", status=0).out)
    assert [row["Name"] for row in shown] == ["ACME", "OTHER*"], "the selected one is marked"
    assert "unexpected" in auth_cli("auth operator list ACME", status=64).err.lower()


def test_an_operator_has_a_system_account_and_a_signing_key(auth_cli: Cli) -> None:
    shown = auth_cli("auth operator add ACME --tags Prod --service nats://h:4222", status=0).out
    assert "System Account: SYSTEM (A" in shown and "Tags: prod" in shown
    claims = auth_cli("auth operator info --json", status=0).json
    assert claims["sub"] == claims["iss"] and len(claims["nats"]["signing_keys"]) == 1
    assert claims["nats"]["operator_service_urls"] == ["nats://h:4222"]
    (row,) = auth_cli("auth operator ls --json", status=0).json
    assert (row["name"], row["accounts"], row["signing_keys"]) == ("ACME", 1, 1)
    assert auth_cli("auth operator ls --names", status=0).out == "ACME\n"
    assert "already" in auth_cli("auth operator add ACME", status=64).err
    auth_cli("auth operator add EMPTY --service ''", status=0)
    assert "operator_service_urls" not in auth_cli("auth operator info EMPTY --json", status=0).json["nats"]


def test_info(acme: AuthStore, auth_cli: Cli) -> None:
    operator = acme.read_operator()
    document = auth_cli("auth operator info --json", status=0).json
    assert {key: document[key] for key in operator.claims} == operator.claims
    assert document["token"] == operator.token and set(document) - set(operator.claims) == {
        "token",
        "accounts",
    }
    accounts = {account["name"]: account for account in document["accounts"]}
    assert set(accounts) == set(acme.list_account_names())
    assert accounts["ORDERS"]["token"] == acme.read_account("ORDERS").token
    assert accounts["ORDERS"]["users"] == [{"name": name} for name in acme.list_user_names("ORDERS")]
    shown = auth_cli("auth operator info ACME", status=0).out
    assert "Accounts: 2" in shown and "System Account: SYSTEM (A" in shown
    assert "Strict Signing: false" in shown
    assert "there is no operator 'ACNE'" in auth_cli("auth operator info ACNE", status=3).err


def test_select(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth operator add OTHER", status=0)
    for line, flag in (("account ls", "OPERATOR"), ("operator info", "NAME"), ("account info", "--operator")):
        assert f"specify {flag}, one of ACME, OTHER" in auth_cli(f"auth {line}", status=64).err
    auth_cli("auth operator select OTHER", status=0)
    config = auth_cli.home / "nats" / "cli" / "config.json"
    assert json.loads(config.read_text()) == {"select_operator": "OTHER"}
    assert [row["name"] for row in auth_cli("auth account ls --json", status=0).json] == ["SYSTEM"]
    config.write_text('{"select_operator": "GONE", "of_2030": 1}')
    auth_cli("auth operator select", answers=["ACME"], status=0)
    assert json.loads(config.read_text()) == {"select_operator": "ACME", "of_2030": 1}
    assert "ORDERS" in auth_cli("auth account ls --names", status=0).out


def test_import(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    operator = acme.read_operator()
    seed = acme.get_seed_path(operator.public)
    auth_cli.environ["XDG_DATA_HOME"] = str(tmp_path / "elsewhere")
    auth_cli(f"auth operator import {acme.operator_jwt} {seed}", status=0)
    assert auth_cli("auth operator info --json", status=0).json["token"] == operator.token
    auth_cli("auth account add NEW", status=0)
    assert "already" in auth_cli(f"auth operator import {acme.operator_jwt}", status=64).err
    auth_cli(f"auth operator import {acme.operator_jwt} --force", status=0)
    user = acme.get_user_path("ORDERS", "alice")
    assert "not the JWT of an operator" in auth_cli(f"auth operator import {user}", status=64).err
    other = acme.get_seed_path(acme.read_account("ORDERS").public)
    assert (
        "is not a key of operator"
        in auth_cli(f"auth operator import {acme.operator_jwt} {other} --force", status=64).err
    )


def test_backup(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    told = auth_cli(f"auth operator backup ACME {file}", terminal_error=True, width=400, status=0).err
    assert f"wrote operator ACME with 2 accounts to {file}" in told and "encrypt it with --key" in told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["name"] == "ACME"
    assert "there is no operator 'NOPE'" in auth_cli(f"auth operator backup NOPE {file}.2", status=3).err


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

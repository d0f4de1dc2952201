"""JWTs that are not genuine: changed on disk, signed with foreign keys, of keys that are gone."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.keys import ACCOUNT, OPERATOR, KeyPair, create_key
from jsctl.auth.records import list_signing_keys
from jsctl.auth.store import AuthStore
from tests.support.run import Cli

Change = Callable[[dict[str, Any]], object]

INVALID = "has an invalid signature: it was changed or truncated after it was signed"


def forge(path: Path, change: Change, signer: KeyPair | None = None) -> str:
    """Change the claims of a JWT on disk: keep its signature, or sign with a key of one's own."""
    token = path.read_text()
    claims = decode_jwt(token)
    change(claims)
    header, _, signature = token.split(".")
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    path.write_text(encode_jwt(claims, signer) if signer else f"{header}.{payload}.{signature}")
    return path.read_text()


def allow_all(claims: dict[str, Any]) -> None:
    claims["nats"]["pub"] = {"allow": [">"]}


@pytest.fixture
def forged_user(acme: AuthStore, auth_cli: Cli) -> Path:
    auth_cli("auth user edit alice ORDERS --pub-allow orders.new", status=0)
    path = acme.get_user_path("ORDERS", "alice")
    forge(path, allow_all)
    return path


def test_a_user(forged_user: Path, acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    before = forged_user.read_text()
    for line in (
        "user edit alice ORDERS --tags q",
        "user edit alice ORDERS --sign-again",
        "user edit alice ORDERS --key x",
        f"user credential {tmp_path}/a.creds alice ORDERS",
        f"user credential {tmp_path}/a.creds alice ORDERS --expire 1h",
        "operator config ACME --sentinel ORDERS/alice",
    ):
        error = auth_cli(f"auth {line}", status=1).err
        assert f"the JWT of user ORDERS/alice {INVALID}" in error, line
        assert "jsctl auth user edit alice ORDERS --accept-claims" in error
    assert forged_user.read_text() == before and not (tmp_path / "a.creds").exists()
    assert "Not Genuine: the JWT of user ORDERS/alice" in auth_cli("auth user info alice", status=0).out
    assert INVALID in auth_cli("auth user info alice --json", status=0).json["not_genuine"]
    assert INVALID in auth_cli("auth user ls ORDERS --json", status=0).json[0]["not_genuine"]
    assert INVALID in auth_cli("auth user ls ORDERS", status=0, width=200).out
    [finding] = auth_cli("auth validate --json", status=1).json["findings"][:1]
    assert finding["code"] == "token-signature" and finding["user"] == "alice"
    assert "invalid signature" in auth_cli("auth why --user alice --pub anything", status=1).out


def test_what_is_accepted(forged_user: Path, acme: AuthStore, auth_cli: Cli) -> None:
    """The question shows how the claims differ from the last genuine ones."""
    before = forged_user.read_text()
    line = "auth user edit alice ORDERS --accept-claims"
    refused = auth_cli(line, status=64).err
    assert 'pub.allow: ["orders.new"] -> [">"]' in refused and "use --force" in refused
    assert "differs from the credentials in the store" in refused
    asked = auth_cli(line, answers=[False])
    assert asked.asked == ["Really sign what the JWT of user ORDERS/alice claims"]
    assert "nothing was changed" in asked.err and forged_user.read_text() == before
    auth_cli(line, answers=[True], status=0)
    assert acme.read_user("ORDERS", "alice").nats["pub"] == {"allow": [">"]}
    assert "not_genuine" not in auth_cli("auth user info alice --json", status=0).json
    auth_cli("auth validate", status=0)


def test_the_question_on_a_terminal(forged_user: Path, acme: AuthStore, auth_cli: Cli) -> None:
    [fix] = {
        finding["fix"]
        for finding in auth_cli("auth validate --json", status=1).json["findings"]
        if finding["code"] == "token-signature"
    }
    terminal = auth_cli.terminal(fix.removeprefix("jsctl "))
    terminal.expect_exact('["orders.new"] -> [">"]')
    terminal.expect_exact("Really sign")
    terminal.sendline("y")
    terminal.expect(pexpect.EOF)
    terminal.close()
    auth_cli("auth validate", status=0)


def test_an_account(shop: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    path = shop.get_account_path("SHOP")
    before = forge(path, lambda claims: claims["nats"]["limits"].update(conn=99))
    for line in (
        "account edit SHOP --connections 5",
        "account keys add SHOP admin",
        "account exports add all '>' SHOP",
        "account mappings add SHOP a b",
        "account revocations add sam SHOP",
        "account callout SHOP --auth-user sam",
        "account push SHOP",
        "account push --all",
        "account push --all --diff",
        "user add eve SHOP --defaults",
        "user edit sam SHOP --tags x",
        f"user credential {tmp_path}/s.creds sam SHOP",
        "operator config ACME --resolver memory",
    ):
        error = auth_cli(f"auth {line} --server nats://127.0.0.1:1", status=1).err
        assert f"the JWT of account SHOP {INVALID}" in error, line
    assert path.read_text() == before
    assert "Not Genuine" in auth_cli("auth account info SHOP", status=0).out
    assert "Not Genuine" in auth_cli("auth user info sam SHOP", status=0).out, "nothing below it is genuine"
    rows = auth_cli("auth account ls --json", status=0).json
    assert [row["name"] for row in rows if row["not_genuine"]] == ["SHOP"]
    auth_cli("auth account edit ORDERS --connections 5", status=0)
    shown = auth_cli("auth account edit SHOP --accept-claims --force", status=0).err
    assert "limits.conn: -1 -> 99" in shown
    auth_cli("auth user edit sam SHOP --tags x", status=0)


def test_an_operator(shop: AuthStore, auth_cli: Cli) -> None:
    """A signing key that the operator's JWT names does not make the JWT genuine."""
    key = create_key(OPERATOR)

    def add_key(claims: dict[str, Any]) -> None:
        claims["nats"]["signing_keys"].append(key.public)

    genuine = shop.operator_jwt.read_text()
    for signer in (None, key):
        shop.operator_jwt.write_text(genuine)
        forge(shop.operator_jwt, add_key, signer)
        for line in (
            "operator edit ACME --tags x",
            "operator keys add ACME",
            "operator config ACME",
            "account add NEW --defaults",
            "account edit SHOP --connections 5",
            "user edit sam SHOP --tags x",
            "account push SHOP --server nats://127.0.0.1:1",
        ):
            assert "the JWT of operator ACME" in auth_cli(f"auth {line}", status=1).err, line
        assert "Not Genuine" in auth_cli("auth operator info ACME", status=0).out
        assert auth_cli("auth validate --json", status=1).json["errors"] >= 1
    shown = auth_cli("auth operator edit ACME --accept-claims --force", status=0).err
    assert key.public in shown and shop.read_operator().doubt is None


def test_foreign_keys(shop: AuthStore, auth_cli: Cli) -> None:
    """A signature that fits is not enough: its key must be one of the account or operator above."""
    forge(shop.get_user_path("SHOP", "sam"), allow_all, create_key(ACCOUNT))
    assert "is not a key of account SHOP" in auth_cli("auth user edit sam SHOP --tags x", status=1).err
    other_key = shop.read_key(shop.read_account("ORDERS").public)
    forge(shop.get_user_path("SHOP", "sam"), allow_all, other_key)
    assert "is not a key of account SHOP" in auth_cli("auth user edit sam SHOP --tags x", status=1).err
    forge(shop.get_account_path("SHOP"), lambda claims: None, create_key(OPERATOR))
    assert "is not a key of operator ACME" in auth_cli("auth account edit SHOP --tags x", status=1).err


def test_a_role_that_is_gone(acme: AuthStore, auth_cli: Cli) -> None:
    """What the user was allowed is not known any more: the fix makes one choose."""
    auth_cli("auth account keys add ORDERS shipper --pub-allow 'ship.>'", status=0)
    auth_cli("auth user add carl ORDERS --key shipper", status=0)
    public = acme.read_user("ORDERS", "carl").public
    auth_cli("auth account keys rm ORDERS shipper --force", status=0)
    findings = auth_cli("auth validate --json", status=1).json["findings"]
    [fix] = {finding["fix"] for finding in findings if finding["user"] == "carl"}
    shown = auth_cli("auth why --user carl --pub x", status=1).out
    assert fix in shown and " rm " not in fix
    line = fix.removeprefix("jsctl ")
    refused = auth_cli(f"{line} --force", status=64).err
    assert (
        "the permissions of its role with it" in refused
        and "jsctl auth account keys add ORDERS adds one" in refused
    )
    auth_cli("auth account keys add ORDERS packer --pub-allow 'pack.>'", status=0)
    assert "choose a role with --key: packer" in auth_cli(f"{line} --force", status=64).err
    [role] = list_signing_keys(acme.read_account("ORDERS").nats)
    auth_cli(line, answers=[True, role.public], status=0)
    user = acme.read_user("ORDERS", "carl")
    assert user.public == public and user.nats["pub"] == {} and "subs" not in user.nats
    assert "Role: packer" in auth_cli("auth user info carl ORDERS", status=0).out
    auth_cli("auth validate", status=0)


def test_another_key_carries_permissions_over(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account keys add ORDERS shipper --pub-allow 'ship.{{name()}}' --subscriptions 7", status=0)
    auth_cli("auth user add carl ORDERS --key shipper", status=0)
    account = acme.read_account("ORDERS").public
    auth_cli(f"auth user edit carl ORDERS --key {account}", status=0)
    nats = acme.read_user("ORDERS", "carl").nats
    assert nats["pub"] == {"allow": ["ship.carl"]} and nats["subs"] == 7
    said = auth_cli("auth user edit carl ORDERS --key shipper", status=0).err
    assert "role shipper replaces the permissions and limits of carl" in said
    assert acme.read_user("ORDERS", "carl").nats["pub"] == {}
    auth_cli("auth validate", status=0)


def test_a_plain_key_that_is_gone(acme: AuthStore, auth_cli: Cli) -> None:
    key = auth_cli("auth account keys add ORDERS --no-scope --json", status=0).out
    [public] = set(re.findall(r"A[A-Z2-7]{55}", key)) - {acme.read_account("ORDERS").public}
    auth_cli(f"auth user add dora ORDERS --key {public} --pub-allow 'd.>' --tags t --payload 9", status=0)
    before = acme.read_user("ORDERS", "dora")
    auth_cli(f"auth account keys rm ORDERS --key {public} --force", status=0)
    findings = auth_cli("auth validate --json", status=1).json["findings"]
    [fix] = {finding["fix"] for finding in findings}
    auth_cli(fix.removeprefix("jsctl "), answers=[True], status=0)
    after = acme.read_user("ORDERS", "dora")
    keys = ("pub", "sub", "payload", "tags")
    assert [after.nats.get(key) for key in keys] == [before.nats.get(key) for key in keys]
    assert after.public == before.public
    auth_cli("auth validate", status=0)


def test_operator_import_and_restore(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    backup = tmp_path / "acme.json"
    auth_cli(f"auth operator backup ACME {backup}", status=0)
    forged = tmp_path / "ACME.jwt"
    forged.write_text(acme.operator_jwt.read_text())
    forge(forged, lambda claims: claims["nats"].update(tags=["x"]))
    other = f"--store {tmp_path / 'other'}"
    assert INVALID in auth_cli(f"auth operator import {forged} {other}", status=1).err
    document = json.loads(backup.read_text())
    account = next(one for one in document["accounts"] if one["name"] == "ORDERS")
    user_file = tmp_path / "alice.jwt"
    user_file.write_text(account["users"][0]["token"])
    account["users"][0]["token"] = forge(user_file, allow_all)
    backup.write_text(json.dumps(document))
    assert (
        f"user ORDERS/alice {INVALID}"
        in auth_cli(f"auth operator restore ACME {backup} {other}", status=0).err
    )
    assert INVALID in auth_cli(f"auth user edit alice ORDERS --tags x {other}", status=1).err
    document["token"] = forged.read_text()
    backup.write_text(json.dumps(document))
    new = tmp_path / "new"
    assert INVALID in auth_cli(f"auth operator restore ACME {backup} --store {new}", status=1).err
    assert not list(new.rglob("*.nk"))


def test_activation_tokens(shop: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    auth_cli("auth account exports add prices 'prices.*' ORDERS --private", status=0)
    token = tmp_path / "token"
    auth_cli(
        f"auth account activations add prices.* ORDERS SHOP --only prices.eur --output {token}", status=0
    )
    line = f"auth account imports add p 'prices.*' SHOP --source ORDERS --token {token}"
    genuine = token.read_text()
    token.write_text(genuine.strip())
    forge(token, lambda claims: claims["nats"].update(subject="prices.*"))
    assert "has an invalid signature" in auth_cli(line, status=64).err
    source = shop.read_account("ORDERS").public
    token.write_text(genuine.strip())
    forge(token, lambda claims: claims["nats"].update(issuer_account=source), create_key(ACCOUNT))
    assert "is signed by a key that the exporting account does not have" in auth_cli(line, status=64).err


def test_apply(forged_user: Path, acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(
        "operators:\n- name: ACME\n  accounts:\n  - name: ORDERS\n    users: [{name: alice, payload: 5}]\n"
    )
    before = forged_user.read_text()
    for line in (f"diff -f {file}", f"apply -f {file} --force", f"apply -f {file} --dry-run"):
        assert INVALID in auth_cli(line, status=1).err, line
    assert forged_user.read_text() == before


def test_credentials_files(acme: AuthStore, auth_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "alice.creds"
    auth_cli(f"auth user edit alice ORDERS --expiry 1d --credential {file}", status=0)
    token = acme.get_user_path("ORDERS", "alice").read_text()
    jwt = tmp_path / "jwt"
    jwt.write_text(token)
    forged = forge(jwt, lambda claims: claims.update(exp=claims["exp"] + 10**7))
    file.write_text(file.read_text().replace(token, forged))
    assert INVALID in auth_cli(f"auth why --user {file}", status=1).out
    critical = auth_cli(f"server check credential --credential {file}", status=2).out
    assert "invalid signature" in critical

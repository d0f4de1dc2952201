"""`auth info`: files without a store or a server."""

import time
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.keys import ACCOUNT, create_key
from tests.support.auth_store import Store, root_of
from tests.support.run import Cli

NOW = int(time.time())
Files = dict[str, Path]


@pytest.fixture
def files(store: Store) -> Files:
    """The JWTs of OP and SHOP, and the credentials of alice, a user of SHOP."""
    store.account("SHOP")
    store.user("SHOP", "alice", pub={"allow": ["orders.>"]})
    return {
        "op": store.files.operator_jwt,
        "shop": store.files.get_account_path("SHOP"),
        "alice": store.files.get_creds_path("SHOP", "alice"),
    }


def look(cli: Cli, *paths: Path | str, status: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli(["auth", "info", *map(str, paths), "--json"], status=status).json
    return found


def list_codes(item: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in item["problems"]]


def test_who_by_whom_until_when_and_what_for(offline_cli: Cli, store: Store, files: Files) -> None:
    store.user("SHOP", "alice", top={"exp": NOW + 86_400}, pub={"allow": ["orders.>"]})
    op, shop, alice = look(offline_cli, *files.values())
    assert [item["kind"] for item in (op, shop, alice)] == ["operator", "account", "user"]
    assert (op["signed_by"], shop["signed_by"], alice["signed_by"]) == ("operator OP",) * 2 + (
        "account SHOP",
    )
    assert (shop["of"], alice["of"], alice["name"]) == ("OP", "SHOP", "alice")
    assert alice["expires"].startswith("20") and op["expires"] is None
    assert alice["permissions"]["pub"] == {"allow": ["orders.>"]}
    assert all(item["valid"] and not item["unchecked"] for item in (op, shop, alice))
    page = offline_cli(f"auth info {files['alice']}", status=0).out
    for words in ("User alice", "Publish Allow: orders.>", "Problem: none found", "Seed: in the file"):
        assert words in page
    assert f"Not Read: account {alice['issuer']}" in page


def test_seeds_are_never_shown(offline_cli: Cli, store: Store, files: Files, tmp_path: Path) -> None:
    key = store.accounts["SHOP"]
    seed, public = tmp_path / "shop.nk", tmp_path / "shop.pub"
    seed.write_text(f"-----BEGIN ACCOUNT NKEY SEED-----\n{key.seed}\n------END ACCOUNT NKEY SEED------\n")
    public.write_text(key.public)
    for line in (f"auth info {seed} {files['alice']}", f"auth info {seed} {files['alice']} --json"):
        shown = offline_cli(line, status=0)
        assert not any(other.seed in shown.out + shown.err for other in (key, *store.users.values()))
    first, second, _ = look(offline_cli, seed, public, files["shop"])
    assert (first["has_seed"], second["has_seed"]) == (True, False)
    assert (first["key_kind"], first["public"], first["of"]) == ("account", key.public, "account SHOP")
    assert offline_cli("auth info -", stdin=key.seed, status=0).out.startswith("account seed\n")


@pytest.mark.parametrize(
    ("top", "code"), [({"exp": NOW - 60}, "expired"), ({"nbf": NOW + 86_400}, "not-yet-valid"), ({}, "")]
)
def test_times(top: dict[str, int], code: str, offline_cli: Cli, store: Store, files: Files) -> None:
    store.user("SHOP", "alice", top=top)
    (alice,) = look(offline_cli, files["alice"], status=bool(code))
    assert list_codes(alice) == [code] * bool(code)
    store.user("SHOP", "alice")
    store.account("SHOP", top=top)
    shop, alice = look(offline_cli, files["shop"], files["alice"], status=bool(code))
    assert list_codes(shop) == [code] * bool(code)
    assert list_codes(alice) == ["account"] * bool(code)


def test_what_is_not_in_the_chain(offline_cli: Cli, store: Store, files: Files) -> None:
    stranger = create_key(ACCOUNT)
    store.user("SHOP", "alice", signer=stranger)
    assert list_codes(look(offline_cli, files["shop"], files["alice"], status=1)[1]) == ["user-signer"]
    (alone,) = look(offline_cli, files["alice"])
    assert alone["unchecked"] == [
        f"account {store.accounts['SHOP'].public}, whose keys and revocations count"
    ]
    store.user("SHOP", "alice")
    store.account("SHOP", signer=stranger)
    _, shop, alice = look(offline_cli, *files.values(), status=1)
    assert "account-signer" in list_codes(shop) and list_codes(alice) == ["account"]


def test_revoked(offline_cli: Cli, store: Store, files: Files) -> None:
    store.account("SHOP", revocations={store.users["SHOP/alice"].public: int(time.time()) + 5})
    assert list_codes(look(offline_cli, files["shop"], files["alice"], status=1)[1]) == ["user-revoked"]
    assert "is revoked" in offline_cli(f"auth info {files['alice']} {files['shop']}", status=1).out


def test_a_changed_jwt_and_the_seed_of_another(offline_cli: Cli, store: Store, files: Files) -> None:
    text = files["alice"].read_text()
    token = store.files.get_user_path("SHOP", "alice").read_text()
    files["alice"].write_text(text.replace(token, token[:-4] + "AAAA"))
    assert list_codes(look(offline_cli, files["alice"], status=1)[0]) == ["token-signature"]
    files["alice"].write_text(text.replace(store.users["SHOP/alice"].seed, create_key("user").seed))
    assert list_codes(look(offline_cli, files["alice"], status=1)[0]) == ["seed-differs"]
    cut = text.replace(store.users["SHOP/alice"].seed, store.users["SHOP/alice"].seed[:-1])
    for damaged in (cut, token):
        files["alice"].write_text(damaged)
        assert list_codes(look(offline_cli, files["alice"], status=1)[0]) == ["seed-missing"]
    assert "no seed that can be read" in offline_cli("auth info -", stdin=cut, status=1).out


def test_the_role_of_a_signing_key(offline_cli: Cli, store: Store, files: Files) -> None:
    key = create_key(ACCOUNT)
    template = {"pub": {"allow": ["ship.>"]}, "sub": {}, "subs": -1, "data": -1, "payload": -1}
    scope = {"kind": "user_scope", "key": key.public, "role": "shipper", "template": template}
    store.account("SHOP", signing_keys=[scope])
    creds = store.user("SHOP", "bob", signer=key, nats={"pub": {}, "sub": {}})
    (alone,) = look(offline_cli, creds)
    assert (alone["role"], alone["permissions"]) == (None, None)
    assert "what the role of the key says that signed it" in offline_cli(f"auth info {creds}", status=0).out
    _, bob = look(offline_cli, files["shop"], creds)
    assert (bob["role"], bob["permissions"]["pub"]) == ("shipper", {"allow": ["ship.>"]})
    assert bob["signed_by"] == "a signing key of account SHOP"


def test_folders(offline_cli: Cli, store: Store, files: Files, tmp_path: Path) -> None:
    whole = look(offline_cli, root_of(store.files))
    names = [(item["kind"], item["name"]) for item in whole if item["kind"] != "key"]
    assert sorted(names) == [
        ("account", "SALES"),
        ("account", "SHOP"),
        ("account", "SYS"),
        ("operator", "OP"),
        ("user", "alice"),
    ]
    assert all(item["valid"] and not item["unchecked"] for item in whole)
    resolver = tmp_path / "resolver"
    resolver.mkdir()
    (resolver / f"{store.accounts['SHOP'].public}.jwt").write_text(files["shop"].read_text())
    (resolver / "broken.jwt").write_text("eyJ.x.y")
    found = look(offline_cli, resolver, status=1)
    assert sorted(list_codes(item) for item in found) == [[], ["unreadable"]]
    assert "Files\n" in offline_cli(f"auth info {resolver}", status=1).out
    assert (
        "Not among the files: the operator with the key" in offline_cli(f"auth info {resolver}", status=1).out
    )


def test_what_is_no_such_file(offline_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut.creds").write_text("-----BEGIN NATS USER JWT-----\neyJ0.eyJ.x\n")
    (tmp_path / "empty").mkdir()
    for name, status, words in (
        ("text", 64, "holds no JWT and no key"),
        ("cut.creds", 64, "not a NATS JWT"),
        ("none", 64, "No such file"),
        ("empty", 3, "has no file with a JWT or a key"),
    ):
        refused = offline_cli(f"auth info {tmp_path / name}", status=status)
        assert refused.out == "" and name in refused.err and words in refused.err
    offline_cli("auth info", status=64)

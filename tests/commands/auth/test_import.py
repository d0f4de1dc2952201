"""`auth import`."""

from pathlib import Path

import pytest

from jsctl.auth.keys import ACCOUNT, create_key
from tests.support.auth_store import Store
from tests.support.run import Cli


@pytest.fixture
def alice(store: Store, tmp_path: Path) -> Path:
    """Credentials of alice, a user of SHOP that the store has no more."""
    creds = tmp_path / "alice.creds"
    creds.write_text(store.user("SHOP", "alice").read_text())
    store.files.remove_user("SHOP", "alice")
    store.files.remove_seed(store.users["SHOP/alice"].public)
    return creds


def test_a_user_is_stored_with_its_seed(auth_cli: Cli, store: Store, alice: Path) -> None:
    key = store.users["SHOP/alice"]
    (row,) = auth_cli(f"auth import {alice} --json", status=0).json
    assert row == {"user": "alice", "account": "SHOP", "subject": key.public, "replaces": False}
    assert store.files.read_user("SHOP", "alice").token in alice.read_text()
    assert store.files.read_key(key.public).seed == key.seed
    assert store.files.get_creds_path("SHOP", "alice").read_text() == alice.read_text()
    auth_cli(f"auth import {alice}", status=0)  # it is there


@pytest.mark.usefixtures("outputs_are_valid")
def test_dry_run_writes_nothing(auth_cli: Cli, store: Store, alice: Path) -> None:
    assert "store alice of account SHOP" in auth_cli(f"auth import {alice} --dry-run", status=0).out
    assert auth_cli(f"auth import {alice} --dry-run --json", status=0).json["dry_run"]
    assert not store.files.has_seed(store.users["SHOP/alice"].public)


def test_a_user_is_replaced_only_by_force(auth_cli: Cli, store: Store, alice: Path) -> None:
    store.users["SHOP/alice"] = create_key("user")
    store.user("SHOP", "alice")
    assert "account SHOP has a user alice" in auth_cli(f"auth import {alice}", status=64).err
    auth_cli(f"auth import {alice} --force", status=0)
    assert store.files.read_user("SHOP", "alice").token in alice.read_text()


def test_a_user_that_cannot_connect_is_said_to_be_so(auth_cli: Cli, store: Store, alice: Path) -> None:
    auth_cli("auth account revocations add '*' SHOP", status=0)
    outcome = auth_cli(f"auth import {alice} --json", status=0)
    assert "warning: user SHOP/alice: all users are revoked" in outcome.err and len(outcome.json) == 1
    late = store.user("SHOP", "bob", top={"exp": 1_000})
    assert "the JWT expired at 1970" in auth_cli(f"auth import {late}", status=0).err


def test_what_is_refused(auth_cli: Cli, store: Store, alice: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.creds"
    text = alice.read_text()
    for changed, status, words in (
        ("hello", 64, "holds no credentials"),
        (text.replace(store.users["SHOP/alice"].seed, create_key("user").seed), 64, "not those of one user"),
        (text.replace("\n------END NATS", "AAAA\n------END NATS"), 1, "invalid signature"),
    ):
        bad.write_text(changed)
        assert words in auth_cli(f"auth import {alice} {bad}", status=status).err
        assert not store.files.has_seed(store.users["SHOP/alice"].public)
    stranger = store.user("SHOP", "eve", signer=create_key(ACCOUNT))
    assert "is signed by" in auth_cli(f"auth import {stranger}", status=1).err
    elsewhere = store.user(
        "SHOP", "eve", signer=create_key(ACCOUNT), issuer_account=create_key(ACCOUNT).public
    )
    assert "jsctl auth account query" in auth_cli(f"auth import {elsewhere}", status=3).err

"""`auth account push`, and `query`, with a real server in operator mode, and logins there."""

import itertools
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jsctl.auth.changes import change_account
from jsctl.auth.folders import StoreFolders
from jsctl.auth.store import AuthStore
from tests.support.operator_site import Site
from tests.support.run import Cli
from tests.support.waiting import wait_for


def set_limits(limits: dict[str, int], nats: dict[str, Any]) -> None:
    nats["limits"].update(limits)


@pytest.mark.slow
def test_users_log_in_after_a_push(site: Site) -> None:
    cli = site.cli
    cli("auth account add ORDERS --jetstream", status=0)
    cli("auth user add alice ORDERS --save-context alice", status=0)
    cli("stream ls --context alice", status=5)
    rows = cli("auth account push ORDERS --diff --json", status=2).json
    assert [(row["account"], row["state"]) for row in rows] == [("ORDERS", "new")]
    pushed = cli("auth account push ORDERS --json", status=0).json
    assert pushed["accounts"][0]["updated"] == ["n1"] and pushed["servers"] == 1
    cli("auth account push ORDERS --diff", status=0)
    cli("stream add S --subjects s --defaults --context alice", status=0)
    cli("auth account edit ORDERS --connections 77", status=0)
    # The selected context is of another account than the system account: the store signs a user of that.
    cli("context select alice", status=0)
    (row,) = cli("auth account push ORDERS --diff --json", status=2).json
    cli("context unselect", status=0)
    assert row["state"] == "changed" and "limits.conn: -1 -> 77" in row["changes"]
    cli("auth account revocations add alice ORDERS", status=0)
    cli("auth account push ORDERS", status=0)
    assert "limits.conn" not in cli("auth account push ORDERS --diff", status=0).out
    cli("stream ls --context alice", status=5)


def test_scoped_and_expiring_credentials(site: Site, tmp_path: Path) -> None:
    cli = site.cli
    cli("auth account add SHOP", status=0)
    cli("auth account keys add SHOP reader --pub-deny x --sub-allow 'a.>' --sub-allow '_INBOX.>'", status=0)
    cli(f"auth user add sam SHOP --key reader --credential {tmp_path}/sam.creds", status=0)
    cli("auth account push SHOP", status=0)
    url = f"--server {site.server.url} --creds {tmp_path}/sam.creds"
    cli(f"publish x y {url}", status=5)
    cli(f"publish y y {url}", status=0)
    cli(f"auth user credential {tmp_path}/short.creds sam --expire 1h", status=0)
    cli(f"publish y y --server {site.server.url} --creds {tmp_path}/short.creds", status=0)
    assert "exists" in cli(f"auth user credential {tmp_path}/short.creds sam", status=64).err
    cli("auth account keys edit SHOP reader --pub-deny y", status=0)
    cli("auth account push SHOP", status=0)
    cli(f"publish y y {url}", status=5)


def test_what_is_wrong_is_not_pushed(site: Site) -> None:
    cli = site.cli
    for name in ("EXPORTER", "IMPORTER"):
        cli(f"auth account add {name}", status=0)
    cli("auth account imports add i a.b IMPORTER --source EXPORTER", status=0)
    refused = cli("auth account push IMPORTER", status=1)
    assert "exports add" in refused.err and "--force" in refused.err.splitlines()[-1]
    cli("auth account push IMPORTER --force", status=0)
    cli("auth account exports add e a.b EXPORTER", status=0)
    cli("auth account push IMPORTER EXPORTER", status=0)


def test_what_is_newer_on_servers_is_fetched(site: Site, tmp_path: Path) -> None:
    cli, store = site.cli, site.store
    cli("auth account add FETCHED", status=0)
    cli("auth account push FETCHED", status=0)
    old = store.read_account("FETCHED")
    while store.read_account("FETCHED").claims["iat"] == old.claims["iat"]:  # whole seconds
        limits = {"conn": 5, "imports": time.monotonic_ns() % 1000}
        change_account(store, "FETCHED", partial(set_limits, limits))
    cli("auth account push FETCHED", status=0)
    store.write_account("FETCHED", old.token)
    err = cli("auth account push FETCHED", status=1).err
    assert "JWT of FETCHED that is newer" in err and "pull FETCHED --save" in err
    cli(f"auth account query FETCHED {tmp_path}/f.jwt", status=0)
    cli("auth account pull FETCHED --save", status=0)
    assert store.get_account_path("FETCHED").read_text() == (tmp_path / "f.jwt").read_text()
    assert store.read_account("FETCHED").nats["limits"]["conn"] == 5


@pytest.mark.slow
def test_what_another_operator_changed_is_not_pushed_over(site: Site, tmp_path: Path) -> None:
    """Each of two stores has the operator's seeds, as where a folder was copied."""
    cli, store = site.cli, site.store
    cli("auth account add SHARED", status=0)
    cli("auth account push SHARED", status=0)
    other = Cli(tmp_path / "other")
    other.environ["XDG_DATA_HOME"] = str(tmp_path / "data")
    shutil.copytree(store.folders.stores.parent, tmp_path / "data" / "nats" / "nsc")
    cli("auth account edit SHARED --connections 11", status=0)
    cli("auth account push SHARED", status=0)
    theirs = AuthStore(StoreFolders.below(tmp_path / "data" / "nats" / "nsc"), "ACME")
    mine = store.read_account("SHARED").claims["iat"]
    numbers = itertools.count(100)
    while theirs.read_account("SHARED").claims["iat"] <= mine:  # whole seconds
        other(f"auth account edit SHARED --subscriptions {next(numbers)}", status=0)
    (row,) = other("auth account push SHARED --diff --json", status=2).json
    assert row["state"] == "changed on servers" and "limits.conn: 11 -> -1" in row["changes"]
    refused = other("auth account push SHARED", status=1)
    assert "never had" in refused.err and "auth account pull SHARED --save" in refused.err
    assert store.read_account("SHARED").nats["limits"]["conn"] == 11
    other("auth account pull SHARED --save --force", status=0)
    other("auth account edit SHARED --subscriptions 5", status=0)
    other("auth account push SHARED", status=0)
    cli("auth account edit SHARED --description mine", status=0)
    assert "never had" in cli("auth account push SHARED", status=1).err
    cli("auth account push SHARED --force", status=0)
    cli("auth account edit SHARED --description again", status=0)
    cli("auth account push SHARED", status=0)
    # In a store in which only nsc has worked so far, the time decides.
    shutil.rmtree(theirs.folders.stores / "ACME" / ".jsctl-seen")
    while theirs.read_account("SHARED").claims["iat"] <= store.read_account("SHARED").claims["iat"]:
        other(f"auth account edit SHARED --subscriptions {next(numbers)}", status=0)
        shutil.rmtree(theirs.folders.stores / "ACME" / ".jsctl-seen")
    other("auth account push SHARED", status=0)


def test_prune_and_pull_all(site: Site) -> None:
    cli, store = site.cli, site.store
    cli("auth account add OLD", status=0)
    cli("auth account push OLD", status=0)
    public = store.read_account("OLD").public
    cli("auth account rm OLD --force", status=0)
    rows = cli("auth account push --all --diff --json", status=2).json
    assert {"account": "", "key": public, "state": "only on servers", "changes": []} in rows
    cli("auth account pull --all --save --force", status=0)
    assert store.read_account("OLD").public == public
    cli("auth account rm OLD --force", status=0)
    assert "Really remove 1 account " in cli("auth account push --all --prune", status=64).err
    assert cli("auth account push --all --prune --force --json", status=0).json["removed"] == [public]
    cli(f"auth account query {public}", status=3)


def test_an_operator_that_servers_do_not_know_yet(site: Site) -> None:
    cli = site.cli
    cli("auth account add SIGNED", status=0)
    key = cli("auth operator keys add ACME", status=0).out.strip()
    cli(f"auth account edit SIGNED --key {key}", status=0)
    assert "operator config" in cli("auth account push SIGNED", status=1).err
    cli(f"auth operator keys rm ACME {key} --force", status=0)
    cli("auth account edit SIGNED --accept-claims --force", status=0)
    cli("auth account push SIGNED", status=0)


def test_another_login_and_no_server(site: Site) -> None:
    cli = site.cli
    cli("auth account add LOGIN", status=0)
    cli("auth user add lea LOGIN --save-context lea", status=0)
    cli("auth account push LOGIN", status=0)
    assert "system account" in cli("auth account push LOGIN --context lea", status=5).err
    cli("auth account push LOGIN --context lea --as-system", status=0)
    cli("auth account push LOGIN --server nats://127.0.0.1:1", status=4)


def test_an_account_that_loses_jetstream_in_use_is_named(site: Site, tmp_path: Path) -> None:
    cli = site.cli
    cli("auth account add STORE --jetstream", status=0)
    cli("auth user add dora STORE --save-context dora", status=0)
    cli("auth account push STORE", status=0)
    cli("stream add S --subjects s --defaults --context dora", status=0)
    cli("auth account edit STORE --no-jetstream", status=0)
    cli("auth account push STORE", status=0)  # an empty stream holds nothing
    cli("auth account edit STORE --jetstream", status=0)
    cli("auth account push STORE", status=0)
    wait_for(lambda: cli("publish s x --jetstream --context dora").status == 0, "JetStream is off")
    cli("auth account edit STORE --no-jetstream", status=0)
    refused = cli("auth account push STORE --force", status=64)
    assert "this cuts off 1 message (" in refused.err and "of account STORE; --allow-data-loss" in refused.err
    cli("auth account push STORE --force --allow-data-loss", status=0)

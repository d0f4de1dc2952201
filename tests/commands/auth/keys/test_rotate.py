"""`auth keys rotate`, with a real server that has a full resolver, and logins there."""

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.auth.records import list_signing_keys
from tests.support.killing import REQUESTS, kill_points
from tests.support.operator_site import Site
from tests.support.run import Cli
from tests.support.servers import RealServer, free_port
from tests.support.waiting import wait_for


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Account ORDERS with role `ship` and its user alice, on the servers; alice's credentials are in a
    file."""
    site = Site(tmp_path)
    for line in (
        "auth account add ORDERS",
        "auth account keys add ORDERS ship --pub-allow 'o.>' --sub-allow '_INBOX.>'",
        f"auth user add alice ORDERS --key ship --credential {tmp_path}/alice.creds",
        "auth account push ORDERS",
    ):
        site.cli(line, status=0)
    site.cli(f"context add alice --creds {tmp_path}/alice.creds --server {site.server.url}", status=0)
    yield site
    site.server.stop()


def list_connected(cli: Cli) -> list[object]:
    """Return who is connected with the old key."""
    return list(cli("auth keys rotate ORDERS ship --dry-run --json", status=0).json["connections"])


def list_keys(site: Site) -> list[tuple[str, str]]:
    return [(key.role, key.public) for key in list_signing_keys(site.store.read_account("ORDERS").nats)]


@pytest.mark.slow
def test_the_old_key_is_replaced(site: Site, tmp_path: Path) -> None:
    cli, old = site.cli, list_keys(site)[0][1]
    shutil.copy(tmp_path / "alice.creds", tmp_path / "old.creds")
    before = site.store.read_user("ORDERS", "alice")
    dry = cli("auth keys rotate ORDERS ship --dry-run --json", status=0).json
    assert dry["old"] == old and dry["new"] == "" and dry["users"][0]["user"] == "alice"
    assert site.store.read_user("ORDERS", "alice") == before and list_keys(site) == [("ship", old)]
    assert "--force" in cli("auth keys rotate ORDERS ship", status=64).err
    done = cli("auth keys rotate ORDERS ship --force --json", status=0).json
    assert done["removed"] and done["unreached"] == done["connections"] == []
    ((role, new),) = list_keys(site)
    assert (role, new) == ("ship", done["new"]) and new != old and not site.store.has_seed(old)
    creds = site.store.get_creds_path("ORDERS", "alice")
    assert done["users"] == [{"user": "alice", "files": [str(creds), str(tmp_path / "alice.creds")]}]
    after = site.store.read_user("ORDERS", "alice")
    assert after.issuer == new and after.nats == before.nats
    cli("publish o.1 x --context alice", status=0)
    cli(f"publish o.1 x --server {site.server.url} --creds {creds}", status=0)
    cli("publish p.1 x --context alice", status=5)
    cli(f"publish o.1 x --server {site.server.url} --creds {tmp_path}/old.creds", status=5)
    assert not list(site.store.rotations_folder.iterdir())
    cli("auth validate", status=0)


@pytest.mark.slow
def test_the_old_key_stays_while_it_is_used(site: Site, tmp_path: Path) -> None:
    cli, store, old = site.cli, site.store, list_keys(site)[0][1]
    login = f"--server {site.server.url} --creds {tmp_path}/old.creds"
    shutil.copy(tmp_path / "alice.creds", tmp_path / "old.creds")
    key = cli("auth nkey gen user --json", status=0).json
    cli(f"auth user add carol ORDERS --key ship --public-key {key['public']}", status=0)
    with cli.start(f"subscribe _INBOX.x {login}") as app:
        wait_for(lambda: list_connected(cli), "the client is connected")
        waiting = cli("auth keys rotate ORDERS ship --force --json", status=1).json
        assert [row["user"] for row in waiting["connections"]] == ["alice"]
        assert [each["user"] for each in waiting["unreached"]] == ["carol"] and not waiting["removed"]
        assert [role for role, _ in list_keys(site)] == ["ship", "ship-old"]
        for creds in ("old", "alice"):
            cli(f"publish o.1 x --server {site.server.url} --creds {tmp_path}/{creds}.creds", status=0)
        said = cli("auth keys rotate ORDERS ship --force", status=1)
        for part in ("stays until nobody uses it", "Connected with the old key: alice", "carol"):
            assert part in said.out
        assert cli("auth keys rotate ORDERS --dry-run --json", status=0).json["new"] == waiting["new"]
        done = cli("auth keys rotate ORDERS ship --lock-out --force --json", status=0).json
        app.terminate()
    assert done["removed"] and list_keys(site) == [("ship", waiting["new"])] and not store.has_seed(old)
    cli(f"publish o.1 x {login}", status=5)
    cli("publish o.1 x --context alice", status=0)


@pytest.mark.slow
def test_all_servers_must_answer(site: Site, tmp_path: Path) -> None:
    cli, route = site.cli, free_port()
    text = re.sub(r"jetstream .*\n", "", site.server.config.read_text())
    site.server.stop()
    first = f'cluster {{ name: c, listen: "127.0.0.1:{route}" }}\n'
    site.server.config.write_text(first + text)
    site.server.start()
    port = free_port()
    second = RealServer(tmp_path / "second", "", port)
    for old, new in (
        (str(site.server.port), str(port)),
        ("server_name: n1", "server_name: n2"),
        (str(tmp_path / "server"), str(tmp_path / "second")),
        (str(tmp_path / "jwt"), str(tmp_path / "jwt2")),
    ):
        text = text.replace(old, new)
    joined = (
        f'cluster {{ name: c, listen: "127.0.0.1:{free_port()}", routes: ["nats://127.0.0.1:{route}"] }}\n'
    )
    second.config.write_text(joined + text)
    process = second.start().process
    assert process
    try:
        line = "auth keys rotate ORDERS ship --force"
        wait_for(lambda: "n2" in cli("auth account push ORDERS --force").out, "both are there")
        process.send_signal(signal.SIGSTOP)
        refused = cli(line, status=1)
        assert "only 1 of 2 servers answer" in refused.err and len(list_keys(site)) == 1
        assert "only 1 of 2 servers" in cli("auth keys rotate --of-operator --force", status=1).err
        process.send_signal(signal.SIGCONT)
        cli(line, status=0)
    finally:
        process.send_signal(signal.SIGCONT)
        second.stop()


def test_who_is_revoked_stays_out(site: Site, tmp_path: Path) -> None:
    cli = site.cli
    cli("auth account revocations add alice ORDERS", status=0)
    refused = cli("auth keys rotate ORDERS ship --force", status=1)
    assert "push them first" in refused.err and [role for role, _ in list_keys(site)] == ["ship"]
    cli("auth account push ORDERS", status=0)
    before = site.store.read_user("ORDERS", "alice").token
    done = cli("auth keys rotate ORDERS ship --force --json", status=0).json
    assert done["removed"] and done["unreached"][0]["reason"].startswith("it is revoked")
    assert site.store.load_user("ORDERS", "alice").token == before
    cli("publish o.1 x --context alice", status=5)


@pytest.mark.slow
def test_the_old_key_stays_while_an_import_needs_it(site: Site) -> None:
    cli, store = site.cli, site.store
    for line in (
        "auth account keys add ORDERS --unscoped",
        "auth account keys add SYSTEM --unscoped",
        "auth operator edit ACME --strict",
        "auth account exports add prices prices.get ORDERS --service --private",
        "auth account add SHOP",
        "auth account imports add prices prices.get SHOP --source ORDERS --service",
        *(f"auth account edit {name} --sign-again" for name in ("SYSTEM", "ORDERS", "SHOP")),
    ):
        cli(line, status=0)
    configure(site)
    cli("auth account push --all", status=0)
    old = list_keys(site)[-1][1]
    line = f"auth keys rotate ORDERS {old} --force"
    assert "Still used: account SHOP imports prices.get" in cli(f"{line} --dry-run", status=0).out
    waiting = cli(f"{line} --json", status=1).json
    assert not waiting["removed"] and [each["user"] for each in waiting["unreached"]] == [""]
    cli("auth account imports edit prices.get SHOP --activate", status=0)
    assert "Still used" in cli(line, status=1).out  # on the server
    cli("auth account push SHOP", status=0)
    assert cli(f"{line} --json", status=0).json["removed"] and not store.has_seed(old)
    cli("auth validate", status=0)


@pytest.mark.slow
def test_killed_anywhere_it_goes_on(site: Site, tmp_path: Path) -> None:
    cli, data = site.cli, tmp_path / "data"
    saved, copy = tmp_path / "saved", tmp_path / "alice.creds"
    shutil.copytree(data, saved)
    shutil.copy(copy, tmp_path / "old.creds")
    store, old = site.store, list_keys(site)[0][1]
    killed = []
    line = "auth keys rotate ORDERS ship --force --json"
    for _, call in kill_points(lambda: cli(line, status=0), tmp_path, REQUESTS, step=7):
        killed.append(call)
        cli("publish o.1 x --context alice", status=0)  # at any point
        pending = list(store.rotations_folder.iterdir()) if store.rotations_folder.exists() else []
        if pending or list_keys(site) == [("ship", old)]:
            assert cli(line, status=0).json["removed"]
        ((role, new),) = list_keys(site)
        assert role == "ship" and new != old and store.has_seed(new) and not store.has_seed(old)
        assert store.read_user("ORDERS", "alice").issuer == new
        cli("publish o.1 x --context alice", status=0)
        cli(f"publish o.1 x --server {site.server.url} --creds {tmp_path}/old.creds", status=5)
        shutil.rmtree(data)
        shutil.copytree(saved, data)
        shutil.copy(tmp_path / "old.creds", copy)
        cli("auth account edit ORDERS --sign-again", status=0)
        cli("auth account push ORDERS --force", status=0)
    assert len(killed) > 3, killed


@pytest.mark.slow
def test_a_key_of_the_operator(site: Site) -> None:
    cli, store = site.cli, site.store
    (old,) = store.read_operator().signing_keys
    for name in ("SYSTEM", "ORDERS"):
        cli(f"auth account edit {name} --key {old}", status=0)
    cli("auth account push --all", status=0)
    waiting = cli("auth keys rotate --of-operator --force --json", status=1)
    assert waiting.json["removed"] is False and sorted(waiting.json["accounts"]) == ["ORDERS", "SYSTEM"]
    assert "auth operator config" in cli("auth keys rotate --of-operator --force", status=1).out
    assert store.read_account("ORDERS").issuer == old
    configure(site)
    done = cli("auth keys rotate --of-operator --force --json", status=0).json
    assert done["removed"] and store.read_operator().signing_keys == [done["new"]]
    assert {account.issuer for account in store.read_accounts()} == {done["new"]}
    assert not store.has_seed(old)
    configure(site)
    cli("publish o.1 x --context alice", status=0)
    cli("auth account push --all --diff", status=0)
    assert "--key" in cli("auth keys rotate ORDERS --of-operator", status=64).err


def configure(site: Site) -> None:
    """Give the server the operator's JWT of now."""
    text = site.server.config.read_text().partition("operator:")[0]
    site.server.stop()
    site.server.config.write_text(
        text + site.cli(f"auth operator config ACME --dir {site.server.folder.parent / 'jwt'}", status=0).out
    )
    site.server.start()


def test_what_cannot_be_replaced(site: Site, auth_cli: Cli) -> None:
    cli = site.cli
    assert "nope" in cli("auth keys rotate ORDERS nope --force", status=3).err
    cli("auth account keys add ORDERS pack", status=0)
    assert "ROLE" in cli("auth keys rotate ORDERS --force", status=64).err
    cli("auth account add EMPTY", status=0)
    cli("auth account imports add x x.y EMPTY --source ORDERS", status=0)
    cli("auth account keys add EMPTY it", status=0)
    refused = cli("auth keys rotate EMPTY it --force", status=1).err
    assert "fix it as described" in refused and "--force" not in refused
    cli("auth account imports rm x.y EMPTY --force", status=0)
    cli("auth account keys rm EMPTY it --force", status=0)
    assert "auth account keys add EMPTY" in cli("auth keys rotate EMPTY --force", status=3).err

"""What holds for the verbs that read and write the store."""

import stat
from pathlib import Path

import pytest

from jsctl.auth.jwt import encode_jwt
from jsctl.auth.store import AuthStore
from tests.support.auth_store import root_of
from tests.support.run import Cli


def test_nothing_shows_a_seed(acme: AuthStore, auth_cli: Cli) -> None:
    files = [path for path in root_of(acme).rglob("*") if path.is_file()]
    seeds = [path.read_text() for path in files if path.suffix == ".nk"]
    assert len(seeds) == 5
    for line in ("operator info", "operator ls", "account info ORDERS", "user info alice", "user ls ORDERS"):
        for form in ("", " --json"):
            out = auth_cli(f"auth {line}{form}", status=0).out
            assert not any(seed in out for seed in seeds)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    folders = [root_of(acme), *(path for path in root_of(acme).rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("account info ORDRS", 3, "did you mean ORDERS?"),
        ("account info", 64, "specify ACCOUNT, one of ORDERS, SYSTEM"),
        ("user info alic", 64, "the account is missing"),
        ("user info alic ORDERS", 3, "did you mean alice?"),
        ("account ls ACMEE", 3, "did you mean ACME?"),
        ("account add", 64, "specify ACCOUNT"),
        ("account add a/b", 64, "not a valid account name"),
        ("account add ORDERS", 64, "already"),
        ("account edit SYSTEM --jetstream", 64, "system account cannot"),
        ("account edit SYSTEM --js-streams 5", 64, "cannot use JetStream"),
        ("account edit ORDERS --expiry 2020-01-01", 64, "in the past"),
        ("account edit ORDERS --tier R3", 64, "--no-jetstream"),
        ("user add bob ORDERS --time 9-17", 64, "08:00:00"),
        ("user add bob ORDERS --source-network 10.0.0.0", 64, "10.0.0.0/8"),
        ("user add bob ORDERS --key nobody", 3, "no signing key 'nobody'"),
        ("user add bob ORDERS --connection carrier-pigeon", 64, "mqtt"),
        ("user add alice ORDERS", 64, "already"),
    ],
)
def test_errors_are_one_line(line: str, status: int, words: str, acme: AuthStore, auth_cli: Cli) -> None:
    outcome = auth_cli(f"auth {line}", status=status)
    assert words in outcome.err and len(outcome.err.splitlines()) == 1 and not outcome.out


def test_an_empty_store(auth_cli: Cli) -> None:
    assert "No operators" in auth_cli("auth operator ls", status=0).out
    assert auth_cli("auth operator ls --json", status=0).json == []
    for line in ("operator info", "account ls", "account info A", "user ls A"):
        assert "auth operator add" in auth_cli(f"auth {line}", status=3).err


def test_a_broken_file_is_named(acme: AuthStore, auth_cli: Cli) -> None:
    acme.get_account_path("ORDERS").write_text("garbage")
    err = auth_cli("auth account info ORDERS", status=1).err
    assert "ORDERS.jwt is broken" in err and len(err.splitlines()) == 1
    listed = auth_cli("auth account ls", status=0)
    assert "SYSTEM" in listed.out and "ORDERS.jwt is broken" in listed.err
    acme.get_seed_path(acme.read_operator().public).unlink()
    acme.get_seed_path(acme.read_operator().nats["signing_keys"][0]).unlink()
    assert (
        "has no seed of operator ACME" in auth_cli("auth account edit SYSTEM --connections 4", status=3).err
    )


def test_another_store(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli.environ["XDG_DATA_HOME"] = str(root_of(acme) / "elsewhere")
    auth_cli("auth account ls", status=3)
    assert "ORDERS" in auth_cli(f"auth account ls --store {root_of(acme)}", status=0).out
    assert "ORDERS" in auth_cli(f"auth --store {root_of(acme)} account ls", status=0).out


def test_an_edit_without_a_change_writes_nothing(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account edit ORDERS --connections 7", status=0)
    auth_cli("auth user edit alice --subscriptions 7", status=0)
    auth_cli("auth operator edit ACME --tags prod", status=0)
    before = (acme.read_operator(), acme.read_account("ORDERS"), acme.read_user("ORDERS", "alice"))
    for line, name in (
        ("account edit ORDERS", "account ORDERS"),
        ("account edit ORDERS --connections 7", "account ORDERS"),
        ("user edit alice --subscriptions 7", "user alice"),
        ("operator edit ACME --tags prod", "operator ACME"),
    ):
        assert auth_cli(f"auth {line}", terminal_error=True, status=0).err == f"{name} was not changed\n"
    assert before == (acme.read_operator(), acme.read_account("ORDERS"), acme.read_user("ORDERS", "alice"))
    assert auth_cli("auth account edit ORDERS --connections 8", status=0).err == ""


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"limits": []}, "nats.limits must be an object"),
        ({"limits": {"conn": True}}, "nats.limits.conn must be a whole number"),
        ({"exports": [5]}, "nats.exports[0] must be an object"),
        ({"signing_keys": [{"key": 1}]}, "nats.signing_keys[0].key must be text"),
        ({"imports": [None]}, "nats.imports[0] is null"),
        ({"revocations": {"*": 1 << 70}}, "too large"),
    ],
)
def test_claims_of_another_shape(
    claims: dict[str, object], words: str, acme: AuthStore, auth_cli: Cli
) -> None:
    orders = acme.read_account("ORDERS")
    signer = acme.read_key(acme.read_operator().public)
    acme.write_account("ORDERS", encode_jwt({**orders.claims, "nats": {**orders.nats, **claims}}, signer))
    for line in ("info ORDERS", "edit ORDERS", "exports ls ORDERS", "keys ls ORDERS"):
        err = auth_cli(f"auth account {line}", status=1).err
        assert words in err and "ORDERS.jwt is broken" in err and len(err.splitlines()) == 1


def test_no_store(auth_cli: Cli) -> None:
    for verb in ("validate", "why --user x", "expirations", "diagram"):
        assert len(auth_cli(f"auth {verb}", status=3).err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "operator add ../evil",
        "operator add NEW --system-account ../../../evil",
        "account add ../../evil",
        "user add ../evil ORDERS --defaults",
        "user add eve ORDERS --defaults --save-context ../evil",
        "user credential {folder}/x.creds alice ORDERS --save-context ../evil",
    ],
)
def test_names_that_lead_elsewhere_leave_nothing(
    line: str, acme: AuthStore, auth_cli: Cli, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert "evil" in auth_cli(f"auth {line.format(folder=tmp_path)}", status=64).err
    assert sorted(tmp_path.rglob("*")) == before

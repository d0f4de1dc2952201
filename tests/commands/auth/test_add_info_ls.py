"""`auth operator|account|user` add, info, ls: what is in the store, and what is shown of it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.store import AuthStore
from tests.support.auth_store import root_of
from tests.support.run import Cli


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


def test_settings_of_an_account(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth account add SHOP --connections 5 --bearer --js-disk 1GB --expiry 30d --tags a,b --tags c"
    auth_cli(line + " --default-pub-allow 'shop.>' --trace-context trace.shop", status=0)
    claims = auth_cli("auth account info SHOP --json", status=0).json
    nats = claims["nats"]
    assert nats["limits"]["conn"] == 5 and not nats["limits"]["disallow_bearer"]
    assert nats["limits"]["disk_storage"] == 1 << 30 and "mem_storage" not in nats["limits"]
    assert nats["tags"] == ["a", "b", "c"] and nats["trace"]["dest"] == "trace.shop"
    assert claims["exp"] - claims["iat"] in range(30 * 86400 - 5, 30 * 86400 + 5)
    auth_cli("auth account edit SHOP --no-jetstream --expiry 0 --no-tags b --trace-context ''", status=0)
    claims = auth_cli("auth account info SHOP --json", status=0).json
    assert "exp" not in claims and claims["nats"]["tags"] == ["a", "c"] and "trace" not in claims["nats"]
    assert "disk_storage" not in claims["nats"]["limits"]
    assert claims["nats"]["limits"]["conn"] == 5


def test_claims_that_are_unknown_survive(acme: AuthStore, auth_cli: Cli) -> None:
    from jsctl.auth.changes import change_account

    change_account(acme, "ORDERS", lambda nats: nats.update(of_2030={"a": [1]}))
    auth_cli("auth account edit ORDERS --connections 7", status=0)
    nats = decode_jwt(acme.account_jwt("ORDERS").read_text())["nats"]
    assert nats["of_2030"] == {"a": [1]} and nats["limits"]["conn"] == 7


def test_settings_of_a_user(acme: AuthStore, auth_cli: Cli) -> None:
    line = "auth user add bob --pub-allow 'a.>,b' --sub-deny c --allow-pub-response 1 --response-ttl 5s"
    auth_cli(f"{line} ORDERS --source-network 10.0.0.0/8 --time 08:00-17:30 --locale Europe/Berlin", status=0)
    nats = auth_cli("auth user info bob --json", status=0).json["nats"]
    assert nats["pub"] == {"allow": ["a.>", "b"]} and nats["sub"] == {"deny": ["c"]}
    assert nats["resp"] == {"max": 1, "ttl": 5_000_000_000}
    assert nats["src"] == ["10.0.0.0/8"]
    assert nats["times"] == [{"start": "08:00:00", "end": "17:30:00"}]
    shown = auth_cli("auth user info bob ORDERS", status=0).out
    assert "08:00:00 to 17:30:00" in shown and "Publish Allow: a.>" in shown
    auth_cli("auth user edit bob --pub-allow '' --source-network '' --allow-pub-response 0", status=0)
    nats = auth_cli("auth user info bob --json", status=0).json["nats"]
    assert nats["pub"] == {} and "src" not in nats and "resp" not in nats


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("account info ORDRS", 3, "did you mean ORDERS?"),
        ("account info", 64, "give ACCOUNT, one of ORDERS, SYSTEM"),
        ("user info alic", 64, "the account is missing"),
        ("user info alic ORDERS", 3, "did you mean alice?"),
        ("account ls ACMEE", 3, "did you mean ACME?"),
        ("account add", 64, "give ACCOUNT"),
        ("account add a/b", 64, "not a valid account name"),
        ("account add ORDERS", 64, "already"),
        ("account edit SYSTEM --jetstream", 64, "system account cannot"),
        ("account edit SYSTEM --js-streams 5", 64, "has no JetStream"),
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
    acme.account_jwt("ORDERS").write_text("garbage")
    err = auth_cli("auth account info ORDERS", status=1).err
    assert "ORDERS.jwt is broken" in err and len(err.splitlines()) == 1
    listed = auth_cli("auth account ls", status=0)
    assert "SYSTEM" in listed.out and "ORDERS.jwt is broken" in listed.err
    acme.seed(acme.read_operator().public).unlink()
    acme.seed(acme.read_operator().nats["signing_keys"][0]).unlink()
    assert (
        "has no seed of operator ACME" in auth_cli("auth account edit SYSTEM --connections 4", status=3).err
    )


def test_another_store(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli.environ["XDG_DATA_HOME"] = str(root_of(acme) / "elsewhere")
    auth_cli("auth account ls", status=3)
    assert "ORDERS" in auth_cli(f"auth account ls --store {root_of(acme)}", status=0).out
    assert "ORDERS" in auth_cli(f"auth --store {root_of(acme)} account ls", status=0).out


def test_questions(acme: AuthStore, auth_cli: Cli) -> None:
    asked = auth_cli("auth account add", answers=["SHOP", "10", ..., "1MB", True, "5GB", ...], status=0).asked
    assert asked[0] == "Account name" and "Enable JetStream?" in asked
    limits = auth_cli("auth account info SHOP --json", status=0).json["nats"]["limits"]
    assert (limits["conn"], limits["subs"], limits["payload"]) == (10, -1, 1 << 20)
    assert (limits["disk_storage"], limits["mem_storage"]) == (5 << 30, 1 << 30)
    auth_cli("auth user add eve", answers=["SHOP", ..., "7"], status=0)
    assert auth_cli("auth user info eve --json", status=0).json["nats"]["subs"] == 7
    assert auth_cli("auth user add u2 SHOP --defaults", answers=[], status=0).asked == []


def test_limits_by_tier(acme: AuthStore, auth_cli: Cli) -> None:
    auth_cli("auth account add TIERS --tier R3 --js-disk 1GB --js-streams 5", status=0)
    auth_cli("auth account edit TIERS --tier R1 --js-memory 1GB", status=0)
    tiers = acme.read_account("TIERS").nats["limits"]["tiered_limits"]
    assert tiers == {
        "R3": {"disk_storage": 1 << 30, "streams": 5, "consumer": -1},
        "R1": {"mem_storage": 1 << 30, "streams": -1, "consumer": -1},
    }
    shown = auth_cli("auth account info TIERS", status=0).out
    assert "JetStream Limits R1" in shown and "JetStream Limits R3" in shown
    assert "say which one with --tier" in auth_cli("auth account edit TIERS --js-streams 2", status=64).err
    assert "R2" in auth_cli("auth account edit TIERS --tier R2 --js-streams 2", status=64).err
    auth_cli("auth account edit TIERS --no-jetstream", status=0)
    assert "tiered_limits" not in acme.read_account("TIERS").nats["limits"]


def test_nothing_is_written_for_credentials_that_have_no_place(acme: AuthStore, auth_cli: Cli) -> None:
    err = auth_cli("auth user add bob ORDERS --credential /no/such/folder/bob.creds", status=64).err
    assert "there is no folder /no/such/folder" in err
    assert acme.user_names("ORDERS") == ["alice"]


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
        assert auth_cli(f"auth {line}", status=0).err == f"{name} was not changed\n"
    assert before == (acme.read_operator(), acme.read_account("ORDERS"), acme.read_user("ORDERS", "alice"))
    assert auth_cli("auth account edit ORDERS --connections 8", status=0).err == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("alice ORDERS", "jsctl auth user credential alice.creds alice ORDERS"),
        ("alice", "jsctl auth user credential alice.creds alice"),
    ],
)
def test_credentials_without_a_file(acme: AuthStore, auth_cli: Cli, words: str, line: str) -> None:
    err = auth_cli(f"auth user creds {words}", status=64).err
    assert err == f"jsctl: error: the file to write is missing; {line}\n"
    assert not Path("alice").exists()


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


def test_a_broken_user_can_be_removed(acme: AuthStore, auth_cli: Cli) -> None:
    acme.user_jwt("ORDERS", "alice").write_text("garbage")
    auth_cli("auth user info alice", status=1)
    auth_cli("auth user rm alice --force", status=0)
    assert acme.user_names("ORDERS") == []


@pytest.mark.slow
def test_processes_beside_each_other_lose_nothing(acme: AuthStore, auth_cli: Cli) -> None:
    lines = [[sys.executable, "-m", "jsctl", "auth", "account", "exports", "add"] for _ in range(6)]
    running = [
        subprocess.Popen(
            [*line, f"e{number}", f"e.{number}", "ORDERS"],
            env={**os.environ, **auth_cli.environ},
            stdout=subprocess.DEVNULL,
        )
        for number, line in enumerate(lines)
    ]
    assert [process.wait() for process in running] == [0] * 6
    assert len(acme.read_account("ORDERS").nats["exports"]) == 6


@pytest.mark.slow
def test_questions_on_a_terminal(acme: AuthStore, auth_cli: Cli) -> None:
    terminal = auth_cli.terminal("auth account add")
    for question, answer in (
        ("Account name", "SHOP"),
        ("Client connections", ""),
        ("Subscriptions", ""),
        ("Bytes of a message", ""),
    ):
        terminal.expect_exact(question)
        terminal.sendline(answer)
    terminal.expect_exact("Enable JetStream?")
    terminal.sendline("n")
    terminal.expect_exact("Account SHOP")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert acme.read_account("SHOP").nats["limits"]["conn"] == -1


@pytest.mark.slow
def test_names_complete(acme: AuthStore, auth_cli: Cli) -> None:
    words = ["jsctl", "auth", "user", "info", "al"]
    environ = {"_JSCTL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": "4"}
    shown = subprocess.run(
        [sys.executable, "-m", "jsctl"],
        env={**os.environ, **auth_cli.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.split() == ["plain,alice"]

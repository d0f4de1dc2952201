"""A store that `nsc` and jsctl write in turn, where there is an `nsc`: claims, layout and modes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jsctl.auth.folders import StoreFolders
from jsctl.auth.jwt import decode_jwt, encode_jwt
from jsctl.auth.store import AuthStore
from tests.support.run import Cli

NSC = os.environ.get("JSCTL_NSC") or shutil.which("nsc") or ""
pytestmark = pytest.mark.skipif(not NSC, reason="there is no nsc")


class Nsc:
    """`nsc` with the same folders as jsctl."""

    def __init__(self, cli: Cli, home: Path) -> None:
        self.environ = {
            **os.environ,
            **cli.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
        }

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [NSC, *words], env=self.environ, capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, f"nsc {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture
def nsc(auth_cli: Cli, tmp_path: Path) -> Nsc:
    return Nsc(auth_cli, tmp_path)


def modes(root: Path) -> dict[str, str]:
    """The mode of each folder and file; keys stand for their kind."""
    return {
        str(path.relative_to(root)): oct(path.stat().st_mode & 0o777)
        for path in sorted(root.rglob("*"))
        if path.suffix != ".nk" and len(path.name) > 2
    }


@pytest.mark.slow
def test_jsctl_continues_what_nsc_began(auth_cli: Cli, nsc: Nsc, tmp_path: Path) -> None:
    nsc("add", "operator", "ACME", "--sys", "--generate-signing-key")
    nsc("add", "account", "ORDERS")
    nsc("edit", "account", "ORDERS", "--js-disk-storage", "1G", "--conns", "7", "--description", "orders")
    nsc(
        *("edit", "signing-key", "--account", "ORDERS", "--role", "shipper", "--sk", "generate"),
        *("--allow-pub", "ship.{{name()}}.>"),
    )
    nsc("add", "user", "-a", "ORDERS", "alice", "--allow-pub", "a.>", "--source-network", "10.0.0.0/8")
    nsc("add", "user", "-a", "ORDERS", "sam", "-K", "shipper")
    nsc("add", "export", "-a", "ORDERS", "--name", "svc", "--subject", "q.>", "--service", "--private")
    store = AuthStore(StoreFolders.below(tmp_path / "data" / "nats" / "nsc"), "ACME")
    before = store.read_account("ORDERS").nats

    assert auth_cli("auth validate", status=0).out.startswith("Nothing is wrong")
    auth_cli("auth account edit ORDERS --connections 9", status=0)
    auth_cli("auth user add 'dan b' ORDERS --expiry 30d", status=0)
    auth_cli("auth user add bob ORDERS --key shipper", status=0)
    auth_cli("auth account add SHOP", status=0)
    auth_cli("auth account imports add svc q.> SHOP --source ORDERS --service", status=0)
    after = store.read_account("ORDERS").nats
    assert after == {**before, "limits": {**before["limits"], "conn": 9}}

    assert nsc("validate", "-A").count("No issues found") == 4
    described = json.loads(nsc("describe", "account", "ORDERS", "--json"))
    assert described["nats"]["limits"]["conn"] == 9
    assert "dan b" in nsc("list", "users", "-a", "ORDERS")
    token = nsc("generate", "creds", "-a", "ORDERS", "-n", "dan b").splitlines()[1]
    assert token == store.read_user("ORDERS", "dan b").token
    assert nsc("describe", "user", "-a", "ORDERS", "-n", "bob").count("ship.{{name()}}.>") == 1
    keys = tmp_path / "keys"
    keys.mkdir()
    nsc("export", "keys", "-A", "--dir", str(keys))
    assert {path.name for path in keys.iterdir()} == {path.name for path in store.folders.keys.rglob("*.nk")}
    assert set(modes(tmp_path / "data" / "nats").values()) == {"0o700", "0o600"}


@pytest.mark.slow
def test_nsc_continues_what_jsctl_began(acme: AuthStore, auth_cli: Cli, nsc: Nsc) -> None:
    auth_cli("auth account keys add ORDERS shipper --pub-allow a", status=0)
    assert "ACME" in nsc("list", "operators")
    nsc("edit", "account", "ORDERS", "--conns", "4")
    nsc("edit", "user", "-a", "ORDERS", "-n", "alice", "--allow-pub", "z.>")
    nsc("add", "user", "-a", "ORDERS", "sam", "-K", "shipper")
    assert acme.read_account("ORDERS").nats["limits"]["conn"] == 4
    assert "z.>" in auth_cli("auth user info alice ORDERS", status=0).out
    assert "shipper" in auth_cli("auth user info sam ORDERS", status=0).out
    assert auth_cli("auth validate", status=0).out.startswith("Nothing is wrong")
    assert nsc("validate", "-A").count("No issues found") == 3


@pytest.mark.slow
def test_the_same_steps_leave_the_same_files(auth_cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "other"
    other = Cli(home / "config")
    other.environ["XDG_DATA_HOME"] = str(home / "data")
    nsc = Nsc(other, home)
    nsc("add", "operator", "ACME")
    nsc("add", "account", "SYSTEM")
    nsc("add", "account", "ORDERS")
    nsc("add", "user", "-a", "ORDERS", "alice")
    auth_cli("auth operator add ACME", status=0)
    auth_cli("auth account add ORDERS", status=0)
    auth_cli("auth user add alice ORDERS", status=0)
    place = Path("data") / "nats" / "nsc"
    assert modes(tmp_path / place) == modes(home / place)
    ours, theirs = (json.loads((base / place / "stores/ACME/.nsc").read_text()) for base in (tmp_path, home))
    assert ours == theirs


@pytest.mark.slow
def test_what_nsc_does_not_know_survives_jsctl(acme: AuthStore, auth_cli: Cli) -> None:
    record = acme.read_account("ORDERS")
    claims = {**record.claims, "nats": {**record.nats, "of_the_future": {"a": [1]}}}
    acme.write_account("ORDERS", encode_jwt(claims, acme.read_key(record.issuer)))
    auth_cli("auth account edit ORDERS --connections 9", status=0)
    assert decode_jwt(acme.read_account("ORDERS").token)["nats"]["of_the_future"] == {"a": [1]}


@pytest.mark.slow
def test_the_same_store_operator_and_account(
    auth_cli: Cli, nsc: Nsc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth_cli.environ.update({"HOME": nsc.environ["HOME"], "XDG_CONFIG_HOME": nsc.environ["XDG_CONFIG_HOME"]})

    def compare(operator: str, account: str) -> None:
        shown = auth_cli("auth env --json", status=0).json
        theirs = nsc("env").replace("~", nsc.environ["HOME"])
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in theirs.splitlines()]
        known = {row[0]: row[-1] for row in rows if len(row) == 3}
        assert known["Current Store Dir"] == shown["stores"]["value"]
        assert known["$NKEYS_PATH (deprecated)"] == shown["keys"]["value"]
        assert known["$NSC_HOME (deprecated)"] == str(Path(shown["nsc"]).parent)
        assert known["Current Operator"] == shown["operator"]["value"] == operator
        assert known["Current Account"] == shown["account"]["value"] == account

    compare("", "")
    nsc("add", "operator", "ACME")
    compare("ACME", "")
    for name in ("ORDERS", "SHOP"):
        nsc("add", "account", name)
    compare("ACME", "SHOP")
    nsc("select", "account", "ORDERS")
    compare("ACME", "ORDERS")
    assert auth_cli("auth user add alice", status=0).out.startswith("User alice")
    assert "alice" in nsc("list", "users", "-a", "ORDERS")
    nsc.environ["NKEYS_PATH"] = auth_cli.environ["NKEYS_PATH"] = str(tmp_path / "own keys")
    (tmp_path / "other").mkdir()
    nsc("env", "-s", str(tmp_path / "other"))
    compare("", "")
    nsc("add", "operator", "OTHER")
    auth_cli("auth operator add THIRD", status=0)
    assert {path.name for path in (tmp_path / "other").iterdir()} == {"OTHER", "THIRD"}
    assert auth_cli("auth operator info", status=0).out.startswith("Operator OTHER")
    monkeypatch.chdir(tmp_path / "data/nats/nsc/stores/ACME/accounts/SHOP")
    compare("ACME", "SHOP")
    nsc.environ["NSC_HOME"] = auth_cli.environ["NSC_HOME"] = str(tmp_path / "nsc home")
    monkeypatch.chdir(tmp_path)
    compare("ACME", "")

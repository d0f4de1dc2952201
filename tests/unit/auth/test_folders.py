"""Which store, operator and account are used where none is named (nsc: cmd/defaults.go, home/home.go)."""

import json
import os
from pathlib import Path

import pytest

from jsctl.auth.folders import Choices, make_choices
from jsctl.errors import BadInput


class Home:
    """A home folder. It is the working folder, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environ = {"HOME": str(path)}

    def operators(self, stores: str, *names: str) -> None:
        """Make operators in a folder, each with accounts A1 and A2."""
        for name in names:
            folder = self.path / stores / name
            for account in ("A1", "A2"):
                (folder / "accounts" / account).mkdir(parents=True)
                (folder / "accounts" / account / f"{account}.jwt").touch()
            (folder / f"{name}.jwt").touch()
            (folder / ".nsc").write_text(json.dumps({"name": name, "kind": "operator", "version": "1"}))

    def nsc(self, folder: str, stores: str, operator: str = "", account: str = "") -> None:
        """Write the settings of nsc."""
        settings = {"store_root": str(self.path / stores), "operator": operator, "account": account}
        self.write(f"{folder}/nsc.json", json.dumps(settings))

    def nats(self, operator: str) -> None:
        """Select an operator as nats does."""
        self.write(".config/nats/cli/config.json", json.dumps({"select_operator": operator}))

    def write(self, name: str, text: str) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def choose(self, **environ: str) -> Choices:
        return make_choices({**self.environ, **environ})


STORES, KEYS = ".local/share/nats/nsc/stores", ".local/share/nats/nsc/keys"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path)


def names(choices: Choices) -> tuple[str, str]:
    return choices.operator.value, choices.account.value


def test_nothing_there(home: Home) -> None:
    choices = home.choose()
    assert choices.folders.stores == home.path / STORES
    assert choices.folders.keys == home.path / KEYS
    assert names(choices) == ("", "")


def test_folders_of_variables(home: Home) -> None:
    choices = home.choose(XDG_DATA_HOME=str(home.path / "data"), NKEYS_PATH="some/keys")
    assert choices.folders.stores == home.path / "data/nats/nsc/stores"
    assert choices.folders.keys == home.path / "some/keys"
    assert choices.keys.by == "NKEYS_PATH"


def test_older_folders(home: Home) -> None:
    home.operators(".nsc/nats", "OLD")
    home.nsc(".nsc", ".nsc/nats", "OLD", "A2")
    (home.path / ".nkeys").mkdir()
    choices = home.choose()
    assert choices.folders.stores == home.path / ".nsc/nats"
    assert choices.folders.keys == home.path / ".nkeys"
    assert names(choices) == ("OLD", "A2")
    home.operators(STORES, "NEW")
    home.nsc(".config/nats/nsc", STORES)
    (home.path / KEYS).mkdir()
    choices = home.choose()
    assert choices.folders.stores == home.path / STORES
    assert choices.folders.keys == home.path / KEYS
    assert names(choices) == ("NEW", "")


def test_settings_of_nsc(home: Home) -> None:
    home.operators("shared", "A", "B")
    home.operators(STORES, "DEFAULT")
    home.nsc(".config/nats/nsc", "shared", "B", "A1")
    choices = home.choose()
    assert choices.folders.stores == home.path / "shared"
    assert names(choices) == ("B", "A1")
    assert choices.get_account("B") == "A1"
    assert choices.get_account("A") == ""
    home.nats("A")
    assert names(home.choose()) == ("A", "")
    home.nats("GONE")
    assert names(home.choose()) == ("B", "A1")


def test_nsc_home(home: Home) -> None:
    home.operators("shared", "A", "B")
    home.nsc(".config/nats/nsc", STORES)
    home.nsc("elsewhere", "shared", "A", "GONE")
    choices = home.choose(NSC_HOME=str(home.path / "elsewhere"))
    assert choices.folders.stores == home.path / "shared"
    assert names(choices) == ("A", "")
    assert choices.settings == home.path / "elsewhere/nsc.json"


@pytest.mark.parametrize(
    ("where", "operator", "account"),
    [
        ("shared", "B", "A1"),  # a folder that has operators names none
        ("shared/A", "A", ""),
        ("shared/A/accounts", "A", ""),
        ("shared/A/accounts/A2/users", "A", "A2"),
    ],
)
def test_working_folder(
    where: str, operator: str, account: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.operators("shared", "A", "B")
    home.operators(STORES, "A", "B")
    (home.path / "shared/A/accounts/A2/users").mkdir()
    home.nsc(".config/nats/nsc", STORES, "B", "A1")
    monkeypatch.chdir(home.path / where)
    choices = home.choose()
    assert choices.folders.stores == home.path / "shared"
    assert names(choices) == (operator, account)
    assert make_choices(home.environ, str(home.path / "own")).folders.stores == home.path / "own/stores"
    cwd_only = home.choose(NSC_CWD_ONLY="")
    assert cwd_only.operator.value == ("" if operator == "B" else operator)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_broken_settings(text: str, home: Home) -> None:
    home.write(".config/nats/nsc/nsc.json", text)
    with pytest.raises(BadInput, match=r"nsc\.json is not"):
        home.choose()


@pytest.mark.parametrize("content", ["pipe", "x" * (1 << 20) + "x", "\udcff"])
def test_folders_that_belong_to_no_operator(content: str, home: Home) -> None:
    """A `.nsc` that is a named pipe, huge or not text makes no operator of the working folder."""
    home.operators(STORES, "A")
    if content == "pipe":
        os.mkfifo(home.path / ".nsc")
    else:
        (home.path / ".nsc").write_bytes(content.encode(errors="surrogateescape"))
    assert names(home.choose()) == ("A", "")

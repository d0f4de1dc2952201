"""The folders of operators and keys, and the default operator and account, chosen as nsc does from
its own settings, the working folder and variables (nsc: cmd/defaults.go, cmd/contextconfig.go, home/home.go).

Folder of operators   --store, an operator's folder at, below or above the working folder, `store_root` of
                      nsc.json, $XDG_DATA_HOME/nats/nsc/stores (~/.nsc/nats if only that exists)
Folder of keys        --store, $NKEYS_PATH, $XDG_DATA_HOME/nats/nsc/keys (~/.nkeys if only that exists)
Operator              the working folder, `auth operator select` (of jsctl and nats), nsc.json, the only one
Account               the working folder, nsc.json, the only one

nsc.json is in $NSC_HOME, else in $XDG_CONFIG_HOME/nats/nsc, or in ~/.nsc if only that has one. With
$NSC_CWD_ONLY it is not read. What `auth operator select` selects is in the file of the `nats` tool, the only
one that is written here:

$XDG_CONFIG_HOME or ~/.config / nats / cli / config.json        {"select_operator": NAME}
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.base.files import escape_path, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.base.posix import make_private_folder
from jsctl.base.user_folders import expand_home, find_config_folder, find_data_folder, find_home_folder
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput

NSC_FILE = "nsc.json"
_SELECTED = "select_operator"
_NSC = Path("nats", "nsc")  #: below the folders of `user_folders`
_ONLY_ONE = "the only one"
_BY_DEFAULT = "by default"
_WORKING_FOLDER = "working folder"


@dataclass(frozen=True, slots=True)
class StoreFolders:
    """The folders of a store. stores: has a folder for each operator. keys: has `keys` with seeds and `creds`
    with credentials."""

    stores: Path
    keys: Path

    @classmethod
    def below(cls, root: Path) -> "StoreFolders":
        """Return the folders `stores` and `keys` below `root`."""
        return cls(root / "stores", root / "keys")

    def list_operators(self) -> list[str]:
        """Return the names of the operators, sorted. Raises OSError."""
        return _list_with_jwt(self.stores)

    def list_accounts(self, operator: str) -> list[str]:
        """Return the names of an operator's accounts, sorted. Raises OSError."""
        return _list_with_jwt(self.stores / operator / "accounts")


def _list_with_jwt(parent: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return sorted(f.name for f in parent.iterdir() if (f / f"{f.name}.jwt").is_file())
    return []


class Chosen(NamedTuple):
    """A value and its source; both empty if there is none."""

    value: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """The operator, account and folders to use when a command line names none. settings: the file of nsc."""

    folders: StoreFolders
    stores: Chosen
    keys: Chosen
    operator: Chosen
    account: Chosen
    settings: Path

    def get_account(self, operator: str) -> str:
        """Return the selected account of this operator; empty when none is selected."""
        return self.account.value if operator == self.operator.value else ""


class _Place(NamedTuple):
    """A place in a store: the folder of operators, and perhaps an operator and an account."""

    stores: Path
    operator: str = ""
    account: str = ""


def make_choices(environ: Mapping[str, str], store: str = "") -> Choices:
    """Return what to use when a command line names no operator or account.

    store: the folder of --store. Raises BadInput for an nsc.json that cannot be read, OSError.
    """
    home = find_home_folder(environ)
    settings = _find_settings_file(environ, home)
    nsc: Mapping[str, Any] = {}
    if "NSC_CWD_ONLY" not in environ and settings.is_file():
        nsc = _read_object(settings, "repair it, or use --store")
    place = None
    if store:
        folders = StoreFolders.below(expand_home(store))
        stores, keys = Chosen(str(folders.stores), "--store"), Chosen(str(folders.keys), "--store")
    else:
        place = _find_place()
        stores, keys = _choose_stores(environ, home, place, nsc), _choose_keys(environ, home)
        folders = StoreFolders(Path(stores.value), Path(keys.value))
    operator, account = _choose_identities(environ, folders, place, nsc)
    return Choices(folders, stores, keys, operator, account, settings)


def _choose_identities(
    environ: Mapping[str, str],
    folders: StoreFolders,
    place: _Place | None,
    nsc: Mapping[str, Any],
) -> tuple[Chosen, Chosen]:
    """Return the selected operator and account. Names that the store does not have are ignored."""
    nsc_operator = str(nsc.get("operator") or "")
    operator = _choose_existing(
        folders.list_operators(),
        Chosen(place.operator if place else "", _WORKING_FOLDER),
        Chosen(read_selected_operator(environ), "auth operator select"),
        Chosen(nsc_operator, NSC_FILE),
    )
    if not operator.value:
        return operator, Chosen()
    account = _choose_existing(
        folders.list_accounts(operator.value),
        Chosen(place.account if place else "", _WORKING_FOLDER),
        Chosen(str(nsc.get("account") or "") if nsc_operator == operator.value else "", NSC_FILE),
    )
    return operator, account


def _choose_existing(names: list[str], *candidates: Chosen) -> Chosen:
    if len(names) == 1:
        return Chosen(names[0], _ONLY_ONE)
    return next((chosen for chosen in candidates if chosen.value in names), Chosen())


def _choose_stores(
    environ: Mapping[str, str], home: Path, place: _Place | None, nsc: Mapping[str, Any]
) -> Chosen:
    if place:
        return Chosen(str(place.stores), _WORKING_FOLDER)
    if root := nsc.get("store_root"):
        return Chosen(str(root), NSC_FILE)
    return _choose_new_or_old(find_data_folder(environ) / _NSC / "stores", home / ".nsc" / "nats")


def _choose_keys(environ: Mapping[str, str], home: Path) -> Chosen:
    if path := environ.get("NKEYS_PATH"):
        return Chosen(str(_make_absolute(path)), "NKEYS_PATH")
    return _choose_new_or_old(find_data_folder(environ) / _NSC / "keys", home / ".nkeys")


def _choose_new_or_old(new: Path, old: Path) -> Chosen:
    if not new.exists() and old.exists():
        return Chosen(str(old), "the folder of older versions of nsc")
    return Chosen(str(new), _BY_DEFAULT)


def _find_settings_file(environ: Mapping[str, str], home: Path) -> Path:
    if folder := environ.get("NSC_HOME"):
        return _make_absolute(folder) / NSC_FILE
    new = find_config_folder(environ) / _NSC / NSC_FILE
    old = home / ".nsc" / NSC_FILE
    return old if old.exists() and not new.exists() else new


def _make_absolute(path: str) -> Path:
    return Path(os.path.abspath(expand_home(path)))  # noqa: PTH100 resolve() follows links; nsc does not


def _read_object(path: Path, hint: str = "") -> dict[str, Any]:
    try:
        settings = parse_json(read_text(path, regular=True))
    except ValueError as error:
        raise BadInput(f"{escape_path(path)} is not JSON: {error}", hint) from None
    if not isinstance(settings, dict):
        raise BadInput(f"{escape_path(path)} is not a JSON object", hint)
    return settings


# -- the selected operator --------------------------------------------------------------------------


def read_selected_operator(environ: Mapping[str, str]) -> str:
    """Return the name of the selected operator; empty when none is selected or the file cannot be read."""
    try:
        return str(_load_nats_config(environ)[1].get(_SELECTED) or "")
    except BadInput:
        return ""


def select_operator(environ: Mapping[str, str], name: str) -> None:
    """Select an operator; the rest of the file stays unchanged. Raises BadInput, OSError."""
    path, config = _load_nats_config(environ)
    make_private_folder(path.parent)
    write_atomically(path, json.dumps({**config, _SELECTED: name}, ensure_ascii=False))


def _load_nats_config(environ: Mapping[str, str]) -> tuple[Path, dict[str, Any]]:
    path = ContextStore.from_environment(environ).root / "cli" / "config.json"
    return path, _read_object(path) if path.exists() else {}


# -- the working folder -----------------------------------------------------------------------------


def _find_place() -> _Place | None:
    """Return the place in the store of the working folder, of a folder in it or of one above it, searched in
    nsc's order; None when none is in a store."""
    try:
        working = Path.cwd()
        if operator := _read_operator_name(working):
            return _Place(working.parent, operator)
        with os.scandir(working) as entries:
            if any(entry.is_dir() and _read_operator_name(Path(entry.path)) for entry in entries):
                return _Place(working)
    except OSError:
        return None
    for folder in working.parents:
        if operator := _read_operator_name(folder):
            below = working.relative_to(folder).parts
            account = below[1] if below[0] == "accounts" and len(below) > 1 else ""
            return _Place(folder.parent, operator, account)
    return None


def _read_operator_name(folder: Path) -> str:
    """Return the name of the operator whose store folder this is; empty for any other folder."""
    try:
        description = parse_json(read_text(folder / ".nsc", regular=True))
    except (BadInput, ValueError):
        return ""
    if not isinstance(description, dict) or description.get("kind") != "operator":
        return ""
    return str(description.get("name") or "")

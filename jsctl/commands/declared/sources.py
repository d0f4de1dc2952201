"""The files of apply and diff, and the flags that say which they are and what of them is compared."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from jsctl.base.files import CONFIG_SIZE, is_replaced, read_input, read_text
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import declare_all, option
from jsctl.commands.options.protection import unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.declared.compare import Rules

_PUSH_HELP = (
    "Also send the accounts to servers, as jsctl auth account push does; the default if streams name one"
)
_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The flags of apply and diff that say what is declared and what is compared. files: the values of -f;
    the others as in Sources."""

    files: tuple[str, ...] = ()
    var: tuple[str, ...] = ()
    store: str = ""
    prune: bool = False
    push: bool | None = None
    take_ownership: bool = False
    unprotect: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    show_values: bool = False

    def read(self, env: Env) -> "Sources":
        """Read the files. Raises BadInput, NotFound."""
        if not self.files:
            raise BadInput("there is nothing to compare", "name files with -f")
        texts: dict[str, str] = {}
        digests: dict[str, str] = {}
        for file in self.files:
            read = {
                path: read_input(path, env.streams.stdin) for path in _list_paths(file) if path not in texts
            }
            texts |= read
            path = expand_home(file).absolute()
            if is_replaced(path):
                digests[str(path)] = _compute_digest(path, {name: texts[name] for name in _list_paths(file)})
        named = [("stdin" if path == "-" else path, text) for path, text in texts.items()]
        others = {name: getattr(self, name) for name in Sources._fields if hasattr(self, name)}
        return Sources(named, digests=digests, **others)


class Sources(NamedTuple):
    """Everything that a plan follows from, but for the servers.

    texts: name and text of each file. var: NAME=VALUE. store: the folder for operators. push: None for the
    default. targets: names of the streams and buckets that are compared; all without any. digests: of the
    files and folders of -f, by absolute path. show_values: whether output has what `values_from` brings.
    """

    texts: Sequence[tuple[str, str]]
    var: Sequence[str]
    store: str
    prune: bool
    push: bool | None
    take_ownership: bool
    unprotect: Sequence[str]
    targets: Sequence[str]
    digests: Mapping[str, str] = MappingProxyType({})
    show_values: bool = False

    @property
    def may_have_operators(self) -> bool:
        """Whether files may declare operators, so that they have to be parsed for these."""
        return any("operators" in text for _, text in self.texts)

    def build_rules(self, *, allow_loss: bool = False, is_exact: bool = False) -> Rules:
        """Return what the command line permits."""
        return Rules(self.take_ownership, allow_loss, frozenset(self.unprotect), is_exact)


source_flags = declare_all(
    option(
        "--file",
        "-f",
        "files",
        multiple=True,
        metavar="FILE|DIR",
        selects=True,
        help="File, folder of .yaml, .yml and .json files, or - for stdin; may be repeated",
    ),
    option("--var", multiple=True, metavar="NAME=VALUE", help="Value of a variable; may be repeated"),
    option("--store", metavar="DIR", default="", help="Folder for operators (that of nsc and nats auth)"),
    option("--push/--no-push", default=None, help=_PUSH_HELP),
    option("--prune", is_flag=True, help="Remove what carries a label and is no longer declared"),
    option("--take-ownership", is_flag=True, help="Take over what belongs to another label"),
    unprotect_flag,
    option(
        "--target",
        "targets",
        multiple=True,
        metavar="NAME",
        selects=True,
        help="Only this stream or bucket, with its consumers; may be repeated",
    ),
    option("--show-values", is_flag=True, help="Show the values of files that values_from names"),
)
"""The flags of SourceOptions."""


def list_changed_files(sources: Sources) -> list[str]:
    """Return the files and folders of -f that say something else since they were read. One that is gone says
    nothing."""
    changed = []
    for path, digest in sources.digests.items():
        if Path(path).exists():
            texts = {name: read_text(Path(name), limit=CONFIG_SIZE) for name in _list_paths(path)}
            changed += [path] if _compute_digest(Path(path), texts) != digest else []
    return changed


def _compute_digest(root: Path, texts: Mapping[str, str]) -> str:
    """Return a digest of the names and texts of files, wherever the folder is. root: the file or folder."""
    named = sorted((os.path.relpath(Path(name).absolute(), root), text) for name, text in texts.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _list_paths(file: str) -> list[str]:
    """Return the file itself, or the files of a folder and its subfolders, but for hidden ones. Raises
    NotFound for a folder without any."""
    folder = expand_home(file)
    if file == "-" or not folder.is_dir():
        return [file]
    paths = sorted(
        str(path)
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not path.is_dir()
    )
    if not paths:
        raise NotFound(f"there is no .yaml, .yml or .json file in {file}")
    return paths

"""The tools of `jsctl mcp`: verbs of the registry with the parameters that they take."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any, NamedTuple

import click

from jsctl import registry
from jsctl.commands.cli.global_flags import is_own
from jsctl.errors import BadInput
from jsctl.registry.model import CHANGES, DESTROYS, READS, SYSTEM

FIRST = (
    *("doctor", "report", "stream ls", "stream info", "stream find", "stream subjects", "stream get"),
    *("consumer report", "consumer info", "consumer why", "kv ls", "kv get", "account info"),
    *("server list", "server report jetstream", "incident", "errors lookup", "manual"),
)
"""Verbs that are tools from the beginning; the others are found by `find_tools`."""

_HERE = (
    *("agent", "alert", "watch", "audit", "auth", "backup", "bench", "cheat", "compat", "completion"),
    *("context", "demo", "errors edit", "errors validate", "export", "exporter", "import", "kv export"),
    *("kv import", "lint", "mcp", "object get", "object put", "object sync", "rtt", "schema"),
    *("server check credential", "server generate", "server mappings", "server network", "server passwd"),
    *("server request profile", "server run", "server stop", "shell", "spark", "apply", "diff"),
    *("report history", "rehearse"),
)
"""Verbs about this machine: its files, logins, processes and settings. No assistant gets them."""

_ENDLESS = (
    *("consumer events", "consumer graph", "consumer sub", "counter watch", "events", "kv watch", "latency"),
    *(
        "stream wait",
        "consumer wait",
        "kv wait",
        "object watch",
        "reply",
        "server graph",
        "server watch",
        "service serve",
        "stream graph",
        "subscribe",
    ),
    *("top", "trace"),
)
"""Verbs that only ctrl-C ends, and those that wait for a message."""

_NEVER = (
    *("force", "dry_run", "unprotect", "watch", "record", "replay", "progress", "no_select", "raw", "spark"),
    *("all_contexts", "groups", "chosen_columns", "chosen_rows", "man", "remove", "yes"),
    *("from_context", "to_context", "registry", "allow_changes", "follow", "interactive", "max_backup_age"),
    *("stdin", "force_stdin", "send_on"),
)
"""Parameters that are no assistant's: what stands for a person's yes, other contexts and addresses, files and
stdin, live screens, and what JSON does not have."""

_RECORDINGS = {("incident", "source")}
"""Parameters that name a file and are an assistant's: a recorded report is read as nothing else."""

_FILES = ("FILE", "DIR", "FOLDER", "PATH", "ARCHIVE", "COMMAND", "PROGRAM")
_NUMBERS = {"integer": "integer", "integer range": "integer", "float": "number", "float range": "number"}


class Verb(NamedTuple):
    """A verb as a tool. path: its words, "stream info". mode: the flag that makes it another tool, one that
    changes something; empty for the verb itself."""

    path: str
    entry: registry.Entry
    command: click.Command
    mode: str = ""

    @property
    def name(self) -> str:
        """The tool's name: `stream_info`, `doctor_fix`."""
        return f"{self.path}{self.mode.replace('--', ' ', 1)}".replace(" ", "_").replace("-", "_")

    @property
    def only_reads(self) -> bool:
        """Whether it changes nothing."""
        return self.entry.impact == READS

    @property
    def destroys(self) -> bool:
        """Whether it may remove something for good."""
        return self.entry.impact == DESTROYS

    @property
    def description(self) -> str:
        """What it does and for whom, for a model."""
        paragraphs = cleandoc(self.command.help or "").split("\n\n")
        login = "Needs a login of the system account." if self.entry.scope == SYSTEM else ""
        mode = [f"{param.help}." for param in self._get_modes() if self.mode and param.help]
        return " ".join(" ".join([*mode, f"{self.entry.help}.", paragraphs[0], login]).split())

    def _get_modes(self) -> list[click.Option]:
        """Return the flag with which it changes something, if it has one."""
        flag = self.mode or self.entry.changes_with
        return [p for p in self.command.params if isinstance(p, click.Option) and flag in p.opts]

    def has_flag(self, name: str) -> bool:
        """Return whether it takes a parameter of this name."""
        return any(param.name == name for param in self.command.params if is_own(param))

    def list_params(self) -> Iterator[click.Parameter]:
        """Yield its parameters that a tool may set, and --js-domain."""
        modes = self._get_modes()
        for param in self.command.params:
            names_file = any(word in (param.metavar or "").upper() for word in _FILES)
            if param.name == "js_domain" or (
                is_own(param)
                and not getattr(param, "hidden", False)
                and param.name not in _NEVER
                and param not in modes
                and (not names_file or (self.path, param.name) in _RECORDINGS)
                and not isinstance(param.type, click.Path | click.File)
            ):
                yield param

    def build_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments."""
        params = {str(param.name): param for param in self.list_params()}
        return {
            "type": "object",
            "properties": {name: _describe(param) for name, param in params.items()},
            "required": [name for name, param in params.items() if param.required],
            "additionalProperties": False,
        }

    def build_words(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the words behind the verb for arguments. Raises BadInput."""
        params = {str(param.name): param for param in self.list_params()}
        if unknown := sorted(arguments.keys() - params.keys()):
            known = ", ".join(params) or "none"
            raise BadInput(f"{self.name} has no argument {unknown[0]!r}", f"it has {known}")
        flags = [self.mode] if self.mode else []
        names: list[str] = []
        for name, param in params.items():
            value = arguments.get(name)
            if value is None or value == []:
                continue
            if isinstance(param, click.Argument):
                names += [_to_text(each, name) for each in (value if isinstance(value, list) else [value])]
            else:
                flags += _build_flag(param, value)
        return [*flags, *(["--", *names] if names else [])]


def _build_flag(param: click.Parameter, value: Any) -> list[str]:
    name = param.opts[0]
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise BadInput(f"{param.name} must be true or false")
        if value:
            return [name]
        return [param.secondary_opts[0]] if param.secondary_opts else []
    values = value if isinstance(value, list) else [value]
    if param.nargs != 1:
        if len(values) != param.nargs:
            raise BadInput(f"{param.name} must be a list of {param.nargs}")
        return [name, *(_to_text(each, str(param.name)) for each in values)]
    return [f"{name}={_to_text(each, str(param.name))}" for each in values]


def _to_text(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadInput(f"{name} must be a text or a number")
    return str(value)


def _describe(param: click.Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": _NUMBERS.get(param.type.name, "string")}
    if isinstance(param.type, click.Choice):
        kind["enum"] = [str(choice) for choice in param.type.choices]
    if getattr(param, "is_flag", False):
        kind = {"type": "boolean"}
    elif param.nargs != 1 or getattr(param, "multiple", False):
        kind = {"type": "array", "items": kind}
    help = getattr(param, "help", None)
    metavar = param.metavar if isinstance(param, click.Option) else None
    text = " ".join(str(part) for part in (help, metavar and f"({metavar})") if part)
    return {**kind, **({"description": text} if text else {})}


def list_verbs(root: click.Group) -> dict[str, Verb]:
    """Return the verbs that assistants may use, by the names of their tools."""
    verbs = []
    for path, entry in registry.list_commands().items():
        is_verb = entry.runs or not entry.group
        is_left_out = any(f"{path} ".startswith(f"{one} ") for one in (*_HERE, *_ENDLESS))
        if is_verb and not is_left_out:
            verbs.append(Verb(path, entry, find_command(root, path.split())))
            if mode := entry.changes_with:
                verbs.append(verbs[-1]._replace(entry=entry._replace(impact=CHANGES), mode=mode))
    return {verb.name: verb for verb in verbs}


def find_command(root: click.Group, words: Sequence[str]) -> click.Command:
    """Return the command of a path. Raises KeyError."""
    command: click.Command | None = root
    ctx = click.Context(root)
    for word in words:
        command = command.get_command(ctx, word) if isinstance(command, click.Group) else None
    if command is None:
        raise KeyError(" ".join(words))
    return command

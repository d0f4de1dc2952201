"""Plugins: programs `jsctl-NAME` on PATH, and entry points of Python packages in the group `jsctl.plugins`.

Each is a command of the top level, and runs in a process of its own. PATH and the packages are searched only
for a word that is no command of ours, for help, and for completion.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from jsctl import registry
from jsctl.base.standard_streams import has_file
from jsctl.base.units import format_exact_duration
from jsctl.commands.cli.help_text import BUILT_IN
from jsctl.contexts.settings import FLAGS
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError

PREFIX = "jsctl-"
GROUP = "jsctl.plugins"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_ENTRY = re.compile(r"^(?P<name>[^=#;\s][^=]*?)\s*=\s*(?P<value>\S.*?)\s*$", re.MULTILINE)
_RUN_ENTRY = (
    "import sys; from importlib.metadata import EntryPoint; name, value, *words = sys.argv[1:]; "
    f"sys.argv[:] = ['jsctl ' + name, *words]; sys.exit(EntryPoint(name, value, {GROUP!r}).load()(words))"
)


class Plugin(NamedTuple):
    """A plugin. command: the words that start it. origin: where it is from, for help."""

    name: str
    command: tuple[str, ...]
    origin: str


def find(name: str) -> click.Command | None:
    """Return the command of a plugin, None if there is none of this name."""
    if not _NAME.fullmatch(name):
        return None
    if path := _find_program(name):
        return _PluginCommand(Plugin(name, (path,), path))
    plugin = next((plugin for plugin in _list_entry_points() if plugin.name == name), None)
    return plugin and _PluginCommand(plugin)


def list_all() -> list[Plugin]:
    """Return all plugins by name. Those that have the name of a command of ours are none."""
    found: dict[str, Plugin] = {}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        try:
            names = [file.name for file in os.scandir(folder or ".") if file.name.startswith(PREFIX)]
        except OSError:
            continue
        for file in names:
            name = file.rsplit(".", 1)[0] if os.name == "nt" else file
            name = name.removeprefix(PREFIX)
            if _NAME.fullmatch(name) and name not in found and (path := _find_program(name)):
                found[name] = Plugin(name, (path,), path)
    for plugin in _list_entry_points():
        found.setdefault(plugin.name, plugin)
    entries = registry.list_children("", old=True)
    ours = {*entries, *BUILT_IN, *(alias for entry in entries.values() for alias in entry.aliases)}
    return [plugin for name, plugin in sorted(found.items()) if name not in ours]


def _find_program(name: str) -> str | None:
    import shutil  # which takes a while, and only plugins need

    return shutil.which(PREFIX + name)


def _list_entry_points() -> Iterator[Plugin]:
    """Yield the entry points of all packages.

    importlib.metadata would take 40 ms, as much as the rest of `jsctl --help`.
    """
    for folder in sys.path:
        try:
            packages = [file.name for file in os.scandir(folder or ".") if file.name.endswith(".dist-info")]
        except OSError:
            continue
        for package in packages:
            try:
                name = f"{folder or '.'}/{package}/entry_points.txt"
                with open(name, encoding="utf-8") as entries:  # noqa: PTH123  (pathlib is slow)
                    text = entries.read()
            except (OSError, UnicodeError):
                continue
            _, found, rest = text.partition(f"[{GROUP}]")
            for entry in _ENTRY.finditer(rest.partition("\n[")[0]) if found else ():
                name, value = entry["name"], entry["value"]
                if _NAME.fullmatch(name):
                    command = (sys.executable, "-P", "-c", _RUN_ENTRY, name, value)
                    yield Plugin(name, command, f"of the package {package.partition('-')[0]}")


class _PluginCommand(click.Command):
    """A command whose words all go to a plugin, also `--help`."""

    def __init__(self, plugin: Plugin) -> None:
        super().__init__(plugin.name, callback=self._run, add_help_option=False)
        self.plugin = plugin
        self._words: list[str] = []

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self._words = [*args]
        return []

    def _run(self) -> int:
        import subprocess

        from jsctl.base.children import wait_for_child

        env: Env = click.get_current_context().obj
        environ = {**env.environ, **_build_variables(env, self.plugin.name)}
        out, err = env.streams.stdout, env.streams.stderr
        out.flush()
        # What is not a file takes the text when the plugin has ended, as in a call of another program.
        outputs: list[Any] = [stream if has_file(stream) else subprocess.PIPE for stream in (out, err)]
        stdin = env.streams.stdin if has_file(env.streams.stdin) else subprocess.DEVNULL
        env.begin()
        try:
            child = subprocess.Popen(
                [*self.plugin.command, *self._words],
                env=environ,
                stdin=stdin,
                stdout=outputs[0],
                stderr=outputs[1],
            )
        except OSError as error:
            raise JsctlError(f"cannot run {self.plugin.command[0]}: {error.strerror}") from None
        if subprocess.PIPE in outputs:
            for stream, data in zip((out, err), child.communicate(), strict=True):
                stream.write((data or b"").decode(errors="surrogateescape"))
        status = wait_for_child(child)
        return 128 - status if status < 0 else status


def _build_variables(env: Env, name: str) -> Mapping[str, str]:
    """Return the variables that stand for the global flags before a plugin's name. Raises BadInput for a flag
    that has none."""
    variables = {"NATS_CONTEXT": env.flags["context"]} if env.flags.get("context") else {}
    for flag, value in env.flags.items():
        if flag in env.from_environment or flag == "context" or (flag == "form" and env.is_embedded):
            continue
        key = "url" if flag == "server" else flag
        if key not in FLAGS or not FLAGS[key].variable:
            words = "--json or --as" if flag == "form" else f"--{flag.replace('_', '-')}"
            raise BadInput(f"{words} before {name} has no effect on a plugin", f"give it behind {name}")
        variables[FLAGS[key].variable] = value if isinstance(value, str) else format_exact_duration(value)
    return variables

"""Commands, which take the global flags, and groups, which import their commands when they are called."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from jsctl import registry
from jsctl.commands.cli.global_flags import GroupOption, is_own
from jsctl.commands.cli.help_text import BUILT_IN, is_cut, suggest_command
from jsctl.commands.cli.showing_help import HelpfulRoot, show_help
from jsctl.commands.cli.verbs import Command, GlobalFlagsCommand, copy_as_older


def make_group_callback(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a group's callback that runs only without a subcommand; with one, its flags are errors."""

    def run(*args: Any, **values: Any) -> Any:
        ctx = click.get_current_context()
        if not ctx.invoked_subcommand:
            return callback(*args, **values) if callback else None
        for param in ctx.command.params:
            source = ctx.get_parameter_source(param.name or "")
            if param.name in values and source is click.core.ParameterSource.COMMANDLINE:
                path = f"{ctx.command_path} {ctx.invoked_subcommand}"
                raise click.UsageError(
                    f"{param.opts[0]} is for {ctx.command_path} alone, not for {path}", ctx
                )
        return None

    return run


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_LOADING = threading.RLock()  #: threads share the commands: the prompt of a shell, callers of `jsctl.run`


class Group(GlobalFlagsCommand, click.Group):
    """A group whose commands are those of the registry below `path`."""

    def __init__(self, *args: Any, path: str = "", default: str = "", **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.path = path
        self._default = default
        self._loaded: dict[str, click.Command] = {}
        self.add_globals()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(registry.list_children(self.path))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        children = registry.list_children(self.path, old=True)
        name = cmd_name
        if name not in children:
            name = next((n for n, entry in children.items() if cmd_name in entry.aliases), "")
        if not name:
            if self.path:
                return None
            from jsctl.commands.cli import plugins

            return plugins.find(cmd_name)
        with _LOADING:
            if name not in self._loaded:
                loaded = self._load(name, children[name])
                missing = [p for p in self.params if isinstance(p, GroupOption) and p not in loaded.params]
                vars(loaded)["is_own"] = children[name].is_own or self.is_own
                loaded.params = [*loaded.params, *missing]
                self._loaded[name] = loaded
        return self._loaded[name]

    def _load(self, name: str, entry: registry.Entry) -> click.Command:
        path = f"{self.path} {name}".strip()
        if not entry.replaced_by:
            return _load_command(path, name, entry)
        parent, _, verb = entry.replaced_by.rpartition(" ")
        command = _load_command(entry.replaced_by, verb, registry.list_children(parent)[verb])
        return copy_as_older(command, path, entry.replaced_by)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands from the registry, without importing them, and flags."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=help) for name, help in self._list_rows() if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if not self._default or ctx.resilient_parsing:
                raise
        ctx.params.clear()
        return super().parse_args(ctx, ["", *words])  # a flag of the verb that the group was before

    def _load_default(self, ctx: click.Context) -> click.Command | None:
        """Return the verb that the group was before, None if it was none."""
        if not self._default or ctx.resilient_parsing:
            return None
        command = self.get_command(ctx, self._default)
        return command and copy_as_older(command, f"{self.path} DIR", f"{self.path} {self._default}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        children = registry.list_children(self.path)
        if args[0] == "help" and args[0] not in children:
            if ctx.resilient_parsing:  # completion: what is to be shown has the same names
                return self.resolve_command(ctx, args[1:]) if args[1:] else (None, None, [])
            if not args[1:]:
                show_help(ctx, None, True)
            return self.resolve_command(ctx, [*args[1:], "--help"])
        try:
            _, command, rest = super().resolve_command(ctx, args)
            return command.name if command else None, command, rest  # not the alias, in help and errors
        except click.UsageError as error:
            if args[0][:1] != "-" and (default := self._load_default(ctx)):
                return default.name, default, args if args[0] else args[1:]
            others = () if self.path else (name for name, _ in self._list_plugins())
            hint = (
                suggest_command(args[0], self.path, [*children, *others])
                or f"{ctx.command_path} --help lists them"
            )
            raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        key = f"{__name__}.rows {self.path}"
        if key not in ctx.meta:  # help that is too long is made twice
            ctx.meta[key] = dict(self._list_rows())
        rows: dict[str, str] = ctx.meta[key]
        width = max(map(len, rows), default=0)  # one for all groups
        groups = registry.list_groups() if not self.path else {"Commands": (*rows,)}
        known = {name for names in groups.values() for name in names}
        plugins = tuple(name for name in rows if name not in known)
        for title, names in {**groups, "Plugins": plugins}.items():
            is_whole = self.path or names is plugins or not is_cut(ctx)
            shown = [name for name in names if is_whole or registry.is_first(name)]
            listed = [(name.ljust(width), rows[name]) for name in shown]
            if others := [name for name in names if name not in shown]:
                listed.append(("also".ljust(width), ", ".join(others)))
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)

    def _list_rows(self) -> list[tuple[str, str]]:
        """Return the commands and their help."""
        rows = [(name, entry.help) for name, entry in registry.list_children(self.path).items()]
        return rows if self.path else [*rows, *BUILT_IN.items(), *self._list_plugins()]

    def _list_plugins(self) -> list[tuple[str, str]]:
        """Return the names of plugins, and where each is from."""
        from jsctl.commands.cli import plugins

        return [(plugin.name, plugin.origin) for plugin in plugins.list_all()]


class Root(Group, HelpfulRoot):
    """The group of all commands. What it offers its commands is in packages that use this one."""

    def ask_missing(self, ctx: click.Context, param: click.Parameter) -> Any:
        """Return the value of a parameter that the command line leaves out, asked for on a terminal."""
        raise NotImplementedError


def _load_command(path: str, name: str, entry: registry.Entry) -> click.Command:
    """Import the command of a registry entry, or build the group. Raises RuntimeError without a target."""
    target: click.Command | None = None
    if entry.target:
        import importlib

        module, _, attribute = entry.target.partition(":")
        target = getattr(importlib.import_module(module), attribute)
    if not entry.group:
        if target is None:
            raise RuntimeError(f"registry: {path} has no target")
        if isinstance(target, Command):
            target.summary = entry.help
        return target
    own = [p for p in target.params if is_own(p)] if target else []
    callback = target.callback if target else None
    loaded = Group(
        name,
        path=path,
        default=entry.default,
        params=own,
        callback=make_group_callback(callback) if callback and entry.runs else callback,
        invoke_without_command=entry.runs,
        no_args_is_help=not entry.runs,
        help=target.help if target else None,
        examples=getattr(target, "examples", ()),
    )
    loaded.summary = entry.help
    return loaded

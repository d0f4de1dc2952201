"""Commands, which take the global flags, and groups, which import their commands when they are called."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from jsctl import registry
from jsctl.commands.cli.global_flags import GroupOption, get_global_options, is_own
from jsctl.commands.cli.group_callback import make_group_callback
from jsctl.commands.cli.help_text import BUILT_IN, Context, HelpPage, is_cut, suggest_command
from jsctl.commands.cli.results import finish, finish_early
from jsctl.commands.cli.row_flags import build_row_flags
from jsctl.commands.cli.showing_help import HelpfulRoot, show_help
from jsctl.commands.cli.values import check_integers
from jsctl.errors import BadInput, DryRun, JsctlError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from jsctl.views.result import Column


class _GlobalFlagsCommand(HelpPage):
    """A command with the global flags that it does not define itself. is_own: as in registry.Entry."""

    context_class = Context
    is_own = False

    def __init__(self, *args: Any, **attrs: Any) -> None:
        super().__init__(*args, **{"context_settings": {"help_option_names": ["--help", "-h"]}, **attrs})

    def add_globals(self) -> None:
        used_flags = {name for param in self.params for name in (*param.opts, *param.secondary_opts)}
        used_names = {param.name for param in self.params}
        for option in get_global_options():
            if not (option.name in used_names and option.opts[0] in used_flags):
                unused = option.without(used_flags)
                if unused.opts:
                    self.params.append(unused)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.obj:
            ctx.obj.is_own_verb = self.is_own
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.obj and (not isinstance(self, click.Group) or self.invoke_without_command):
            ctx.obj.begin()
        try:
            check_integers(ctx)
            value = super().invoke(ctx)
            return finish(ctx.obj, value)
        except (DryRun, JsctlError, BrokenPipeError) as error:
            return finish_early(ctx.obj, error)


class Command(_GlobalFlagsCommand):
    """A verb.

    Its callback takes Env first and returns a Result or None; a coroutine may return Events, and a generator
    yield Results ahead of the one that it returns. takes_number: whether its last argument may be a negative
    number, which is then not read as a flag. columns: of the table that it shows, empty if they are not known
    before; it takes --columns and --filter then. None for a verb without a table. is_destructive: whether its
    arguments say what is destroyed.
    """

    is_destructive = False

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[str]] = MappingProxyType({}),
        takes_number: bool = False,
        columns: "Sequence[Column] | None" = None,
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **attrs)
        if columns is not None:
            used_flags = {flag for param in self.params for flag in param.opts}
            self.params += [flag for flag in build_row_flags(columns) if flag.opts[0] not in used_flags]
        self.sections = sections
        self._takes_number = takes_number
        self.add_globals()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self._takes_number and "--" not in args:
            numbers = [arg for arg in args if arg[:1] == "-" and arg[1:].replace(".", "", 1).isdecimal()]
            args = [*(arg for arg in args if arg not in numbers), *(["--", *numbers] if numbers else [])]
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            for param in self.params:
                if getattr(param, "selects", self.is_destructive and isinstance(param, click.Argument)):
                    _refuse_blank(ctx, param)
        return rest


def _refuse_blank(ctx: click.Context, param: click.Parameter) -> None:
    """Raise BadInput for an empty text or 0 on the command line, as where a script's variable is not set: it
    would select everything."""
    value = ctx.params.get(param.name or "")
    values = value if isinstance(value, tuple) else (value,)
    is_given = ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
    for blank in values if is_given else ():
        if blank in ("", 0):
            label = param.human_readable_name if isinstance(param, click.Argument) else param.opts[0]
            reason = "empty" if blank == "" else "0"
            raise BadInput(f"{label} is {reason}", "give a value, or leave it out")


class Group(_GlobalFlagsCommand, click.Group):
    """A group whose commands are those of the registry below `path`."""

    def __init__(self, *args: Any, path: str = "", **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.path = path
        self._loaded: dict[str, click.Command] = {}
        self.add_globals()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(registry.list_children(self.path))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        children = registry.list_children(self.path)
        name = cmd_name
        if name not in children:
            name = next((n for n, entry in children.items() if cmd_name in entry.aliases), "")
        if not name:
            return None
        if name not in self._loaded:
            loaded = _load_command(f"{self.path} {name}".strip(), name, children[name])
            # Added once only: two threads of a shell may load the group, as the prompt completes while a line
            # runs.
            missing = [p for p in self.params if isinstance(p, GroupOption) and p not in loaded.params]
            vars(loaded)["is_own"] = children[name].is_own or self.is_own
            loaded.params = [*loaded.params, *missing]
            self._loaded[name] = loaded
        return self._loaded[name]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands from the registry, without importing them, and flags."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=help) for name, help in self._list_rows() if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

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
            hint = suggest_command(args[0], self.path, children) or f"{ctx.command_path} --help lists them"
            raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = dict(self._list_rows())
        width = max(map(len, rows), default=0)  # one for all groups
        for title, names in (registry.list_groups() if not self.path else {"Commands": [*rows]}).items():
            shown = [name for name in names if self.path or not is_cut(ctx) or registry.is_first(name)]
            listed = [(name.ljust(width), rows[name]) for name in shown]
            if others := [name for name in names if name not in shown]:
                listed.append(("also".ljust(width), ", ".join(others)))
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)

    def _list_rows(self) -> list[tuple[str, str]]:
        """Return the commands and their help."""
        rows = [(name, entry.help) for name, entry in registry.list_children(self.path).items()]
        return rows if self.path else [*rows, *BUILT_IN.items()]


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
        params=own,
        callback=make_group_callback(callback) if callback and entry.runs else callback,
        invoke_without_command=entry.runs,
        no_args_is_help=not entry.runs,
        help=target.help if target else None,
        examples=getattr(target, "examples", ()),
    )
    loaded.summary = entry.help
    return loaded

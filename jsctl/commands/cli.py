"""The command line's building blocks: lazy groups, commands that know the global flags, value types.

A global flag works anywhere on the line because every command and group takes it; what the innermost
was given wins. Only the root reads the environment.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from jsctl import registry
from jsctl.commands.shared import complete

F = TypeVar("F", bound=Callable[..., Any])

FORMS = ("table", "plain", "json", "csv", "tsv")


class Duration(click.ParamType[int]):
    """ns from `1h30m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl import units

        try:
            return units.parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType[int]):
    """Bytes from `1GB`; -1 is unlimited."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from jsctl import units

        try:
            return units.parse_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


DURATION = Duration()
SIZE = Size()


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    source = ctx.get_parameter_source(param.name or "")
    given = source in (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
    if given and ctx.obj is not None:
        ctx.obj.flags[param.name] = value
        if source is click.core.ParameterSource.ENVIRONMENT:
            ctx.obj.from_environment.add(param.name)
        else:
            ctx.obj.from_environment.discard(param.name)


def _json(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.flags["form"] = "json"


def _keep_all(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    if values and ctx.obj is not None:
        _keep(ctx, param, values[-1])
        if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
            ctx.obj.given.setdefault(param.name, []).extend(values)


class GlobalOption(click.Option):
    """An option that every command takes. Its value goes into `Env.flags` under its name."""

    def __init__(self, *names: str, **attrs: Any) -> None:
        attrs.setdefault("callback", _keep)
        attrs.setdefault("default", None)
        super().__init__([*names], expose_value=False, **attrs)
        self.environment = self.envvar
        self.envvar = None


class GroupOption(GlobalOption):
    """An option of a group that its commands take too. Its value goes into `Env.flags`."""


class RepeatedOption(GlobalOption):
    """A global option that may be given several times: the last counts, `Env.given` has all of them in
    the order of the line, those before a command's name first."""

    def __init__(self, *names: str, **attrs: Any) -> None:
        super().__init__(*names, multiple=True, callback=_keep_all, **attrs)

    def value_from_envvar(self, ctx: click.Context) -> Any:
        value = self.resolve_envvar_value(ctx)
        return None if value is None else (value,)  # one name, whatever it holds


def _globals() -> list[GlobalOption]:
    o = GlobalOption
    return [
        o("--server", "-s", metavar="URL", envvar="NATS_URL", help="NATS server URLs"),
        o("--user", metavar="USER", envvar="NATS_USER", help="Username or token"),
        o("--password", metavar="PASSWORD", envvar="NATS_PASSWORD", help="Password"),
        o("--token", metavar="TOKEN", envvar="NATS_TOKEN", help="Token for authentication"),
        o("--connection-name", metavar="NAME", help="Name of this connection, as the server lists it"),
        o("--creds", metavar="FILE", envvar="NATS_CREDS", help="User credentials file"),
        o("--nkey", metavar="FILE", envvar="NATS_NKEY", help="User NKEY seed file"),
        o("--jwt", metavar="JWT", envvar="NATS_JWT", help="User JWT"),
        o("--seed", metavar="SEED", envvar="NATS_SEED", help="Seed that goes with --jwt"),
        o("--tlscert", metavar="FILE", envvar="NATS_CERT", help="TLS client certificate"),
        o("--tlskey", metavar="FILE", envvar="NATS_KEY", help="TLS client certificate's key"),
        o("--tlsca", metavar="FILE", envvar="NATS_CA", help="TLS CA certificate chain"),
        o("--tlsfirst/--no-tlsfirst", help="Do the TLS handshake before the server says anything"),
        o(
            "--timeout",
            type=DURATION,
            metavar="DURATION",
            envvar="NATS_TIMEOUT",
            help="How long to wait for an answer (5s)",
        ),
        o(
            "--socks-proxy",
            metavar="PROXY",
            envvar="NATS_SOCKS_PROXY",
            help="SOCKS5 proxy to connect through",
        ),
        o(
            "--js-api-prefix",
            metavar="PREFIX",
            help="Subject prefix of the JetStream API; empty clears the context's",
        ),
        o("--js-event-prefix", metavar="PREFIX", help="Subject prefix of JetStream advisories"),
        RepeatedOption("--js-domain", metavar="DOMAIN", help="JetStream domain; empty clears the context's"),
        o("--inbox-prefix", metavar="PREFIX", help="Subject prefix of inboxes"),
        o(
            "--colors",
            metavar="SCHEME",
            envvar="NATS_COLOR",
            help="Colour of table borders: yellow, blue, cyan, green, magenta, red",
        ),
        RepeatedOption(
            "--context",
            shell_complete=complete.contexts,
            metavar="NAME",
            envvar="NATS_CONTEXT",
            help="Context to use instead of the selected one",
        ),
        o("--no-context", is_flag=True, help="Use no context, not even the selected one"),
        o("--trace", is_flag=True, help="Show JetStream requests and replies on stderr"),
        o("--json", "-j", is_flag=True, callback=_json, help="Print one JSON document"),
        o(
            "--as",
            "form",
            type=click.Choice(FORMS),
            help="Form of the output: table on a terminal, plain in a pipe",
        ),
    ]


class _WithGlobals(click.Command):
    """Adds the global flags that the command does not define itself, and examples to its help.

    summary: the registry's line, which help shows above the command's own paragraphs.
    """

    examples: Sequence[str] = ()
    summary: str = ""

    def get_short_help_str(self, limit: int = 45) -> str:
        return self.summary or super().get_short_help_str(limit)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.summary:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(self.summary)
        super().format_help_text(ctx, formatter)

    def add_globals(self) -> None:
        taken = {name for param in self.params for name in (*param.opts, *param.secondary_opts)}
        taken_names = {param.name for param in self.params}
        for option in _globals():
            if option.name in taken_names and option.opts[0] in taken:
                continue
            option.opts = [name for name in option.opts if name not in taken]
            option.secondary_opts = [name for name in option.secondary_opts if name not in taken]
            if option.opts:
                self.params.append(option)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [p.get_help_record(ctx) for p in self.params if _is_own(p) and isinstance(p, click.Option)]
        if rows := [row for row in own if row]:
            with formatter.section("Flags"):
                formatter.write_dl(rows)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        if ctx.parent is None:
            rows = [
                row for p in self.params if isinstance(p, GlobalOption) and (row := p.get_help_record(ctx))
            ]
            with formatter.section("Global flags, anywhere on the line"):
                formatter.write_dl(rows)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(" " * formatter.current_indent + example + "\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.parent is not None:
            formatter.write("\nGlobal flags: jsctl --help\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            value = super().invoke(ctx)
            return ctx.obj.run(value) if inspect.iscoroutine(value) else value
        except BrokenPipeError:
            # click would end with status 1; a reader that has enough (| head) is no failure.
            ctx.obj.discard_output()
            return None


class Command(_WithGlobals):
    """A verb. Its callback, a function or coroutine, takes Env first and returns a Result or None."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attrs: Any) -> None:
        attrs.setdefault("context_settings", {"help_option_names": ["--help", "-h"]})
        super().__init__(*args, **attrs)
        self.examples = examples
        self.add_globals()


class Group(_WithGlobals, click.Group):
    """A group whose commands are in the registry below `path` and are imported when called."""

    def __init__(self, *args: Any, path: str = "", examples: Sequence[str] = (), **attrs: Any) -> None:
        attrs.setdefault("context_settings", {"help_option_names": ["--help", "-h"]})
        super().__init__(*args, **attrs)
        self.path = path
        self.examples = examples
        self._loaded: dict[str, click.Command] = {}
        self.add_globals()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(registry.children(self.path))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        children = registry.children(self.path)
        name = cmd_name
        if name not in children:
            name = next((n for n, entry in children.items() if cmd_name in entry.aliases), "")
        if not name:
            return None
        if name not in self._loaded:
            loaded = _load(f"{self.path} {name}".strip(), name, children[name])
            loaded.params.extend(p for p in self.params if isinstance(p, GroupOption))
            self._loaded[name] = loaded
        return self._loaded[name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], registry.children(self.path), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"{ctx.command_path} --help lists them"
            raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, entry.help) for name, entry in registry.children(self.path).items()]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _is_own(param: click.Parameter) -> bool:
    return not isinstance(param, GlobalOption) or isinstance(param, GroupOption)


def _load(path: str, name: str, entry: registry.Entry) -> click.Command:
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
    own = [p for p in target.params if _is_own(p)] if target else []
    loaded = Group(
        name,
        path=path,
        params=own,
        callback=_alone(target.callback) if target and entry.runs else target.callback if target else None,
        invoke_without_command=entry.runs,
        no_args_is_help=not entry.runs,
        help=target.help if target else None,
        examples=getattr(target, "examples", ()),
    )
    loaded.summary = entry.help
    return loaded


def _alone(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """A group's callback that runs only without a subcommand, which takes none of its flags; click runs
    the callback before a subcommand, too."""

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


def command(name: str, *, examples: Sequence[str], **attrs: Any) -> Callable[[Callable[..., Any]], Command]:
    """Declare a verb: `@command("ls", examples=["jsctl stream ls"])`. The function takes Env first."""

    def declare(function: Callable[..., Any]) -> Command:
        made = click.command(name, cls=Command, examples=examples, **attrs)(click.pass_obj(function))
        made.callback_function = function  # type: ignore[attr-defined]
        return made

    return declare


def option(*names: str, **attrs: Any) -> Callable[[F], F]:
    """click.option, with `show_default` left off: help texts say what matters."""
    return click.option(*names, **attrs)


_COMPLETES = {"stream": complete.streams, "consumer": complete.consumers}


def argument(name: str, **attrs: Any) -> Callable[[F], F]:
    """click.argument; one called `stream` or `consumer` completes to what is there."""
    attrs.setdefault("shell_complete", _COMPLETES.get(name))
    return click.argument(name, **attrs)

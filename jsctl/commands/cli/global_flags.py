"""The global flags, which every command takes."""

import functools
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import click

from jsctl.commands.cli.completed import Completed
from jsctl.commands.cli.showing_help import show_help
from jsctl.commands.cli.values import DURATION
from jsctl.contexts.settings import FLAGS, SETTINGS, Flag

FORMS = ("table", "plain", "markdown", "json", "yaml", "csv", "tsv")


def _store_value(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    source = ctx.get_parameter_source(param.name or "")
    is_set = source in (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
    if is_set and ctx.obj is not None:
        ctx.obj.flags[param.name] = value
        if source is click.core.ParameterSource.ENVIRONMENT:
            ctx.obj.from_environment.add(param.name)
        else:
            ctx.obj.from_environment.discard(param.name)


def _store_json_form(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.flags["form"] = "json"


def _store_repeated(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    if values and ctx.obj is not None:
        _store_value(ctx, param, values[-1])
        if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
            ctx.obj.repeated.setdefault(param.name, []).extend(values)


class GlobalOption(Completed, click.Option):
    """An option that every command takes. Its value is stored in `Env.flags` by its name.

    environment: the variable that the root reads it from.
    """

    def __init__(self, *names: str, **attrs: Any) -> None:
        attrs.setdefault("callback", _store_value)
        attrs.setdefault("default", None)
        super().__init__([*names], expose_value=False, **attrs)
        self.environment = self.envvar
        self.envvar = None

    def without(self, flags: Collection[str]) -> Self:
        """Return the option without some of its flags; the option itself when it has none of them."""
        opts = [flag for flag in self.opts if flag not in flags]
        secondary_opts = [flag for flag in self.secondary_opts if flag not in flags]
        if opts == self.opts and secondary_opts == self.secondary_opts:
            return self
        return self._copy(opts=opts, secondary_opts=secondary_opts)

    def with_environment(self) -> Self:
        """Return the option as one that reads its variable."""
        return self._copy(envvar=self.environment)

    def _copy(self, **changes: Any) -> Self:
        result = object.__new__(type(self))
        vars(result).update(vars(self), **changes)
        return result

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if self.envvar is None and self.name not in opts:  # saves time: there are 75 of them in a line
            return None, args
        return super().handle_parse_result(ctx, opts, args)

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the variable's value; none in a shell of jsctl, whose lines have the shell's own values."""
        if ctx.obj is None:
            return super().resolve_envvar_value(ctx)
        return None if ctx.obj.session else ctx.obj.environ.get(self.envvar) or None


class GroupOption(GlobalOption):
    """An option of a group that the commands of the group take, too. Its value is stored in `Env.flags`."""


class VerbOption(GlobalOption):
    """An option of some verbs. Its value is stored in `Env.flags`."""


def spell_out(args: list[str], params: Iterable[click.Parameter]) -> list[str]:
    """Return arguments with the long name of a short flag that they begin with.

    For a short one, click first makes the error for an unknown long one, which takes 2 ms.
    """
    for param in params if args and len(args[0]) == 2 else ():
        if args[0] in param.opts and param.opts[0].startswith("--"):
            return [param.opts[0], *args[1:]]
    return args


def is_own(param: click.Parameter) -> bool:
    """Return whether a parameter belongs to a command or its group, and is not global."""
    return not isinstance(param, GlobalOption) or isinstance(param, GroupOption | VerbOption)


class RepeatedOption(GlobalOption):
    """A global option that may be repeated. `Env.flags` has the last value, `Env.repeated` all of them in the
    order of the command line.
    """

    def __init__(self, *names: str, **attrs: Any) -> None:
        super().__init__(*names, multiple=True, callback=_store_repeated, **attrs)

    def value_from_envvar(self, ctx: click.Context) -> Any:
        value = self.resolve_envvar_value(ctx)
        return None if value is None else (value,)  # one value, even with spaces in it


def show_version(ctx: click.Context, param: click.Parameter | None, value: bool) -> None:
    """End the command with the version of jsctl, if it is asked for."""
    if not value or ctx.resilient_parsing:
        return
    from jsctl import __version__

    if ctx.obj.asks_for_data:
        click.echo(f'{{\n  "version": "{__version__}"\n}}', ctx.obj.streams.stdout)
    else:
        click.echo(f"jsctl {__version__}", ctx.obj.streams.stdout)
    ctx.exit()


_KINDS: Mapping[str, dict[str, Any]] = {"duration": {"type": DURATION}}


def _build_option(name: str, flag: Flag) -> GlobalOption:
    """Return the option of a setting."""
    attrs: dict[str, Any] = {"metavar": flag.metavar} if flag.metavar else {}
    if SETTINGS[name].kind == "duration":
        attrs["type"] = DURATION
    make = RepeatedOption if name == "js_domain" else GlobalOption
    return make(*flag.names, envvar=flag.variable or None, help=flag.help, **attrs)


@functools.cache
def get_global_options() -> tuple[GlobalOption, ...]:
    """Return the global options, which all commands share: they take long to make."""
    o = GlobalOption
    return (
        *(_build_option(name, flag) for name, flag in FLAGS.items()),
        RepeatedOption(
            "--context",
            completes="context",
            metavar="NAME",
            envvar="NATS_CONTEXT",
            help="Context to use instead of the selected one",
        ),
        o("--no-context", is_flag=True, help="Use no context, not even the selected one"),
        o("--trace", is_flag=True, help="Show JetStream requests and replies on stderr"),
        o("--json", "-j", is_flag=True, callback=_store_json_form, help="Print one JSON document"),
        o("--help-llm", is_flag=True, is_eager=True, callback=show_help, help="Show help in Markdown"),
        o(
            "--as",
            "form",
            type=click.Choice(FORMS),
            help="Form of the output: table on a terminal, plain in a pipe",
        ),
    )

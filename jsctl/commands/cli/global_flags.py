"""The global flags, which every command takes."""

import functools
from collections.abc import Collection, Mapping
from typing import Any, Self

import click

from jsctl.commands.cli.completed import Completed
from jsctl.commands.cli.values import DURATION

FORMS = ("table", "plain", "json", "csv", "tsv")


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
        return None if getattr(ctx.obj, "session", None) else super().resolve_envvar_value(ctx)


class GroupOption(GlobalOption):
    """An option of a group that the commands of the group take, too. Its value is stored in `Env.flags`."""


class VerbOption(GlobalOption):
    """An option of some verbs. Its value is stored in `Env.flags`."""


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

    if ctx.obj.asks_for_json:
        click.echo(f'{{\n  "version": "{__version__}"\n}}')
    else:
        click.echo(f"jsctl {__version__}")
    ctx.exit()


@functools.cache
def get_global_options() -> tuple[GlobalOption, ...]:
    """Return the global options, which all commands share: they take long to make."""
    o = GlobalOption
    return (
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
        o("--tlsfirst/--no-tlsfirst", help="Do the TLS handshake before the server sends anything"),
        o(
            "--timeout",
            type=DURATION,
            metavar="DURATION",
            envvar="NATS_TIMEOUT",
            help="How long to wait for a reply (5s)",
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
            help="Color of table borders: yellow, blue, cyan, green, magenta, red",
        ),
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
        o(
            "--as",
            "form",
            type=click.Choice(FORMS),
            help="Form of the output: table on a terminal, plain in a pipe",
        ),
    )

"""Commands, which take the global flags, and older forms of them."""

from collections.abc import Generator, Mapping, Sequence
from types import CoroutineType, GeneratorType, MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from jsctl.base.command_lines import build_line
from jsctl.commands.cli.global_flags import VerbOption, get_global_options, spell_out
from jsctl.commands.cli.help_text import Context, HelpPage
from jsctl.commands.cli.values import check_integers
from jsctl.env import Env
from jsctl.errors import BadInput, DryRun, JsctlError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from jsctl.views.result import Column
    from jsctl.views.selection import Selection


class RowFlag(VerbOption):
    """A flag that chooses from a table. columns: of the table, as far as they are known before."""

    def __init__(self, *names: str, columns: "Sequence[Column]", **attrs: Any) -> None:
        super().__init__(*names, default="", **attrs)
        self.columns = columns

    @property
    def keys(self) -> list[str]:
        """The names that it takes."""
        return [key for column in self.columns for key in column.data_keys]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the last of several names."""
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",")
        used = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{key}")
            for key in self.keys
            if key.startswith(last) and key not in used
        ]


def build_row_flags(columns: "Sequence[Column]") -> list[RowFlag]:
    """Return the flags of a verb that shows a table with these columns."""
    return [
        RowFlag(
            "--columns",
            "chosen_columns",
            metavar="KEY,...",
            columns=columns,
            callback=_choose_columns,
            help="Show only these columns, by their names in --as csv, in this order",
        ),
        RowFlag(
            "--filter",
            "chosen_rows",
            metavar="EXPRESSION",
            columns=columns,
            callback=_choose_rows,
            help="Show only the rows for which this holds, such as KEY > 10 and KEY contains 'a'",
        ),
    ]


def _find_selection(ctx: click.Context, param: click.Parameter) -> "Selection":
    from jsctl.views.selection import Selection  # only where it is needed

    return ctx.obj.flags.get("selection") or Selection(
        known=param.columns if isinstance(param, RowFlag) else ()
    )


def _choose_columns(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if not value or ctx.obj is None:
        return
    columns = [name.strip() for name in value.split(",") if name.strip()]
    ctx.obj.flags["selection"] = _find_selection(ctx, param)._replace(columns=columns)


def _choose_rows(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if not value or ctx.obj is None:
        return
    from jsctl.jetstream.find.expression import compile_expression  # only where it is needed

    try:
        condition = compile_expression(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    ctx.obj.flags["selection"] = _find_selection(ctx, param)._replace(condition=condition, text=value)


def finish(env: Env, value: Any) -> Any:
    """Await a coroutine, write the Events that it returns and the Results that a generator yields, and return
    the last Result, which the app shows.
    """
    if isinstance(value, CoroutineType):
        return env.run(env.finish(value))
    return _write_each(env, value) if isinstance(value, GeneratorType) else value


def finish_early(env: Env, error: DryRun | JsctlError | BrokenPipeError) -> Any:
    """Return the result of a verb that ended before its end: what it would do, or nothing. Raises an error
    that is a failure.
    """
    if isinstance(error, DryRun):
        return error.result
    if isinstance(error, JsctlError):
        env.report_missing(error)
        from jsctl.views.result import Result

        return Result(data={"removed": False, "missing": error.message})
    # click would end with status 1; a reader that has read enough (| head) is not a failure.
    env.discard_output()
    return None


def _write_each(env: Env, results: Generator[Any, Any, Any]) -> Any:
    """Write results as a verb without an event loop yields them. Returns its last one.

    A failure to write is raised in the verb, which may have to clean up.
    """
    try:
        result = next(results)
        while True:
            try:
                env.emit(result)
                env.streams.stdout.flush()
            except BaseException as error:
                result = results.throw(error)
            else:
                result = next(results)
    except StopIteration as end:
        return end.value


class GlobalFlagsCommand(HelpPage):
    """A command with the global flags that it does not define itself.

    older_form: that in which the command was called, and that which takes its place; empty for none. is_own:
    as in registry.Entry.
    """

    context_class = Context
    is_own = False
    older_form: tuple[str, str] = ("", "")

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
        return super().parse_args(ctx, spell_out(args, self.params))

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.obj and (not isinstance(self, click.Group) or self.invoke_without_command):
            ctx.obj.begin()
            ctx.obj.verb = ctx.command_path.partition(" ")[2]
        try:
            check_integers(ctx)
            if self.older_form[0]:
                old, new = map(build_line, self.older_form)
                ctx.obj.inform(f'WARNING: "{old}" will be removed in a future release, use "{new}" instead')
            value = super().invoke(ctx)
            return finish(ctx.obj, value)
        except (DryRun, JsctlError, BrokenPipeError) as error:
            return finish_early(ctx.obj, error)


class Command(GlobalFlagsCommand):
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


def copy_as_older(command: click.Command, old: str, new: str) -> click.Command:
    """Return a command as an older form of itself, which warns."""
    from copy import copy  # only where it is needed: it takes 0.3 ms of a start

    older = copy(command)
    older.hidden = True
    if isinstance(older, GlobalFlagsCommand):
        older.older_form = (old, new)
    return older

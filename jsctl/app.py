"""The root command, which turns errors into a line on stderr and an exit status."""

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from jsctl.base.command_lines import adding_place_flags, build_line
from jsctl.base.ending import end
from jsctl.base.standard_streams import Streams
from jsctl.commands.cli.global_flags import GlobalOption, show_version
from jsctl.commands.cli.groups import Root
from jsctl.commands.cli.values import name_kinds
from jsctl.env import Env, strip_logins
from jsctl.errors import (
    DISK_ERRORS,
    ApiError,
    BadInput,
    Cancelled,
    Declined,
    ExitStatus,
    FileWarning,
    JsctlError,
    LoginRefused,
    NoConnection,
    NoResponders,
    RequestTimeout,
)
from jsctl.registry import list_children

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Root(Root):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A flag whose value is being completed would end the parsing before the arguments.
        is_incomplete = ctx.resilient_parsing and "".join(args[-1:]).startswith("-")
        return super().parse_args(ctx, args[:-1] if is_incomplete else args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except EOFError as error:  # click takes it for ctrl-D at a prompt, of which ours make Cancelled
            raise _report_bug(ctx.obj, error) from None

    def build_markdown_help(self, ctx: click.Context) -> str:
        from jsctl.commands.installing.llm_help import build_page

        return build_page(ctx)

    def ask_missing(self, ctx: click.Context, param: click.Parameter) -> Any:
        from jsctl.commands.picking.missing import ask_missing

        return ask_missing(ctx, param)

    def complete_value(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        from jsctl.commands.completing.names import complete_value

        return complete_value(ctx, param, incomplete)


@click.group(cls=_Root, name="jsctl", examples=["jsctl demo", "jsctl report --watch"])
def root() -> None:
    """Operate NATS JetStream from the terminal.

    jsctl does what nats does for JetStream, with the same words and the same context files. It adds live
    reports over many domains, a whole network on your laptop, declared streams, and streams in Spark.
    """
    from jsctl.contexts.environment import forget_secrets

    # The flags hold them; child processes must not inherit them, except the script of an agent and plugins.
    ctx = click.get_current_context()
    is_ours = ctx.invoked_subcommand in list_children("", old=True)
    is_embedded = ctx.obj is not None and ctx.obj.is_embedded
    if is_ours and not is_embedded and ctx.invoked_subcommand not in ("agent", "compat"):
        forget_secrets(os.environ)


root.params = [
    *(option.with_environment() if isinstance(option, GlobalOption) else option for option in root.params),
    GlobalOption("--version", is_flag=True, is_eager=True, callback=show_version, help="Show the version"),
]


def run(args: Sequence[str], env: Env) -> int:
    """Run one command line and return its exit status. Never raises."""
    env.run_line = run
    env.words = args

    def find_place(verb: str) -> Sequence[str]:
        from jsctl.commands.places.repeat import find_place_flags

        return find_place_flags(env, verb)

    show_python_warning = warnings.showwarning

    def show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, FileWarning):
            env.say(f"warning: {message}")
        else:
            show_python_warning(message, category, *where, **more)

    if not env.is_embedded:
        warnings.showwarning = show_warning
    try:
        with adding_place_flags(find_place):
            return _mirror_status(env, _run(args, env))
    except SystemExit as error:  # how click ends completion
        return error.code if isinstance(error.code, int) else ExitStatus.OK
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BaseException as error:  # while the outcome was being shown
        return _fail(env, JsctlError(f"unexpected {_format_exception(error)}", _BUG))
    finally:
        if not env.is_embedded:
            warnings.showwarning = show_python_warning
        for line in env.closing_lines:
            with contextlib.suppress(OSError, ValueError):  # stderr cannot be written
                env.say(line)


def _mirror_status(env: Env, status: int) -> int:
    """Return the status that nats has, if the line is to have its outcome."""
    if not env.mirrors_nats or status in (ExitStatus.OK, ExitStatus.INTERRUPTED, ExitStatus.TERMINATED):
        return status
    if env.verb == "request" and isinstance(env.failure, _UNANSWERED):  # REQUEST_UNANSWERED
        return ExitStatus.OK
    if isinstance(env.failure, NoConnection) and env.verb == "rtt":  # RTT_UNREACHABLE
        return ExitStatus.OK
    is_request = env.verb.startswith("server request ") or env.verb == "server config reload"
    if is_request and isinstance(env.failure, ApiError):  # RESULT_STATUS
        return ExitStatus.OK
    if env.failure is None and env.verb in _WITH_RESULT_STATUS:
        return ExitStatus.OK
    return status if env.verb.startswith("server check") else ExitStatus.FAILURE  # EXIT_STATUS


_UNANSWERED = (NoResponders, RequestTimeout)
_WITH_RESULT_STATUS = ("schema validate", "server list", "context info")  # RESULT_STATUS

_FORM_GUESSES = ("-o", "--output", "--format")
"""Flags with which other tools take the form of the output."""

_MIN_HELP_WIDTH = 20  #: columns; click cannot break lines into fewer
_BUG = "this is a bug in jsctl; JSCTL_DEBUG=1 shows where"


def _run(args: Sequence[str], env: Env) -> int:
    if env.environ.get("_JSCTL_COMPLETE"):
        from jsctl.commands.completing.shells import register

        register()
    has_files = any(arg.startswith("@") for arg in args)
    try:
        if has_files:
            from jsctl.base.argument_files import expand_files

            args = env.words = expand_files(args)
        for arg in args:
            _check_argument(arg)
        value = root.main(
            list(args),
            prog_name="jsctl",
            standalone_mode=False,
            obj=env,
            terminal_width=max(min(env.width, 110) - 2, _MIN_HELP_WIDTH),
        )
        if isinstance(value, int):  # --help and --version: an exit status
            env.streams.stdout.flush()
            return value
        status = env.emit(value) if value is not None else ExitStatus.OK
        env.streams.stdout.flush()
        if value is not None and value.error is not None:
            raise value.error
        return status
    except click.exceptions.NoArgsIsHelpError as error:
        if env.asks_for_data:
            path = error.ctx.command_path if error.ctx else "jsctl"
            return _fail(env, BadInput("the command is missing", f"{path} --help lists them"))
        env.streams.stderr.write(error.format_message() + "\n")
        env.streams.stderr.flush()
        return ExitStatus.USAGE
    except click.ClickException as error:
        return _fail(env, BadInput(*_describe_usage_error(error, has_files=has_files).split("; ", 1)))
    except (KeyboardInterrupt, Exception) as error:
        return _end_with(env, error)


def _end_with(env: Env, error: KeyboardInterrupt | Exception) -> int:
    """Say what has ended the command, and return the exit status."""
    match error:
        case Declined():
            env.say(f"jsctl: {error}")
            return error.status
        case NoConnection() | LoginRefused():
            return _fail(env, type(error)(error.message, env.format_select_hint() or error.hint))
        case JsctlError():
            return _fail(env, error)
        case KeyboardInterrupt() | click.Abort():
            # Python would warn of a coroutine that was just created and is no longer awaited.
            if not env.is_embedded:
                warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
            if env.asks_for_data:
                return _fail(env, Cancelled("stopped by ctrl-C"))
            if isinstance(error, KeyboardInterrupt):  # click has written a line end
                env.streams.stderr.write("\n")
            return ExitStatus.INTERRUPTED
        case BrokenPipeError():
            env.discard_output()
            return ExitStatus.OK
        case OSError():
            return _fail(env, JsctlError(_describe_system_error(env, error)))
    return _fail(env, _report_bug(env, error))


def _report_bug(env: Env, error: BaseException) -> JsctlError:
    """Return the error for an exception that nothing expects; with JSCTL_DEBUG, write where it was raised."""
    if env.environ.get("JSCTL_DEBUG"):
        import traceback

        env.streams.stderr.write("".join(traceback.format_exception(error)))
    return JsctlError(f"unexpected {_format_exception(error)}", _BUG)


def main(begin: Callable[[], None] = lambda: None) -> NoReturn:
    """Run the `jsctl` script. begin: see `Env`."""
    sys.unraisablehook = _keep_interrupts
    env = Env(Streams.real(), os.environ)
    env.begin = begin
    env.mirrors_nats = os.path.basename(sys.argv[0]) in ("nats", "nats.exe")  # noqa: PTH119  (pathlib is slow)
    end(run(sys.argv[1:], env))


def _keep_interrupts(lost: "sys.UnraisableHookArgs") -> None:
    """Raise KeyboardInterrupt again when Python dropped one, as in a destructor or in the locks of an import.

    An event loop whose creation was interrupted cannot be closed; that is not reported.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        import _thread

        # In this thread it would be dropped again.
        _thread.start_new_thread(_interrupt_soon, ())
    elif getattr(lost.object, "__qualname__", "") != "BaseEventLoop.__del__":
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    import signal
    import time

    time.sleep(0.01)
    # Not interrupt_main, which would not end a blocking call. Where SIGINT is ignored, it was SIGTERM.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if is_ignored else signal.SIGINT)


def _check_argument(arg: str) -> None:
    """Raise BadInput for an argument with a NUL byte or an unpaired surrogate, which no path can contain."""
    if "\0" in arg:
        raise BadInput("an argument contains a NUL character, which names and paths cannot contain")
    try:
        os.fsencode(arg)
    except UnicodeEncodeError:
        raise BadInput("an argument contains an unpaired surrogate") from None


def _describe_usage_error(error: click.ClickException, *, has_files: bool) -> str:
    """Return what is wrong with the command line, then what to do. has_files: whether @FILE was in it."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        from jsctl.base.similar_names import find_nearest

        message = error.message  # without click's own list, which has unlikely ones: --trace for --storage
        if nearest := find_nearest(error.option_name, error.possibilities or (), likeness=0.8):
            return f"{message.rstrip('.')}; did you mean {nearest!r}?"
        if error.option_name in _FORM_GUESSES:
            return f"{message.rstrip('.')}; use --json, or --as csv"
        path = error.ctx.command_path.split() if error.ctx else []
        if error.option_name == "--watch" and {"stream", "consumer"}.intersection(path):
            line = build_line("report", flags=["--watch"])
            return f"{message.rstrip('.')}; {line} shows streams and consumers repeatedly"
    message = " ".join(message.split()).rstrip(".")
    # click writes an optional argument in brackets
    message = re.sub(r"^(Invalid value for )'\[(\w+)\]'", r"\1'\2'", message)
    message = name_kinds(message)
    ctx = getattr(error, "ctx", None)
    if has_files and "extra argument" in message:
        from jsctl.base.argument_files import CONTENT_HINT

        message += f"; {CONTENT_HINT}"
    if ctx is not None and ";" not in message:
        message += f"; {ctx.command_path} --help shows the usage"
    return message


def _format_exception(error: BaseException) -> str:
    """Return the kind and the text of an exception; the kind alone when formatting the text fails, as after a
    JVM has ended."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:
        return kind


def _describe_system_error(env: Env, error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename:
        return f"cannot use {error.filename}: {reason}"
    if error.errno in DISK_ERRORS:  # errors of files have a name
        return f"cannot write the output: {reason}"
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):
        return f"cannot write the output: {reason}"
    return reason


def _fail(env: Env, error: JsctlError) -> int:
    """Write the line of an error, if that is possible, and return the status. With --json or --as yaml, it is
    a JSON object, which is YAML, too."""
    env.failure = error
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):  # the disk is full, or the reader is gone
        env.discard_output()
    try:
        env.streams.stderr.write(_format_failure(env, error) + "\n")
        env.streams.stderr.flush()
    except (OSError, ValueError):
        env.discard_output(env.streams.stderr)
    return error.status


def _format_failure(env: Env, error: JsctlError) -> str:
    from jsctl.render.text import clean, clean_json

    if env.asks_for_data:
        import json

        code, err_code = getattr(error, "code", None), getattr(error, "err_code", None)
        text = error.description if isinstance(error, ApiError) else error.message
        failure = {
            "error": strip_logins(text),
            "code": code,
            "err_code": err_code or None,
            "status": int(error.status),
            "hint": strip_logins(error.hint),
        }
        return clean_json(json.dumps(failure, ensure_ascii=False))
    line = f"jsctl: error: {clean(strip_logins(str(error)))}"
    if env.streams.stderr.isatty():  # a terminal would break the line inside words
        from jsctl.render.fit import fold

        line = "\n".join(fold(line, env.error_width))
    return line

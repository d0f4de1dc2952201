"""The root command, which turns errors into a line on stderr and an exit status."""

import contextlib
import errno
import gc
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import NoReturn

import click

from jsctl import __version__
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.commands.cli.groups import Group
from jsctl.env import Env
from jsctl.errors import BadInput, Declined, ExitStatus, JsctlError
from jsctl.standard_streams import Streams


@click.version_option(__version__, "--version", message="jsctl %(version)s", help="Show the version")
@click.group(cls=Group, name="jsctl", examples=["jsctl demo", "jsctl stream ls", "jsctl report --watch"])
def root() -> None:
    """Operate NATS JetStream from the terminal.

    jsctl does what nats does for JetStream, with the same words and the same context files. It adds live
    reports over many domains, a whole network on your laptop, declared streams, and streams in Spark.
    """
    from jsctl.contexts.environment import forget_secrets

    forget_secrets(os.environ)  # the flags hold them; child processes must not inherit them


root.params = [
    option.with_environment() if isinstance(option, GlobalOption) else option for option in root.params
]


def run(args: Sequence[str], env: Env) -> int:
    """Run one command line and return its exit status. Never raises."""
    env.run_line = run
    try:
        return _run(args, env)
    except SystemExit as error:  # how click ends completion
        return error.code if isinstance(error.code, int) else ExitStatus.OK
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BaseException as error:  # while the outcome was being shown
        return _fail(env, f"unexpected {_format_exception(error)}; {_BUG}", ExitStatus.FAILURE)
    finally:
        for line in env.closing_lines:
            with contextlib.suppress(OSError, ValueError):  # stderr cannot be written
                env.say(line)


_KINDS = {
    "integer range": "whole number",
    "integer": "whole number",
    "float range": "number",
    "float": "number",
}
"""click's words for numbers, and ours."""

_BUG = "this is a bug in jsctl; JSCTL_DEBUG=1 shows where"


def _run(args: Sequence[str], env: Env) -> int:
    if env.environ.get("_JSCTL_COMPLETE"):
        from jsctl.commands.shared.shells import register

        register()
    try:
        for arg in args:
            _check_argument(arg)
        value = root.main(
            list(args),
            prog_name="jsctl",
            standalone_mode=False,
            obj=env,
            terminal_width=min(env.width, 110) - 2,
        )
        if isinstance(value, int):  # --help and --version: an exit status
            env.streams.stdout.flush()
            return value
        status = env.emit(value) if value is not None else ExitStatus.OK
        env.streams.stdout.flush()
        if value is not None and value.error is not None:
            raise value.error
        return status
    except Declined as error:
        env.say(f"jsctl: {error}")
        return error.status
    except JsctlError as error:
        return _fail(env, str(error), error.status)
    except click.exceptions.NoArgsIsHelpError as error:
        env.streams.stderr.write(error.format_message() + "\n")
        env.streams.stderr.flush()
        return ExitStatus.USAGE
    except click.ClickException as error:
        return _fail(env, _describe_usage_error(error), ExitStatus.USAGE)
    except (KeyboardInterrupt, click.Abort) as error:
        # Python would warn of a coroutine that was just created and is no longer awaited.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        if isinstance(error, KeyboardInterrupt):  # click has written a line end
            env.streams.stderr.write("\n")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        env.discard_output()
        return ExitStatus.OK
    except OSError as error:
        return _fail(env, _describe_system_error(env, error), ExitStatus.FAILURE)
    except Exception as error:
        if env.environ.get("JSCTL_DEBUG"):
            import traceback

            env.streams.stderr.write(traceback.format_exc())
        return _fail(env, f"unexpected {_format_exception(error)}; {_BUG}", ExitStatus.FAILURE)


def main(begin: Callable[[], None] = lambda: None) -> NoReturn:
    """Run the `jsctl` script. begin: see `Env`."""
    sys.unraisablehook = _keep_interrupts
    # Backups, dumps and exports hold the data of streams: only this user may read them, unless JSCTL_UMASK
    # allows more.
    mask = os.environ.get("JSCTL_UMASK", "")
    os.umask(int(mask, 8) & 0o777 if mask and not mask.strip("01234567") else os.umask(0o077) | 0o077)
    env = Env(Streams.real(), os.environ)
    env.begin = begin
    status = run(sys.argv[1:], env)
    gc.freeze()  # otherwise the final garbage collection takes a sixth of the time of `stream ls`
    sys.exit(status)


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
    os.kill(os.getpid(), signal.SIGINT)  # interrupt_main would not end a blocking call


def _check_argument(arg: str) -> None:
    """Raise BadInput for an argument with a NUL byte or an unpaired surrogate, which no path can contain."""
    if "\0" in arg:
        raise BadInput("an argument contains a NUL character, which names and paths cannot contain")
    try:
        os.fsencode(arg)
    except UnicodeEncodeError:
        raise BadInput("an argument contains an unpaired surrogate") from None


def _describe_usage_error(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        from jsctl.similar_names import find_nearest

        message = error.message  # without click's own list, which has unlikely ones: --trace for --storage
        if nearest := find_nearest(error.option_name, error.possibilities or (), likeness=0.8):
            return f"{message.rstrip('.')}; did you mean {nearest!r}?"
        path = error.ctx.command_path.split() if error.ctx else []
        if error.option_name == "--watch" and {"stream", "consumer"}.intersection(path):
            return f"{message.rstrip('.')}; jsctl report --watch shows streams and consumers repeatedly"
    message = " ".join(message.split()).rstrip(".")
    # click writes an optional argument in brackets
    message = re.sub(r"^(Invalid value for )'\[(\w+)\]'", r"\1'\2'", message)
    for kind, words in _KINDS.items():
        message = message.replace(f"is not a valid {kind}", f"is not a {words}")
    ctx = getattr(error, "ctx", None)
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
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):  # errors of files have a name
        return f"cannot write the output: {reason}"
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):
        return f"cannot write the output: {reason}"
    return reason


def _fail(env: Env, message: str, status: ExitStatus) -> int:
    """Write the line of an error, if that is possible, and return the status."""
    from jsctl.render.text import clean

    line = f"jsctl: error: {clean(message)}"
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):  # the disk is full, or the reader is gone
        env.discard_output()
    try:
        if env.streams.stderr.isatty():  # a terminal would break the line inside words
            from jsctl.render.fit import fold

            line = "\n".join(fold(line, env.error_width))
        env.streams.stderr.write(line + "\n")
        env.streams.stderr.flush()
    except (OSError, ValueError):
        env.discard_output(env.streams.stderr)
    return status

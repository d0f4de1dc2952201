"""The root command, and the one place where errors become a line on stderr and an exit status."""

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

    forget_secrets(os.environ)  # the flags have them now; servers, Spark and commands that run need none


for _option in root.params:
    if isinstance(_option, GlobalOption):
        _option.envvar = _option.environment


def run(args: Sequence[str], env: Env) -> int:
    """Run one command line and return its exit status. Never raises."""
    env.run_line = run
    try:
        return _run(args, env)
    except SystemExit as error:  # click ends completion so
        return error.code if isinstance(error.code, int) else ExitStatus.OK
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BaseException as error:  # while the outcome was shown
        return _fail(env, f"unexpected {_text(error)}; {_BUG}", ExitStatus.FAILURE)
    finally:
        for line in env.last_words:
            with contextlib.suppress(OSError, ValueError):  # stderr takes nothing
                env.say(line)


_KINDS = {
    "integer range": "whole number",
    "integer": "whole number",
    "float range": "number",
    "float": "number",
}
"""What click calls numbers, and what people do."""

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
        return _fail(env, _usage(error), ExitStatus.USAGE)
    except (KeyboardInterrupt, click.Abort) as error:
        # Python would warn of a coroutine that was made a moment before, and that nobody awaits now.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        if isinstance(error, KeyboardInterrupt):  # click has written a line end
            env.streams.stderr.write("\n")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        env.discard_output()
        return ExitStatus.OK
    except OSError as error:
        return _fail(env, _system_error(env, error), ExitStatus.FAILURE)
    except Exception as error:
        if env.environ.get("JSCTL_DEBUG"):
            import traceback

            env.streams.stderr.write(traceback.format_exc())
        return _fail(env, f"unexpected {_text(error)}; {_BUG}", ExitStatus.FAILURE)


def main(begin: Callable[[], None] = lambda: None) -> NoReturn:
    """Run the `jsctl` script. begin: see `Env`."""
    sys.unraisablehook = _keep_interrupts
    # Backups, dumps and exports hold what streams hold: for this user alone, unless JSCTL_UMASK allows more.
    mask = os.environ.get("JSCTL_UMASK", "")
    os.umask(int(mask, 8) & 0o777 if mask and not mask.strip("01234567") else os.umask(0o077) | 0o077)
    env = Env(Streams.real(), os.environ)
    env.begin = begin
    status = run(sys.argv[1:], env)
    gc.freeze()  # or Python looks through all objects at exit, a sixth of the time of `stream ls`
    sys.exit(status)


def _keep_interrupts(lost: "sys.UnraisableHookArgs") -> None:
    """Raise KeyboardInterrupt again when Python dropped one, as it does in a destructor or in the locks of an
    import. Leave out that an event loop cannot be closed whose creation was interrupted.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        import _thread

        # Not in this thread: it would be dropped, too.
        _thread.start_new_thread(_interrupt_soon, ())
    elif getattr(lost.object, "__qualname__", "") != "BaseEventLoop.__del__":
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    import signal
    import time

    time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)  # not interrupt_main, which wakes nothing that waits


def _check_argument(arg: str) -> None:
    """Raise BadInput for an argument with a NUL byte or an unpaired surrogate, which no path can contain."""
    if "\0" in arg:
        raise BadInput("an argument contains a NUL character, which names and paths cannot contain")
    try:
        os.fsencode(arg)
    except UnicodeEncodeError:
        raise BadInput("an argument contains an unpaired surrogate") from None


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        from jsctl.similar_names import find_nearest

        message = error.message  # without click's list, which also has far ones: --trace for --storage
        if near := find_nearest(error.option_name, error.possibilities or (), likeness=0.8):
            return f"{message.rstrip('.')}; did you mean {near!r}?"
        path = error.ctx.command_path.split() if error.ctx else []
        if error.option_name == "--watch" and {"stream", "consumer"}.intersection(path):
            return f"{message.rstrip('.')}; jsctl report --watch shows streams and consumers repeatedly"
    message = " ".join(message.split()).rstrip(".")
    # an argument that may be left out
    message = re.sub(r"^(Invalid value for )'\[(\w+)\]'", r"\1'\2'", message)
    for kind, words in _KINDS.items():
        message = message.replace(f"is not a valid {kind}", f"is not a {words}")
    ctx = getattr(error, "ctx", None)
    if ctx is not None and ";" not in message:
        message += f"; {ctx.command_path} --help shows the usage"
    return message


def _text(error: BaseException) -> str:
    """Return the kind and the text of an error; the kind alone when the text itself cannot be formatted, as
    after a JVM has ended."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}"
    except Exception:
        return kind


def _system_error(env: Env, error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename:
        return f"cannot use {error.filename}: {reason}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):  # files have a name
        return f"cannot write the output: {reason}"
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):
        return f"cannot write the output: {reason}"
    return reason


def _fail(env: Env, message: str, status: ExitStatus) -> int:
    """Write the one line of an error, as far as that is possible, and return the status."""
    from jsctl.render.text import clean

    line = f"jsctl: error: {clean(message)}"
    try:
        env.streams.stdout.flush()
    except (OSError, ValueError):  # the disk is full, or the reader gone
        env.discard_output()
    try:
        if env.streams.stderr.isatty():  # which would break it inside words
            from jsctl.render.fit import fold

            line = "\n".join(fold(line, env.error_width))
        env.streams.stderr.write(line + "\n")
        env.streams.stderr.flush()
    except (OSError, ValueError):
        env.discard_output(env.streams.stderr)
    return status

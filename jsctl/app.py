"""The root command, and the one place where errors become a line on stderr and an exit status."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from jsctl import __version__
from jsctl.commands.cli.global_flags import GlobalOption
from jsctl.commands.cli.groups import Group
from jsctl.env import Env, Streams
from jsctl.errors import Declined, ExitStatus, JsctlError


@click.version_option(__version__, "--version", message="jsctl %(version)s")
@click.group(cls=Group, name="jsctl", examples=["jsctl demo", "jsctl stream ls", "jsctl report --watch"])
def root() -> None:
    """A terminal tool for NATS JetStream.

    jsctl does what nats does for JetStream, with the same words and the same context files. It adds live
    reports over many domains, a whole network on your laptop, declared streams, and streams in Spark.
    """


for _option in root.params:
    if isinstance(_option, GlobalOption):
        _option.envvar = _option.environment


def run(args: Sequence[str], env: Env) -> int:
    """Run one command line and return its exit status. Never raises."""
    try:
        return _run(args, env)
    finally:
        for line in env.last_words:
            env.say(line)


def _run(args: Sequence[str], env: Env) -> int:
    try:
        value = root.main(
            list(args),
            prog_name="jsctl",
            standalone_mode=False,
            obj=env,
            terminal_width=min(env.width, 110) - 2,
        )
        if isinstance(value, int):  # --help and --version: an exit status
            return value
        status = env.emit(value) if value is not None else ExitStatus.OK
        env.streams.stdout.flush()
        return status
    except Declined as error:
        env.say(f"jsctl: {error}")
        return error.status
    except JsctlError as error:
        return _fail(env, str(error), error.status)
    except click.exceptions.NoArgsIsHelpError as error:
        env.streams.stderr.write(error.format_message() + "\n")
        return ExitStatus.USAGE
    except click.ClickException as error:
        return _fail(env, _usage(error), ExitStatus.USAGE)
    except click.Abort:  # click has written a line end after ^C
        return ExitStatus.INTERRUPTED
    except KeyboardInterrupt:
        env.streams.stderr.write("\n")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        env.discard_output()
        return ExitStatus.OK
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"cannot use {error.filename}: {reason}" if error.filename else reason
        return _fail(env, message, ExitStatus.FAILURE)
    except Exception as error:
        if env.environ.get("JSCTL_DEBUG"):
            raise
        return _fail(
            env,
            f"unexpected {type(error).__name__}: {error}; this is a bug in jsctl; JSCTL_DEBUG=1 shows where",
            ExitStatus.FAILURE,
        )


def main() -> NoReturn:
    """Entry point of the `jsctl` script."""
    # With 10,000 streams in memory, frequent garbage collection takes an eighth of the time.
    gc.set_threshold(50_000)
    sys.exit(run(sys.argv[1:], Env(Streams.real(), os.environ)))


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    ctx = getattr(error, "ctx", None)
    if ctx is not None and ";" not in message:
        message += f"; {ctx.command_path} --help shows the usage"
    return message


def _fail(env: Env, message: str, status: ExitStatus) -> int:
    from jsctl.render.text import clean

    env.streams.stdout.flush()
    env.streams.stderr.write(f"jsctl: error: {clean(message)}\n")
    return status

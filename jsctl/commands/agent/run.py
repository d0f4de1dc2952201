"""`jsctl agent run`."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator

import click

from jsctl.base.children import wait_for_child
from jsctl.commands.agent.folder import SOCKET, VARIABLE, make_folder, start_agent
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import JsctlError

_END_TIMEOUT = 2  #: seconds for the agent to end; it takes longer if calls in the background go on


@command("run", examples=["jsctl agent run -- ./nightly.sh --all", "jsctl agent run -- make check"])
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND [ARG]...")
def run(env: Env, words: tuple[str, ...]) -> None:
    """Run a command whose calls of jsctl take less than half of the time.

    As long as the command runs, a process that has imported jsctl serves its calls; each runs in a process of
    its own, with the files, the terminal, the folder, the environment and the limits of the caller, and ends
    as it would without. Nothing is kept from call to call but what was imported. Ends with the status of the
    command.
    """
    with _running_agent() as socket:
        variables = {**env.environ, VARIABLE: socket} if socket else dict(env.environ)
        try:
            script = subprocess.Popen(words, env=variables)
        except OSError as error:
            raise JsctlError(f"cannot run {words[0]}: {error.strerror}") from None
        status = wait_for_child(script)
    if status < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    raise SystemExit(status)


@contextlib.contextmanager
def _running_agent() -> Iterator[str]:
    """Yield the path of the socket of an agent that runs meanwhile; empty where there can be none."""
    if os.name != "posix":
        yield ""
        return
    folder = make_folder()
    try:
        agent = start_agent(folder, stdin=subprocess.PIPE)
        with agent.stdin or contextlib.nullcontext():
            yield str(folder / SOCKET)  # the agent ends with its stdin, and with the last of its calls
        with contextlib.suppress(subprocess.TimeoutExpired):
            agent.wait(_END_TIMEOUT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

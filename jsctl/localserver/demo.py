"""The steps of `jsctl demo`, and how they are run: each is a command line of jsctl, a process of its own.

The steps are the commands of the leaf node guide up to its replication report, the report in Spark, and a
consumer that falls behind and catches up on the live report.
"""

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from jsctl.base.files import remove_leftovers, removing
from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api
from jsctl.localserver.process import build_module_command
from jsctl.nats.connection import Connection

_FOLDER = "jsctl-demo"
_COPY_SECONDS = 30
_GRACE_SECONDS = 10.0
"""How long a command may take to end after ctrl-C; Spark needs some time."""


class Step(NamedTuple):
    """A command line of jsctl, and a note on what it shows.

    line: `{hub}` and `{system}` stand for contexts, `{reports}` for a folder.
    copied: streams in the domain hub that must hold a message before the command runs.
    gentle: the command is stopped as by ctrl-C, since it has files to remove.
    meanwhile: command lines that run one after the other while the command runs; their output is not shown.
    """

    note: str
    line: str
    copied: tuple[str, ...] = ()
    gentle: bool = False
    meanwhile: tuple[str, ...] = ()


_HUB = "--context {hub}"
_AT_HUB = f"{_HUB} --js-domain hub"
_AT_LEAF = f"{_HUB} --js-domain leaf"
_BOTH = f"{_AT_HUB} --js-domain leaf"
_COPIES = ("backup-test-leaf", "aggregate-test-leaf")

GUIDE = (
    Step(
        "The system accounts are connected, so one report covers both servers.",
        "server report jetstream --context {system}",
    ),
    Step(
        "A stream in the domain of the server we are connected to, hub.",
        f"stream add test --subjects test --defaults {_HUB}",
    ),
    Step(
        "The same in the domain leaf, over the same connection.",
        f"stream add test --subjects test --defaults {_AT_LEAF}",
    ),
    Step("One message.", f"pub test 'hello world' {_HUB}"),
    Step("Both streams listen on its subject, so each domain stores it.", f"stream report {_AT_LEAF}"),
    Step("", f"stream report {_AT_HUB}"),
    Step(
        "A mirror, in the hub, of the leaf node's stream.",
        f"stream add backup-test-leaf --mirror test@leaf --defaults {_AT_HUB}",
    ),
    Step(
        "A stream in the hub that collects from the leaf node, and could collect from many.",
        f"stream add aggregate-test-leaf --source test@leaf --defaults {_AT_HUB}",
    ),
    Step("Both have copied the message.", f"stream report {_AT_HUB}", _COPIES),
    Step("Both domains on one screen; --watch keeps it up to date.", f"report {_BOTH}"),
)

SQL = (
    "SELECT domain, stream, messages, bytes, kind, origin, lag"
    " FROM streams LEFT JOIN replication USING (domain, stream) ORDER BY domain, stream"
)

SPARK = (
    Step(
        "The same report as Spark tables, in Parquet.",
        f"export reports --to {{reports}} {_BOTH}",
        gentle=True,
    ),
    Step("Read back with SQL.", f"export query --from {{reports}} '{SQL}'", gentle=True),
)


_WORKER = "aggregate-test-leaf WORKER"

LIVE = (
    Step(
        "A pull consumer on the stream that collects from the leaf node.",
        f"consumer add {_WORKER} --defaults {_AT_HUB}",
    ),
    Step(
        "The live report. First messages arrive and nobody reads them, so the lag grows;\n"
        "# then a worker processes 200 of them, and the lag drains.",
        f"report --watch 1s --count 10 --part consumers {_AT_HUB}",
        meanwhile=(
            f"pub test 'message {{{{Count}}}}' --count 300 --sleep 10ms {_HUB}",
            f"consumer next {_WORKER} --count 200 --wait 10ms {_AT_HUB}",
        ),
    ),
    Step("Why the rest still waits.", f"consumer why {_WORKER} {_AT_HUB}"),
)


class Demo:
    """A run of steps.

    values: what the names in braces stand for. url: of the hub, with the login of its user.
    environ: the user's; without the variables that would override the contexts of the demo.
    """

    def __init__(self, values: Mapping[str, str], url: str, environ: Mapping[str, str]) -> None:
        self._values = values
        self._url = url
        self._environ = {name: value for name, value in environ.items() if not name.startswith("NATS_")}

    def build_arguments(self, line: str) -> list[str]:
        """Return the arguments of a step's command line."""
        args = shlex.split(line)
        return [self._values.get(arg.strip("{}"), arg) if arg.startswith("{") else arg for arg in args]

    async def run_lines(self, lines: Sequence[str]) -> None:
        """Run command lines one after the other, without their output, up to the first that fails."""
        for line in lines:
            nowhere = asyncio.subprocess.DEVNULL  # a progress bar would tear the live screen
            status, _ = await self.run(self.build_arguments(line), nowhere, gentle=False, stderr=nowhere)
            if status:
                return

    async def wait_until_copied(self, streams: Sequence[str]) -> None:
        """Wait until streams of the domain hub hold a message. Raises JsctlError when they stay empty."""
        connection = await Connection.open(Settings(url=self._url, timeout=5 * SECOND))
        try:
            api = Api(connection, domain="hub")
            async with asyncio.timeout(_COPY_SECONDS):
                for stream in streams:
                    await _wait_for_message(api, stream)
        except TimeoutError:
            raise JsctlError("the hub does not copy from the leaf node") from None
        finally:
            await connection.close()

    async def run(
        self, args: Sequence[str], stdout: int | None, *, gentle: bool, stderr: int | None = None
    ) -> tuple[int, str]:
        """Run a command line to its end.

        stdout: the descriptor that its output goes to; None returns the output. stderr: that of its messages;
        None for ours.
        Returns the exit status and the output.
        """
        process = await asyncio.create_subprocess_exec(
            *build_module_command("jsctl", *args),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if stdout is None else stdout,
            stderr=stderr,
            env=self._environ,
            start_new_session=True,  # so that all processes that it starts can be stopped with it
        )
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            await _stop(process, gentle)
            raise
        return process.returncode or 0, (output or b"").decode(errors="replace")


async def _wait_for_message(api: Api, stream: str) -> None:
    while True:
        info = await api.call(f"STREAM.INFO.{stream}")
        if info["state"]["messages"]:
            return
        await asyncio.sleep(0.05)


async def _stop(process: asyncio.subprocess.Process, gentle: bool) -> None:
    """Stop a command and all that it started: by a signal, then by force."""
    # SIGTERM ends a starting Python silently, SIGINT with a traceback.
    for number in (signal.SIGINT if gentle else signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()


class FolderExists(BadInput):
    """The folder that is to be created exists."""


@contextlib.contextmanager
def demo_folder(name: str) -> Iterator[Path]:
    """Create a folder for the block, which `keep_folder` keeps: `name`, or else the first of `jsctl-demo`,
    `jsctl-demo-2` and so on that no other demo has. Those that killed demos left are removed first. Raises
    what `create_folder` raises.
    """
    remove_leftovers(Path(), _FOLDER)
    with removing(create_folder(expand_home(name)) if name else _create_next()) as folder:
        yield folder


def _create_next() -> Path:
    for number in count(1):
        with contextlib.suppress(FolderExists):
            return create_folder(Path(_FOLDER if number == 1 else f"{_FOLDER}-{number}"))
    raise AssertionError


def create_folder(folder: Path) -> Path:
    """Create a folder, and return it. Raises FolderExists, BadInput, JsctlError."""
    try:
        folder.mkdir()
    except FileExistsError:
        raise FolderExists(f"{folder} exists", "name a new folder with --to") from None
    except FileNotFoundError:
        raise BadInput(
            f"there is no folder {folder.parent}", "name a folder in an existing one with --to"
        ) from None
    except OSError as error:
        raise JsctlError(
            f"cannot create {folder}: {error.strerror}", "name another folder with --to"
        ) from None
    return folder

"""`jsctl import`."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.export.options import spark_options
from jsctl.env import Env
from jsctl.errors import ApiError, BadInput, Cancelled, JsctlError, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.nats import login
from jsctl.nats.subjects import matches, validate_subject
from jsctl.spark.session.session import QUICK, check, session
from jsctl.spark.sink import importing
from jsctl.spark.sink.importing import FORMATS, Options, Sample
from jsctl.spark.sink.publishing import Counts, Job
from jsctl.units import SECOND
from jsctl.views.export import imports as view
from jsctl.views.result import Result

_EVERY = 0.5  #: seconds between two looks at the stream, for the progress


@command(
    "import",
    examples=[
        "jsctl import orders --stream ORDERS",
        "jsctl import orders --stream COPY --map ORDERS=COPY",
        "jsctl import events.json --stream EVENTS --subject events.imported --dry-run",
    ],
)
@argument("path")
@option("--stream", metavar="STREAM", required=True, noun="stream", help="Stream to publish to")
@option("--subject", metavar="SUBJECT", default="", help="Subject of all messages, instead of the column's")
@option("--prefix", metavar="PREFIX", default="", help="Put PREFIX. before each subject")
@option(
    "--map",
    "maps",
    metavar="FROM=TO",
    multiple=True,
    help="Publish FROM and FROM.rest as TO and TO.rest; may be repeated, the first that fits counts",
)
@option("--where", metavar="SQL", default="", help="Only rows for which this Spark SQL condition holds")
@option("--format", type=click.Choice(FORMATS), help="Form of the files (as they are called)")
@option("--base64", is_flag=True, help="Data and header values are base64, in files that are no export")
@option("--again", is_flag=True, help="Publish again what was imported before, with new message ids")
@option("--keep-ids", is_flag=True, help="Keep the Nats-Msg-Id that a message has in its headers")
@option(
    "--tasks",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Publish from so many tasks; beyond 1, only messages of one subject keep their order (1)",
)
@option("--dry-run", is_flag=True, help="Say what would be published")
@spark_options
async def import_(
    env: Env,
    path: str,
    stream: str,
    subject: str,
    prefix: str,
    maps: tuple[str, ...],
    where: str,
    format: str | None,
    base64: bool,
    again: bool,
    keep_ids: bool,
    tasks: int,
    dry_run: bool,
    master: str,
    remote: str,
) -> Result:
    """PATH is a file or folder with the columns subject, data, and if there are such, headers and msg_id; or
    what jsctl export stream wrote, in any form. The messages get ids, so that an import that is repeated
    within the stream's duplicate window stores nothing twice. Headers that steer the server (Nats-Msg-Id,
    Nats-Expected-*, Nats-Rollup, Nats-Batch-*) are left out.
    """
    options = Options(
        Path(path).expanduser(), format or "", subject, prefix, _maps(maps), where, base64, again, keep_ids,
        tasks,
    )  # fmt: skip
    for text in (subject, prefix, *(new for _, new in options.maps)):
        if text:
            validate_subject(text)
    importing.files(options)
    check(master, remote)
    api = await env.jetstream()
    before = await _info(api, stream)
    job = Job(await login.with_files(env.settings()), stream)
    begin = time.monotonic()
    work = _Work(options, job, master, remote, dry_run)
    found = await _watched(env, api, stream, work, int(before["state"]["last_seq"]))
    if isinstance(found, Sample):
        taken = before["config"].get("subjects") or []
        lost = [s for s in found.subjects if not any(matches(pattern, s) for pattern in taken)]
        if lost:
            raise BadInput(
                f"{stream} does not take {lost[0]}", "--map, --prefix and --subject change subjects"
            )
        return view.rehearsed(stream, *found)
    return view.imported(
        stream, found.published, found.duplicates, found.bytes, int((time.monotonic() - begin) * SECOND)
    )


def _maps(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = []
    for text in texts:
        old, sign, new = text.partition("=")
        if not sign or not old.strip() or not new.strip():
            raise BadInput(f"--map {text!r} is not FROM=TO", "such as --map ORDERS=COPY")
        found.append((old.strip(), new.strip()))
    return tuple(found)


async def _info(api: Api, stream: str) -> Json:
    try:
        info = await api.call(f"STREAM.INFO.{stream}")
    except ApiError as error:
        if error.err_code == 10059:
            raise NotFound(f"there is no stream {stream}", "jsctl stream add makes one") from None
        raise
    config = info["config"]
    if config.get("mirror"):
        raise BadInput(f"{stream} is a mirror, which takes no messages")
    if config.get("sealed"):
        raise BadInput(f"{stream} is sealed")
    return info


class _Work:
    """The import, in a thread of its own: Spark binds a session to a thread."""

    def __init__(self, options: Options, job: Job, master: str, remote: str, dry_run: bool) -> None:
        self.total = 0
        self.publishing = threading.Event()
        self._options = options
        self._job = job
        self._master = master
        self._remote = remote
        self._dry_run = dry_run
        self._stopped = threading.Event()
        self._spark: Any = None

    def run(self) -> Sample | Counts:
        with session(self._master, self._remote, name="jsctl import", conf=QUICK) as self._spark:
            frame, write = importing.rows(self._spark, self._options)
            if self._dry_run:
                return importing.look(frame)
            self.total = frame.count()
            if self._stopped.is_set():
                raise Cancelled("interrupted")
            self.publishing.set()
            return importing.send(frame, self._job, write)

    def stop(self) -> None:
        self._stopped.set()
        with contextlib.suppress(
            Exception
        ):  # it has not begun, or has ended; Connect knows interruptAll only
            (self._spark.interruptAll if self._remote else self._spark.sparkContext.cancelAllJobs)()


async def _watched(env: Env, api: Api, stream: str, work: _Work, last: int) -> Sample | Counts:
    """Run it, and show how the stream grows meanwhile."""
    with ThreadPoolExecutor(1, "spark") as thread:
        running = asyncio.wrap_future(thread.submit(work.run))
        try:
            while not work.publishing.is_set() and not running.done():
                await asyncio.wait([running], timeout=0.1)
            with env.progress(f"Publishing to {stream}", work.total) as advance:
                while not running.done():
                    await asyncio.wait([running], timeout=_EVERY)
                    with contextlib.suppress(JsctlError):
                        now = int((await api.call(f"STREAM.INFO.{stream}"))["state"]["last_seq"])
                        advance(now - last)
                        last = now
            return await running
        except asyncio.CancelledError:
            await asyncio.to_thread(work.stop)
            await asyncio.wait([running])
            running.exception()  # what the stop made of it is no news
            raise

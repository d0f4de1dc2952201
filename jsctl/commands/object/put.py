"""`jsctl object put`."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jsctl.base.units import format_bytes
from jsctl.commands.cli import SIZE, argument, command, destructive, option
from jsctl.commands.object.flags import bucket_argument, open_bucket, parse_metadata
from jsctl.commands.options.body import find_stdin
from jsctl.commands.options.protection import refuse_protected, unprotect_flag
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.stdin import Stdin
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object import upload as uploads
from jsctl.jetstream.object.files import open_source
from jsctl.jetstream.object.model import CHUNK_SIZE, ObjectInfo, validate_object_name
from jsctl.jetstream.stream.protection import is_protected, refuse_denied
from jsctl.nats.headers import encode_headers, parse_header_text
from jsctl.views.object import lists as view
from jsctl.views.result import Result

_PIPES = re.compile(r"/(dev/(fd/|stdin$)|proc/[^/]+/fd/)")
"""Paths that a shell gives to what another command writes, <(...): they say nothing about it."""


@dataclass(frozen=True, slots=True)
class Options:
    """chunk_size: bytes."""

    bucket: str
    file: tuple[str, ...]
    name: str | None
    description: str
    headers: tuple[str, ...]
    metadata: tuple[str, ...]
    chunk_size: int
    progress: bool
    unprotect: tuple[str, ...]
    force: bool

    def __post_init__(self) -> None:
        if self.name and len(self.file) > 1:
            raise BadInput("--name is for one file", "leave it out, or put one file at a time")
        if self.name == "":
            raise BadInput("the object's name is empty", "leave --name out, or name the object")
        if self.reads_stdin and not self.name:
            raise BadInput("stdin has no name", "specify --name NAME, or FILE")
        if "-" in self.file and len(self.file) > 1:
            raise BadInput("stdin and files cannot be put together")
        pipe = next(
            (file for file in self.file if not self.name and _PIPES.match(os.path.normpath(file))), ""
        )
        if pipe:
            raise BadInput(f"{pipe} is a pipe without a name of its own", "specify --name NAME")

    @property
    def reads_stdin(self) -> bool:
        """Whether the object is what stdin holds."""
        return self.file in ((), ("-",))

    def object_name(self, file: str) -> str:
        """Return the name of the object that a file becomes. Raises BadInput."""
        return validate_object_name(self.name or os.path.normpath(file))

    def put_options(self) -> uploads.PutOptions:
        """Return what is stored with each object. Raises BadInput."""
        headers: dict[str, list[str]] = {}
        for text in self.headers:
            name, value = parse_header_text(text)
            encode_headers([(name, value)])
            headers.setdefault(name, []).append(value)
        return uploads.PutOptions(self.description, headers, parse_metadata(self.metadata), self.chunk_size)


@command(
    "put",
    examples=[
        "jsctl object put FILES report.pdf",
        "jsctl object put FILES /data/big.iso --name big.iso --force",
        "jsctl object put FILES - --name site.tgz",
    ],
)
@bucket_argument(required=True)
@argument("file", nargs=-1)
@option("--name", metavar="NAME", help="Name of the object (the path of the file)")
@option("--description", metavar="TEXT", default="", help="What the object is")
@option(
    "--header", "-H", "headers", metavar="K:V", multiple=True, help="Header of the object; may be repeated"
)
@option("--metadata", metavar="KEY=VALUE", multiple=True, help="Metadata of the object; may be repeated")
@option("--chunk-size", type=SIZE, metavar="BYTES", default=CHUNK_SIZE, help="Bytes of a chunk (128KiB)")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@unprotect_flag
@destructive("Replace existing objects without asking")
async def put(env: Env, options: Options) -> Result:
    """Read FILE or, without it or with -, stdin. If a put of a file is interrupted, run it again: it compares
    what is there and continues.
    """
    extras = options.put_options()
    names = [options.object_name(file) for file in options.file] or [options.object_name("")]
    sources: list[Path | Stdin] = []
    if options.reads_stdin:
        sources = [find_stdin(env, "the object", forced=bool(options.file))]
    for file in () if options.reads_stdin else options.file:
        sources.append(Path(file))
        if not Path(file).is_fifo():  # which can be opened only once
            with open_source(Path(file)):
                pass  # before anything is stored: every file can be read
    api, bucket = await open_bucket(env, options.bucket)
    await _confirm(env, api, bucket, names, options)
    stored: list[ObjectInfo] = []
    for opened, name in zip(sources, names, strict=True):
        with _open_source(opened) as (source, size):
            stored.append(
                await put_file(env, api, (bucket, name), source, size, extras, progress=options.progress)
            )
    return view.stored(stored)


async def put_file(
    env: Env,
    api: Api,
    place: tuple[str, str],
    source: uploads.Source,
    size: int,
    options: uploads.PutOptions,
    *,
    progress: bool,
) -> ObjectInfo:
    """Put one file, with a progress bar. place: bucket and name. size: bytes; 0 if unknown."""
    bucket, name = place
    with env.progress(name, size if progress else 0, in_bytes=True) as advance:
        observer = _Observer(env, f"{bucket} > {name}", advance)
        return await uploads.put(api, bucket, name, source, options, observer)


class _Observer(uploads.PutObserver):
    def __init__(self, env: Env, label: str, advance: Callable[[int], None]) -> None:
        self._env = env
        self._label = label
        self._advance = advance

    def advance(self, size: int) -> None:
        self._advance(size)

    def on_resume(self, size: int) -> None:
        self._env.say(
            f"An earlier put of {self._label} was interrupted; {format_bytes(size)} are already stored"
        )

    def on_retry(self, reason: str) -> None:
        self._env.say(f"jsctl: {reason}; sending again what is missing")


@contextmanager
def _open_source(source: Path | Stdin) -> Iterator[tuple[uploads.Source, int]]:
    """Open a file or stdin. Yields the stream to put, and its size in bytes, 0 if that is unknown."""
    if isinstance(source, Stdin):
        file = source.open()
        yield uploads.Source(file, stop=file.close), 0
        return
    with open_source(source) as (opened, identity, size):
        yield uploads.Source(opened, identity), size


async def _confirm(env: Env, api: Api, bucket: str, names: list[str], options: Options) -> None:
    """Ask before objects are replaced, and refuse it in a protected bucket."""
    bucket_info = await buckets.fetch_info(api, bucket)
    if options.force and not env.dry_run and not is_protected(bucket_info["config"]):
        return
    object_info = [await requests.find(api, bucket, name) for name in names]
    existing = [info for info in object_info if info is not None and not info.is_deleted]
    refuse_protected([bucket_info], options.unprotect, [bucket_info] if existing else [])
    refuse_denied([bucket_info])
    env.announce(view.put_intent(bucket, names, existing))
    if existing:
        await env.confirm(view.intent("replace", existing), force=options.force)

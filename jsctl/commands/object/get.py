"""`jsctl object get`."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from jsctl.base.files import is_replaced
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.object.flags import bucket_argument, open_bucket
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.object import download, requests
from jsctl.jetstream.object.files import open_target, write_all
from jsctl.jetstream.object.model import ObjectInfo
from jsctl.jetstream.object.sync import build_file_name
from jsctl.views.events import End, Events, Presentation
from jsctl.views.object import lists as view
from jsctl.views.result import Result

STDOUT = "-"


@command(
    "get",
    examples=[
        "jsctl object get FILES report.pdf",
        "jsctl object get FILES site.tgz -O - | tar tz",
        "jsctl object get FILES big.iso -O /data/big.iso --force",
    ],
)
@bucket_argument()
@argument("object", default="")
@option("--output", "-O", metavar="PATH", default="", help="File or folder to write to; - is stdout")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@destructive("Replace an existing file without asking")
async def get(
    env: Env, bucket: str, object: str, output: str, progress: bool, force: bool
) -> Result | Events[list[bytes]]:
    """Write to --output or, without it, to the current folder, under the object's name without its folders.
    The file appears once all of it has arrived and its digest is right; until then an existing file stays.
    """
    api, bucket = await open_bucket(env, bucket)
    name = await pick(env, "object", object, parent=bucket, api=api)
    object_info = await requests.resolve(api, bucket, name)
    if output == STDOUT:
        if env.wants_json:
            raise BadInput("--json and the object cannot both be on stdout", "leave one of them out")
        return _write_to_stdout(env, api, object_info, progress=progress)
    path = _resolve_target(output, name)
    if env.dry_run or is_replaced(path):
        await env.confirm(view.write_intent(object_info, path), force=force)
    start = time.monotonic_ns()
    await get_file(env, api, object_info, path, progress=progress)
    return view.written(object_info, str(path), time.monotonic_ns() - start)


async def get_file(env: Env, api: Api, object_info: ObjectInfo, path: Path, *, progress: bool) -> None:
    """Write an object to a file, with a progress bar. Raises BadInput, JsctlError."""
    with (
        open_target(path) as file,
        env.progress(object_info.name, object_info.size if progress else 0, in_bytes=True) as advance,
    ):
        await download.get(
            api, object_info, lambda block: write_all(file, block), advance, _make_retry_notice(env)
        )


def _write_to_stdout(env: Env, api: Api, object_info: ObjectInfo, *, progress: bool) -> Events[list[bytes]]:
    progress_total = object_info.size if progress and not env.is_terminal else 0

    async def blocks() -> AsyncGenerator[Sequence[list[bytes]], None]:
        with env.progress(object_info.name, progress_total, in_bytes=True) as advance:
            async with aclosing(download.read(api, object_info, _make_retry_notice(env))) as reading:
                async for block in reading:
                    yield [block]
                    advance(sum(map(len, block)))

    return Events(
        batches=blocks(),
        shown=Presentation(
            record=lambda block: None,
            text=lambda block: b"".join(block).decode(errors="surrogateescape"),
            raw=b"".join,
        ),
        end=End(noun="block"),
    )


def _make_retry_notice(env: Env) -> Callable[[str], None]:
    return lambda reason: env.say(f"jsctl: {reason}; continuing where it stopped")


def _resolve_target(output: str, name: str) -> Path:
    """Return the file to write. Raises BadInput for a name that is not safe as a file name."""
    path = expand_home(output) if output else Path()
    return path / build_file_name(name) if not output or output.endswith("/") or path.is_dir() else path

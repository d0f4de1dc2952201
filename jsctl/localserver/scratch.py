"""A server to try something on: empty, on a free port of this machine that only this process can log in to,
gone when the block ends, and also when this process is killed."""

import asyncio
import contextlib
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from jsctl.base.files import write_atomically
from jsctl.base.json_text import parse_json
from jsctl.contexts.environment import forget_secrets
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.localserver.binary import Binary
from jsctl.localserver.server_config import format_config
from jsctl.nats.codec import MAX_PAYLOAD

Json = dict[str, Any]

START_SECONDS = 10.0
"""How long it may take until it accepts clients; 10 ms are usual."""

_ENDLESS = 1 << 60  #: bytes; nothing is stored

# The shell waits for the end of its stdin, a pipe from jsctl, and ends the server then.
_GUARDED = """
exec 3<&0
"$@" </dev/null >"$0/log" 2>&1 &
server=$!
(cat <&3 >/dev/null; kill -9 $server 2>/dev/null) &
wait $server
touch "$0/ended"
wait
rm -rf "$0"
"""


@contextlib.asynccontextmanager
async def open_scratch_server(
    binary: Binary, accounts: Mapping[str, Json], environ: Mapping[str, str]
) -> AsyncIterator[dict[str, Settings]]:
    """Start a server with JetStream that reserves any number of bytes, and yield the settings of a login to
    each account. accounts: by name, their `jetstream` block of the configuration. Raises JsctlError."""
    folder = Path(tempfile.mkdtemp(prefix="jsctl-trial-"))  # private
    try:
        inherited, password = dict(environ), secrets.token_hex(16)
        forget_secrets(inherited)
        config = folder / "server.conf"
        jetstream: Json = {"store_dir": str(folder / "store"), "max_mem": _ENDLESS, "max_file": _ENDLESS}
        text = format_config(_build_config(folder, jetstream, accounts, password))
        write_atomically(config, text, durable=False)
        for name in accounts:
            # A server removes the folder of an account whose last stream goes, also while another stream is
            # being created there, which fails then (stream.go: stop).
            (folder / "store" / "jetstream" / name / "streams" / "kept").mkdir(parents=True)
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _GUARDED, str(folder), binary.path, "-c", str(config)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=inherited,
            start_new_session=True,  # ctrl-C on the terminal is for jsctl
        )
        try:
            url = await _read_url(folder, process)
            yield {name: Settings(url=url, user=name, password=password) for name in accounts}
        finally:
            if process.stdin:
                process.stdin.close()
            await process.wait()
    except OSError as error:
        raise JsctlError(f"cannot start {binary.path}: {error.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _build_config(folder: Path, jetstream: Json, accounts: Mapping[str, Json], password: str) -> Json:
    return {
        "listen": "127.0.0.1:-1",
        "ports_file_dir": str(folder),
        "server_name": "scratch",
        "max_payload": MAX_PAYLOAD,
        "jetstream": jetstream,
        "accounts": {
            name: {"users": [{"user": name, "password": password}], "jetstream": {**limits}}
            for name, limits in accounts.items()
        },
    }


async def _read_url(folder: Path, process: asyncio.subprocess.Process) -> str:
    """Return the address in the file that the server writes when it accepts clients."""
    try:
        async with asyncio.timeout(START_SECONDS):
            while not (folder / "ended").exists() and process.returncode is None:
                for path in folder.glob("*.ports"):
                    with contextlib.suppress(ValueError, OSError, LookupError, TypeError):  # being written
                        return str(parse_json(path.read_bytes())["nats"][0])
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise JsctlError(f"nats-server did not start within {START_SECONDS:g}s") from None
    log = (folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    raise JsctlError(f"nats-server does not start: {log[-1] if log else 'it ended'}")

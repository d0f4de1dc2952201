"""`--translate`: payloads through a command of the user's before they are shown."""

import asyncio
import re
import shlex

from jsctl.errors import BadInput, JsctlError


def parse(command: str) -> list[str]:
    """The words of a command. Raises BadInput."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"--translate {command!r} cannot be split into words: {error}") from None
    if not words:
        raise BadInput("--translate needs a command")
    return words


async def translate(command: str, data: bytes, *, subject: str, stream: str = "") -> bytes:
    """What the command writes when it reads `data`; `{{Subject}}` and `{{Stream}}` in its words are
    filled in (after the words were parted, so that no subject becomes a word or an option of a shell).

    Raises BadInput when there is no such command, JsctlError when it fails.
    """
    names = {"Subject": subject, "Stream": stream}
    words = [
        re.sub(r"\{\{-?\s*(Subject|Stream)\s*-?\}\}", lambda m: names[m[1]], word) for word in parse(command)
    ]
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot run {words[0]!r} of --translate: {reason}") from None
    try:
        out, _ = await process.communicate(data)
    except asyncio.CancelledError:
        if process.returncode is None:
            process.kill()
        raise
    if process.returncode:
        told = out.decode(errors="replace").strip().splitlines()
        raise JsctlError(
            f"{words[0]!r} of --translate failed with status {process.returncode}"
            + (f": {told[-1]}" if told else "")
        )
    return out

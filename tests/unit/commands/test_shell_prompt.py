"""Tab at the prompt of `jsctl shell`."""

import asyncio
import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input

from jsctl.prompts.shell import Candidate, ShellPrompt

WORDS = ("info", "ls", "list-all")


def complete(text: str) -> Iterable[Candidate]:
    start = text.rfind(" ") + 1
    return [Candidate(word, start, word) for word in WORDS if word.startswith(text[start:])]


@pytest.mark.parametrize(("typed", "line"), [("stream in\t", "stream info "), ("lis\t", "list-all ")])
def test_the_only_completion_is_inserted_however_fast_one_types(
    typed: str, line: str, tmp_path: Path
) -> None:
    async def read() -> str | None:
        with create_pipe_input() as keys, create_app_session(input=keys):
            prompt = ShellPrompt(
                io.StringIO(), tmp_path / "h", complete, lambda text: True, lambda text: True
            )
            reading = asyncio.create_task(prompt.read("here", 0))
            keys.send_text(typed)
            buffer, completed = prompt._session.default_buffer, asyncio.Event()
            buffer.on_text_changed += lambda _: completed.set() if buffer.text == line else None
            await asyncio.wait_for(completed.wait(), 60)
            keys.send_text("\r")
            return await reading

    assert asyncio.run(read()) == line

"""Arguments of the form `@FILE`, which stand for the lines of a file, as with the `nats` tool.

fisk: parser.go, ExpandArgsFromFile.
"""

from collections.abc import Sequence
from pathlib import Path

from jsctl.errors import BadInput

TEXT_HINT = "@FILE stands for the lines of a file; for the text itself, write -- before it, or --flag=@TEXT"
CONTENT_HINT = "the lines of @FILE are arguments; the content of a file goes to stdin: < FILE"


def expand_files(words: Sequence[str], within: Sequence[str] = ()) -> list[str]:
    """Return a command line with the lines of each file in the place of its `@FILE`; not after `--`.

    Empty lines, and those that begin with `#`, are left out. within: the files that contain the words.
    Raises BadInput for a file that cannot be read, or that contains itself.
    """
    expanded: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            return [*expanded, *words[at:]]
        if not word.startswith("@"):
            expanded.append(word)
            continue
        if word in within:
            raise BadInput(f"the arguments in {word[1:]} contain {word} again", TEXT_HINT)
        expanded += expand_files(_read_lines(word[1:]), [*within, word])
    return expanded


def _read_lines(path: str) -> list[str]:
    if not path:
        raise BadInput("@ names no file of arguments", TEXT_HINT)
    try:
        text = Path(path).read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise BadInput(f"cannot read the arguments in {path!r}: {error.strerror}", TEXT_HINT) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return [line for line in lines if line.strip() and not line.startswith("#")]

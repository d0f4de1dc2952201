"""Lines of `jsctl shell`, split as a POSIX shell does: at operators, blanks, quotation marks, backslashes."""

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from jsctl.errors import BadInput

_TOKEN = re.compile(
    r"""(?P<quoted>'[^']*'|"(?:[^"\\]|\\.)*")  # a whole quotation
      |(?P<open>['"].*)                        # one that is not closed
      |(?P<escaped>\\.?)
      |(?P<operator>&&|\|\||;)
      |(?P<pipe>\|)
      |(?P<blank>[ \t\n]+)
      |(?P<plain>(?:[^'"\\|;&\s]|&(?!&))+|\s)
    """,
    re.VERBOSE | re.DOTALL,
)


_ARROW = re.compile(r">>?[ \t]*(?=[^-\s>&])")
_REDIRECTION = re.compile(r"\d*<|\d+>|>>?&|&>|&$")  #: of a POSIX shell; not one of _ARROW
_COMPOUND = re.compile(r"\s*(while|until|for|if|case|[({])(?!\w)")
"""The beginning of a command of the system that has its own `;`."""

_MAX_CHARACTERS = 1 << 17  #: characters of a line, as of a word that the system takes
_MAX_ROWS = 1000  #: rows of a line


class Line(NamedTuple):
    """A command line. pipe: the command of the system's shell that receives its output; empty for the
    terminal.
    """

    words: list[str]
    pipe: str = ""


def split_list(text: str) -> list[tuple[str, str]]:
    """Split a line at `&&`, `||` and `;` outside of quotation marks. Returns each operator, empty for the
    first command, with the command after it. What follows `!`, or a pipe to a loop, is one command.

    Raises BadInput for an operator without a command.
    """
    commands, operator, start, is_system = list[tuple[str, str]](), "", 0, text.lstrip().startswith("!")
    for token in _TOKEN.finditer(text):
        if token["pipe"] and _COMPOUND.match(text, token.end()):
            is_system = True
        if not token["operator"] or is_system:
            continue
        commands.append((operator, text[start : token.start()]))
        if not text[start : token.start()].strip():
            raise BadInput(f"no command is before the {token['operator']}", "quote it if it is a word")
        operator, start = token["operator"], token.end()
        is_system = text[start:].lstrip().startswith("!")
    if text[start:].strip() or not commands:
        commands.append((operator, text[start:]))
    elif operator != ";":
        raise BadInput(f"nothing follows the {operator}", "quote it if it is a word")
    return commands


def parse_line(text: str) -> Line:
    """Split a line into words, and the rest after its first `|` outside of quotation marks. Raises
    BadInput.

    `> FILE` and `>> FILE` at the end of a line are a pipe, too; a `>` at the end, or before a flag, is the
    wildcard of subjects.
    """
    pipe_start = next((token.start() for token in _TOKEN.finditer(text) if token["pipe"]), -1)
    line, pipe = (text, "") if pipe_start < 0 else (text[:pipe_start], text[pipe_start + 1 :].strip())
    if pipe_start >= 0 and not pipe:
        raise BadInput("nothing follows the |", "name a command of the system")
    _refuse_redirections(line)
    start, file = _find_redirection(line)
    if file:
        if pipe or len(_split(file)) != 1:
            raise BadInput("the line does not end after > and a file", "quote '>' where it is a wildcard")
        line, pipe = line[:start], f"cat {line[start:]}"
    words = _split(line)
    return Line(words[1:] if words[:1] == ["jsctl"] else words, pipe)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line.replace("\\\n", ""))
    except ValueError as error:
        raise BadInput(f"the line is incomplete: {str(error).lower()}") from None


def _refuse_redirections(line: str) -> None:
    """Raise BadInput for what a POSIX shell would take as a redirection, and this one does not have."""
    is_start = True
    for token in _TOKEN.finditer(line):
        if is_start and token["plain"] and (match := _REDIRECTION.match(token["plain"])):
            name = "a command in the background" if match[0] == "&" else "this redirection of a shell"
            raise BadInput(
                f"this shell does not have {name}, {token['plain']!r}",
                "> FILE and | work; quote it if it is a word",
            )
        is_start = bool(token["blank"])


def _find_redirection(line: str) -> tuple[int, str]:
    """Return where a `>` or `>>` sends output to a file, and what follows it; an empty text for none."""
    is_start = True
    for token in _TOKEN.finditer(line):
        if is_start and token["plain"] and (arrow := _ARROW.match(line, token.start())):
            return token.start(), line[arrow.end() :]
        is_start = bool(token["blank"])
    return -1, ""


def is_complete(text: str) -> bool:
    """Return whether a line is complete: it ends outside of quotation marks, and not with a backslash."""
    if text.lstrip().startswith("#"):
        return True
    return not any(token["open"] or token["escaped"] == "\\" for token in _TOKEN.finditer(text))


def split_script(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a script, each complete, with the number of its first row. Raises BadInput for one
    that has no end.
    """
    rows: list[str] = []
    for number, row in enumerate(text.splitlines(), 1):
        rows.append(row)
        line = "\n".join(rows)
        if len(line) > _MAX_CHARACTERS or len(rows) > _MAX_ROWS:
            first = number - len(rows) + 1
            raise BadInput(f"line {first} has more than {_MAX_CHARACTERS:,} characters or {_MAX_ROWS:,} rows")
        if is_complete(line):
            yield number - len(rows) + 1, line
            rows = []
    if rows:
        yield len(text.splitlines()) - len(rows) + 1, "\n".join(rows)


def split_last_word(text: str) -> tuple[list[str], str, int]:
    """Return what is to be completed: the words before the last one, the last one without quotation marks,
    and where it begins in the text. A line with a pipe has nothing to complete.
    """
    first = start = 0
    for token in _TOKEN.finditer(text):
        if token["pipe"]:
            return [], "", -1
        if token["operator"]:
            first = token.end()
        if token["blank"] or token["operator"]:
            start = token.end()
    before, raw = text[first:start], text[start:]
    try:
        words = shlex.split(before)
        word = (shlex.split(raw + raw[:1] if raw[:1] in "'\"" and not is_complete(raw) else raw) or [""])[0]
    except ValueError:
        return [], "", -1
    return (words[1:] if words[:1] == ["jsctl"] else words), word, start

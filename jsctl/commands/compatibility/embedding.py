"""Shell in files of other kinds: steps of CI and services in YAML, and Dockerfiles."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_YAML = re.compile(r"\.ya?ml$", re.IGNORECASE)
_DOCKERFILE = re.compile(
    r"(?:^|/)(?:(?:docker|container)file(?:\.[^/]*)?|[^/]*\.(?:docker|container)file)$", re.IGNORECASE
)
_KEYS = frozenset(
    {
        *("run", "script", "before_script", "after_script", "command", "commands", "cmd", "cmds"),
        *("entrypoint", "args", "test", "shell", "bash", "sh", "exec", "entry", "inline", "runcmd"),
        *("bootcmd", "install", "before_install", "after_install", "after_success", "after_failure"),
    }
)
"""Keys whose texts, or lists of texts, are run."""

_INSTRUCTION = re.compile(
    r"\s*(?:ONBUILD\s+)?(?:(RUN)|CMD|ENTRYPOINT|HEALTHCHECK\b(?:\s+--\S+|\s*\\\n)*\s+CMD)\b(?:\s+--\S+)*",
    re.IGNORECASE,
)
_HERE = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")


class Shell(NamedTuple):
    """The shell in a file. text: as long as the file, with blanks for what is no shell. words: the places of
    commands that are there as lists of words, which keep their form."""

    text: str
    words: Sequence[tuple[int, int]] = ()


def find_shell(name: str, text: str) -> Shell:
    """Return the shell in a file, by its name: all of it, unless that is one of YAML or a Dockerfile."""
    if _DOCKERFILE.search(name):
        return _build(text, _list_instructions(text))
    if _YAML.search(name):
        import yaml

        try:
            documents = [*yaml.compose_all(text, Loader=yaml.SafeLoader)]
        except yaml.YAMLError:  # a template
            return Shell(text)
        return _build(text, [one for node in documents for one in _list_texts(node, text)])
    return Shell(text)


class _Part(NamedTuple):
    """Shell from start to end. kind: "lines"; "folded", whose line breaks are blanks; "escaped", in
    double quotes; "words", a list with its punctuation. opening: what stands in place of what is before it.
    """

    start: int
    end: int
    kind: str = "lines"
    opening: str = ""


def _build(text: str, parts: Sequence[_Part] | Iterator[_Part]) -> Shell:
    shell = ["\n" if char == "\n" else " " for char in text]
    words = []
    for part in parts:
        inside = text[part.start : part.end]
        if part.kind == "words":
            inside = re.sub(r"[\[\],\"'\n]|(?<=\s)-(?=\s)", " ", inside)
            words.append((part.start, part.end))
        elif part.kind == "escaped":
            inside = re.sub(r"\\(.)|\n", _unescape, inside, flags=re.DOTALL)
        elif part.kind == "folded":
            inside = re.sub(r"\n(?!\n|\s*\Z)", " ", inside)
        shell[part.start : part.end] = inside
        if shell[part.end : part.end + 1] == [" "]:
            shell[part.end] = ";"
        shell[part.start - len(part.opening) : part.start] = part.opening
    return Shell("".join(shell), words)


def _unescape(found: re.Match[str]) -> str:
    """Return a character of a text in double quotes, as long as it is there."""
    escaped = found[1] or " "
    return {"n": " \n", "\n": "  ", "t": "  "}.get(escaped, escaped.rjust(len(found[0])))


def _list_texts(node: Any, text: str, *, is_run: bool = False) -> Iterator[_Part]:
    """Yield the texts of YAML that are run."""
    kind = getattr(node, "id", "")
    if kind == "mapping":
        for key, value in node.value:
            yield from _list_texts(value, text, is_run=key.value in _KEYS)
    elif kind == "sequence":
        texts = [str(item.value) for item in node.value]
        if (is_run and texts[:1] in (["nats"], ["CMD"])) or (is_run and texts[1:2] == ["-c"]):
            first = node.value[texts[0] == "CMD"]
            yield _Part(first.start_mark.index, node.value[-1].end_mark.index, "words")
            return
        for item in node.value:
            yield from _list_texts(item, text, is_run=is_run)
    elif kind == "scalar" and is_run:
        start, end = node.start_mark.index, node.end_mark.index
        if node.style in ("|", ">"):
            yield _Part(text.index("\n", start) + 1, end, "folded" if node.style == ">" else "lines")
        else:
            quoted = len(node.style or "")
            yield _Part(start + quoted, end - quoted, "escaped" if node.style == '"' else "folded")


def _list_instructions(text: str) -> Iterator[_Part]:
    """Yield what the instructions of a Dockerfile run."""
    place = 0
    while place < len(text):
        end = _find_end(text, place)
        if found := _INSTRUCTION.match(text, place):
            start = found.end()
            document = _HERE.search(text, start, end) if found[1] else None
            if document:
                close = re.compile(rf"^\s*{document[1]}\s*$", re.MULTILINE).search(text, end)
                end = close.end() if close else len(text)
                yield _Part(start, end, opening="sh")
            elif text[start:end].lstrip().startswith("["):
                yield _Part(start, end, "words")
            else:
                yield _Part(start, end)
        place = end + 1


def _find_end(text: str, place: int) -> int:
    """Return where the instruction at a place ends, with the lines that continue it, and comments between."""
    while True:
        end = text.find("\n", place)
        if end < 0:
            return len(text)
        line = text[place:end].rstrip()
        if not line.endswith("\\") and not line.lstrip().startswith("#"):
            return end
        if line.lstrip().startswith("#") and not text[:place].rstrip().endswith("\\"):
            return end
        place = end + 1

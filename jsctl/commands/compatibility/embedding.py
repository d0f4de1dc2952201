"""Shell in files of other kinds: steps of CI and services in YAML, Dockerfiles, and units of systemd."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.commands.compatibility.runners import RUNNERS
from jsctl.commands.compatibility.splitting import read_words

_YAML = re.compile(r"\.ya?ml$", re.IGNORECASE)
_DOCKERFILE = re.compile(
    r"(?:^|/)(?:(?:docker|container)file(?:\.[^/]*)?|[^/]*\.(?:docker|container)file)$", re.IGNORECASE
)
_TEMPLATE = re.compile(r"(?P<line>^[ \t]*)?\{\{(?:(?!\}\}).)*\}\}(?(line)(?P<end>[ \t]*$)?)", re.MULTILINE)
"""What a template of Helm has between braces, at the begin of a line with what is around it."""

_UNIT = re.compile(r"\.(?:service|socket|mount)$", re.IGNORECASE)
_EXEC = re.compile(r"^[ \t]*Exec\w+[ \t]*=[ \t]*[-@:+!|]*((?:\\\n|.)*)", re.MULTILINE)
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
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_PAIRS = (("entrypoint", "command"), ("command", "args"))
"""Keys of lists that are one command together."""

_HERE = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")


class Words(NamedTuple):
    """A command that is there as a list of words. places: of its words, with their quotes. behind: what
    separates a word from the next one, for each of them."""

    places: Sequence[tuple[int, int]]
    behind: Sequence[str]

    def change(self, file: str, place: int, before: str, after: str) -> Iterator[tuple[int, int, str]]:
        """Yield what to write (start, end, text) where a call becomes another one.

        place: where it begins in the file. before, after: the calls, of which only the first word differs,
        and words behind it or at the end are added.
        """
        old, new = read_words(before), read_words(after)
        added = 2 if new[1:3] == ["compat", "--"] else 0
        at = next(at for at, (start, end) in enumerate(self.places) if start <= place < end)
        yield *self.places[at], self._join(file, at, new[: 1 + added])
        if appended := new[len(old) + added :]:
            end = self.places[-1][1]
            yield end, end, self.behind[-1] + self._join(file, -1, appended)

    def _join(self, file: str, at: int, words: Sequence[str]) -> str:
        """Return words in the form of the one at a place of the list."""
        start = self.places[at][0]
        quote = file[start] if file[start] in "\"'" else ""
        return self.behind[at].join(f"{quote}{word}{quote}" for word in words)


class Shell(NamedTuple):
    """The shell in a file. text: as long as the file, with blanks for what is no shell. words: the commands
    that are there as lists of words."""

    text: str
    words: Sequence[Words] = ()


def find_shell(name: str, text: str) -> Shell:
    """Return the shell in a file, by its name: all of it, except for YAML, Dockerfiles and units."""
    if _UNIT.search(name):
        return _build(text, [_Part(*one.span(1)) for one in _EXEC.finditer(text)])
    if _DOCKERFILE.search(name):
        return _build(text, _list_instructions(text))
    if _YAML.search(name):
        import yaml

        for readable in (text, _TEMPLATE.sub(_hide, text)):
            with suppress(yaml.YAMLError):
                documents = [*yaml.compose_all(readable, Loader=yaml.SafeLoader)]
                return _build(text, [one for node in documents for one in _list_texts(node, text)])
    return Shell(text)


def _hide(found: re.Match[str]) -> str:
    """Return a comment for a line of a template that is only braces, and a word for other ones."""
    if found["end"] is not None:
        return "#" * len(found[0])
    space = found["line"] or ""
    return space + "x" * (len(found[0]) - len(space))


class _Part(NamedTuple):
    """Shell from start to end. kind: "lines"; "folded", whose line breaks are blanks; "escaped", in
    double quotes; "words", a list, whose words are `words`. opening: what stands in place of what is before
    it."""

    start: int
    end: int
    kind: str = "lines"
    opening: str = ""
    words: Words | None = None


def _build(text: str, parts: Sequence[_Part] | Iterator[_Part]) -> Shell:
    shell = ["\n" if char == "\n" else " " for char in text]
    words = []
    for part in parts:
        inside = text[part.start : part.end]
        if part.words:
            inside = _lay_out(text, part)
            words.append(part.words)
        elif part.kind == "escaped":
            inside = re.sub(r"\\(.)|\n", _unescape, inside, flags=re.DOTALL)
        elif part.kind == "folded":
            inside = re.sub(r"\n(?!\n|\s*\Z)", " ", inside)
        shell[part.start : part.end] = inside
        if shell[part.end : part.end + 1] == [" "]:
            shell[part.end] = ";"
        shell[part.start - len(part.opening) : part.start] = part.opening
    return Shell("".join(shell), words)


def _lay_out(text: str, part: _Part) -> str:
    """Return the words of a list at their places, without quotes where they have no blanks."""
    inside = [" "] * (part.end - part.start)
    for start, end in part.words.places if part.words else ():
        word = text[start:end]
        if word[:1] in ("'", '"') and not re.search(r"[\s;&|<>()$`*?#]", word):
            word = f" {word[1:-1]} "
        word = re.sub(r"\\\s|\n", lambda one: " " * len(one[0]), word)
        inside[start - part.start : end - part.start] = word.replace("\\n", " \n")
    return "".join(inside)


def _unescape(found: re.Match[str]) -> str:
    """Return a character of a text in double quotes, as long as it is there."""
    escaped = found[1] or " "
    return {"n": " \n", "\n": "  ", "t": "  "}.get(escaped, escaped.rjust(len(found[0])))


def _list_texts(node: Any, text: str, *, is_run: bool = False) -> Iterator[_Part]:
    """Yield the texts of YAML that are run."""
    kind = getattr(node, "id", "")
    if kind == "mapping":
        values = {key.value: value for key, value in node.value}
        for pair in _PAIRS:
            lists = [values[key] for key in pair if key in values]
            if len(lists) > 1 and (part := _find_words(lists, text)):
                yield part
                values = {key: value for key, value in values.items() if key not in pair}
        for key, value in values.items():
            yield from _list_texts(value, text, is_run=key in _KEYS)
    elif kind == "sequence":
        if is_run and (part := _find_words([node], text)):
            yield part
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


def _find_words(lists: Sequence[Any], text: str) -> _Part | None:
    """Return the command that lists of YAML are together, one behind the other; None if they are none."""
    starts = [node.start_mark.index for node in lists]
    if any(node.id != "sequence" for node in lists) or starts != sorted(starts):
        return None
    items = [(item, bool(node.flow_style)) for node in lists for item in node.value]
    if any(item.id != "scalar" or item.style in ("|", ">") for item, _ in items):
        return None
    if items and items[0][0].value == "CMD":
        del items[0]
    words = [str(item.value) for item, _ in items]
    names = [word.rpartition("/")[2] for word in words]
    runs_nats = names[:1] == ["nats"] or ("nats" in names and names[0] in RUNNERS)
    is_shell = words[1:2] == ["-c"]
    if (is_shell and len(lists) > 1) or not (runs_nats or is_shell):
        return None
    places = [(item.start_mark.index, item.end_mark.index) for item, _ in items]
    behind = []
    for (item, is_flow), (start, _) in zip(items, places, strict=True):
        dash = text.rfind("-", 0, start)
        column = item.start_mark.column - (start - dash)
        behind.append(", " if is_flow else f"\n{' ' * column}- ")
    return _Part(min(places)[0], max(places)[1], words=Words(places, behind))


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
            elif _is_list(text[start:end]):
                places = [one.span() for one in _STRING.finditer(text, start, end)]
                if places:
                    words = Words(places, [", "] * len(places))
                    yield _Part(places[0][0], places[-1][1], words=words)
            else:
                yield _Part(start, end)
        place = end + 1


def _is_list(text: str) -> bool:
    """Return whether an instruction has a list of words; what only begins like one is shell."""
    try:
        return isinstance(parse_json(text.replace("\\\n", "\n")), list)
    except ValueError:
        return False


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

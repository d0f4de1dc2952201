"""Calls of `nats` in shell scripts, and which of them have another outcome with jsctl.

The scanner knows quotes, comments, continued lines, lists, pipes, groups, substitutions, here-documents and
loops, and variables that hold `nats`: enough to find commands, not to run them.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jsctl import registry
from jsctl.commands.cli.global_flags import get_global_options
from jsctl.commands.compatibility.differences import DIFFERENCES

_KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "{"))
_RUNNERS = frozenset(
    (
        *("eval", "exec", "command", "time", "sh", "bash", "dash", "zsh", "ksh", "su", "sudo", "doas", "env"),
        *("timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "flock", "watch", "xargs", "parallel"),
        *("find", "ssh", "docker", "podman", "kubectl"),
    )
)
"""Commands that run the rest of their line, or a text in quotes."""

_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_PROGRAM = re.compile(r"(?<![\w./$-])(?:[\w.~/-]*/)?nats(?=\s|$)")
_VARIABLE = re.compile(
    r"(?<![^\s;&|(])(?P<name>\w+)=[\"']?(?:\$\{\w+:?-)?(?:\$\((?:command -v|which) )?"
    r"(?P<program>(?:[\w.~/-]*/)?nats)(?![^\s;\"'})])"
)
"""A variable that holds `nats` and perhaps flags: its name, and the program."""

_USE = re.compile(r"\"?\$(?:(\w+)|\{(\w+)\})\"?(?=\s|$)")
_DISABLE = re.compile(r"#\s*jsctl\s+disable=([A-Z_]+(?:\s*,\s*[A-Z_]+)*)")
_STATUS = re.compile(r"(\$\?[\"']?\s*)(-eq|==?)(\s*[\"']?)1\b")
_HERE = re.compile(r"<<-?\s*[\"']?(\w+)")
_OUTPUT = re.compile(r"(?<![\d&<])1?>>?\s*(?!&|/dev/null\b)\S")
_SWITCHES = frozenset(("-f", "--force", "-j", "--json", "--raw", "--defaults", "--all", "--jetstream", "-J"))

_EXEC_END = re.compile(r"\s+(\\;|';'|\";\"|\{\} \+)(?=\s|$)")
"""What ends the command of `find -exec`."""

Edit = Callable[[str], str]


@dataclass
class Call:
    """A call of `nats`.

    start, end: its place in the script. line: its number. text: as it is there. path: of the verb ("stream
    edit"). words: behind the verb. is_read: whether something takes its output. is_piped: whether its status
    is lost in a pipe. in_list: whether a loop around it reads a file.
    """

    start: int
    end: int
    line: int
    text: str
    path: str
    words: Sequence[str]
    is_read: bool = False
    is_piped: bool = False
    in_list: bool = False
    edits: list[Edit] = field(default_factory=list)

    def has(self, *flags: str) -> bool:
        """Return whether it has one of these flags."""
        return any(word.partition("=")[0] in flags for word in self.words)

    def list_names(self) -> list[str]:
        """Return its words that are neither flags, nor their values, nor redirections."""
        names: list[str] = []
        rest = list(self.words)
        while rest:
            word = rest.pop(0)
            if re.match(r"\d*[<>]", word):
                if re.fullmatch(r"\d*[<>]+", word) and rest:
                    rest.pop(0)
            elif word.startswith("-") and word != "-":
                if rest and "=" not in word and word not in _SWITCHES:
                    rest.pop(0)
            else:
                names.append(word)
        return names


class Found(NamedTuple):
    """A line with another outcome. text: the call in the script. write: what to write in its place."""

    line: int
    code: str
    text: str
    write: str


class _Command(NamedTuple):
    start: int
    end: int
    ended_by: str
    is_captured: bool


def check(script: str) -> tuple[list[Found], str]:
    """Return the lines of a script that have another outcome, and the script with these changed."""
    lines = script.split("\n")
    disabled = _find_disabled(lines)
    found: list[Found] = []
    calls = list(find_calls(script))
    for call in calls:
        for code, rule in _RULES.items():
            edit = rule(call)
            if edit is not None and code not in disabled.get(call.line, ()):
                found.append(Found(call.line, code, call.text, edit(_rename(call.text))))
                call.edits.append(edit)
    changed = script
    used = {name for call in calls if call.edits and (name := _find_variable(call.text))}
    for call in sorted(calls, key=lambda one: -one.start):
        if call.edits:
            text = _rename(call.text)
            for edit in call.edits:
                text = edit(text)
            changed = changed[: call.start] + text + changed[call.end :]
    changed = _VARIABLE.sub(
        lambda one: one[0].removesuffix(one["program"]) + "jsctl" if one["name"] in used else one[0], changed
    )
    ends = {script.count("\n", 0, call.end) + 1 for call in calls}
    new_lines = changed.split("\n")
    for number, line in enumerate(lines, 1):
        is_after = bool({number, number - 1, number - 2} & ends)
        if is_after and _STATUS.search(line) and "EXIT_STATUS" not in disabled.get(number, ()):
            found.append(Found(number, "EXIT_STATUS", line.strip(), _compare_with_0(line).strip()))
            new_lines[number - 1] = _compare_with_0(new_lines[number - 1])
    return sorted(found), "\n".join(new_lines)


def find_calls(script: str) -> Iterator[Call]:
    """Yield the calls of nats in a script, also those that other commands run."""
    variables = {one["name"] for one in _VARIABLE.finditer(script)}
    loops: list[tuple[bool, list[Call]]] = []
    seen: set[int] = set()
    for command in sorted(_split(script)):
        text = script[command.start : command.end]
        words = _read_words(text)
        first = words[0] if words else ""
        if first in ("while", "until", "for", "select"):
            loops.append((first == "while" and "read" in words, []))
        elif first == "done" and loops:
            reads, inner = loops.pop()
            for call in inner if reads and "<" in text else ():
                call.in_list = True
            if loops:
                loops[-1][1].extend(inner)
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            words.pop(0)
        is_variable = bool(words) and _find_variable(words[0]) in variables
        name = words[0] if is_variable else words[0].rpartition("/")[2] if words else ""
        for call in _find_in_command(text, name, is_variable=is_variable):
            call.start += command.start
            call.end += command.start
            if call.start in seen:  # of a substitution in quotes
                continue
            seen.add(call.start)
            call.line = script.count("\n", 0, call.start) + 1
            call.is_piped = call.is_piped or command.ended_by == "|"
            call.is_read = call.is_read or call.is_piped or command.is_captured
            if loops:
                loops[-1][1].append(call)
            yield call


def _find_variable(word: str) -> str:
    """Return the name of the variable with which a call begins; empty for none."""
    used = _USE.match(word)
    return (used[1] or used[2]) if used else ""


def _find_in_command(text: str, name: str, *, is_variable: bool) -> Iterator[Call]:
    """Yield the calls of nats in a simple command, at their places in it. name: that of its program.
    is_variable: whether that is a variable which holds nats."""
    bare = _QUOTED.sub(lambda one: "'" * len(one[0]), text)
    if is_variable:
        program = _USE.search(text)
    else:
        program = _PROGRAM.search(bare) if name == "nats" or name in _RUNNERS else None
    if program:
        start, ends = program.start(), _EXEC_END.search(text, program.start())
        end = ends.start() if ends else len(text.rstrip())
        path, rest = resolve(_read_words(text[start:end])[1:])
        yield Call(start, end, 0, text[start:end], path, rest, is_read=bool(_OUTPUT.search(bare, start)))
    elif name in _RUNNERS:
        for quoted in _QUOTED.finditer(text):
            start = quoted.start() + 1
            for call in find_calls(text[start : quoted.end() - 1]):
                call.start += start
                call.end += start
                call.is_read = call.is_read or bool(_OUTPUT.search(bare))
                yield call


def resolve(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the path of the verb of a line, without aliases and older names, and the words behind it."""
    valued = {name for option in get_global_options() if not option.is_flag for name in option.opts}
    rest, path = list(words), ""
    while rest:
        if rest[0].startswith("-"):
            word = rest.pop(0)
            if word in valued and rest:
                rest.pop(0)
            continue
        children = registry.list_children(path, old=True)
        name = next((one for one, entry in children.items() if rest[0] in (one, *entry.aliases)), "")
        if not name:
            break
        rest.pop(0)
        path = children[name].replaced_by or f"{path} {name}".strip()
        if not children[name].group:
            break
    return path, rest


def _read_words(text: str) -> list[str]:
    try:
        return shlex.split(text.replace("\\\n", " "))
    except ValueError:  # a quote that another command ends
        return text.split()


def _split(script: str) -> Iterator[_Command]:
    """Yield the simple commands of a script, those in substitutions before those around them."""
    stack: list[tuple[int, str, bool]] = []  # start of the command around, what ends it, whether in quotes
    start, closer, quoted, here, place = 0, "", False, "", 0
    while place < len(script):
        char = script[place]
        if char == "\\":
            place += 2
            continue
        if char == "'" and not quoted:
            end = script.find("'", place + 1)
            place = len(script) if end < 0 else end + 1
            continue
        if char == '"':
            quoted = not quoted
        elif script.startswith("$(", place) and not script.startswith("$((", place):
            stack.append((start, closer, quoted))
            start, closer, quoted, place = place + 2, ")", False, place + 2
            continue
        elif char == "`":
            if closer == "`":
                yield _Command(start, place, "`", True)
                start, closer, quoted = stack.pop()
            else:
                stack.append((start, closer, quoted))
                start, closer, quoted = place + 1, "`", False
        elif char == ")" and closer == ")" and not quoted:
            yield _Command(start, place, ")", True)
            start, closer, quoted = stack.pop()
        elif not quoted and char == "#" and (place == 0 or script[place - 1] in " \t\n;"):
            yield _Command(start, place, "#", bool(closer))
            end = script.find("\n", place)
            start = place = len(script) if end < 0 else end
            continue
        elif not quoted and (document := _HERE.match(script, place)):
            here, place = document[1], document.end()
            continue
        elif (
            not quoted and char in "\n;|&()" and not (char == "&" and script[place - 1 : place] in ("<", ">"))
        ):
            double = script[place : place + 2] in ("&&", "||", ";;")
            yield _Command(start, place, script[place : place + 2] if double else char, bool(closer))
            if char == "\n" and here:
                last = re.compile(rf"^\s*{here}\s*$", re.MULTILINE).search(script, place + 1)
                place, here = (last.end() - 1 if last else len(script)), ""
            place += double
            start = place + 1
        place += 1
    yield _Command(start, len(script), "", bool(closer))


def _find_disabled(lines: Sequence[str]) -> dict[int, set[str]]:
    """Return the codes that comments disable, by the number of the line: their own, or the next one."""
    disabled: dict[int, set[str]] = {}
    for number, line in enumerate(lines, 1):
        if found := _DISABLE.search(line):
            target = number + 1 if line.lstrip().startswith("#") else number
            disabled.setdefault(target, set()).update(re.split(r"\s*,\s*", found[1]))
    return disabled


def _compare_with_0(line: str) -> str:
    return _STATUS.sub(lambda one: f"{one[1]}{'-ne' if one[2] == '-eq' else '!='}{one[3]}0", line)


def _rename(text: str) -> str:
    return text if _find_variable(text) else _PROGRAM.sub("jsctl", text, count=1)


def _append(words: str) -> Edit:
    return lambda text: f"{text} {words}"


def _run_as_nats(text: str) -> str:
    if used := _USE.match(text):
        return f"{used[0]} compat --{text[used.end() :]}"
    return text.replace("jsctl", "jsctl compat --", 1)


def _may_be_unanswered(call: Call) -> Edit | None:
    return None if call.is_piped else _run_as_nats


def _print_value(call: Call) -> Edit | None:
    return _run_as_nats if call.is_read else None


def _lose_data(call: Call) -> Edit | None:
    if not call.has("-f", "--force") or call.has("--allow-data-loss", "--dry-run"):
        return None
    return _append("--allow-data-loss")


def _change_consumer(call: Call) -> Edit | None:
    return None if call.has("--update") else _append("--update")


def _replace_config(call: Call) -> Edit | None:
    return _append("--replace") if call.has("--config") and not call.has("--replace") else None


def _ends_with_1(call: Call) -> Edit | None:
    expects = call.path != "server list" or call.list_names()
    return _run_as_nats if expects and not call.is_piped else None


def _read_list(call: Call) -> Edit | None:
    bodies = {"publish": 1, "request": 1}.get(call.path, 2)
    return (
        _append("-") if call.in_list and len(call.list_names()) == bodies and "<" not in call.text else None
    )


def _only(code: str, rule: Callable[[Call], Edit | None]) -> Callable[[Call], Edit | None]:
    return lambda call: rule(call) if call.path in DIFFERENCES[code].verbs else None


_RULES = {
    code: _only(code, rule)
    for code, rule in {
        "LOOP_STDIN": _read_list,
        "EDIT_CONFIG": _replace_config,
        "DATA_LOSS": _lose_data,
        "CONSUMER_EXISTS": _change_consumer,
        "KV_OUTPUT": _print_value,
        "REQUEST_UNANSWERED": _may_be_unanswered,
        "RTT_UNREACHABLE": _may_be_unanswered,
        "RESULT_STATUS": _ends_with_1,
    }.items()
}
"""What looks for each difference in a call; edits are made in this order."""

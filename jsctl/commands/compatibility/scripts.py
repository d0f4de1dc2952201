"""Calls of `nats` in shell scripts, and which of them have another outcome with jsctl.

The scanner knows quotes, comments, continued lines, lists, pipes, groups, substitutions, here-documents and
loops, and names that stand for `nats`: enough to find commands, not to run them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from jsctl import registry
from jsctl.commands.cli.global_flags import get_global_options
from jsctl.commands.compatibility.differences import DIFFERENCES
from jsctl.commands.compatibility.embedding import Words, find_shell
from jsctl.commands.compatibility.holders import PROGRAM, Holder, Names, find_names
from jsctl.commands.compatibility.runners import RUNNERS, is_program
from jsctl.commands.compatibility.splitting import drop_prefixes, read_words, split
from jsctl.commands.compatibility.statuses import find_comparisons
from jsctl.jetstream.kv.config import MAX_HISTORY
from jsctl.nats.templates import compile_template

_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_NAME = re.compile(r"[\"'](?:\$\S+|[^\s\"']*/nats)[\"']")
"""What may be a program in quotes."""

_DISABLE = re.compile(r"#\s*jsctl\s+disable=([A-Z_]+(?:\s*,\s*[A-Z_]+)*)")
_OUTPUT = re.compile(r"(?:(?<![\d&<])1?|&)>>?\s*(?!&|/dev/null\b)\S")
_SWITCHES = frozenset(
    ("-f", "--force", "-j", "--json", "--raw", "--defaults", "--all", "--jetstream", "-J", "--echo")
)

_EXEC_END = re.compile(r"\s+(\\;|';'|\";\"|\{\} \+)(?=\s|$)")
"""What ends the command of `find -exec`."""

_FIRST = re.compile(r"^\S+")

Edit = Callable[[str], str]


@dataclass
class Call:
    """A call of `nats`.

    start, end: its place in the script. line: its number. text: as it is there. path: of the verb ("stream
    edit"). words: behind the verb. holder: what its first word stands for; None for nats itself. is_read:
    whether something takes its output. is_piped: whether its status is lost in a pipe. in_list: whether a
    loop around it reads a file or a pipe.
    """

    start: int
    end: int
    line: int
    text: str
    path: str
    words: Sequence[str]
    holder: Holder | None = None
    is_read: bool = False
    is_piped: bool = False
    in_list: bool = False

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


def check(file: str, name: str = "") -> tuple[list[Found], str]:
    """Return the lines of a script that have another outcome, and the script with these changed. name: of the
    file, which may be another one with shell in it."""
    script, lists = find_shell(name, file)
    lines = file.split("\n")
    disabled = _find_disabled(lines)
    found: list[Found] = []
    calls = list(find_calls(script))
    for call in calls:
        call.line = file.count("\n", 0, call.start) + 1
        is_spread = _find_list(call, lists) is not None
        call.text = " ".join(call.text.split()) if is_spread else file[call.start : call.end]
    changes: set[tuple[int, int, str]] = set()
    for call in calls:
        holder, words = call.holder, _find_list(call, lists)
        place, text = (call.start, call.end), _rename(call)
        if holder and _has_verb(holder) and re.search(r"[\"']", call.text[0] + holder.rest):
            # What is in quotes is changed where it is defined.
            place, text = (holder.start, holder.end + len(holder.rest)), f"jsctl{holder.rest}"
        before = text
        for code, rule in _RULES.items():
            edit = rule(call)
            if edit is not None and code not in disabled.get(call.line, ()):
                changed = edit(_rename(call))
                write = changed if edit is not _keep else f"{changed}  # {DIFFERENCES[code].write}"
                found.append(Found(call.line, code, call.text, write))
                text = edit(text)
        if text != before:
            changes.update(words.change(file, call.start, call.text, text) if words else [(*place, text)])
            if holder and not _has_verb(holder):
                changes.add((holder.start, holder.end, "jsctl"))
    changed = file
    for start, end, text in sorted(changes, reverse=True):
        changed = changed[:start] + text + changed[end:]
    new_lines = changed.split("\n")
    # The statuses of checks are those of Nagios in both.
    others = [call for call in calls if not call.path.startswith("server check")]
    ends = {file.count("\n", 0, call.end) + 1 for call in others}
    places = accumulate((len(line) + 1 for line in lines), initial=0)
    shell = [script[place : place + len(line)] for place, line in zip(places, lines, strict=False)]
    for number, change in find_comparisons(shell, ends):
        if "EXIT_STATUS" not in disabled.get(number, ()):
            line = lines[number - 1]
            found.append(Found(number, "EXIT_STATUS", line.strip(), change(line).strip()))
            new_lines[number - 1] = change(new_lines[number - 1])
    return sorted(found), "\n".join(new_lines)


def _find_list(call: Call, lists: Sequence[Words]) -> Words | None:
    """Return the list whose words a call is; None if it is in one text."""
    for words in lists:
        for start, end in words.places:
            if start <= call.start < end:
                return words if call.end > end else None
    return None


def find_calls(script: str, names: Names | None = None) -> Iterator[Call]:
    """Yield the calls of nats in a script, also those that other commands run. names: those that stand for
    nats; None for those of the script."""
    names = names or find_names(script)
    loops: list[tuple[bool, bool, list[Call]]] = []
    seen: set[int] = set()
    commands = sorted(split(script))
    fed = {command.end + 1 for command in commands if command.ended_by == "|"}
    keeps_status = re.search(r"^\s*set\s.*\bpipefail\b", script, re.MULTILINE) is not None
    for command in commands:
        text = script[command.start : command.end]
        words = read_words(text)
        first = words[0] if words else ""
        if first in ("while", "until", "for", "select"):
            loops.append((first == "while" and "read" in words, command.start in fed, []))
        elif first == "done" and loops:
            reads, is_fed, inner = loops.pop()
            for call in inner if reads and (is_fed or "<" in text) else ():
                call.in_list = True
            if loops:
                loops[-1][2].extend(inner)
        for call in _find_in_command(text, drop_prefixes(words), names):
            call.start += command.start
            call.end += command.start
            if call.start in seen:  # of a substitution in quotes
                continue
            seen.add(call.start)
            call.line = script.count("\n", 0, call.start) + 1
            in_pipe = command.ended_by == "|"
            call.is_piped = call.is_piped or (in_pipe and not keeps_status)
            call.is_read = call.is_read or call.is_piped or in_pipe or command.is_captured
            if loops:
                loops[-1][2].append(call)
            yield call


def _find_in_command(text: str, words: Sequence[str], names: Names) -> Iterator[Call]:
    """Yield the calls of nats in a simple command, at their places in it. words: its own."""
    first = words[0] if words else ""
    name = first.rpartition("/")[2]
    is_call = name == "nats" or names.find(first) is not None
    is_runner = not is_call and (name in RUNNERS or name in names.runners)
    if not is_call and not is_runner:
        return
    bare = _QUOTED.sub(lambda one: one[0] if _NAME.fullmatch(one[0]) else "'" * len(one[0]), text)
    for start, holder in sorted(names.list_places(bare, first), key=lambda one: one[0]):
        ends = _EXEC_END.search(text, start)
        end = ends.start() if ends else len(text.rstrip())
        held = read_words(holder.rest) if holder else []
        behind = read_words(text[start:end])[1:]
        path, rest = resolve([*held, *behind])
        before = drop_prefixes(read_words(text[:start]))
        can_be_run = text[start - 1 : start] != "=" and is_program(before, behind)
        if is_call or (path and can_be_run):  # "nats" may also be a user, a container or a namespace
            is_read = bool(_OUTPUT.search(bare, start))
            yield Call(start, end, 0, text[start:end], path, rest, holder, is_read)
            return
    for quoted in _QUOTED.finditer(text) if is_runner else ():
        start = quoted.start() + 1
        for call in find_calls(text[start : quoted.end() - 1], names):
            call.start += start
            call.end += start
            call.is_read = call.is_read or bool(_OUTPUT.search(bare))
            yield call


def resolve(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the path of the verb of a line, without aliases and older names, and the words behind it."""
    valued = {name for option in get_global_options() if not option.is_flag for name in option.opts}
    rest, path = list(words), ""
    while rest:
        if rest[0].startswith(("-", "$")):
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


def _find_disabled(lines: Sequence[str]) -> dict[int, set[str]]:
    """Return the codes that comments disable, by the number of the line: their own, or the next one."""
    disabled: dict[int, set[str]] = {}
    for number, line in enumerate(lines, 1):
        if found := _DISABLE.search(line):
            target = number + 1 if line.lstrip().startswith("#") else number
            disabled.setdefault(target, set()).update(re.split(r"\s*,\s*", found[1]))
    return disabled


def _has_verb(holder: Holder) -> bool:
    return bool(resolve(read_words(holder.rest))[0])


def _rename(call: Call) -> str:
    """Return a call with jsctl in the place of nats; with a name for nats and a verb, in the place of the
    name."""
    if call.holder is None:
        return PROGRAM.sub("jsctl", call.text, count=1)
    if not _has_verb(call.holder):
        return call.text
    return _FIRST.sub(lambda _: f"jsctl{call.holder and call.holder.rest}", call.text, count=1)


def _append(words: str) -> Edit:
    return lambda text: f"{text} {words}"


def _run_as_nats(text: str) -> str:
    return _FIRST.sub(lambda one: f"{one[0]} compat --", text, count=1)


def _keep(text: str) -> str:
    """Change nothing: no line has the outcome of nats."""
    return text


def _may_be_unanswered(call: Call) -> Edit | None:
    return None if call.is_piped else _run_as_nats


def _print_value(call: Call) -> Edit | None:
    return _run_as_nats if call.is_read else None


def _lose_data(call: Call) -> Edit | None:
    if not call.has("-f", "--force") or call.has("--allow-data-loss", "--dry-run"):
        return None
    return _append("--allow-data-loss")


def _change_consumer(call: Call) -> Edit | None:
    if call.path == "consumer copy":
        return _run_as_nats
    return None if call.has("--update") else _append("--update")


def _replace_config(call: Call) -> Edit | None:
    return _append("--replace") if call.has("--config") and not call.has("--replace") else None


def _ends_with_1(call: Call) -> Edit | None:
    expects = {
        "server list": call.list_names(),
        "server request accounts": call.has("--account"),
        "context info": call.has("--connect"),
    }.get(call.path, True)
    return _run_as_nats if expects and not call.is_piped else None


def _choose_flag(call: Call) -> Edit | None:
    flags = _EXCLUSIVE[call.path]
    has_body = call.path == "reply" and len(call.list_names()) > 1
    return _run_as_nats if sum(call.has(flag) for flag in flags) + has_body > 1 else None


_EXCLUSIVE = {
    "subscribe": ("--start-sequence", "--last", "--all", "--new", "--since", "--last-per-subject"),
    "reply": ("--echo", "--command"),
    "consumer add": ("--backoff", "--wait"),
}
"""Flags of which jsctl takes one."""


def _change_nothing(call: Call) -> Edit | None:
    flags = {word.partition("=")[0] for word in call.words if word.startswith("-") or "$" in word}
    return None if flags - {"-f", "--force", "--dry-run"} else _run_as_nats


def _find_nothing(call: Call) -> Edit | None:
    flags = ("--account", "--subject", "--username", "--filter", "--closed-reason")
    finds_all = call.path == "server report connections" and not call.has(*flags)
    return None if finds_all or call.is_piped else _run_as_nats


def _read_list(call: Call) -> Edit | None:
    bodies = {"publish": 1, "request": 1}.get(call.path, 2)
    return (
        _append("-") if call.in_list and len(call.list_names()) == bodies and "<" not in call.text else None
    )


def _publish_invalid(call: Call) -> Edit | None:
    has_wildcard = any(token in ("*", ">") for name in call.list_names()[:1] for token in name.split("."))
    times = (f"--schedule-{time}" for time in ("at", "after", "every", "cron"))
    has_time = call.has(*times, "-H", "--header")
    return _run_as_nats if has_wildcard or (call.has("--schedule-dest") and not has_time) else None


def _keep_long_history(call: Call) -> Edit | None:
    history = re.search(r"--history[ =]\D?(\d+)", call.text)
    return _run_as_nats if history and int(history[1]) > MAX_HISTORY else None


def _change_bench_stream(call: Call) -> Edit | None:
    return _append("--force") if call.has("--purge", "--create") and not call.has("--force") else None


def _fill_template(call: Call) -> Edit | None:
    if call.has("--no-templates"):
        return None
    has_tokens = call.path == "reply"
    texts = (compile_template(word.encode(), with_tokens=has_tokens) for word in call.words)
    return _keep if any(text.unknown for text in texts) else None


def _validate_configuration(call: Call) -> Edit | None:
    return _keep if any("configuration" in name for name in call.list_names()[:1]) else None


def _check(call: Call) -> Edit | None:
    return None if call.has("--peer-expect") else _keep


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
        "EDIT_NOTHING": _change_nothing,
        "FIND_SUBJECT": lambda call: _run_as_nats if call.has("--subject") else None,
        "NOTHING_FOUND": _find_nothing,
        "BACKUP_EXISTS": lambda call: _run_as_nats,
        "EXCLUSIVE_FLAGS": _choose_flag,
        "PUBLISH_INVALID": _publish_invalid,
        "KV_HISTORY": _keep_long_history,
        "BENCH_STREAM": _change_bench_stream,
        "GO_TEMPLATES": _fill_template,
        "SCHEMA_REQUIRED": _validate_configuration,
        "CHECK_OUTCOME": _check,
    }.items()
}
"""What looks for each difference in a call; edits are made in this order."""

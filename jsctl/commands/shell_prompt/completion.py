"""Completions at the prompt of `jsctl shell`: the same as in other shells, quoted as the line needs it."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, ShellComplete

from jsctl.base.user_folders import expand_home
from jsctl.commands.completing.names import is_safe
from jsctl.commands.completing.shells import VARIABLE
from jsctl.commands.shell_prompt.command_line import split_last_word
from jsctl.prompts.shell import Candidate

if TYPE_CHECKING:
    from jsctl.env import Env

_MAX_PATHS = 200


class ShellCompletion:
    """The completion of lines.

    root: the command of the program. child: returns the Env for a command line. builtins: the shell's own
    commands, with their help.
    """

    def __init__(self, root: click.Command, child: "Callable[[], Env]", builtins: Mapping[str, str]) -> None:
        self._root = root
        self._child = child
        self._builtins = builtins

    def complete(self, text: str) -> Iterator[Candidate]:
        """Yield the completions of a line; none if anything goes wrong."""
        if text.lstrip().startswith(("!", "#")):
            return
        words, word, start = split_last_word(text)
        if start < 0:
            return
        for item in self._complete_words(words, word):
            if is_safe(item.value) or item.value.startswith("--"):
                yield Candidate(shlex.quote(item.value), start, item.value, item.help or "")

    def _complete_words(self, words: list[str], word: str) -> Iterator[CompletionItem]:
        if words[:1] == ["use"]:
            words = ["context", "select", *words[1:]]
        elif words and words[0] in self._builtins:
            return
        if not words:
            for name, help in self._builtins.items():
                if name.startswith(word):
                    yield CompletionItem(name, help=help)
        shell = ShellComplete(self._root, {"obj": self._child()}, "jsctl", VARIABLE)
        try:
            items = shell.get_completions(words, word)
        except Exception:  # a traceback in the middle of the line would be worse than no completion
            return
        for item in items:
            if item.type == "plain":
                yield item
        takes_path = any(item.type != "plain" for item in items)
        if takes_path or (not items and word[:1] in ("/", ".", "~") and "/" in word):
            yield from map(CompletionItem, _list_paths(word))


def _list_paths(word: str) -> list[str]:
    """Return the paths that begin with the incomplete word."""
    head, slash, tail = word.rpartition("/")
    try:
        entries = sorted(expand_home((head or "/") if slash else ".").iterdir())[:_MAX_PATHS]
    except OSError:
        return []
    return [f"{head}/{entry.name}{'/' * entry.is_dir()}" for entry in entries if entry.name.startswith(tail)]

"""How completions reach the shells, whose scripts are in jsctl/completions/.

The names come from servers, where any client may have chosen them. A name is on the user's command line as
soon as it is completed, so it must be one word there that the shell does not interpret: bash inserts names
literally, so they are quoted here, and so does PowerShell; zsh and fish quote what they insert.
"""

import json
import os
import re

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from jsctl.base.json_text import parse_json

FILES = {"bash": "jsctl.bash", "zsh": "_jsctl", "fish": "jsctl.fish", "powershell": "jsctl.ps1"}
"""Each shell, and the name of its script in jsctl/completions/."""

VARIABLE = "_JSCTL_COMPLETE"
"""The environment variable by which the scripts ask for completions."""


class _Scripted(ShellComplete):
    """A shell whose script is a file."""

    def source(self) -> str:
        return build_script(self.name)


class _Bash(_Scripted, BashComplete):
    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE")
        if line is None:  # a script of an earlier version
            return super().get_completion_args()
        words = split_arg_string(line)[1:]
        if not words or (line[-1:].isspace() and not line.endswith("\\ ")):
            return words, ""
        return words[:-1], words[-1]

    def format_completion(self, item: "CompletionItem[str]") -> str:
        return f"{item.type},{_quote_for_bash(item.value)}"


class _Zsh(_Scripted, ZshComplete):
    pass


class _Fish(_Scripted, FishComplete):
    pass


class _PowerShell(_Scripted):
    name = "powershell"

    def get_completion_args(self) -> tuple[list[str], str]:
        words = parse_json(os.environ["COMP_WORDS"])
        return words[1:-1], words[-1]

    def format_completion(self, item: "CompletionItem[str]") -> str:
        """Return a line of JSON in ASCII: Windows PowerShell reads other characters in an old code page."""
        return json.dumps(
            {
                "type": item.type,
                "value": item.value or " ",  # neither it nor the help may be empty
                "insert": _quote_for_powershell(item.value),
                "help": item.help or item.value or " ",
            }
        )


_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": _Bash,
    "zsh": _Zsh,
    "fish": _Fish,
    "powershell": _PowerShell,
}


def register() -> None:
    """Use these scripts and this quoting in place of click's."""
    for name, shell in _SHELLS.items():
        add_completion_class(shell, name)


def build_script(shell: str) -> str:
    """Return the script that calls jsctl for completions."""
    from importlib.resources import files

    return (files("jsctl") / "completions" / FILES[shell]).read_text(encoding="utf-8").strip()


_is_plain = re.compile(r"[\w@%+=:,./-]*").fullmatch


def _quote_for_bash(word: str) -> str:
    """Return a printable word as bash reads it back.

    With backslashes, not quotation marks, so that it still begins with what the user has typed.
    """
    if _is_plain(word):  # nearly always; of 5,000 names, each would take a hundredth of a ms
        return word
    return re.sub(r"[^\w@%+=:,./-]", r"\\\g<0>", word)


_is_plain_in_powershell = re.compile(r"-{0,2}[A-Za-z_][A-Za-z0-9_-]*=?").fullmatch


def _quote_for_powershell(word: str) -> str:
    """Return a printable word as PowerShell reads it back: for it, typographic quotation marks end a string,
    too.
    """
    if _is_plain_in_powershell(word):
        return word
    return "'" + re.sub("['\u2018-\u201b]", r"\g<0>\g<0>", word) + "'"

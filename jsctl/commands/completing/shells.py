"""The completion scripts of the shells, and how completions reach them.

The names come from servers, where any client may have chosen them. A name is on the user's command line as
soon as it is completed, so it must be one word there that the shell does not interpret: bash inserts names
literally, so they are quoted here, and so does PowerShell; zsh and fish quote what they insert.
"""

import json
import os
import re

import click
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
"""Each shell, and the name of its file in completions/."""

VARIABLE = "_JSCTL_COMPLETE"
"""The environment variable by which the scripts ask for completions."""

_BASH = """\
%(complete_func)s() {
    local response type value line word breaks= mark head=

    # Readline takes a word apart at some characters, and replaces what follows the last of them.
    line=${COMP_LINE:0:COMP_POINT}
    word=${line##*[[:space:]]}
    for mark in : =; do
        [[ $COMP_WORDBREAKS == *$mark* ]] && breaks+=$mark
    done
    if [[ -n $breaks && $word == *[$breaks]* && $word != \\"* && $word != \\'* ]]; then
        head=${word%%"${word##*[$breaks]}"}
    fi
    word=${word#"$head"}
    [[ $COMP_WORDBREAKS == *@* && $word == *@* ]] && head+=${word%%@*}  # and from this one on
    response=$(env COMP_LINE="$line" COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
%(complete_var)s=bash_complete "$1" 2>/dev/null)

    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("${value#"$head"}")
        fi
    done <<< "$response"

    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a completions completions_with_descriptions response
    local type key descr
    (( ! $+commands[%(prog_name)s] )) && return 1

    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s 2>/dev/null)}")

    for type key descr in "${response[@]}"; do
        if [[ "$type" == "plain" ]]; then
            if [[ "$descr" == "_" ]]; then
                completions+=("$key")
            else
                completions_with_descriptions+=("$key":"$descr")
            fi
        elif [[ "$type" == "dir" ]]; then
            _path_files -/
        elif [[ "$type" == "file" ]]; then
            _path_files -f
        fi
    done

    if [ -n "$completions_with_descriptions" ]; then
        _describe -V unsorted completions_with_descriptions -U
    fi

    if [ -n "$completions" ]; then
        compadd -U -V unsorted -a completions
    fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    # autoload from fpath, call function directly
    %(complete_func)s "$@"
else
    # eval/source/. command, register function for later
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \
COMP_CWORD=(commandline -t) %(prog_name)s 2>/dev/null)

    for completion in $response
        set -l metadata (string split -m 1 "," -- $completion)

        if test "$metadata[1]" = "dir"
            __fish_complete_directories $metadata[2]
        else if test "$metadata[1]" = "file"
            __fish_complete_path $metadata[2]
        else if test "$metadata[1]" = "plain"
            printf '%%s\\n' $metadata[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""

_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor without their quotation marks, as JSON; a new word is empty.
    $words = @()
    $last = ''
    foreach ($element in $commandAst.CommandElements) {
        $value = if ($element.Value -is [string]) { $element.Value } else { $element.Extent.Text }
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            $words += $value
        } elseif ($element.Extent.StartOffset -lt $cursorPosition) {
            $last = $value
        }
    }
    $words += $last

    $before = $env:%(complete_var)s, $env:COMP_WORDS
    try {
        $env:%(complete_var)s = 'powershell_complete'
        $env:COMP_WORDS = ConvertTo-Json -Compress -InputObject $words
        $lines = @(& $words[0] 2>$null)
    } finally {
        $env:%(complete_var)s, $env:COMP_WORDS = $before
    }

    $files = $false
    $results = @(foreach ($line in $lines) {
        $item = ConvertFrom-Json -InputObject $line
        if ($item.type -eq 'plain') {
            [System.Management.Automation.CompletionResult]::new(
                $item.insert, $item.value, 'ParameterValue', $item.help)
        } else {
            $files = $true
        }
    })
    # Without any result, PowerShell completes files.
    if ($results.Count -or $files) { $results } else { '' }
}
"""


class _Bash(BashComplete):
    source_template = _BASH

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


class _Zsh(ZshComplete):
    source_template = _ZSH


class _Fish(FishComplete):
    source_template = _FISH


class _PowerShell(ShellComplete):
    name = "powershell"
    source_template = _POWERSHELL

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
    # BashComplete.source() would run bash to find its version.
    completer = _SHELLS[shell](click.Command("jsctl"), {}, "jsctl", VARIABLE)
    return ShellComplete.source(completer).strip()


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

"""`jsctl completion`."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.views.result import Result, Text

SHELLS = {"bash": "jsctl.bash", "zsh": "_jsctl", "fish": "jsctl.fish"}
"""Each shell, and the name of its file in completions/."""


@command("completion", examples=["jsctl completion bash > ~/.local/share/bash-completion/completions/jsctl"])
@argument("shell", type=click.Choice(list(SHELLS)))
def completion(env: Env, shell: str) -> Result:
    return Result([Text(script(shell))])


def script(shell: str) -> str:
    """The script that asks jsctl for completions at every tab."""
    made = get_completion_class(shell)
    if made is None:
        raise ValueError(f"click knows no shell {shell!r}")
    # The base's source(): bash's own runs bash to look at its version.
    return ShellComplete.source(made(click.Command("jsctl"), {}, "jsctl", "_JSCTL_COMPLETE")).strip()

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
    return Result([Text(script(shell), whole=True)])


def script(shell: str) -> str:
    """Return the script that calls jsctl for completions."""
    completer = get_completion_class(shell)
    if completer is None:
        raise ValueError(f"click does not support {shell!r}")
    # Not the source() of bash, which runs bash to find its version.
    return ShellComplete.source(completer(click.Command("jsctl"), {}, "jsctl", "_JSCTL_COMPLETE")).strip()

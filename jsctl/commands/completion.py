"""`jsctl completion`."""

import click

from jsctl.commands.cli import argument, command
from jsctl.commands.completing import shells
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command(
    "completion",
    examples=[
        "jsctl completion bash > ~/.local/share/bash-completion/completions/jsctl",
        "jsctl completion zsh > ~/.zfunc/_jsctl   # with fpath+=~/.zfunc before compinit in ~/.zshrc",
        "jsctl completion fish > ~/.config/fish/completions/jsctl.fish",
    ],
)
@argument("shell", type=click.Choice(list(shells.FILES)), metavar="bash|zsh|fish")
def completion(env: Env, shell: str) -> Result:
    """Print the script, or install it in a folder, which must exist. New shells then complete commands, flags
    and names.
    """
    script = shells.build_script(shell)
    return Result(
        [Text(script, whole=True)], data={"shell": shell, "file": shells.FILES[shell], "script": script}
    )

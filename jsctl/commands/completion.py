"""`jsctl completion install`, `uninstall`, and a verb for each shell, which prints its script."""

from collections.abc import Sequence
from pathlib import Path

import click

from jsctl.commands.cli import command, option
from jsctl.commands.cli.verbs import Command
from jsctl.commands.completing import shells
from jsctl.commands.installing import completions
from jsctl.env import Env
from jsctl.views.result import Result, Text

_shell = option(
    "--shell",
    type=click.Choice(list(shells.FILES)),
    metavar="SHELL",
    help=f"{', '.join(shells.FILES)}; without it, the one that SHELL names",
)


@command("install", examples=["jsctl completion install", "jsctl completion install --shell fish"])
@_shell
def install(env: Env, shell: str | None) -> Result:
    """Write the script to your folder where fish, or bash with the package bash-completion, looks for it. For
    zsh and PowerShell, which have no such folder, a line in their start-up file loads it. A second time it
    writes the same files again.
    """
    name = shell or completions.find_shell(env.environ)
    files = completions.install(name, completions.find_place(name, env.environ))
    text = f"{_list(files)}: written; {name} completes jsctl in new shells"
    return Result([Text(text)], data=_build_document(name, files))


@command("uninstall", examples=["jsctl completion uninstall", "jsctl completion uninstall --shell zsh"])
@_shell
def uninstall(env: Env, shell: str | None) -> Result:
    """Remove the script, and the line that loads it."""
    name = shell or completions.find_shell(env.environ)
    files = completions.uninstall(completions.find_place(name, env.environ))
    text = f"{_list(files)}: removed" if files else f"no completion of jsctl is installed for {name}"
    return Result([Text(text)], data=_build_document(name, files))


def _list(files: Sequence[Path]) -> str:
    return " and its line in ".join(map(str, files))


def _build_document(shell: str, files: Sequence[Path]) -> dict[str, object]:
    return {"shell": shell, "files": [str(file) for file in files]}


def _declare(shell: str, example: str) -> Command:
    """Return the verb that prints the script of a shell."""

    @command(shell, examples=[example])
    def show(env: Env) -> Result:
        """Print it for a place of your own; `jsctl completion install` writes it where the shell looks for
        it.
        """
        script = shells.build_script(shell)
        document = {"shell": shell, "file": shells.FILES[shell], "script": script}
        return Result([Text(script, whole=True)], data=document)

    return show


bash = _declare("bash", "jsctl completion bash > /etc/bash_completion.d/jsctl")
zsh = _declare("zsh", "jsctl completion zsh > /usr/local/share/zsh/site-functions/_jsctl")
fish = _declare("fish", "jsctl completion fish > /etc/fish/completions/jsctl.fish")
powershell = _declare("powershell", "jsctl completion powershell > jsctl.ps1")

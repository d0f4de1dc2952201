"""`jsctl agent start`."""

import os
import shlex
import shutil
import subprocess

from jsctl.commands.agent.folder import SHELL, SOCKET, VARIABLE, make_folder, start_agent
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.views.result import Result, Text


@command("start", examples=["jsctl agent start"])
def start(env: Env) -> Result:
    """Start an agent for the shell that evaluates what is printed: eval "$(jsctl agent start)". It ends with
    jsctl agent stop, or else with the shell.
    """
    if os.name != "posix":
        raise BadInput("there are no agents on this system")
    folder = make_folder()
    try:
        start_agent(folder, SHELL, stdin=subprocess.DEVNULL)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    place = shlex.quote(str(folder))
    line = f"{VARIABLE}={place}/{SOCKET}; export {VARIABLE}; echo $$ > {place}/{SHELL}"
    return Result([Text(line, whole=True)], data={"socket": str(folder / SOCKET)})

"""`jsctl agent stop`."""

import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from jsctl.commands.agent.folder import PREFIX, PROCESS, VARIABLE
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.result import Result

_STOP_TIMEOUT = 5  #: seconds


@command("stop", examples=["jsctl agent stop"])
def stop(env: Env) -> Result:
    """End the agent of this shell; calls that run go on to their end."""
    folder = _find_folder(env.environ)
    try:
        os.kill(int((folder / PROCESS).read_text()), signal.SIGTERM)
        end = time.monotonic() + _STOP_TIMEOUT
        while folder.exists() and time.monotonic() < end:
            time.sleep(0.01)
    except (OSError, ValueError):  # it has been killed
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return Result(data={"stopped": str(folder)})


def _find_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of this shell's agent. Raises NotFound."""
    folder = Path(environ.get(VARIABLE, "")).parent
    if not folder.name.startswith(PREFIX) or not folder.is_dir() or folder.stat().st_uid != os.geteuid():
        raise NotFound("this shell has no agent", 'eval "$(jsctl agent start)" starts one')
    return folder

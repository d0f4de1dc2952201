"""Where each shell looks for completion scripts of a user, and the scripts there.

bash (with the package bash-completion) and fish load the file of a command by its name. zsh and PowerShell
have no folder for this that is always searched: their start-up file gets one line that loads the script.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from jsctl.base.files import CONFIG_SIZE, naming_write_errors, read_bytes, write_atomically
from jsctl.base.user_folders import find_config_folder, find_data_folder, find_home_folder
from jsctl.commands.completing.shells import FILES, build_script
from jsctl.errors import BadInput

_MARK = b"# jsctl completion"
"""The end of the line in a start-up file: the line with it is jsctl's."""


class Place(NamedTuple):
    """Where the script of a shell is.

    Attributes:
        startup: the file that the shell reads when it starts, if it needs a line that loads the script.
        line: this line.
    """

    script: Path
    startup: Path | None = None
    line: str = ""


def find_shell(environ: Mapping[str, str]) -> str:
    """Return the shell of the user. Raises BadInput when jsctl has no completion for it."""
    if not environ.get("SHELL") and os.name == "nt":
        return "powershell"
    name = Path(environ.get("SHELL", "")).name.removesuffix(".exe")
    shell = "powershell" if name == "pwsh" else name
    if shell not in FILES:
        problem = f"there is no completion for {name}" if name else "SHELL does not say which shell you use"
        raise BadInput(problem, f"name one with --shell: {', '.join(FILES)}")
    return shell


def find_place(shell: str, environ: Mapping[str, str], platform: str = sys.platform) -> Place:
    """Return where the script of a shell belongs."""
    data = find_data_folder(environ)
    if shell == "bash":
        return Place(
            Path(environ.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion", "completions/jsctl")
        )
    if shell == "fish":
        return Place(find_config_folder(environ) / "fish" / "completions" / FILES[shell])
    script = data / "jsctl" / "completion" / FILES[shell]
    if shell == "zsh":
        startup = Path(environ.get("ZDOTDIR") or find_home_folder(environ), ".zshrc")
        quoted = "'" + str(script).replace("'", "'\\''") + "'"
        # compdef is there once compinit has run.
        load = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }; source"
        return Place(script, startup, f"[[ -r {quoted} ]] && {{ {load} {quoted}; }} {_MARK.decode()}")
    quoted = "'" + str(script).replace("'", "''") + "'"
    line = f"if (Test-Path {quoted}) {{ . {quoted} }} {_MARK.decode()}"
    return Place(script, _find_profile(environ, platform), line)


def _find_profile(environ: Mapping[str, str], platform: str) -> Path:
    """Return the profile of PowerShell for all its hosts; PowerShell knows where moved folders are."""
    for name in ("pwsh", "powershell"):
        if program := shutil.which(name, path=environ.get("PATH", "")):
            words = [program, "-NoProfile", "-NonInteractive", "-Command", "$PROFILE.CurrentUserAllHosts"]
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if path := done.stdout.strip():
                return Path(path)
    if platform == "win32":
        return find_home_folder(environ) / "Documents" / "PowerShell" / "profile.ps1"
    return find_config_folder(environ) / "powershell" / "profile.ps1"


def install(shell: str, place: Place) -> list[Path]:
    """Write the script, and the line that loads it, if there has to be one; return the files."""
    files = [place.script]
    with naming_write_errors():
        place.script.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place.script, build_script(shell) + "\n", mode=None)
        if place.startup is not None:
            lines = [*_read_other_lines(place.startup), f"{place.line}\n".encode()]
            if len(lines) > 1 and not lines[-2].endswith(b"\n"):
                lines.insert(-1, b"\n")
            place.startup.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place.startup, b"".join(lines), mode=None)
            files.append(place.startup)
    return files


def uninstall(place: Place) -> list[Path]:
    """Remove the script and the line that loads it; return the files that were removed or changed."""
    files = []
    with naming_write_errors():
        if place.script.exists():
            place.script.unlink()
            files.append(place.script)
        if place.startup is not None and place.startup.exists():
            lines = _read_other_lines(place.startup)
            if len(content := b"".join(lines)) != place.startup.stat().st_size:
                write_atomically(place.startup, content, mode=None)
                files.append(place.startup)
    return files


def _read_other_lines(path: Path) -> list[bytes]:
    """Return the lines of a start-up file, as they are, without jsctl's."""
    content = read_bytes(path, limit=CONFIG_SIZE) if path.exists() else b""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{path} is in UTF-16, to which jsctl adds nothing", "save it as UTF-8")
    return [line for line in content.splitlines(keepends=True) if not line.rstrip().endswith(_MARK)]

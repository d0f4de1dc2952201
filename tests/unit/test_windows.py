"""What Windows has not is missed by nothing that starts: jsctl without the modules and names of POSIX."""

import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.base import posix
from jsctl.errors import JsctlError, MissingDependency
from jsctl.spark.session import java
from jsctl.testing import Network
from tests.support.run import Cli

_HIDE = """
import asyncio, builtins, concurrent.futures, ctypes, getpass, logging, multiprocessing, os, pathlib, platform
import runpy, select, selectors, shutil, signal, socket, ssl, subprocess, sys, tempfile
import click, nats, prompt_toolkit.application, prompt_toolkit.input.vt100, prompt_toolkit.output.vt100
import questionary, rich.console, yaml

MODULES = {"fcntl", "termios", "resource", "pwd", "grp", "tty", "pty", "readline", "curses", "syslog"}
NAMES = {
    os: "O_CLOEXEC O_NONBLOCK O_NOFOLLOW O_DIRECTORY fork setsid getuid getpgrp tcgetpgrp uname fchmod killpg"
    " nice sysconf WNOHANG posix_fadvise",
    signal: "SIGHUP SIGKILL SIGSTOP SIGCONT SIGUSR1 SIGUSR2 SIGTSTP SIGWINCH SIGALRM SIGPIPE SIGCHLD SIGQUIT"
    " alarm setitimer pthread_sigmask",
}
find = builtins.__import__


def without(name, scope=None, *rest, **more):
    if name.partition(".")[0] in MODULES and (scope or {}).get("__name__", "").startswith("jsctl"):
        raise ModuleNotFoundError(f"no module named {name}", name=name)
    return find(name, scope, *rest, **more)


builtins.__import__ = without
for module, names in NAMES.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""

_IMPORT = """
import importlib, pkgutil, jsctl
skipped = ("jsctl.__main__", "jsctl.spark", "jsctl.pytest_plugin", "jsctl.agent.server", "jsctl.agent.worker")
for found in pkgutil.walk_packages(jsctl.__path__, "jsctl."):
    if not found.name.startswith(skipped):
        importlib.import_module(found.name)
print("imported")
"""

_RUN = """
import sys
sys.argv = ["jsctl", *sys.argv[1:]]
from jsctl.app import main
sys.exit(main())
"""


def _python(code: str, home: Path, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _HIDE + code, *args],
        env={"XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home), "PATH": "", "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_module_can_be_imported(tmp_path: Path) -> None:
    assert _python(_IMPORT, tmp_path) == "imported\n"


@pytest.mark.slow
def test_commands_run(tmp_path: Path) -> None:
    assert "stream" in _python(_RUN, tmp_path, "--help")
    _python(_RUN, tmp_path, "context", "add", "there", "--server", "nats://127.0.0.1:4222")
    assert "there" in _python(_RUN, tmp_path, "context", "ls")


@pytest.mark.parametrize(
    "line",
    [
        "server run --port 0 --store store",
        "server run hub-leaf --background --port 0 --store store",
        "server network up single --store store",
        "demo --no-spark",
    ],
)
def test_servers_on_this_machine_are_refused_in_one_line(
    line: str, offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(posix, "fcntl", None)
    error = offline_cli(line, status=1).err.splitlines()[-1]
    assert error.startswith(
        "jsctl: error: servers on this machine need locks and signals, which Windows lacks"
    )
    assert "WSL" in error and not (tmp_path / "store").exists()


def test_networks_of_tests_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "fcntl", None)
    with pytest.raises(JsctlError, match="which Windows lacks"), Network("single"):
        pass


def test_spark_is_refused() -> None:
    with pytest.raises(MissingDependency, match="cannot start Spark on Windows; run jsctl in WSL"):
        java.find_java("nt")

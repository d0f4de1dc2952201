"""The Java that Spark runs on: its path, and whether it is new enough."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from jsctl.errors import MissingDependency

MIN_VERSION = 17  #: what Spark 4 needs

_HINT = f"install Java {MIN_VERSION} or newer (a JRE is enough), or point JAVA_HOME at one"


def find_java() -> Path:
    """Return the path of the `java` that Spark uses, from JAVA_HOME or else from PATH, with links resolved.

    Raises MissingDependency when there is none.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if not java:
        problem = (
            f"JAVA_HOME is {home}, which has no bin/java" if home else "Spark needs Java, and there is none"
        )
        raise MissingDependency(problem, _HINT)
    return Path(java).resolve()


def check_java() -> None:
    """Raise MissingDependency unless there is a Java that Spark can use."""
    java = find_java()
    version = re.match(r"(?:1\.)?(\d+)", read_release(java) or _ask(java))
    if not version:
        raise MissingDependency(f"{java} is not a working Java", _HINT)
    if int(version[1]) < MIN_VERSION:
        raise MissingDependency(f"{java} is Java {version[1]}, too old for Spark", _HINT)


def read_release(java: Path) -> str:
    """Return the version in the file `release` of a Java, which takes less time than starting it; empty if
    there is none.
    """
    try:
        text = (java.parent.parent / "release").read_text(errors="replace")
    except OSError:
        return ""
    version = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return version[1] if version else ""


def _ask(java: Path) -> str:
    """Run a Java for its version; empty when it prints none."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependency(f"{java} cannot be run: {error}", _HINT) from None
    version = re.search(r'version "([^"]+)"', process.stderr + process.stdout)
    return version[1] if version else ""

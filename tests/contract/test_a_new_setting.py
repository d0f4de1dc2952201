"""A global flag that is a key of contexts, too, is one declaration in `Settings`."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.readme import find_example

SETTINGS = Path(__file__).parents[2] / "jsctl/contexts/settings.py"

DECLARATION = textwrap.indent(f"\n{find_example('trace_to')}", "    ")
WITH_SETTING = """
import importlib.util, sys
path, declaration = sys.argv.pop(1), sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("jsctl.contexts.settings", path)
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
before, mark, after = open(path).read().partition("    connection_name: str")
exec(compile(before + declaration + mark + after, path, "exec"), vars(module))
"""
RUN = "sys.argv[0] = 'jsctl'\nfrom jsctl.app import main\nsys.exit(main())\n"
RESOLVED = """
from jsctl.contexts.layers import resolve
from jsctl.contexts.store import load_file
from pathlib import Path
context = load_file(Path(sys.argv[1]))
print(resolve({}, context).trace_to, resolve({"trace_to": ""}, context).trace_to, resolve({}, context))
"""


def run(code: str, *args: str, home: Path, status: int = 0, **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", WITH_SETTING + code, str(SETTINGS), DECLARATION, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={"XDG_CONFIG_HOME": str(home), "HOME": str(home), **variables},
    )
    assert ended.returncode == status, ended
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_its_flag_its_variable_and_its_key_are_read(tmp_path: Path) -> None:
    file = tmp_path / "nats/context/c.json"
    assert "--trace-to SUBJECT" in run(RUN, "--help", "--all", home=tmp_path)

    run(RUN, "context", "add", "c", "--server", "localhost", "--defaults", home=tmp_path)
    assert "jsctl_trace_to" not in json.loads(file.read_text()), "a key of our own is written if it is set"
    run(RUN, "context", "add", "c", "--defaults", home=tmp_path, JSCTL_TRACE_TO="traces")
    assert json.loads(file.read_text())["jsctl_trace_to"] == "traces"

    assert run(RESOLVED, str(file), home=tmp_path).startswith("traces  Settings(")
    assert "traces" not in run(RESOLVED, str(file), home=tmp_path).removeprefix("traces  ")
    page = run(RUN, "context", "info", "c", home=tmp_path)
    assert "Traces: ********" in page

    file.write_text('{"url": "localhost", "jsctl_trace_to": 5}')
    assert "'jsctl_trace_to' must be text" in run(RUN, "context", "info", "c", home=tmp_path, status=64)

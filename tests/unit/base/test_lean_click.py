"""click without the modules that it rarely needs: it works as with them."""

import subprocess
import sys

PROBE = """
import sys
from jsctl.base.lean_click import import_click
import_click()
assert not {"inspect", "uuid", "copy", "gettext"} & set(sys.modules)

import click

option = click.Option(["--one"], help="  One line  ")
assert option.help == "One line  ", option.help
assert not {"inspect", "uuid", "copy", "gettext"} & set(sys.modules)
assert click.Option(["--two"], help="Two\\n    lines\\n").help == "Two\\nlines"

import inspect, uuid, gettext, copy, dataclasses

assert all(module.__spec__ for module in (inspect, uuid, gettext, copy))
number = uuid.uuid4()
assert click.UUID.convert(str(number), None, None) == click.UUID.convert(number, None, None) == number
assert click.core.inspect.isfunction(import_click)
data = dataclasses.make_dataclass("Data", ["items"])
assert data.__doc__.startswith("Data(items") and dataclasses.asdict(data([1])) == {"items": [1]}

try:
    click.Command("verb").main(["extra"], standalone_mode=False)
except click.UsageError as error:
    assert error.message == "Got unexpected extra argument (extra)", error.message
"""


def test_click_works() -> None:
    ended = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr

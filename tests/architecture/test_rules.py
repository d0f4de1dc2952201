"""The rules of the house, held by tests: imports, file sizes, what start-up may load."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jsctl import registry
from tests.support.imports import find_users

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jsctl"
SHARED_FOLDERS = {"commands", "compatibility", "completing", "declared", "editing", "installing", "picking"}
"""Folders of commands with files that are not verbs."""


def test_imports_go_down_the_layers() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_file_is_long() -> None:
    long = {}
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        lines = path.read_text().splitlines()
        is_package = path.is_relative_to(PACKAGE)
        verb = is_package and "commands" in path.parts and path.parent.name not in SHARED_FOLDERS
        # A longer file says why in its first lines, with these words.
        if len(lines) > (250 if verb else 400) and "This file is long because" not in "\n".join(lines[:12]):
            long[str(path.relative_to(ROOT))] = len(lines)
    assert not long, "move what is apart to a file of its own, or say at the top why the file is long"


def test_paths_that_people_name_are_expanded_in_one_place() -> None:
    """pathlib's expanduser fails for `~name` where nobody has the name: a traceback."""
    expanding = {path.name for path in PACKAGE.rglob("*.py") if "expanduser(" in path.read_text()}
    assert expanding == {"user_folders.py"}, "use jsctl.base.user_folders"


def test_json_is_parsed_in_one_place() -> None:
    """`jsctl.base.json_text` refuses what is nested too deeply; the relay imports nothing, and reads what
    jsctl writes."""
    parsing = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if any(call in path.read_text() for call in ("json.loads(", "json.load(", "JSONDecoder(parse_"))
    }
    assert parsing == {"base/json_text.py", "localserver/relay.py"}, "use jsctl.base.json_text"


def test_no_command_writes_its_output_itself() -> None:
    """Commands return a Result or Events, or yield Results; those who run them write these."""
    writing = {
        str(path.relative_to(PACKAGE))
        for path in (PACKAGE / "commands").rglob("*.py")
        if re.search(r"\benv\.emit\(", path.read_text())
    }
    assert writing == {"commands/cli/verbs.py"}, "return the Result instead"


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["stream", "--help"], ["stream"]])
def test_help_loads_no_heavy_module(args: list[str]) -> None:
    probe = (
        "import sys, jsctl.app, os, io\n"
        "from jsctl.env import Env\n"
        "from jsctl.base.standard_streams import Streams\n"
        f"jsctl.app.run({args!r}, Env(Streams.real(), os.environ))\n"
        "heavy = {'nats', 'rich', 'pyspark', 'asyncio', 'questionary', 'yaml', 'ssl'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_static_output_does_not_load_rich() -> None:
    probe = (
        "import sys, io\n"
        "import jsctl.render.emit as e\n"
        "from jsctl.views.result import *\n"
        "t = Table('T', [Column('A', 'a')], [('x',)])\n"
        "e.emit(Result([t, InfoPage('s', [])]), io.StringIO(), 'table', width=80, color=True)\n"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_top_level_holds_what_the_design_says() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    if not tracked:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in tracked.splitlines()}
    allowed = {
        "pyproject.toml",
        "jsctl",
        "contexts",
        "tests",
        "completions",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "findings",
    }
    assert {name for name in top if not name.startswith(".")} <= allowed, "put it into a folder that is there"


SHARED = {
    "bench js fetch": "bench/js/consume.py",
    "bench js ordered": "bench/js/consume.py",
    "consumer resume": "consumer/pause.py",
    "consumer state": "consumer/info.py",
    "demo guide": "demo/walk.py",
    "demo hub-spokes": "demo/walk.py",
    "export objects": "export/kv.py",
    "kv create": "kv/put.py",
    "kv del": "kv/delete.py",
    "kv purge": "kv/delete.py",
    "kv revert": "kv/history.py",
    "kv update": "kv/put.py",
    **{
        f"server check {verb}": "server/check/stream.py"
        for verb in ("consumer", "jetstream", "kv", "message")
    },
    **{
        f"server check {verb}": "server/check/server.py"
        for verb in ("connection", "credential", "meta", "request")
    },
    "server consumer-check": "server/stream_check.py",
    "server network add": "server/network/scale.py",
    "server network env": "server/network/shell.py",
    "server report gateways": "server/report/routes.py",
    "server report leafnodes": "server/report/routes.py",
    "server report mem": "server/report/cpu.py",
    "stream state": "stream/info.py",
} | {
    f"server network {verb}": "server/network/nodes.py"
    for verb in ("start", "stop", "restart", "kill", "pause", "resume", "lame-duck")
}
"""Verbs in the file of another one, of which they are a short form, the opposite, or a variant."""


def test_a_verbs_file_can_be_guessed() -> None:
    """`commands/<noun>/<verb>.py`, or the group's own file where its verbs differ in little:
    `commands/<noun>.py`, or `commands/<noun>/group.py` beside others."""
    commands = PACKAGE / "commands"
    elsewhere = {}
    for path, entry in registry.list_commands().items():
        *groups, verb = path.replace("-", "_").split()
        module = entry.target.removeprefix("jsctl.commands.").partition(":")[0]
        guesses = {".".join([*groups, verb]), ".".join([*groups, f"{verb}_"]), ".".join(groups)}
        guesses.add(".".join([*groups, "group"]))
        if not entry.group and module not in guesses:
            elsewhere[path] = module.replace(".", "/") + ".py"
            assert (commands / elsewhere[path]).exists()
    hint = (
        "name the file for its verb, or for the group if its verbs differ in little; SHARED lists the others"
    )
    assert elsewhere == SHARED, hint


def test_a_view_of_one_file_of_verbs_stands_in_it() -> None:
    """Unless both together have more lines than the file of a verb may have."""
    paths = [str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py")]
    users = find_users(paths)
    targets = [entry.target.partition(":")[0] for entry in registry.list_commands().values()]
    verbs = {f"{target.replace('.', '/')}.py" for target in targets}
    apart = {}
    for view in paths:
        if view.startswith("jsctl/views/") and not view.endswith("__init__.py") and len(users[view]) == 1:
            (user,) = users[view]
            lines = sum(len((ROOT / path).read_text().splitlines()) for path in (view, user))
            if user in verbs and lines <= 250:
                apart[view] = user
    assert not apart, "move each view into the file of verbs that uses it"


def test_each_verb_has_the_test_file_of_its_name() -> None:
    """`tests/commands/<noun>/test_<verb>.py` for `jsctl/commands/<noun>/<verb>.py`."""
    missing = {}
    for path, entry in registry.list_commands().items():
        *folders, name = entry.target.partition(":")[0].removeprefix("jsctl.commands.").split(".")
        file = ROOT.joinpath("tests", "commands", *folders, f"test_{name.rstrip('_')}.py")
        if (entry.runs or not entry.group) and not file.exists():
            missing[path] = str(file.relative_to(ROOT))
    assert not missing, "write the test of each verb; see `jsctl manual contributing`"

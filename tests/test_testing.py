"""`jsctl.testing`, as a project beside jsctl uses it: its own folder, its own tests, its own pytest."""

import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from jsctl.errors import JsctlError
from jsctl.testing import Network
from tests.support.processes import children
from tests.support.waiting import wait_for

PLUGIN = "jsctl.pytest_plugin"
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_its_page_has_all_of_it() -> None:
    import jsctl.testing

    page = (Path(jsctl.testing.__file__).parent / "manual" / "testing.md").read_text()
    members = {name for name in {*vars(Network), "source"} if not name.startswith("_")}
    public = {*members, *jsctl.testing.__all__}
    assert {name for name in public if not re.search(rf"`[^`\n]*\b{name}\b", page)} == set()


TESTS = """
import asyncio
import os
import re
import subprocess
import sys
import urllib.request

import pytest


@pytest.fixture(scope="module")
def net(jsctl_network_factory):
    return jsctl_network_factory("hub-leaf")


def messages(net, stream, domain):
    import json
    return json.loads(net.jsctl(f"stream info {stream} --js-domain {domain} --json"))["state"]["messages"]


def test_urls_and_contexts(net):
    assert sorted(net.contexts) == ["hub", "leaf", "system"]
    assert net.url("hub") == net.servers["hub"].replace("//", "//acc:acc@")
    assert net.links == ["leaf-hub"]
    assert net.creds("hub") is None
    # Another program sees the same contexts, and only these.
    line = [sys.executable, "-m", "jsctl", "context", "ls", "--names"]
    names = subprocess.run(line, env=net.environ, capture_output=True, text=True)
    assert names.stdout.split() == ["hub", "leaf", "system"], names
    with pytest.raises(Exception, match="hubb"):
        net.url("hubb")


def test_nothing_is_lost_while_the_link_is_down(net):
    net.jsctl("stream add ORDERS --subjects 'ORDERS.>' --defaults", context="leaf")
    net.jsctl("stream add COPY --mirror ORDERS@leaf --defaults", context="hub")
    net.wait()
    net.link_down("leaf-hub")
    net.jsctl("pub -J ORDERS.new one --count 10", context="leaf")
    assert messages(net, "COPY", "hub") == 0
    with pytest.raises(Exception, match="no link 'leaf'"):
        net.link_down("leaf")
    net.heal()
    assert messages(net, "COPY", "hub") == 10


def test_a_server_that_was_killed(net):
    net.kill("leaf")
    with pytest.raises(Exception, match="--js-domain leaf"):
        net.jsctl("stream ls --js-domain leaf --timeout 500ms")
    net.heal()
    assert messages(net, "ORDERS", "leaf") == 10
    assert "Server is ready" in net.log("leaf")


def test_it_blocks_in_an_asynchronous_test_too(net):
    async def work():
        net.pause("leaf")
        await asyncio.sleep(0)
        net.resume("leaf")
        net.wait()

    asyncio.run(work())
    while net.missing():  # hub may notice after this that it lost contact when the leaf was restarted
        net.wait()


def test_a_network_of_its_own(jsctl_network, tmp_path):
    net = jsctl_network("single")
    net.jsctl("stream add ALONE --subjects alone --defaults")
    assert net.jsctl("stream ls --names").split() == ["ALONE"]
    (tmp_path.parent / "folder").write_text(str(net.folder))


def test_that_fails(jsctl_network):
    jsctl_network("single")
    assert False, "on purpose"


def test_a_mistake_in_a_file(jsctl_network, tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\\nclusters: {one: {server: 1}}\\n")
    with pytest.raises(Exception, match="mine.yaml"):
        jsctl_network(tmp_path / "mine.yaml")
"""


@pytest.mark.long
def test_an_outside_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_mine.py").write_text(textwrap.dedent(TESTS))
    known = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environ["NATS_URL"] = "nats://127.0.0.1:1"  # somebody's own, which the networks do not follow
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-rA",
                "-p",
                "no:cacheprovider",
                f"--basetemp={tmp_path / 'base'}",
            ),
            *(() if known else ("-p", PLUGIN)),  # installed before there was a plugin
        ],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "6 passed" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_mine.py::test_that_fails" in done.stdout
    assert "nats-server server" in done.stdout and "Server is ready" in done.stdout
    assert not children(tmp_path)


def test_the_entry_point() -> None:
    assert f'[project.entry-points.pytest11]\njsctl = "{PLUGIN}"\n' in PYPROJECT.read_text()


def test_the_plugin_costs_other_projects_nothing() -> None:
    probe = (
        f"import sys, pytest, {PLUGIN}\n"
        "heavy = {'nats', 'rich', 'yaml', 'click', 'jsctl.localserver', 'jsctl.testing'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_killed_test_run_leaves_no_server(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, pathlib\n"
        "from jsctl.testing import Network\n"
        "net = Network('single', pathlib.Path(sys.argv[1]))\n"
        "net.start_network()\n"
        "assert net.servers['server']\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], timeout=60, check=False)
    assert done.returncode == -9
    wait_for(lambda: not children(tmp_path), "a server is left")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a folder that may be in use stays")
def test_the_folder_of_a_killed_run_is_removed_by_the_next_one(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from jsctl.testing import Network\n"
        "with Network('single'):\n"
        "    if sys.argv[1] == 'kill':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environ = {**os.environ, "TMPDIR": str(tmp_path)}

    def run(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", program, how], timeout=60, check=False, env=environ)
        return done.returncode

    assert run("kill") == -9
    (left,) = tmp_path.glob("jsctl-network-*")
    wait_for(lambda: not children(left), "a server is left")
    wait_for(lambda: run("end") == 0 and not list(tmp_path.glob("jsctl-network-*")), "the folder is removed")


@pytest.mark.slow
def test_without_pytest() -> None:
    network = Network("single")
    with pytest.raises(JsctlError, match="is not running"):
        _ = network.servers
    with network as net:
        folder = net.folder
        assert net.jsctl(["rtt"])
        net.kill()
        assert net.missing() == []
        net.start()
    assert not folder.exists()
    with pytest.raises(JsctlError, match="is not running"):
        network.wait()

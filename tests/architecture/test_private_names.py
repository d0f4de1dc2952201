"""The private names of other packages that jsctl uses: all stand here with a reason, their number only falls,
and each version that pyproject.toml allows has them."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import nats.aio.client
import pytest
from nats.aio.client import Client, Srv
from nats.aio.transport import Transport

from jsctl.nats import nats_py
from jsctl.nats.tcp_link import TcpLink
from tests.support.sources import PACKAGE, read_modules

NATS_PY = {
    "_auth_configured": "set, to sign where a server with no_auth_user asks for no login",
    "_server_pool": "further servers, which have the login that worked",
    "_sid": "the number of the next subscription: its first message may arrive before subscribe() returns",
    "_transport": "the socket: through a proxy, read and written without a turn of the event loop",
    "_ps": "our parser: messages go to handlers as they are read",
    "_pending": "what is to be sent: nats-py joins it, message by message",
    "_pending_data_size": "as above",
    "_flush_queue": "wakes the task that sends, for acks from within a handler",
    "_flush_pending": "overridden: it loses a cancellation",
    "_connect_to_server": "overridden: a SOCKS5 proxy, a close while a connection is refused",
    "_process_connect_init": "overridden: what a server says before it hangs up, lines that are no NATS",
    "_process_info": "overridden: TLS that was requested is never left out",
    "_process_op_err": "ends the connection for good, with callbacks",
}

PYSPARK = {
    "_active_spark_context": "whether this process has a Spark: all public ways start one",
    "_gateway": "forgotten at the end, so that a later session can start another JVM",
    "_jvm": "as above; and Hadoop's file systems and the state of executors, which Python's API lacks",
}

SSL = {"_sslobj": "the chain of a server's certificates: a public method has it since Python 3.13"}

LIMIT = 17
"""How many there may be. It only falls."""

BY_NAME = ("getattr", "setattr", "hasattr")

PARAMETERS: dict[object, dict[str, list[str]]] = {
    Client: {
        "_connect_to_server": ["self", "s"],
        "_flush_pending": ["self", "force_flush"],
        "_process_connect_init": ["self"],
        "_process_info": ["self", "info", "initial_connection"],
        "_process_op_err": ["self", "e"],
    },
}

TRANSPORT = {"connect", "connect_tls", "write", "writelines", "read", "readline", "drain", "wait_closed"}
TRANSPORT |= {"close", "at_eof"}


@cache
def list_own_names() -> set[str]:
    """All names that the package defines somewhere."""
    ours: set[str] = set()
    for node in (node for nodes in read_modules().values() for node in nodes):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            ours.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            ours.add(node.id)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("self", "cls"):
            ours.add(node.attr)
    return ours


def list_private_names(folder: Path) -> Iterator[str]:
    """Yield private names that code takes from elsewhere: attributes and imports that the package nowhere
    defines, and functions that override one of nats-py."""
    ours = list_own_names()
    foreign = {name for name in dir(Client()) if name.startswith("_")} if folder.name == "nats" else set()
    for path, nodes in read_modules().items():
        if not path.is_relative_to(folder):
            continue
        of_nats_py = foreign if path.name == "nats_py.py" else set()
        for node in nodes:
            found: list[str] = []
            if isinstance(node, ast.Attribute):
                found = [node.attr]
            elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("jsctl"):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "getattr",
                "setattr",
                "hasattr",
            ):
                found = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found = [node.name] if node.name in of_nats_py else []
            for name in found:
                if re.match("_[a-z]", name) and (name not in ours or name in of_nats_py):
                    yield name


def test_each_private_name_is_listed() -> None:
    public = {"_exit", "_field_defaults"}  # of os, and of named tuples
    listed = {"spark": PYSPARK, "nats": {**NATS_PY, **SSL}}
    for folder in (path for path in PACKAGE.iterdir() if path.is_dir()):
        used = set(list_private_names(folder)) - public
        assert used == set(listed.get(folder.name, {})), folder.name
    assert sum(map(len, listed.values())) <= LIMIT


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner in PARAMETERS for name in PARAMETERS[owner]]
)
def test_functions_take_what_we_give(owner: object, name: str) -> None:
    assert list(inspect.signature(getattr(owner, name)).parameters) == PARAMETERS[owner][name]


def test_contexts_keep_the_words_of_a_group_that_are_left() -> None:
    """`tests/contract/test_commands.py` parses lines all the way down with them."""
    assert click.Context(click.Command("verb"))._protected_args == []


def test_pyspark_has_them() -> None:
    context = pytest.importorskip("pyspark").SparkContext
    assert vars(context).keys() >= PYSPARK.keys()


def test_nats_py_has_them() -> None:
    client = Client()
    assert set(dir(client)) >= NATS_PY.keys()
    assert {name for name in Transport.__abstractmethods__ if not name.startswith("__")} == TRANSPORT
    assert set(dir(TcpLink)) >= TRANSPORT
    assert {"parse", "reset"} <= set(dir(client._ps))
    assert "uri" in inspect.signature(Srv).parameters
    source = inspect.getsource(nats.aio.client)
    assert all(f'self.options["{key}"]' in source for key in ("allow_reconnect", "tls_handshake_first"))


def test_no_name_of_ours_is_one_of_nats_pys() -> None:
    """`close` and what overrides a private method mean to be theirs."""
    theirs = set(dir(Client()))
    ours = {name for name in vars(nats_py.NatsClient) if not name.startswith("__")}
    assert ours & theirs == {"close"} | (ours & NATS_PY.keys())
    fields = vars(nats_py.NatsClient.__new__(nats_py.NatsClient))
    assert not {"handlers", "on_refusal", "_on_failure", "_timeout", "server_info", *fields} & theirs

"""The private parts of nats-py that jsctl touches: a release that lacks one, or uses a name of ours, fails
here first."""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import nats.aio.client
import pytest
from nats.aio.client import Client, Srv
from nats.aio.subscription import Subscription
from nats.aio.transport import Transport

from jsctl.nats import nats_py
from jsctl.nats.tcp_link import TcpLink

CLIENT = {"_auth_configured", "_flush_queue", "_pending", "_pending_data_size", "_ps", "_server_info"}
CLIENT |= {"_server_pool", "_sid", "_transport"}
CLIENT_METHODS = {
    "_connect_to_server": ["self", "s"],
    "_flush_pending": ["self", "force_flush"],
    "_parse_server_uri": ["connect_url"],
    "_process_connect_init": ["self"],
    "_process_info": ["self", "info", "initial_connection"],
    "_process_op_err": ["self", "e"],
    "_send_command": ["self", "cmd", "priority"],
}
TRANSPORT = {"connect", "connect_tls", "write", "writelines", "read", "readline", "drain", "wait_closed"}
TRANSPORT |= {"close", "at_eof"}
SUBSCRIPTION = {"_id"}


def _used() -> set[str]:
    """Private attributes in the module that no class of ours declares."""
    tree = ast.parse(Path(nats_py.__file__).read_text(encoding="utf-8"))
    ours: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            foreign = bool(node.bases)
            methods = {m.name for m in node.body if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))}
            ours |= set() if foreign else methods
            ours |= {
                target.attr
                for statement in ast.walk(node)
                for target in _targets(statement)
                if isinstance(target, ast.Attribute) and not foreign
            }
    nodes = list(ast.walk(tree))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    private = {name for name in used if re.fullmatch(r"_[a-z]\w*", name)}
    return private - ours - {"_on_failure", "_link", "_socks", "_timeout"}


def _targets(statement: ast.AST) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) else []


def test_each_private_part_is_named_here() -> None:
    assert _used() == CLIENT | set(CLIENT_METHODS) | SUBSCRIPTION


def test_nats_py_has_them() -> None:
    client = Client()
    assert vars(client).keys() >= CLIENT
    for name, parameters in CLIENT_METHODS.items():
        assert list(inspect.signature(getattr(Client, name)).parameters) == parameters
    assert {name for name in Transport.__abstractmethods__ if not name.startswith("__")} == TRANSPORT
    assert set(dir(TcpLink)) >= TRANSPORT
    assert vars(Subscription(client, 7, "subject")).keys() >= SUBSCRIPTION
    assert {"allow_reconnect", "tls_handshake_first"} <= _options()
    assert {"parse", "reset"} <= set(dir(client._ps))
    assert "uri" in inspect.signature(Srv).parameters


def _options() -> set[str]:
    """The keys of `client.options` that `connect` sets."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(Client) or Client))
    return {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "options"
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    }


def test_no_name_of_ours_is_one_of_nats_pys() -> None:
    """`close` and what overrides a private method mean to be theirs."""
    wanted = {"close", *CLIENT_METHODS}
    ours = {name for name in vars(nats_py.NatsClient) if not name.startswith("__")} - wanted
    assert ours and not ours & set(dir(Client()))
    assert not {"handlers", "on_refusal", "_on_failure", "_timeout"} & set(dir(Client()))


def test_a_cancellation_is_not_lost_to_a_result() -> None:
    """asyncio.wait_for of Python 3.11 would return the result."""

    async def work() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(vars(nats.aio.client)["asyncio"].wait_for(future, 10))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        future.set_result(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())

"""The private names of other packages that jsctl uses: all stand here with a reason, their number only falls,
and each version that pyproject.toml allows has them."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from nats.aio.transport import WebSocketTransport

from tests.support.sources import PACKAGE, read_modules

PYSPARK = {
    "_active_spark_context": "whether this process has a Spark: all public ways start one",
    "_gateway": "forgotten at the end, so that a later session can start another JVM",
    "_jvm": "as above; and Hadoop's file systems and the state of executors, which Python's API lacks",
}

SSL = {"_sslobj": "the chain of a server's certificates: a public method has it since Python 3.13"}

LIMIT = 4
"""How many there may be. It only falls."""

BY_NAME = ("getattr", "setattr", "hasattr")


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
    defines."""
    ours = list_own_names()
    for path, nodes in read_modules().items():
        if not path.is_relative_to(folder):
            continue
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
            for name in found:
                if re.match("_[a-z]", name) and name not in ours:
                    yield name


def test_each_private_name_is_listed() -> None:
    public = {"_exit", "_asdict", "_field_defaults"}  # of os, and of named tuples
    listed = {"spark": PYSPARK, "nats": SSL}
    for folder in (path for path in PACKAGE.iterdir() if path.is_dir()):
        used = set(list_private_names(folder)) - public
        assert used == set(listed.get(folder.name, {})), folder.name
    assert sum(map(len, listed.values())) <= LIMIT


def test_contexts_keep_the_words_of_a_group_that_are_left() -> None:
    """`tests/contract/test_commands.py` parses lines all the way down with them."""
    assert click.Context(click.Command("verb"))._protected_args == []


def test_pyspark_has_them() -> None:
    context = pytest.importorskip("pyspark").SparkContext
    assert vars(context).keys() >= PYSPARK.keys()


def test_nats_py_has_what_websockets_need() -> None:
    """Its names are public; no type checker sees them where aiohttp is not installed."""
    names = {"connect", "connect_tls", "read", "write", "drain", "close", "wait_closed"}
    assert names <= set(dir(WebSocketTransport))
    parameters = list(inspect.signature(WebSocketTransport.connect_tls).parameters)
    assert parameters == ["self", "uri", "ssl_context", "buffer_size", "connect_timeout"]

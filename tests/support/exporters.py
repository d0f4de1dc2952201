"""Exporters that run."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.run import Cli

BLIND = """
listen: "127.0.0.1:{port}"
jetstream { store_dir: "{store}" }
authorization {
  users: [{ user: blind, password: blind, permissions: { subscribe: { deny: "$JS.EVENT.>" } } }]
}
"""
"""A server whose user gets no advisories."""


@contextmanager
def exporting(cli: Cli, flags: str) -> Iterator[int]:
    """Run an exporter until the context ends; yield its port."""
    process = cli.start(f"exporter --listen 127.0.0.1:0 {flags}")
    try:
        assert process.stderr
        announced = re.search(r"127\.0\.0\.1, port (\d+)", line := process.stderr.readline())
        assert announced, line
        yield int(announced[1])
    finally:
        process.kill()
        process.communicate()

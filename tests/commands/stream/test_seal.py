"""`stream seal` on a real server."""

import re
from pathlib import Path

import pytest

from tests.support import js
from tests.support.run import Cli


def test_seal(orders: Cli, url: str) -> None:
    assert "use --force" in orders("stream seal ORDERS", status=64).err
    no = orders("stream seal ORDERS", tty=True, answers=[False], status=0)
    assert no.asked == [
        "Really seal Stream ORDERS (5 messages, 233 B), sealed streams can not be unsealed or modified"
    ]
    before = js.info(url, "ORDERS")["config"]
    assert re.search(r"Sealed: true\n", orders("stream seal ORDERS -f", status=0).out)
    after = js.info(url, "ORDERS")["config"]
    assert after["sealed"]
    assert {key: after[key] for key in ("name", "subjects", "allow_direct")} == {
        key: before[key] for key in ("name", "subjects", "allow_direct")
    }
    for line in ("stream purge ORDERS", "stream rmm ORDERS 1"):
        for flag in ("--force", "--dry-run"):
            refused = orders(f"{line} {flag}", status=1)
            assert refused.out == ""
            assert "error: invalid operation on sealed stream (10109)" in refused.err
    assert "already sealed" in orders("stream seal ORDERS", terminal_error=True, status=0).err


@pytest.mark.parametrize("flag", ["--force", "--dry-run"])
def test_a_sealed_bucket(cli: Cli, tmp_path: Path, flag: str) -> None:
    for line in ("kv add B", "kv put B k v", "object add O", f"object put O {__file__} --name f"):
        cli(line, status=0)
    for line in ("stream seal KV_B -f", "object seal O -f"):
        cli(line, status=0)
    (tmp_path / "new").write_text("x")
    for line in (
        "kv del B k",
        "kv purge B k",
        "kv compact B",
        "object rm O f",
        f"object put O {tmp_path}/new",
        f"object sync O {tmp_path} --up",
    ):
        assert "sealed" in cli(f"{line} {flag}", status=1).err, line
    cli(f"object rm O {flag}", status=0)

"""`--sort` and `--reverse` order what people see and what `--json` holds alike."""

from typing import Any

import pytest

from jsctl.commands.server import list_
from jsctl.commands.server.report import accounts, jetstream, routes
from jsctl.views.result import Cell, Column, build_cells
from jsctl.views.server import reports
from jsctl.views.shared.orders import list_orders, select_largest, sort_rows
from tests.support.run import Cli
from tests.support.servers import HubLeaf


@pytest.mark.parametrize(
    ("line", "orders"),
    [
        ("server list", list_orders(list_.COLUMNS)),
        ("server report jetstream", list_orders(jetstream.COLUMNS)),
    ],
)
def test_json_has_the_order_of_the_table(
    hub_cli: Cli, hub_leaf: HubLeaf, line: str, orders: list[str]
) -> None:
    for name, expected in (("", ["hub-server", "leaf-server"]), ("--reverse", ["leaf-server", "hub-server"])):
        for order in orders:
            options = f"{line} --server {hub_leaf.system_url} --sort {order} {name}"
            head, *rows = hub_cli(f"{options} --as csv", status=0).out.splitlines()[:3]
            shown = [row.split(",")[0] for row in rows]
            found = [reply["server"]["name"] for reply in hub_cli(f"{options} --json", status=0).json]
            assert set(shown) == set(expected) and head
            if order == "name":
                assert found == shown == expected, options
            elif order in ("streams", "cluster"):
                assert found == shown, options


class Row:
    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size


COLUMNS = (
    Column("Name", "name", sort=("name",)),
    Column("Size", "size", "bytes", sort=("size", "bytes"), read=lambda row: Cell(row.size, f"<{row.size}>")),
    Column("Half", "half", "count", read=lambda row: row.size // 2, rank=lambda row: -row.size),
)


def test_a_column_says_how_its_values_are_read_shown_and_sorted() -> None:
    rows: list[Any] = [Row("b", 2), Row("a", 2), Row("c", 9)]
    assert list_orders(COLUMNS) == ["name", "size", "bytes"]
    assert [row.name for row in sort_rows(rows, COLUMNS, "bytes")] == ["b", "a", "c"]
    assert [row.name for row in sort_rows(rows, COLUMNS, "name", reverse=True)] == ["c", "b", "a"]
    assert [row.name for row in select_largest(rows, COLUMNS, "size", 2)] == ["c", "a"]
    assert [row.name for row in select_largest(rows, COLUMNS, "name")] == ["a", "b", "c"]
    assert build_cells(rows[:1], COLUMNS) == [["b", Cell(2, "<2>"), 1]]
    assert COLUMNS[2].get_rank(rows[2]) == -9


def test_what_sort_takes() -> None:
    """As in `nats`, and what was offered before."""
    assert {"rtt", "name", "cluster", "conns", "subs", "routes", "gws"} <= set(list_orders(list_.COLUMNS))
    assert {"cluster", "name", "streams", "mbytes", "store", "err"} <= set(list_orders(jetstream.COLUMNS))
    assert {"in-bytes", "out-msgs", "conns", "subs"} <= set(list_orders(accounts.COLUMNS))
    assert {"in-bytes", "uptime", "cid", "subs"} <= set(reports.CONNECTION_SORTS)
    assert {"server", "cluster", "name", "account", "subs", "in-msgs"} <= set(
        list_orders(routes.ROUTES + routes.LEAF_NODES)
    )

"""Reports on servers from what these answer: accounts by name, and an account's part of a cluster."""

from typing import Any

from jsctl.commands.server.report.jetstream import JetStreamReport, show_report
from jsctl.commands.server.report.routes import GATEWAYS, show_links
from jsctl.monitor.report.lines import LinkLine
from jsctl.monitor.server.reports import build_connection_request, build_connection_rows, list_gateways
from jsctl.monitor.server.requests import deduplicate_servers
from jsctl.monitor.stream.rows import ReplicationRow
from jsctl.render.table import format_boxed
from jsctl.views.result import Table, build_cells, build_footer, count_distinct
from jsctl.views.server.reports import build_column
from jsctl.views.shared.figures import Line, build_columns
from jsctl.views.shared.orders import sort_rows

ID = "ACBTIYD5IAHQ6CXJJ72I5TQYQ2QGD7LJHJBM3CK7A6XEDLPNRLM3LNKG"


def test_an_account_is_known_by_its_name_and_its_id() -> None:
    """Servers of an operator take the ID alone."""
    connections = [{"cid": 1, "account": ID, "name_tag": "APP"}, {"cid": 2, "account": "OTHER"}]
    replies = [{"server": {"name": "n1"}, "data": {"connections": connections}}]
    for name, found in ((ID, ["1"]), ("APP", ["1"]), ("OTHER", ["2"]), ("", ["1", "2"]), ("NOPE", [])):
        assert [str(row["cid"]) for row in build_connection_rows(replies, name)] == found
    assert build_connection_request(account=ID)["acc"] == ID
    assert "acc" not in build_connection_request(account="APP")


def test_a_server_that_answers_over_two_leaf_nodes_counts_once() -> None:
    replies = [{"server": {"id": id}, "data": at} for at, id in enumerate(("A", "B", "A"))]
    assert [reply["data"] for reply in deduplicate_servers(replies)] == [0, 1]


def test_an_accounts_part_of_each_server() -> None:
    """Of its storage and API requests every server tells those of the whole cluster."""

    def reply(server: str, *stored: tuple[str, int]) -> dict[str, Any]:
        details = [
            {"name": str(at), "config": {"storage": kind}, "state": {"bytes": size, "messages": 1}}
            for at, (kind, size) in enumerate(stored)
        ]
        account = {
            "name": "APP",
            "memory": 900,
            "storage": 9000,
            "api": {"total": 50, "errors": 2},
            "stream_detail": details,
        }
        return {
            "server": {"name": server, "cluster": "c"},
            "data": {"account_details": [account], "meta_cluster": {"leader": "n1"}},
        }

    replies = [reply("n1", ("file", 100), ("memory", 7)), reply("n2", ("file", 100)), reply("n3")]
    [table] = show_report(replies, JetStreamReport(account="APP", partial=True)).parts
    assert isinstance(table, Table) and table.footer is not None
    columns = [column.key for column in table.columns]
    sums = dict(zip(columns, table.footer, strict=True))
    assert (sums["file"], sums["memory"], sums["bytes"], sums["api"], sums["errors"]) == (200, 7, 207, 50, 2)
    at = columns.index("file")
    assert [row[at] for row in table.rows] == [100, 100, 0]


def test_gateways_have_ports_and_accounts_and_totals() -> None:
    link = {"connection": {"cid": 5, "ip": "::1", "port": 9, "in_bytes": 3, "out_bytes": 4}}
    data = {
        "port": 7222,
        "outbound_gateways": {"west": {**link, "accounts": [{"name": "A"}, {"name": "B"}]}},
        "inbound_gateways": {"west": [link]},
    }
    rows = list_gateways([{"server": {"name": "e1", "cluster": "east"}, "data": data}])
    assert [(row["kind"], row["gateway_port"], row["accounts"]) for row in rows] == [
        ("Outbound", 7222, 2),
        ("Inbound", 7222, 0),
    ]
    (table,) = show_links("Gateways", "gateways", GATEWAYS, rows, "server", False).tables()
    totals = dict(zip([column.key for column in table.columns], table.footer or (), strict=True))
    assert (totals["server"], totals["cluster"], totals["address"], totals["bytes"]) == ("1", "1", "2", 14)


def test_a_column_of_a_servers_json_is_one_declaration() -> None:
    columns = (
        build_column("Server", "server", path="server.name", total=count_distinct),
        build_column("Msgs", "msgs", "count", "sent.msgs", sort=("msgs",), total=sum),
        build_column("RTT", "rtt", "duration", hideable=1),
        build_column("Spoke", "spoke", "bool", "is_spoke"),
    )
    rows = [
        {"server": {"name": "n1"}, "sent": {"msgs": 3}, "rtt": "1.5ms", "is_spoke": True},
        {"server": {"name": "n1"}, "sent": None},
        {"server": {}, "sent": {"msgs": 2}},
    ]
    assert build_cells(sort_rows(rows, columns, "msgs"), columns) == [
        ["n1", 0, -1, False],
        ["", 2, -1, False],
        ["n1", 3, 1_500_000, True],
    ]
    assert build_footer(rows, columns) == ["1", 5, "", ""]
    assert Table("", columns, build_cells(rows, columns)).data_head() == ["server", "msgs", "rtt_ns", "spoke"]


def test_an_empty_cluster_goes_before_a_domain() -> None:
    """On a terminal of 80 columns, without a word about what is empty."""
    data = {"config": {"domain": "hub"}, "streams": 12, "messages": 1_000_000, "api": {"total": 7}}
    replies = [{"server": {"name": f"a-server-of-a-hub-{at}"}, "data": data} for at in range(3)]
    [table] = show_report(replies, JetStreamReport(partial=True)).tables()
    titles, *_ = [line for line in format_boxed(table, 80) if "Server" in line]
    assert "Domain" in titles
    assert "Cluster" not in titles
    assert "Cluster" in [column.title for column in table.columns]


def test_an_empty_error_goes_before_the_kind_of_a_copy() -> None:
    row = ReplicationRow("c", "", "COPY-OF-ALL-ORDERS", "mirror", "", "ORDERS-OF-ALL-THE-SHOPS", "", 5, 0, "")
    columns = build_columns("replication", "own")
    table = Table("", columns, build_cells([Line(LinkLine(row))], columns))
    head = "".join(format_boxed(table, 72))
    assert "Kind" in head
    assert "Error" not in head

"""`jsctl server report cpu` and `mem`."""

from collections.abc import Sequence
from functools import partial

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import ROWS, Flags, Json, report, report_flags
from jsctl.env import Env
from jsctl.views.result import Column, Result, build_table
from jsctl.views.server.reports import build_column

_SERVER = build_column("Server", "server", path="server.name")
_CPU = Column("CPU %", "cpu", "number", read=lambda reply: float((reply.get("data") or {}).get("cpu", 0)))
_MEMORY = build_column("Memory", "mem", "bytes", "data.mem")
_BAR = 30  #: columns of the longest bar


def _show_use(title: str, use: Column, replies: Sequence[Json], with_rows: bool) -> Result:
    """Compare the CPU or memory use of servers, from VARZ.

    The document is an object of the values by server, or with `with_rows` a list.
    """
    rows = sorted(replies, key=lambda reply: (use.get(reply), _SERVER.get(reply)))
    highest = max(map(use.get, rows), default=0) or 1
    bar = Column("", "bar", read=lambda reply: "█" * round(use.get(reply) / highest * _BAR))
    data = {_SERVER.get(reply): use.get(reply) for reply in rows}
    listed = [{"server": name, use.key: value} for name, value in data.items()]
    table = build_table(title, (_SERVER, use, bar), rows, rising=True)
    return Result([table], data=listed if with_rows else data)


@command(
    "cpu",
    columns=(),
    examples=["jsctl server report cpu", "jsctl server report cpu --cluster hub --watch 2s"],
)
@option(*ROWS[0], **ROWS[1])
@report_flags
async def cpu(env: Env, limit: int | None, with_rows: bool, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    show = partial(_show_use, "CPU Usage", _CPU, with_rows=with_rows)
    return await report(env, "VARZ", {}, limit, servers, show)


@command(
    "mem",
    columns=(),
    examples=["jsctl server report mem", "jsctl server report mem --cluster hub --watch 2s"],
)
@option(*ROWS[0], **ROWS[1])
@report_flags
async def mem(env: Env, limit: int | None, with_rows: bool, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    show = partial(_show_use, "Memory Usage", _MEMORY, with_rows=with_rows)
    return await report(env, "VARZ", {}, limit, servers, show)

"""Every verb that shows a table takes --columns and --filter, with the names that its CSV has."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from jsctl.app import root
from jsctl.base.standard_streams import Streams
from jsctl.commands.cli.verbs import RowFlag
from jsctl.commands.completing.shells import VARIABLE
from jsctl.env import Env
from jsctl.views.result import Column, Result, Table, Text
from jsctl.views.selection import Selection
from tests.contract.test_commands import COMMANDS, VERBS, resolve
from tests.support import js
from tests.support.run import Cli, _Stream

LISTS = [
    path for path in COMMANDS if any(isinstance(param, RowFlag) for param in resolve(path.split()).params)
]
OF_ACCOUNT = {
    "stream ls": "",
    "stream report": "",
    "stream find": "",
    "stream subjects": "ORDERS",
    "stream gaps": "ORDERS",
    "consumer ls": "ORDERS",
    "consumer report": "ORDERS",
    "kv ls": "",
    "kv history": "CONFIG a",
    "object ls": "",
    "object status": "",
    "report": "",
    "report --part consumers": "",
    "context ls": "",
    "context validate": "",
    "counter list": "",
    "errors ls": "",
    "audit checks": "",
    "account report connections": "",
    "account report statistics": "",
}
"""Lists of an account's login, with their arguments."""

OWN_FILTER = {"report", "report --part consumers", "server report connections"}
"""Lists whose --filter is that of `nats`, over what the server reports, or our own of texts."""
CHANGING = {"account report connections"}
"""Lists whose rows are about the command that asks."""

OF_SYSTEM = {
    *("server list", "server ping", "server report accounts", "server report connections"),
    *("server stream-check", "server consumer-check"),
    *("server report cpu", "server report mem", "server report health", "server report jetstream"),
}


def fill(cli: Cli, url: str) -> None:
    js.stream(url, "ORDERS", "orders.*", "other", allow_direct=True)
    js.stream(url, "HITS", "hits.>", allow_msg_counter=True, allow_direct=True)
    js.publish(url, "orders.new", count=3)
    js.publish(url, "other", count=1)
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 2})
    js.publish_framed(url, "hits.home", b"NATS/1.0\r\nNats-Incr: 7\r\n\r\n", b"")
    js.publish_framed(url, "hits.away", b"NATS/1.0\r\nNats-Incr: 7\r\n\r\n", b"")
    for name in ("NEW", "OLD"):
        cli(f"consumer add ORDERS {name} --pull --defaults", status=0)
    for line in (
        "kv add CONFIG",
        "kv put CONFIG a 1",
        "kv put CONFIG a 2",
        "kv add OTHER",
        "object add FILES",
    ):
        cli(line, status=0)
    for name in ("here", "there"):
        cli(f"context add {name} --server {url}", status=0)


def find_fault(cli: Cli, line: str) -> str:
    """Return what is wrong with the flags of a list; empty for nothing."""
    whole = cli(f"{line} --as csv")
    if not whole.out:
        return f"{line} --as csv: {whole}"
    head, *rows = csv.reader(io.StringIO(whole.out))
    texts = [name for name in head if not name.endswith("_base64")]  # which comes with its text
    first, last = texts[0], texts[-1]
    chosen = cli(["--json", *line.split(), "--columns", f"{last},{first}"])
    names = [[name for name in row if name in texts] for row in chosen.json]
    if names != [list(dict.fromkeys((last, first)))] * len(rows):
        return f"{line} --columns {last},{first}: {chosen}"
    if "nothing-like-it" in cli([*line.split(), "--columns", "nothing-like-it"], status=64).out:
        return f"{line}: the error is not on stderr"
    if line in OWN_FILTER:
        return ""
    everything: list[dict[str, Any]] = cli([*line.split(), "--json", "--filter", "true"]).json
    if [list(row) for row in everything] != [head] * len(rows):
        return f"{line} --filter true: {everything}, not {head}"
    if not rows or line in CHANGING:
        return ""
    value = json.dumps(everything[-1][first], ensure_ascii=False)
    if value[0] in "[{":
        return ""
    some = cli([*line.split(), "--json", "--filter", f"{first} == {value}"]).json
    same = [row[first] for row in everything if row[first] == everything[-1][first]]
    if [row[first] for row in some] != same:
        return f"{line} --filter {first} == {value}: {some}"
    for form in ("plain", "csv", "table"):
        out = cli([*line.split(), "--as", form, "--filter", "false", "--columns", first]).out
        if everything[-1][first] and str(everything[-1][first]) in out.splitlines()[1:]:
            return f"{line} --as {form} --filter false: {out}"
    return ""


@pytest.mark.slow
def test_lists_of_an_account(cli: Cli, url: str) -> None:
    fill(cli, url)
    faults = [find_fault(cli, f"{path} {words}".strip()) for path, words in OF_ACCOUNT.items()]
    assert "\n".join(filter(None, faults)) == ""


@pytest.mark.slow
def test_lists_of_servers(tmp_path: Path, system_url: str) -> None:
    cli = Cli(tmp_path, system_url)
    assert "\n".join(filter(None, [find_fault(cli, path) for path in sorted(OF_SYSTEM)])) == ""


def test_all_lists_take_both() -> None:
    assert {path.partition(" --")[0] for path in (*OF_ACCOUNT, *OF_SYSTEM)} <= set(LISTS) and len(LISTS) > 50
    for path in LISTS:
        flags = {flag for param in resolve(path.split()).params for flag in param.opts}
        assert {"--columns", "--filter"} <= flags, path
        assert sum("--columns" in param.opts for param in resolve(path.split()).params) == 1, path
    assert "report" in LISTS and "report history" in LISTS


def test_no_verb_with_the_name_of_a_list_lacks_them() -> None:
    words = {"ls", "list", "find", "report", "history", "stats", "ping", "subjects", "gaps"}
    named = {path for path in VERBS if path.split()[-1] in words or " report " in path}
    assert named - set(LISTS) == {"consumer find"}, "which shows names alone"


def test_names_complete_one_after_the_other(offline_cli: Cli) -> None:
    env = Env(Streams(_Stream(), _Stream(), _Stream()), offline_cli.environ)
    completer = ShellComplete(root, {"obj": env}, "jsctl", VARIABLE)
    items = completer.get_completions(["stream", "ls", "--columns"], "name,me")
    assert [item.value for item in items] == ["name,messages"]
    assert completer.get_completions(["stream", "ls", "--filter"], "x") == []


@pytest.mark.parametrize("flags", ["--columns name", "--filter true"])
def test_what_is_no_table_is_not_chosen_from(cli: Cli, url: str, flags: str) -> None:
    js.stream(url, "ORDERS", "orders.>")
    assert "there is no table here" in cli(f"stream ls --names {flags}", status=64).err


@pytest.mark.parametrize("form", ["", "--json"])
def test_each_round_of_a_watch_is_chosen_from(cli: Cli, system_url: str, form: str) -> None:
    line = f"server watch servers --server {system_url} --count 2 --every 100ms {form}"
    out = cli([*line.split(), "--columns", "server", "--filter", "connections > 0"], status=0).out
    assert out.count("test-server") == 2 and "subscriptions" not in out.lower()


COLUMNS = (Column("Name", "name"), Column("Idle", "idle", "ago"), Column("Bytes", "bytes", "bytes"))


def test_a_result_is_the_chosen_part_of_its_table() -> None:
    rows = [("a", -1, 5), ("b", 7, 6)]
    result = Result([Text("above"), Table("T", COLUMNS, rows, footer=("", 0, 11))], data={"other": 1})
    selected = Selection(["bytes", "idle_ns"]).apply(result)
    assert selected.document() == [{"bytes": 5, "idle_ns": None}, {"bytes": 6, "idle_ns": 7}]
    [table] = selected.tables()
    assert [column.title for column in table.columns] == ["Bytes", "Idle"] and table.footer == [11, 0]
    some = Selection(condition=lambda row: row["idle_ns"] == 7, text="idle_ns == 7").apply(result)
    assert some.document() == [{"name": "b", "idle_ns": 7, "bytes": 6}] and some.tables()[0].footer is None
    assert Selection(["name"], known=COLUMNS).apply(Result([Text("none")], data=[])).document() == []

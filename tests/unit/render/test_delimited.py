"""CSV: one table or the data, values as they are."""

import io
from collections.abc import Sequence

import pytest

from jsctl.errors import BadInput
from jsctl.render.delimited import Delimiters, write
from jsctl.views.result import Cell, Column, Result, Table, Text

ODD = "family \U0001f468\u200d\U0001f469 \x1b[31m"


def csv(result: Result, *, safe: bool = False) -> Sequence[str]:
    out = io.StringIO()
    write(result, out, Delimiters(",", safe=safe))
    return out.getvalue().splitlines()


def test_values_are_not_escaped_but_for_a_terminal() -> None:
    result = Result([Table("", (Column("Name", "name"),), [(ODD,)])])
    assert csv(result) == ["name", ODD]
    assert csv(result, safe=True)[1] == "family \U0001f468\u200d\U0001f469 \\x1b[31m"


def test_what_is_not_known_is_empty_and_spans_name_their_unit() -> None:
    columns = (Column("A", "idle", "ago"), Column("B", "most", "limit"), Column("C", "on"))
    result = Result([Table("", columns, [(-1, -1, Cell(True, "yes")), (5, 7, None)])])
    assert csv(result) == ["idle_ns,most,on", ",,true", "5,7,"]
    assert result.document() == [
        {"idle_ns": None, "most": None, "on": True},
        {"idle_ns": 5, "most": 7, "on": None},
    ]


def test_two_tables_are_never_in_one_file() -> None:
    tables = [Table(title, (Column("N", "n"),), [(1,)]) for title in ("First", "Second")]
    out = io.StringIO()
    assert write(Result(tables), out, Delimiters(",")) == ["Second"]
    assert out.getvalue() == "n\n1\n"


def test_data_without_a_table() -> None:
    assert csv(Result([], {"a": {"b": 1, "c": None}, "d": ["x", {"y": 2}]})) == [
        "key,value",
        "a.b,1",
        "a.c,",
        'd,"[""x"", {""y"": 2}]"',
    ]
    assert csv(Result([], [{"a": 1}, {"b": 2}])) == ["a,b", "1,", ",2"]
    assert csv(Result([], ["x", "y"])) == ["value", "x", "y"]
    assert csv(Result([], [])) == []
    with pytest.raises(BadInput, match="no data for CSV"):
        csv(Result([Text("only words")]))

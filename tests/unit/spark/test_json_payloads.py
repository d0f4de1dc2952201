"""Schemas as people write them, JSON as columns of them, and variants, without Spark."""

import datetime
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType, VariantVal

from jsctl.errors import BadInput
from jsctl.spark.decoding import payloads
from jsctl.spark.decoding.columns import PayloadColumns
from jsctl.spark.decoding.ddl import parse_ddl
from jsctl.spark.decoding.model import Decoding


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("id BIGINT, name STRING", "struct<id:bigint,name:string>"),
        (" id:int ,b byte,s short , t tinyint", "struct<id:int,b:tinyint,s:smallint,t:tinyint>"),
        ("a ARRAY<MAP<STRING, INT>> NOT NULL", "struct<a:array<map<string,int>>>"),
        ("`a b``c` DECIMAL(9 , 2) COMMENT 'it''s, <so>'", "struct<a b`c:decimal(9,2)>"),
        ("to STRUCT<city: STRING, `no 1` INT COMMENT 'x'>, v VARIANT", ""),
        ("STRUCT<a: INT, b: DATE>", "struct<a:int,b:date>"),
        ("struct STRING, größe DOUBLE, timestamp TIMESTAMP", ""),
        ("d dec, n numeric(3), l TIMESTAMP_NTZ, z timestamp_ltz", ""),
    ],
)
def test_schemas(text: str, simple: str) -> None:
    schema = parse_ddl(text)
    assert not simple or schema.simpleString() == simple
    assert all(field.nullable for field in schema.fields)
    assert parse_ddl(", ".join(f"`{f.name.replace('`', '``')}` {_ddl(f.dataType)}" for f in schema)) == schema


def _ddl(type: Any) -> str:
    if isinstance(type, StructType):
        return f"STRUCT<{', '.join(f'`{f.name}`: {_ddl(f.dataType)}' for f in type)}>"
    return str(type.simpleString())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "at its end: a name"),
        ("id", "at its end: a type such as"),
        ("id FOO", "at 'FOO': a type such as"),
        ("id INT name STRING", "at 'name STRING'"),
        ("a ARRAY<INT", "at its end: >"),
        ("a MAP<INT, INT>", "keys that are not strings"),
        ("a DECIMAL(39)", "1 to 38 digits"),
        ("a DECIMAL(", "a number"),
        ("a INT, ", "at its end: a name"),
        ("a " + "ARRAY<" * 60, "nested too deeply"),
    ],
)
def test_schemas_that_are_not_valid(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_ddl(text)


def decode(schema: str, *rows: bytes | None) -> list[Any]:
    """What is in each payload: its columns that are not null, or the payload when it is bad."""
    columns = PayloadColumns(Decoding("json", schema.encode()), ("stream",))
    arrays = columns.decode_arrays(pa.array(rows, pa.binary()))
    table = pa.RecordBatch.from_arrays(arrays, names=columns.schema.names).to_pylist()
    return [row.pop("bad_payload") or {k: v for k, v in row.items() if v is not None} for row in table]


@pytest.mark.parametrize(
    ("type", "good", "bad"),
    [
        ("INT", {"1": 1, "-2147483648": -(2**31), "null": None}, ["2147483648", "1.0", "1e2", '"1"', "true"]),
        ("BIGINT", {"9223372036854775807": 2**63 - 1}, ["9223372036854775808", "[]"]),
        ("DOUBLE", {"1": 1.0, "1e400": float("inf"), '"Infinity"': float("inf")}, ['"1.5"', "NaN", "true"]),
        ("STRING", {'"ä"': "ä", "1.10": "1.10", "[1, 2]": "[1,2]", '{"a": 1.5}': '{"a":1.5}'}, ['"\\ud800"']),
        ("BOOLEAN", {"true": True}, ['"true"', "1"]),
        ("DECIMAL(4,2)", {"1.005": Decimal("1.01"), '"1.5"': Decimal("1.50")}, ["100", '"x"', "true"]),
        ("BINARY", {'"AAE="': b"\0\1"}, ['"*"', "1"]),
        (
            "DATE",
            {'"2026-11-21"': datetime.date(2026, 11, 21), '"2026-1-2T03:04:05Z"': datetime.date(2026, 1, 2)},
            ["20000", '"x"', '"2026-13-01"'],
        ),
        (
            "TIMESTAMP",
            {
                '"2026-11-21T06:57:05.123456789Z"': datetime.datetime(
                    2026, 11, 21, 6, 57, 5, 123456, datetime.UTC
                ),
                '"2026-11-21 06:57:05"': datetime.datetime(2026, 11, 21, 6, 57, 5, tzinfo=datetime.UTC),
                "0": datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
            },
            ["1.5", '"x"', "99999999999999999"],
        ),
        (
            "TIMESTAMP_NTZ",
            {'"2026-11-21T06:57"': datetime.datetime(2026, 11, 21, 6, 57)},
            ['"2026-01-01T00:00Z"'],
        ),
        ("ARRAY<INT>", {"[1,null]": [1, None]}, ['["x"]', "1", "{}"]),
        ("MAP<STRING,INT>", {'{"a":1}': [("a", 1)]}, ['{"a":"x"}', "[]"]),
        ("STRUCT<x: INT>", {'{"x":1,"y":2}': {"x": 1}, "{}": {"x": None}}, ['{"x":"a"}', '"{}"']),
    ],
)
def test_types(type: str, good: dict[str, Any], bad: list[str]) -> None:
    rows = [f'{{"v": {text}}}'.encode() for text in (*good, *bad)]
    expected = [{} if value is None else {"v": value} for value in good.values()]
    assert decode(f"v {type}", *rows) == [*expected, *rows[len(good) :]]
    assert [decode(f"v {type}", row)[0] for row in rows] == [*expected, *rows[len(good) :]]  # each by itself


@pytest.mark.parametrize(
    ("schema", "text", "kept"),
    [
        ("id BIGINT", '{"id": 1, "": 2}', None),
        ("id BIGINT", '{"id": 1, ""  : 2}', None),
        ("id BIGINT", '{"id": 1, "more": {"": 2}}', None),
        ("id BIGINT", '{"id": 1, "more": [[{"": 2}]]}', None),
        ("to STRUCT<a: INT>", '{"to": {"a": 1, "": 2}}', None),
        ("to ARRAY<STRUCT<a: INT>>", '{"to": [{"a": 1}, {"": 2}]}', None),
        ("to MAP<STRING, STRUCT<a: INT>>", '{"to": {"k": {"": 2}}}', None),
        ("to MAP<STRING, INT>", '{"to": {"": 2}}', {"to": [("", 2)]}),
        ("to STRING", '{"to": {"": 2}}', {"to": '{"":2}'}),
        ("to STRING", r'{"to": "say \"\": x"}', {"to": 'say "": x'}),
    ],
)
def test_a_field_without_a_name_is_not_lost(schema: str, text: str, kept: Any) -> None:
    """Also in the company of others, which are read at once."""
    good = [b"{}"] * 3
    expected = kept or text.encode()  # what is bad comes back as it was
    assert decode(schema, text.encode()) == [expected]
    assert decode(schema, *good, text.encode())[-1] == expected


def test_variants_keep_fields_without_a_name() -> None:
    columns = PayloadColumns(Decoding("variant"), ())
    values, bad = columns.decode_arrays(pa.array([b'{"": 1}']))
    assert bad.to_pylist() == [None]
    (parts,) = values.to_pylist()
    assert VariantVal(parts["value"], parts["metadata"]).toPython() == {"": 1}


def test_only_whole_objects_are_good() -> None:
    good = [b"{}", b' {"i":1} ', b'\r\n{\n"i"\n:1}\n', b'{"i":0,"i":1}', b'{"z":[[{}]],"i":1}', b'{"I":2}']
    assert decode("i INT", *good) == [{}, {"i": 1}, {"i": 1}, {"i": 1}, {"i": 1}, {}]
    bad = [b"[]", b"[{}]", b"{} {}", b"null", b" ", b"\xff", b'{"i":"\xff"}', b'{"i":1}x', b"{'i':1}", b"{"]
    bad += [b'{"i":1', b"}", b'{"i":{}', b'{"s":"}', b'{"}', b'\xef\xbb\xbf{"i":1}', b"{}{}", b'{"i":1,}']
    assert decode("i INT", *bad) == bad
    assert decode("i INT", *bad, *good)[len(bad) :] == decode("i INT", *good)
    assert decode("i INT", b'{"z":' + b"[" * 50_000) == [b'{"z":' + b"[" * 50_000]
    empty = PayloadColumns(Decoding("json", b"i INT"), ()).decode_arrays(pa.array([None, b""], pa.binary()))
    assert [array.to_pylist() for array in empty] == [[None, None], [None, b""]]


_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**65), 2**65),
        st.floats(),
        st.sampled_from(("1", "NaN", "x", "ä\ud800", "2026-11-21", "{", "}\n{")),
        st.text(max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("i", "l", "d", "s", "b", "a", "t")), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(st.lists(st.one_of(_VALUES.map(json.dumps).map(str.encode), st.binary(max_size=6)), max_size=4))
def test_at_once_is_as_one_by_one(rows: list[bytes]) -> None:
    schema = "i INT, l BIGINT, d DOUBLE, s STRING, b BOOLEAN, a ARRAY<DOUBLE>, t STRUCT<i: BIGINT, s: STRING>"
    decoder = payloads.build_payload_decoder(Decoding("json", schema.encode()))
    for together in (rows, *([row] for row in rows)):
        array = pa.array(together, pa.binary())
        at_once = decoder._decoder.decode_all(array)
        assert at_once is None or repr(at_once.to_pylist()) == repr(
            decoder._decode_each(array)[0].to_pylist()
        )


def test_one_bad_payload_does_not_make_all_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    decode_one = payloads.build_payload_decoder(Decoding("json", b"i BIGINT"))._decoder
    original = type(decode_one).decode

    def count(self: Any, data: bytes) -> Any:
        calls.append(data)
        return original(self, data)

    monkeypatch.setattr(type(decode_one), "decode", count)
    rows = [b'{"i":%d}' % number for number in range(2000)]
    assert decode("i BIGINT", *rows) == [{"i": number} for number in range(2000)] and not calls
    rows[700] = b"no"
    assert decode("i BIGINT", *rows)[699:702] == [{"i": 699}, b"no", {"i": 701}]
    assert 0 < len(calls) <= 256


def test_names() -> None:
    columns = PayloadColumns(
        Decoding(
            "json",
            b"stream INT, data INT, id INT, ID INT, to STRUCT<a: INT, A: ARRAY<STRUCT<b: INT, B: INT>>>",
        ),
        ("stream", "subject"),
        keep_data=True,
    )
    names = ["data_stream", "data_data", "id", "data_ID", "to", "data", "bad_payload"]
    assert columns.schema.names == names
    row = {"stream": 1, "data": 2, "id": 3, "ID": 4, "to": {"a": 5, "A": [{"b": 6, "B": 7}]}}
    payload = json.dumps(row).encode()
    arrays = columns.decode_arrays(pa.array([payload, b"no"], pa.binary()))
    first, second = pa.RecordBatch.from_arrays(arrays, names=names).to_pylist()
    assert first["to"] == {"a": 5, "data_A": [{"b": 6, "data_B": 7}]} and first["data"] == payload
    assert [first[name] for name in names[:4]] == [1, 2, 3, 4] and first["bad_payload"] is None
    assert second == {**dict.fromkeys(names), "data": b"no", "bad_payload": b"no"}


def test_json_becomes_variants_and_other_payloads_are_bad() -> None:
    columns = PayloadColumns(Decoding("variant"), ())
    rows = [b'{"a": [1, "x", 1.5, null]}', b"7", b"null", b"NaN", b"\xff", b'{"a": 1', b""]
    values, bad = columns.decode_arrays(pa.array(rows, pa.binary()))
    found = [VariantVal(**value).toPython() if value else "bad" for value in values.to_pylist()]
    assert found == [{"a": [1, "x", Decimal("1.5"), None]}, 7, None, "bad", "bad", "bad", "bad"]
    assert bad.to_pylist() == [None, None, None, *rows[3:]]
    nested = decode("v VARIANT, w VARIANT", b'{"v": [1]}', b"no")
    assert VariantVal(**nested[0]["v"]).toPython() == [1] and nested[1] == b"no"


def test_text_and_base64() -> None:
    for kind, good, bad, value in (("text", b"\xc3\xa4", b"\xff", "ä"), ("base64", b"AA\nE=", b"*", b"\0\1")):
        columns = PayloadColumns(Decoding(kind), ())
        assert columns.schema.names == ["data", "bad_payload"]
        arrays = columns.decode_arrays(pa.array([good, bad], pa.binary()))
        assert [array.to_pylist() for array in arrays] == [[value, None], [None, bad]]

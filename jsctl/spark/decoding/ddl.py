"""Schemas as people write them, with the names and types of SQL.

Spark's own parser is in the JVM, which the process that plans a Python data source does not have.
"""

import re
from collections.abc import Callable
from typing import NoReturn

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from jsctl.errors import BadInput

_SIMPLE: dict[str, Callable[[], DataType]] = {
    "boolean": BooleanType,
    "tinyint": ByteType,
    "byte": ByteType,
    "smallint": ShortType,
    "short": ShortType,
    "int": IntegerType,
    "integer": IntegerType,
    "bigint": LongType,
    "long": LongType,
    "float": FloatType,
    "real": FloatType,
    "double": DoubleType,
    "string": StringType,
    "binary": BinaryType,
    "date": DateType,
    "timestamp": TimestampType,
    "timestamp_ltz": TimestampType,
    "timestamp_ntz": TimestampNTZType,
    "variant": VariantType,
}
_DECIMALS = ("decimal", "dec", "numeric")
_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)+`)|([^\W\d]\w*)|(\d+)|('(?:[^'\\]|\\.|'')*')|([<>(),:]))\s*")
_MAX_DEPTH = 50
"""Maximum number of types within each other."""

_HINT = "such as 'id BIGINT, name STRING'"


def parse_ddl(text: str) -> StructType:
    """Parse fields, such as `id BIGINT, to STRUCT<city: STRING>`.

    All of them may be null, as they are for a bad payload; NOT NULL and comments are ignored. Raises
    BadInput.
    """
    parser = _Parser(text)
    fields = parser.parse_fields("")
    if len(fields) == 1 and isinstance(fields[0].dataType, StructType) and not fields[0].name:
        return fields[0].dataType  # struct<...>, as printed by Spark
    return StructType(fields)


class _Parser:
    """A parser of one schema, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def parse_fields(self, end: str) -> list[StructField]:
        """Read fields until `end`; empty for the end of the text."""
        fields = [self._parse_field()]
        while self._take(","):
            fields.append(self._parse_field())
        if end:
            self._expect(end)
        elif self._at < len(self._text):
            self._fail("")
        return fields

    def _parse_field(self) -> StructField:
        name = self._parse_name()
        if name.lower() == "struct" and not self._depth and self._take("<"):
            return StructField("", StructType(self.parse_fields(">")))
        self._take(":")
        field = StructField(name, self._parse_type())
        if self._take("not"):
            self._expect("null")
        if self._take("comment") and not self._read_token("'"):
            self._fail("a comment in quotation marks")
        return field

    def _parse_type(self) -> DataType:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise BadInput("the schema is nested too deeply", f"at most {_MAX_DEPTH} levels are valid")
        start = self._at
        name = self._read_token("a").lower()
        if name == "array":
            self._expect("<")
            parsed: DataType = ArrayType(self._parse_type())
            self._expect(">")
        elif name == "map":
            self._expect("<")
            key = self._parse_type()
            self._expect(",")
            parsed = MapType(key, self._parse_type())
            self._expect(">")
            if not isinstance(key, StringType):
                raise BadInput("a map of the schema has keys that are not strings", "JSON has only such keys")
        elif name == "struct":
            self._expect("<")
            parsed = StructType(self.parse_fields(">"))
        elif name in _DECIMALS:
            parsed = self._parse_decimal()
        elif name in _SIMPLE:
            parsed = _SIMPLE[name]()
        else:
            self._at = start
            self._fail("a type such as BIGINT, STRING, TIMESTAMP, ARRAY<...>, MAP<...> or STRUCT<...>")
        self._depth -= 1
        return parsed

    def _parse_decimal(self) -> DecimalType:
        if not self._take("("):
            return DecimalType(10, 0)
        precision, scale = int(self._read_token("0") or self._fail("a number")), 0
        if self._take(","):
            scale = int(self._read_token("0") or self._fail("a number"))
        self._expect(")")
        if not scale <= precision <= 38 or not precision:
            self._fail("a decimal of 1 to 38 digits")
        return DecimalType(precision, scale)

    def _parse_name(self) -> str:
        name = self._read_token("a")
        if not name:
            self._fail("a name")
        return name[1:-1].replace("``", "`") if name.startswith("`") else name

    def _take(self, word: str) -> bool:
        """Read a word or a mark if it is the next one."""
        match = _TOKEN.match(self._text, self._at)
        if match and match[0].strip().lower() == word:
            self._at = match.end()
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            self._fail(word)

    def _read_token(self, kind: str) -> str:
        """Read a name ("a"), a number ("0") or a text in quotation marks ("'"); return an empty text for
        anything else."""
        match = _TOKEN.match(self._text, self._at)
        groups = {"a": (1, 2), "0": (3,), "'": (4,)}[kind]
        text = next((match[group] for group in groups if match[group]), "") if match else ""
        if match and text:
            self._at = match.end()
        return text

    def _fail(self, missing: str) -> NoReturn:
        excerpt = self._text[self._at :].strip()
        place = f"at {excerpt[:30]!r}" if excerpt else "at its end"
        raise BadInput(
            f"the schema is not valid {place}" + (f": {missing} is missing" if missing else ""), _HINT
        )

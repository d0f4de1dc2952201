"""The flags of verbs that show messages or values: how payloads are decoded, and which ones are shown."""

from typing import TYPE_CHECKING, NamedTuple

from jsctl.commands.cli import declare_all, option
from jsctl.commands.cli.values import Parsed
from jsctl.env import Env

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition
    from jsctl.schema.payloads.reader import Reader

_KINDS = "json|protobuf|avro|msgpack|cbor|gzip|zstd|s2|auto"


def _parse_kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(",")) if text else ()
    if wrong := next((kind for kind in kinds if kind not in _KINDS.split("|")), None):
        raise ValueError(f"{wrong!r} is not one of {_KINDS.replace('|', ', ')}")
    return kinds


def _parse_fields(text: str) -> tuple[str, ...]:
    fields = tuple(field.strip() for field in text.split(",")) if text else ()
    if any(not all(field.split(".")) for field in fields):
        raise ValueError(f"{text!r} is not a list of fields such as a,b.c")
    return fields


decoding_flags = declare_all(
    option(
        "--decode",
        type=Parsed("kinds", _parse_kinds),
        default="",
        metavar=_KINDS,
        help="Show payloads decoded; with compression such as gzip,json; jsctl manual messages has the rules",
    ),
    option("--schema-file", metavar="FILE", default="", help="The schema of Avro, or protoc's descriptors"),
    option("--message", metavar="NAME", default="", help="The Protobuf message, such as shop.Order"),
    option(
        "--registry",
        metavar="URL",
        default="",
        help="Decode payloads by the schemas in this schema registry whose ids they begin with",
    ),
    option(
        "--fields",
        type=Parsed("fields", _parse_fields),
        default="",
        metavar="A,B.C",
        help="Show only these fields of decoded payloads",
    ),
)
"""Declare the flags of `Decoding`."""


def _parse_match(text: str) -> "Condition | None":
    from jsctl.jetstream.find.expression import EQUALITY, compile_expression  # needed only with the flag

    try:
        return compile_expression(text) if text else None
    except ValueError as error:
        hint = "" if EQUALITY in str(error) else "; for a regular expression, write: text matches 'REGEX'"
        raise ValueError(f"{error}{hint}") from None


match_flag = option(
    "--match",
    "condition",
    type=Parsed("expression", _parse_match),
    metavar="EXPRESSION",
    help="Only messages for which this holds, such as 'amount > 100 and country == \"nl\"'",
)


def _parse_selecting_match(text: str) -> "Condition | None":
    if not text:
        raise ValueError("the expression is empty")
    return _parse_match(text)


selecting_match_flag = option(
    "--match",
    "condition",
    type=Parsed("expression", _parse_selecting_match),
    metavar="EXPRESSION",
    help="For which this holds, such as 'amount > 100', 'subject startsWith \"a.\"'",
)
"""`match_flag` of a verb that changes what is chosen, so that an empty expression is refused."""


class Decoding(NamedTuple):
    """The flags of `decoding_flags`."""

    decode: tuple[str, ...]
    schema_file: str
    message: str
    registry: str
    fields: tuple[str, ...]

    @property
    def is_asked_for(self) -> bool:
        """Whether payloads are shown decoded."""
        return any((self.decode, self.schema_file, self.message, self.registry, self.fields))

    def build_reader(self, env: Env, condition: "Condition | None" = None) -> "Reader | None":
        """Return what decodes and chooses messages; None without a flag and a condition. Without --decode
        they are read as JSON, with a registry as `auto`.

        Raises BadInput, MissingDependency, and what reading the login of a registry raises.
        """
        if not self.is_asked_for and condition is None:
            return None
        from jsctl.base.files import CONFIG_SIZE, read_bytes  # needed only with a flag
        from jsctl.base.user_folders import expand_home
        from jsctl.schema.payloads.decoder import PayloadDecoder
        from jsctl.schema.payloads.reader import Reader

        remote, schema = None, b""
        if self.registry:
            from jsctl.schema.remote.registry import open_registry, parse_url, read_login

            remote = open_registry(parse_url(self.registry), read_login(env.environ))
        if self.schema_file:
            schema = read_bytes(expand_home(self.schema_file), "--schema-file", CONFIG_SIZE)
        kinds = self.decode or (("auto",) if self.registry else ("json",))
        decoder = PayloadDecoder(kinds, schema, self.message, remote)
        return Reader(decoder, shows=self.is_asked_for, condition=condition, fields=self.fields)


NO_DECODING = Decoding((), "", "", "", ())
"""Without flags: payloads are read as JSON for a condition."""

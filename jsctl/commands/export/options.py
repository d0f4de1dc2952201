"""Flags that all exports share, and those of decoding."""

import base64
from dataclasses import dataclass
from typing import Any

import click

from jsctl.base.files import CONFIG_SIZE, read_bytes
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import declare_all, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.schema.remote.registry import NO_LOGIN, read_login
from jsctl.spark.decoding.model import KINDS, SKIP_ID, WITH_FIELDS, parse_registry
from jsctl.spark.export.table_target import check_settings
from jsctl.spark.session.hadoop import HadoopPath, Place
from jsctl.spark.session.packages import FORMAT_SETTINGS, add_packages
from jsctl.spark.session.session import SessionOptions, check_environment


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Which Spark to use: URLs, both empty for one in this process; settings for it, and packages to add."""

    master: str
    remote: str
    conf: tuple[str, ...]
    packages: str

    def prepare(self, name: str, *places: Place, table: str = "", format: str = "") -> SessionOptions:
        """Return how to start Spark for these places, or for a table of a catalog in a format.

        name: of the application, as Spark shows it. Raises BadInput, MissingDependency, Unreachable.
        """
        settings = dict(map(_parse_setting, self.conf))
        for place in places:
            if isinstance(place, HadoopPath) and self.remote:
                raise BadInput(
                    f"--remote cannot be used with {place}", "use --master, or a folder that all share"
                )
        if self.packages:
            if self.remote:
                raise BadInput("--packages cannot be used with --remote", "install them on its server")
            settings = add_packages(settings, self.packages, places, format, table)
        if table and not self.remote:
            check_settings(table, format, settings)
            settings = {**FORMAT_SETTINGS.get(format, {}), **settings}
        check_environment(self.master, self.remote)
        env: Env = click.get_current_context().obj
        say = env.say if env.can_ask else None
        return SessionOptions(name, self.master, self.remote, settings, say, env.show_status)


def _parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise BadInput(f"--conf {text!r} is not a setting", "write KEY=VALUE")
    return name.strip(), value.strip()


spark_options = declare_all(
    option(
        "--master",
        metavar="URL",
        default="",
        help="Spark cluster to use, such as spark://host:7077 (local[*]); folders must be on a file system"
        " that this machine and all machines of Spark share, at the same path",
    ),
    option(
        "--remote",
        metavar="URL",
        default="",
        help="Spark Connect server to use, such as sc://host:15002; folders as with --master",
    ),
    option("--conf", metavar="KEY=VALUE", multiple=True, help="Setting for Spark; may be repeated"),
    option(
        "--packages",
        metavar="PACKAGES",
        default="",
        help="Add packages to Spark: auto for what the place needs, or Maven names, separated by commas",
    ),
)
"""The flags of SparkOptions."""


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """How payloads become columns; see `spark.export.layout.TableLayout`."""

    decode: str
    schema: str
    schema_file: str
    message: str
    registry: str
    decompress: str | None
    keep_data: bool
    fail_on_bad: int | None

    def __post_init__(self) -> None:
        if self.fail_on_bad is not None and self.fail_on_bad < 1:
            raise BadInput("--fail-on-bad must be 1 or more")
        if self.fail_on_bad and not (self.decode or self.decompress):
            raise BadInput("--fail-on-bad is for payloads that are decoded", "add --decode")
        for flag, value, kinds in (
            ("--schema", self.schema, ("json",)),
            ("--schema-file", self.schema_file, ("avro", "protobuf")),
            ("--message", self.message, ("protobuf",)),
            ("--registry", self.registry, ("avro", "protobuf")),
            ("--keep-data", self.keep_data, WITH_FIELDS),
        ):
            if value and self.decode not in kinds:
                raise BadInput(f"{flag} is for --decode {' or '.join(kinds)}")
        if self.decode and self.decode not in KINDS:
            raise BadInput(f"--decode {self.decode!r} is not one of {', '.join(KINDS)}")
        registry = parse_registry(self.registry)
        if self.decode in ("avro", "protobuf") and not self.schema_file and registry in ("", SKIP_ID):
            file_kind = "an Avro schema (.avsc)" if self.decode == "avro" else "a descriptor file of protoc"
            raise BadInput(
                f"--decode {self.decode} needs a schema",
                f"name {file_kind} with --schema-file, or --registry",
            )

    def layout_fields(self) -> dict[str, Any]:
        """Return the fields of a TableLayout, with the content of files. Raises BadInput."""
        schema = self.schema.strip()
        if self.schema_file:
            content = read_bytes(expand_home(self.schema_file), "--schema-file", CONFIG_SIZE)
            schema = (
                content.decode(errors="replace")
                if self.decode == "avro"
                else base64.b64encode(content).decode()
            )
        return {
            "decode": self.decode,
            "schema": schema,
            "keep_data": self.keep_data,
            "message": self.message,
            "registry": parse_registry(self.registry),
            "login": read_login() if self.registry else NO_LOGIN,
            "decompress": self.decompress or "",
        }


decode_options = declare_all(
    option(
        "--decode",
        metavar="AS",
        default="",
        help="Decode payloads into columns: json, variant, avro, protobuf, text or base64",
    ),
    option("--schema", metavar="DDL", default="", help="Fields for --decode json (those in the messages)"),
    option(
        "--schema-file",
        metavar="FILE",
        default="",
        help="Avro schema, or Protobuf descriptors (protoc --include_imports --descriptor_set_out)",
    ),
    option(
        "--message",
        metavar="NAME",
        default="",
        help="Protobuf message, if the file has several (shop.Order)",
    ),
    option(
        "--registry",
        metavar="URL",
        default="",
        help="Schema registry with whose ids payloads begin; true only skips the ids",
    ),
    option(
        "--decompress",
        type=click.Choice(["gzip", "s2", "zstd", "auto"]),
        help="Decompress payloads first; auto goes by their first bytes",
    ),
    option(
        "--fail-on-bad",
        type=int,
        metavar="N",
        help="Fail, and write nothing, when N payloads or more cannot be decoded",
    ),
    option("--keep-data", is_flag=True, help="Beside decoded fields: also a column with the payload"),
)
"""The flags of DecodeOptions."""

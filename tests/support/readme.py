"""The README and the pages of the manual, and their generated parts, which `generate.py` rewrites."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jsctl import manual, registry
from jsctl.commands.compatibility.differences import DIFFERENCES
from jsctl.contexts.settings import SETTINGS
from jsctl.errors import ExitStatus
from jsctl.monitor.doctor.diagnosis import RULES
from tests.conformance.results import build_table
from tests.support.sources import PACKAGE

README = Path(__file__).parents[2] / "README.md"
MANUAL = Path(manual.__file__).parent
PAGES = [README, *(MANUAL / f"{topic}.md" for topic in manual.TOPICS)]

_GENERATED = re.compile(r"(<!-- (.+?): generated -->\n).*?(<!-- end -->)", re.DOTALL)
_COMMANDS = re.compile(r"<!-- commands (.+?): generated -->")


def commands(paths: str) -> str:
    """Return the commands below these paths, except those that another page lists, with aliases and help."""
    named = {
        path for page in PAGES for mark in _COMMANDS.findall(page.read_text()) for path in mark.split(", ")
    }
    lines = []
    for path, entry in registry.list_commands().items():
        owner = max((one for one in named if f"{path} ".startswith(f"{one} ")), key=len, default="")
        if owner in paths.split(", ") and (entry.runs or not entry.group):
            also = f" ({', '.join(entry.aliases)})" if entry.aliases else ""
            lines.append(f"- `jsctl {path}`{also}: {entry.help}")
    return "\n".join(lines)


def statuses() -> str:
    """Return the exit statuses as a table."""
    rows = [f"| {status.value} | {status.meaning} |" for status in ExitStatus]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows])


_SOURCE = {
    "servers": "addresses of servers; this or `context` is required",
    "context": "name of a context",
    "stream": "stream to read; this or `streams` is required",
    "streams": "names of streams and patterns of names, separated by commas: `ORDERS,LOGS_*`",
    "domain": "JetStream domain",
    "apiPrefix": "JetStream API prefix",
    "user": "user name",
    "password": "password",
    "token": "token",
    "creds": "credentials file",
    "nkey": "file with an nkey seed",
    "jwt": "user JWT",
    "seed": "nkey seed for `jwt`",
    "tlsCert": "client certificate",
    "tlsKey": "key of the certificate",
    "tlsCa": "certificate authorities",
    "tlsFirst": "`true` for TLS before the server's greeting",
    "inboxPrefix": "prefix of reply subjects",
    "subject": "subject filters, separated by commas (all)",
    "startingOffsets": "`earliest`, a sequence, `-1000` for the last thousand, in streaming queries `latest`,"
    ' or JSON by stream, `{"ORDERS": 23}` (`earliest`; in streaming queries `latest`)',
    "endingOffsets": "`latest` or a sequence, exclusive, or JSON by stream (`latest`); batch queries only",
    "startingTimestamp": "a time, ms since 1970, or `-10m` for ten minutes ago, or JSON by stream, instead of"
    " `startingOffsets`",
    "endingTimestamp": "a time, ms since 1970, or `-10m`, exclusive, or JSON by stream; batch queries only",
    "maxOffsetsPerTrigger": "sequences in each batch (all); streaming queries only",
    "maxBytesPerTrigger": "bytes in each batch, about (all); streaming queries only",
    "minOffsetsPerTrigger": "sequences to wait for before a batch (none); streaming queries only",
    "maxTriggerDelay": "longest wait for `minOffsetsPerTrigger` (15m)",
    "minPartitions": "tasks to read with, at least",
    "failOnDataLoss": "fail when messages were removed from the head before they were read (`true`)",
    "failOnDeleted": "fail when messages are missing further in (`false`)",
    "fetchMode": "`auto`, `direct` (direct get) or `consumer` (`auto`)",
    "batchSize": "messages in each request (1000); ten times as many of a subject that few messages have",
    "maxBytes": "bytes in each request (4 MiB)",
    "requestTimeout": "time without a reply after which a request fails (10s)",
    "retries": "attempts without progress (5)",
    "retryTimeout": "time for which a server may be away (2m)",
    "includeHeaders": "add the column `headers` (`false`)",
    "includeData": "`false` leaves the column `data` out (`true`)",
    "columns": "columns to read, separated by commas, instead of the two before",
    "decode": "`json`, `variant`, `avro`, `protobuf`, `text` or `base64`: columns for what is in payloads",
    "schema": "fields of `json` (`id BIGINT, name STRING`), an Avro schema, Protobuf descriptors in base64",
    "schemaFile": "path of a file with the schema, where the query is planned",
    "message": "full name of the Protobuf message, if there are several",
    "registry": "address of the schema registry with whose ids payloads begin; `true` only skips the ids",
    "decompress": "`gzip`, `s2`, `zstd`, or `auto` to go by the first bytes",
    "keepData": "`true` keeps the column `data` beside the decoded fields (`false`)",
    "committedConsumer": "durable consumer whose ack floor follows the checkpoint; streaming queries only",
    "bucket": "key-value bucket to read instead of a stream, with columns of its own",
    "objects": "object bucket whose objects to list instead",
    "keys": "keys of the bucket, with `*` and `>`, separated by commas (all)",
    "history": "`latest` revision of each key, or `all` changes (`latest`; in streaming queries `all`)",
}

_SINK = {
    "stream": "the only stream that may store the messages: each has `Nats-Expected-Stream`, so that the"
    " server refuses it otherwise",
    "bucket": "key-value bucket whose entries the rows are, with columns of its own, instead of `stream`",
    "subject": "subject of rows that have none",
    "writeId": "a second `df.write` of the same rows with this id stores nothing twice; batch queries only",
    "requestTimeout": "time without a reply after which a request fails (10s)",
    "retries": "attempts without progress (5)",
}


def source_options() -> str:
    """Return the options to read with, as a table. Those of a setting may have the help of its flag. Raises
    KeyError for one without a description."""
    from jsctl.spark.source.options import OPTION_NAMES

    settings = {one.option: one.flag.help for one in SETTINGS.values() if one.option and one.flag}
    rows = [f"| `{name}` | {({**settings, **_SOURCE})[name]} |" for name in OPTION_NAMES]
    return "\n".join(["| option to read | meaning (default) |", "| --- | --- |", *rows])


def sink_options() -> str:
    """Return the options to write with, without those of the connection, as a table."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in _SINK.items()]
    also = "| `servers`, `context`, ... | the connection, as for reading |"
    return "\n".join(["| option to write | meaning (default) |", "| --- | --- |", also, *rows])


def differences() -> str:
    """Return where jsctl differs from nats on purpose, as a table."""
    cells = [
        (f"`{code}`", ", ".join(f"`{verb}`" for verb in one.verbs) or "all", one.nats, one.ours, one.write)
        for code, one in DIFFERENCES.items()
    ]
    title = ("code", "verbs", "nats", "jsctl", "for the outcome of nats, write")
    rows = [f"| {' | '.join(row)} |" for row in (title, ("---",) * 5, *cells)]
    return "\n".join(rows)


_IN_REPORTS = ("rules", "consumer", "report", "trouble.py")
"""What finds problems of single objects, below `jsctl/monitor`: reports have their codes, too."""


def _list_words(node: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, without those of its rules."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "Rule"):
        for child in ast.iter_child_nodes(node):
            yield from _list_words(child)


def findings() -> str:
    """Return the codes of findings, as a table."""
    paths = [PACKAGE / "monitor" / name for name in _IN_REPORTS]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    in_reports = {word for file in files for word in _list_words(ast.parse(file.read_text()))}
    rows = [
        f"| `{rule.code}` | {rule.part.replace('links', 'mirrors, sources')} | {rule.means} |"
        f" {'all' if rule.code in in_reports else 'doctor'} |"
        for rule in RULES
    ]
    return "\n".join(["| code | about | means | found by |", "| --- | --- | --- | --- |", *rows])


PARTS = {
    "statuses": statuses,
    "findings": findings,
    "differences": differences,
    "conformance": build_table,
    "source options": source_options,
    "sink options": sink_options,
}


def rendered(text: str) -> str:
    """Return a page with its generated parts up to date."""

    def fill(match: re.Match[str]) -> str:
        kind, _, paths = match[2].partition(" ")
        made = commands(paths) if kind == "commands" else PARTS[match[2]]()
        return f"{match[1]}{made}\n{match[3]}"

    return _GENERATED.sub(fill, text)


def find_example(name: str) -> str:
    """Return the block of Python of the contributors' page that has a name."""
    blocks = re.findall(r"```python\n(.*?)```", (MANUAL / "contributing.md").read_text(), re.DOTALL)
    [example] = [block for block in blocks if re.search(rf"\b{name}\b", block)]
    return str(example)

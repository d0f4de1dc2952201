"""One line in `nats` and in jsctl, each with an account and a folder of its own: how it ends, what it writes,
and what is there afterwards."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import js
from tests.support.run import Cli
from tests.support.servers import Account
from tests.support.waiting import wait_for

LINES = Path(__file__).with_name("lines.txt")
FILES: Mapping[str, Any] = {
    "orders.json": {
        **{"name": "ORDERS", "subjects": ["ORDERS.*"], "retention": "limits", "storage": "memory"},
        **{"max_age": 3600000000000, "num_replicas": 1, "discard": "old"},
    },
    "monitor.json": {
        **{"durable_name": "MONITOR", "deliver_policy": "last", "ack_policy": "none"},
        **{"deliver_subject": "monitor.ORDERS", "replay_policy": "instant"},
    },
    "request.json": {"seq": 1},
    "image.jpg": "an image",
}
"""What lines read, in their folder."""

WITHOUT_SERVER = "without a server"

_VARYING = [
    (r"\x1b\[[0-9;]*m", ""),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d\d:?\d\d)?( UTC)?", "TIME"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?", "TIME"),
    (r"\b(\d+y)?(\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|us|ms|s)\b", "SPAN"),
    (r"\b[UNAX][A-Z2-7]{55}\b", "KEY"),
    (r"\b[0-9A-Za-z]{22}\b", "ID"),
    (r"\$2a\$\S+", "HASH"),
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"[\u2500-\u257f|+]+", " "),
    (r"[ \t\u00a0]+", " "),
]


class Line(NamedTuple):
    """A command line of a document. words: behind `nats`. why: it has another status or effect on purpose."""

    topic: str
    text: str
    words: Sequence[str]
    is_system: bool
    why: str


class Seen(NamedTuple):
    """What a line did. effects: streams, consumers, contexts and files afterwards."""

    status: int
    out: str
    effects: Any


def read_lines() -> Iterator[Line]:
    """Yield the lines in their order."""
    topic = ""
    for text in filter(None, map(str.strip, LINES.read_text().splitlines())):
        if text.startswith("["):
            topic = text.strip("[]")
        elif not text.startswith("#"):
            line, _, why = text.removeprefix("system: ").partition("  # ")
            yield Line(topic, line, shlex.split(line)[1:], text.startswith("system: "), why)


class Place:
    """An account and a folder for the lines of a topic. binary: of `nats`; empty for jsctl."""

    def __init__(self, folder: Path, account: Account, binary: str) -> None:
        self.folder, self.account, self.binary = folder / "here", account, binary
        self.home = folder / "home"
        self.cli = Cli(self.home, account.url)
        self.folder.mkdir(parents=True)
        for name, content in FILES.items():
            (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def run(self, line: Line) -> Seen:
        """Run a line, as `nats` or as what takes its place."""
        url = self.account.server.url_for("admin") if line.is_system else self.account.url
        environ = {"NATS_URL": "" if line.topic.endswith(WITHOUT_SERVER) else url}
        os.chdir(self.folder)
        if self.binary:
            self.home.mkdir(exist_ok=True)
            done = subprocess.run(
                [self.binary, *line.words],
                env={**self.cli.environ, "PATH": os.environ["PATH"], **environ},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            status, out = done.returncode, done.stdout
        else:
            outcome = self.cli(["compat", "--", *line.words], environ=environ)
            status, out = outcome.status, outcome.out
        wait_for(self._is_copied, f"copies of {line.text}")
        return Seen(status, out, [self._read_account(), self._read_files()])

    def _is_copied(self) -> bool:
        streams = {
            one["config"]["name"]: one for one in js.ask(self.account.url, "STREAM.LIST")["streams"] or ()
        }
        return all(
            one["state"]["messages"]
            == sum(streams[origin["name"]]["state"]["messages"] for origin in origins)
            for one in streams.values()
            if (
                origins := [
                    *(one["config"].get("sources") or ()),
                    *filter(None, [one["config"].get("mirror")]),
                ]
            )
        )

    def _read_account(self) -> Any:
        url, found = self.account.url, {}
        for stream in js.ask(url, "STREAM.LIST")["streams"] or ():
            name, state = stream["config"]["name"], stream["state"]
            consumers = js.ask(url, f"CONSUMER.LIST.{name}")["consumers"] or ()
            durable = {
                one["name"]: _read_consumer(one) for one in consumers if "durable_name" in one["config"]
            }
            found[name] = {
                "config": _select(stream["config"]),
                "state": [state[key] for key in ("messages", "first_seq", "last_seq")],
                "consumers": durable,
            }
        return found

    def _read_files(self) -> Any:
        contexts = {
            file.stem: {key: value for key, value in json.loads(file.read_text()).items() if value}
            for file in (self.home / "nats" / "context").glob("*.json")
        }
        selected = self.home / "nats" / "context.txt"
        files = [path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file()]
        names = {str(path): "" for path in files if path.name != "jsctl.json"}
        return [contexts, selected.read_text().strip() if selected.exists() else "", names]


def _select(config: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in (config.get("metadata") or {}).items() if key[:6] != "_nats."}
    known = {key: value for key, value in config.items() if value != "0001-01-01T00:00:00Z"}
    times: dict[str, Any] = {key: "" for key in ("opt_start_time", "pause_until") if key in known}
    return {**known, "metadata": metadata, **times}


def _read_consumer(consumer: Mapping[str, Any]) -> Any:
    counts = [consumer[key] for key in ("num_pending", "num_ack_pending")]
    sequences = ("consumer_seq", "stream_seq")
    positions = [consumer[key][part] for key in ("delivered", "ack_floor") for part in sequences]
    return {"config": _select(consumer["config"]), "state": [*positions, *counts]}


def list_differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Yield the places in which effects differ, each with both values."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            yield from list_differences(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, both in enumerate(zip(theirs, ours, strict=True)):
            yield from list_differences(*both, f"{path}[{number}]")
    elif theirs != ours:
        yield f"{path}: {json.dumps(theirs)} / {json.dumps(ours)}"


def normalize(out: str) -> list[str]:
    """Return the lines of an output without what varies from run to run: their order, too, as servers list
    sources in any, and without the borders of tables."""
    for pattern, text in _VARYING:
        out = re.sub(pattern, text, out)
    return sorted(line.strip() for line in out.splitlines() if line.strip())


def parse(out: str) -> list[Any]:
    """Return the JSON documents of an output, empty if it is something else."""
    documents, decoder, rest = [], json.JSONDecoder(), out.strip()
    while rest:
        try:
            document, end = decoder.raw_decode(rest)
        except ValueError:
            return []
        documents.append(document)
        rest = rest[end:].strip()
    return documents if documents and isinstance(documents[0], (dict, list)) else []


def list_keys(value: Any, path: str = "") -> set[str]:
    """Return the paths of all keys of a document, without those that concern who asks."""
    if isinstance(value, dict):
        below = [{f"{path}.{key}", *list_keys(item, f"{path}.{key}")} for key, item in value.items()]
    else:
        below = [list_keys(item, f"{path}[]") for item in (value if isinstance(value, list) else ())]
    return {key for keys in below for key in keys if not key.endswith(_OF_ASKERS)}


_OF_ASKERS = (".max", ".pause_until")
"""Keys of a subscription that ends with its answer, and of a time that `nats` writes as the year 1."""


def compare_output(theirs: str, ours: str) -> str:
    """Return how an output compares: same, keys (a document with at least the keys), text (for people)."""
    if normalize(theirs) == normalize(ours):
        return "same"
    documents = parse(theirs)
    return "keys" if documents and list_keys(documents) <= list_keys(parse(ours)) else "text"

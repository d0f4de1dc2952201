"""The flags that all verbs of `jsctl bench` take, also if they precede the verb."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from jsctl.base.files import read_bytes
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import DURATION, SIZE, Count, GroupOption, declare_all, option
from jsctl.commands.cli.declare import Decorator
from jsctl.commands.cli.values import Parsed, parse_size
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.nats.headers import encode_headers, parse_header_text
from jsctl.views.bench.result import NAMES

_PREFIX = "bench_"
_COUNT = Count(min=1)
_SIZES = {"object put": 1 << 20}
_MESSAGES = {"object put": 100, "object get": 100}
_MAX_SIZE = 64 << 20


def shared_flag(*names: str, **attrs: Any) -> GroupOption:
    """Return a flag of `bench`, whose first name is also that of its value."""
    return GroupOption(*names, _PREFIX + names[0].partition("/")[0].removeprefix("--"), **attrs)


_SHARED = (
    shared_flag("--clients", type=_COUNT, metavar="N", help="Number of concurrent clients (1)"),
    shared_flag(
        "--msgs", type=_COUNT, metavar="N", help="Number of messages, over all clients (100000; objects 100)"
    ),
    shared_flag("--size", type=SIZE, metavar="BYTES", help="Size of each payload (128B; objects 1MiB)"),
    shared_flag("--duration", type=DURATION, metavar="DURATION", help="End after this time"),
    shared_flag(
        "--rate",
        "--throughput",
        type=click.FloatRange(min=0),
        metavar="N",
        help="Operations per second of all clients (0: no limit); latency counts from when it is due",
    ),
    shared_flag(
        "--warmup",
        type=click.IntRange(min=0),
        metavar="N",
        help="Messages that each client handles first, unmeasured",
    ),
    shared_flag(
        "--processes",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of processes for the clients (one per core)",
    ),
    shared_flag("--progress/--no-progress", help="Show a progress bar on a terminal (yes)"),
    shared_flag("--plot", is_flag=True, help="Plot the latency by percentile"),
    shared_flag("--csv", metavar="FILE", help="Write a line for each client to this file"),
    shared_flag("--hdr", metavar="FILE", help="Write the latencies to this file as a log of HDR histograms"),
)
_SLEEP = shared_flag("--sleep", type=DURATION, metavar="DURATION", help="Wait this long after each operation")


@dataclass(frozen=True, slots=True)
class SharedFlags:
    """The flags of every benchmark.

    messages: 0 for no end. duration, sleep: ns. size: bytes. processes: None for as many as there are cores.
    """

    clients: int
    messages: int
    size: int
    duration: int
    rate: float
    warm_up: int
    processes: int | None
    progress: bool
    plot: bool
    csv: str
    hdr: str
    sleep: int
    stream: str
    bucket: str


def add_shared(target: click.Command, *more: GroupOption, sleep: bool = True) -> None:
    """Add the shared flags to a verb, or to a group, whose verbs then take them, too. more: further flags."""
    target.params += [*_SHARED, *([_SLEEP] if sleep else []), *more]


def parse_shared(env: Env, kind: str) -> SharedFlags:
    """Return the values of the shared flags. Raises BadInput."""
    flags = {key.removeprefix(_PREFIX): value for key, value in env.flags.items() if key.startswith(_PREFIX)}
    duration, sleep = flags.get("duration") or 0, flags.get("sleep") or 0
    if duration < 0 or sleep < 0:
        raise BadInput("--duration and --sleep must not be negative")
    size = flags.get("size")
    if size is not None and not 0 <= size <= _MAX_SIZE:
        raise BadInput(f"--size must be 0 to {_MAX_SIZE:,} bytes")
    is_endless = kind == "service serve" or duration
    messages = flags.get("msgs") or (0 if is_endless else _MESSAGES.get(kind, 100_000))
    rate = flags.get("rate") or 0
    if rate and kind in _UNPACED:
        raise BadInput(f"--rate cannot be used with bench {kind}", "the publisher sets the pace")
    if flags.get("hdr") and not NAMES[kind][2]:
        raise BadInput(f"--hdr cannot be used with bench {kind}", "it measures no latency")
    return SharedFlags(
        clients=min(flags.get("clients") or 1, messages or flags.get("clients") or 1),
        messages=messages,
        size=_SIZES.get(kind, 128) if size is None else size,
        duration=duration,
        rate=rate,
        warm_up=flags.get("warmup") or 0,
        processes=flags.get("processes"),
        progress=flags.get("progress", True),
        plot=bool(flags.get("plot")),
        csv=flags.get("csv") or "",
        hdr=flags.get("hdr") or "",
        sleep=sleep,
        stream=flags.get("stream") or "",
        bucket=flags.get("bucket") or "",
    )


_UNPACED = ("sub", "service serve", "js ordered", "js consume", "js fetch")


# -- messages ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SendingFlags:
    """The flags for subjects and payloads of messages. payload_file: replaces --size."""

    multisubject: bool
    multisubjectmax: int
    multisubjectrandomize: bool
    payload_file: str
    headers: tuple[str, ...]

    @property
    def subjects(self) -> int:
        """The number of subjects, as `Plan.subjects`."""
        return self.multisubjectmax if self.multisubject else -1

    def header_block(self) -> bytes:
        """Return the header block of each message. Raises BadInput."""
        return parse_headers(self.headers)

    def payload(self, size: int) -> bytes:
        """Return the payload of each message. size: bytes. Raises BadInput."""
        return read_payload(self.payload_file, size)


def read_payload(file: str, size: int) -> bytes:
    """Return the content of a file or, without one, `size` zero bytes. Raises BadInput."""
    return read_bytes(expand_home(file), "", _MAX_SIZE) if file else bytes(size)


def parse_headers(headers: Sequence[str]) -> bytes:
    """Parse `K:V` texts, and return them as a header block. Raises BadInput."""
    return encode_headers([parse_header_text(text) for text in headers])


def _parse_limit(text: str) -> int:
    """Return the maximum size of a stream or bucket. Empty, it has none, as with the `nats` tool."""
    size = parse_size(text) if text else -1
    if not size:
        raise ValueError("must be 1 or more, or empty for no limit")
    return size


def max_bytes_flag(what: str) -> Decorator:
    """Declare --maxbytes, of a stream or bucket."""
    text = f"Maximum size of {what}; '' for no limit (1GiB)"
    return option(
        "--maxbytes", type=Parsed("size", _parse_limit), default=1 << 30, metavar="BYTES", help=text
    )


payload_flags = declare_all(
    option("--payload", "payload_file", metavar="FILE", default="", help="Send the contents of this file"),
    option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; may be repeated"),
)

sending_flags = declare_all(
    payload_flags,
    option("--multisubject", is_flag=True, help="Publish on SUBJECT.0, SUBJECT.1 and so on"),
    option(
        "--multisubjectmax",
        type=click.IntRange(min=0),
        default=100_000,
        metavar="N",
        help="Number of subjects of --multisubject; 0 is one per message (100000)",
    ),
    option("--multisubjectrandomize", is_flag=True, help="Choose each subject of --multisubject at random"),
)
"""The flags of `SendingFlags`."""

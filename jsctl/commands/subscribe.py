"""`jsctl subscribe`."""

from typing import Any

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared.received import Show
from jsctl.commands.shared.receiving import Options, Session
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.units import SECOND, format_rfc3339
from jsctl.views.result import Result

HELP = """\
With --stream, --all, --new, --last, --since, --start-sequence, --last-per-subject, --durable or --direct the
messages come from a stream: the one that is named, or the one that takes the subject.

Lost connections and gaps are told on stderr as they happen and counted at the end. Ctrl-C ends with a
summary and status 0; with --count, before all messages came, with status 130.

--raw in a pipe is byte for byte: --count 1 gives the payload and nothing else; with more, a line end follows
a payload that has none.

--json writes a line of JSON for each message; --dump FILE.jsonl keeps these lines, for pub --from-dump.
"""


@command(
    "subscribe",
    help=HELP,
    examples=[
        "jsctl sub 'orders.>'",
        "jsctl sub --stream ORDERS --all --terminate-at-end --dump orders.jsonl",
        "jsctl sub 'orders.>' --since 1h --raw",
        "jsctl sub '>' --report-subjects",
    ],
)
@argument("subjects", nargs=-1)
@option("--queue", metavar="GROUP", default="", help="Subscribe in a queue group")
@option("--durable", metavar="CONSUMER", default="", help="Read through a durable consumer")
@option("--raw", "-r", is_flag=True, help="Show payloads alone, in a pipe byte for byte")
@option("--pretty", is_flag=True, help="Indent payloads that are JSON")
@option("--translate", metavar="COMMAND", default="", help="Show what a command makes of each payload")
@option("--ack/--no-ack", default=None, help="Acknowledge messages of JetStream consumers")
@option("--match-replies", "match", is_flag=True, help="Show requests with their replies")
@option("--inbox", "-i", is_flag=True, help="Subscribe to a new inbox")
@option("--count", type=int, metavar="N", default=0, help="End after so many messages")
@option(
    "--dump",
    metavar="PATH",
    default="",
    help="Keep messages in FILE.jsonl, or each in a file of a folder; - is stdout, parted by NUL",
)
@option("--headers-only", is_flag=True, help="Show no payloads")
@option("--subjects-only", is_flag=True, help="Show subjects alone")
@option("--stream", "stream", metavar="STREAM", default="", help="Read from this stream")
@option("--start-sequence", type=int, metavar="SEQUENCE", help="From this sequence of the stream on")
@option("--all", "all_", is_flag=True, help="All messages of the stream")
@option("--new", is_flag=True, help="Only messages that are stored from now on")
@option("--last", is_flag=True, help="From the stream's last message on")
@option("--since", type=DURATION, metavar="DURATION", help="From so long ago on")
@option("--last-per-subject", is_flag=True, help="The last message of each subject, then new ones")
@option("--terminate-at-end", "-T", "to_end", is_flag=True, help="End with the stream's last message")
@option("--direct", is_flag=True, help="Read with direct gets, without a consumer")
@option(
    "--ignore-subject", "-I", "ignored", metavar="SUBJECT", multiple=True, help="Leave these subjects out"
)
@option("--wait", type=DURATION, default=0, metavar="DURATION", help="End after so long without a message")
@option("--report-subjects", is_flag=True, help="Count messages by subject instead of showing them")
@option("--report-subscriptions", is_flag=True, help="Count messages by subscription instead")
@option("--report-top", type=int, default=10, metavar="N", help="So many lines in these reports (10)")
@option("--timestamp", "-t", is_flag=True, help="Show times")
@option("--delta-time", "-d", "delta", is_flag=True, help="Show the time since the start")
@option("--graph", is_flag=True, help="Draw messages a second")
async def subscribe(env: Env, **given: Any) -> Result | None:
    options = _options(env, given)
    return await Session(env, options, await env.connection()).run()


_STARTS = ("start_sequence", "all_", "new", "last", "since", "last_per_subject")


def _options(env: Env, given: dict[str, Any]) -> Options:
    starts = [name for name in _STARTS if given[name] not in (None, False)]
    jetstream = bool(starts or given["stream"] or given["durable"] or given["direct"])
    _check(given, starts, jetstream)
    report = (
        "subscription" if given["report_subscriptions"] else "subject" if given["report_subjects"] else ""
    )
    show = Show(
        given["raw"], given["pretty"], given["dump"], given["headers_only"], given["subjects_only"],
        given["timestamp"], given["delta"], given["translate"], given["count"] == 1,
    )  # fmt: skip
    ignored = [part for text in given["ignored"] for part in text.replace(",", " ").split()]
    return Options(
        subjects=given["subjects"],
        queue=given["queue"], inbox=given["inbox"], show=show, limit=given["count"],
        wait=given["wait"] / SECOND, ignored=ignored, match=given["match"], ack=given["ack"],
        report=report, top=given["report_top"], graph=given["graph"], jetstream=jetstream,
        stream=given["stream"], start=_start(env, given, starts), durable=given["durable"],
        direct=given["direct"], to_end=given["to_end"],
    )  # fmt: skip


_LONGER = {"delta": "delta-time", "match": "match-replies"}  #: flags that the program calls otherwise


def _check(given: dict[str, Any], starts: list[str], jetstream: bool) -> None:
    """Raises BadInput for flags that do not go together."""

    def flag(name: str) -> str:
        return "--" + _LONGER.get(name, name.rstrip("_").replace("_", "-"))

    if len(starts) > 1:
        raise BadInput(f"{flag(starts[0])} and {flag(starts[1])} exclude each other")
    for one, other in (("durable", "direct"), ("timestamp", "delta"), ("raw", "dump")):
        if given[one] and given[other]:
            raise BadInput(f"{flag(one)} and {flag(other)} exclude each other")
    if not given["subjects"] and not given["inbox"] and not given["stream"]:
        raise BadInput("the subject is missing", "give SUBJECT, --stream STREAM or --inbox")
    if given["to_end"] and not jetstream:
        raise BadInput("--terminate-at-end is for streams", "add --stream STREAM or --all")
    for name in ("queue", "inbox", "match"):
        if given[name] and jetstream:
            raise BadInput(f"{flag(name)} is not for streams")
    if given["dump"] == "-" and given["inbox"]:
        raise BadInput("--inbox has no place in --dump -", "dump to a file")
    if given["report_top"] < 1 or given["count"] < 0:
        raise BadInput("--report-top and --count are more than 0")
    if given["start_sequence"] is not None and given["start_sequence"] < 1:
        raise BadInput("sequences start at 1")


def _start(env: Env, given: dict[str, Any], starts: list[str]) -> Json:
    """The delivery policy; all messages without one of the flags."""

    match starts[0] if starts else "":
        case "start_sequence":
            return {"deliver_policy": "by_start_sequence", "opt_start_seq": given["start_sequence"]}
        case "since":
            began = round(env.clock() * SECOND) - given["since"]
            return {"deliver_policy": "by_start_time", "opt_start_time": format_rfc3339(began)}
        case "last" | "last_per_subject" as policy:
            return {"deliver_policy": policy}
        case "new":
            return {"deliver_policy": "new"}
        case _:
            return {"deliver_policy": "all"}

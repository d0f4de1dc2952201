"""`stream purge` and `stream rm`: intents and results."""

from collections.abc import Mapping, Sequence

from jsctl.base.units import join_some, pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.data_loss import DataLoss, add_losses
from jsctl.jetstream.message.removal import Purged, PurgeLimits
from jsctl.jetstream.stream.requests import is_internal
from jsctl.views.intent import Intent
from jsctl.views.result import Part, Result, Text, report
from jsctl.views.stream import info as stream_info

_EVERYTHING = PurgeLimits()


def amount(loss: DataLoss) -> str:
    """Return `3 messages, 207 B`, with `about` if the bytes are estimated."""
    return f"{loss.format_count()}, {loss.format_size()}"


def intent(verb: str, losses: Mapping[str, DataLoss], limits: PurgeLimits = _EVERYTHING) -> Intent:
    """Return the intent to purge or remove streams. verb: "purge" or "delete". losses: what is lost, by
    stream. limits: what a purge is limited to.
    """
    facts = [
        {"stream": name, "messages": loss.messages, "bytes": loss.bytes, "exact": loss.exact}
        for name, loss in losses.items()
    ]
    lines = [f"Would {verb} Stream {name}: {amount(loss)}" for name, loss in losses.items()]
    return Intent(_format_action(verb, losses, _format_limits(limits)), {"streams": facts}, lines)


def _format_limits(limits: PurgeLimits) -> str:
    parts = [
        *([f" on {limits.subject}"] if limits.subject else []),
        *([f" before sequence {limits.sequence}"] if limits.sequence else []),
        *([f" except the newest {limits.keep:,}"] if limits.keep else []),
    ]
    return ",".join(parts)


def _format_action(verb: str, losses: Mapping[str, DataLoss], limits: str) -> str:
    if len(losses) == 1:
        name, loss = next(iter(losses.items()))
        return f"{verb} Stream {name}{limits} ({amount(loss)})"
    listed = join_some((f"{name}: {amount(loss)}" for name, loss in losses.items()), 10, "; ")
    return f"{verb} {len(losses)} Streams{limits} ({amount(add_losses(losses.values()))}: {listed})"


def peer_intent(verb: str, info: Json, more: str, peer: str) -> Intent:
    """Return the intent to move a stream off a server. verb: "move". more: follows the stream's name."""
    name, state = info["config"]["name"], info["state"]
    facts = {"stream": name, "peer": peer, "messages": state["messages"], "bytes": state["bytes"]}
    facts |= {"consumers": state["consumer_count"], "replicas": info["config"]["num_replicas"]}
    return Intent(f"{verb} Stream {name}{more}", facts)


def warnings(names: Sequence[str]) -> list[str]:
    """Return what to know before streams are purged, one sentence each."""
    return [
        f"warning: {name} belongs to a bucket or the system, which may not expect this"
        for name in names
        if is_internal(name)
    ]


def purged(streams: Sequence[Purged]) -> Result:
    """Show the result of `stream purge`; the document is the stream's info, or a list of them."""
    parts: list[Part] = []
    for stream in streams:
        parts += [Text(purged_line(stream)), *stream_info.info_page(stream.info, state_only=True).parts]
    infos = [stream.info for stream in streams]
    return Result(parts, data=infos if len(infos) > 1 else infos[0], is_report=True)


def purged_lines(streams: Sequence[Purged]) -> str:
    """Return what purges did, on one line."""
    return "; ".join(map(purged_line, streams))


def purged_line(stream: Purged) -> str:
    """Return what a purge did, on one line."""
    return f"Purged {pluralize(stream.messages, 'message')} from {stream.info['config']['name']}"


def removed(names: Sequence[str]) -> Result:
    """Show the result of `stream rm`; the document is `{stream, removed}`, or a list of them."""
    data: list[Json] = [{"stream": name, "removed": True} for name in names]
    return report(removed_lines(names), data if len(data) > 1 else data[0])


def removed_lines(names: Sequence[str]) -> str:
    """Return which streams were removed, one per line."""
    return "\n".join(f"Stream {name} was removed" for name in names)

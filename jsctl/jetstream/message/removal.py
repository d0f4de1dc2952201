"""Purging and deleting several streams: what would be lost, and the removal itself."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from jsctl.base.command_lines import build_flag, build_line
from jsctl.base.loops import gather
from jsctl.errors import JsctlError, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.data_loss import DataLoss, measure_stream
from jsctl.jetstream.message.purge_estimate import estimate_purge
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import refuse_denied, refuse_protected


class PurgeLimits(NamedTuple):
    """The messages to purge: those on a subject, those before a sequence, or all but the newest `keep`.

    Empty values and 0 set no limit.
    """

    subject: str = ""
    sequence: int = 0
    keep: int = 0


class Purged(NamedTuple):
    """A stream that was purged. messages: number removed. info: the stream's afterwards."""

    messages: int
    info: Json


async def estimate_purges(
    api: Api, names: list[str], limits: PurgeLimits, unprotected: Collection[str]
) -> dict[str, DataLoss]:
    """Return what a purge would remove from each stream. Raises what `purge_streams` raises first."""
    infos = await _fetch_purgeable(api, names, unprotected)
    subject, sequence, keep = limits
    losses = await gather(
        estimate_purge(api, info, subject=subject, sequence=sequence, keep=keep) for info in infos
    )
    return dict(zip(names, losses, strict=True))


async def purge_streams(
    api: Api,
    names: list[str],
    limits: PurgeLimits,
    report_partial: Callable[[Sequence[Purged]], None],
    unprotected: Collection[str],
) -> list[Purged]:
    """Purge streams one after the other; nothing is purged when one of them does not exist, denies it, or is
    protected and not among `unprotected`.

    report_partial: called with the streams that were purged before an error. Raises ApiError, JsctlError.
    """
    await _fetch_purgeable(api, names, unprotected)
    subject, sequence, keep = limits
    purged: list[Purged] = []
    try:
        for name in names:
            count = await streams.purge(api, name, subject=subject, sequence=sequence, keep=keep)
            purged.append(Purged(count, await streams.fetch_info(api, name)))
    except JsctlError:
        if purged:
            report_partial(purged)
        raise
    return purged


async def _fetch_purgeable(api: Api, names: list[str], unprotected: Collection[str]) -> Sequence[Json]:
    infos = await streams.fetch_infos(api, names)
    refuse_protected(infos, unprotected)
    refuse_denied(infos, "deny_purge")
    return infos


async def estimate_deletions(api: Api, names: list[str], unprotected: Collection[str]) -> dict[str, DataLoss]:
    """Return what each stream holds. Raises ApiError for one that does not exist, JsctlError for a protected
    one that is not among `unprotected`."""
    infos = await streams.fetch_infos(api, names)
    refuse_protected(infos, unprotected)
    return dict(zip(names, map(measure_stream, infos), strict=True))


async def delete_streams(
    api: Api,
    names: Sequence[str],
    report_partial: Callable[[Sequence[str]], None],
    unprotected: Collection[str],
) -> None:
    """Delete streams one after the other; none when one of them is protected and not among `unprotected`.

    A stream whose servers are away can be deleted, too, as the cluster's leader does that, if it is among
    `unprotected`: nobody says whether it is protected. report_partial: called with those that were deleted
    before an error. Raises ApiError, JsctlError.
    """
    infos = await gather(_fetch_mark(api, name) for name in names if name not in unprotected)
    refuse_protected([info for info in infos if info], unprotected)
    deleted: list[str] = []
    try:
        for name in names:
            await _delete(api, name)
            deleted.append(name)
    except JsctlError:
        if deleted:
            report_partial(deleted)
        raise


async def _fetch_mark(api: Api, name: str) -> Json | None:
    """Fetch the info of a stream, which has the mark of a protected one."""
    try:
        return await streams.fetch_info_or_none(api, name)
    except RequestTimeout as error:
        line = build_line("stream rm", name, flags=["--force", *build_flag("--unprotect", name)])
        hint = f"{line} deletes it without asking whether it is protected"
        raise RequestTimeout(error.message, hint) from None


async def _delete(api: Api, name: str) -> None:
    try:
        await streams.delete(api, name)
    except RequestTimeout:
        # Nobody answers if all servers of the stream are away, though it is deleted.
        if await streams.fetch_info_or_none(api, name) is not None:
            raise

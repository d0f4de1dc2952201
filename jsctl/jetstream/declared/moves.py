"""Changes of many streams for which servers copy messages: what they cost, and few at a time.

How far a stream is, its servers say: nothing is noted, and the same line continues what was interrupted.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import SECOND, pluralize
from jsctl.errors import JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Api, Json, is_transient
from jsctl.jetstream.declared.compare import Rules
from jsctl.jetstream.declared.execute import Outcome, execute
from jsctl.jetstream.declared.step import Key, Step
from jsctl.jetstream.state import list_peers
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.replicas import (
    count_replicas,
    describe_unsettled,
    fits_placement,
    is_changing,
    make_again,
)

_PAUSE_SECONDS = 0.25


class Move(NamedTuple):
    """A step after which servers copy a stream. copies: replicas that are made. size: bytes that they copy,
    at most. remark: what the stream's servers do already. is_begun: whether they are changing to what the
    step asks for. makes_again: whether the step makes replicas again that are lost.
    """

    step: Step
    copies: int
    size: int
    remark: str = ""
    is_begun: bool = False
    makes_again: bool = False

    def to_json(self) -> Json:
        """Return it as JSON."""
        return {
            "stream": self.step.stream,
            "copies": self.copies,
            "bytes": self.size,
            "begun": self.is_begun,
            "remark": self.remark,
        }


def plan_moves(
    steps: Sequence[Step], infos: Mapping[str, Json], servers: Sequence[Json], *, has_replicas: bool
) -> list[Move]:
    """Return the moves among steps about streams; a step without changes is one only if servers still change
    the stream, or if it has lost replicas. infos: by stream. servers: as in `list_free_servers`, none if
    unknown. has_replicas: whether the number of replicas was asked for, so that those lost are made again.
    """
    moves = []
    for step in steps:
        info = infos[step.stream]
        size, changing = int(info["state"].get("bytes") or 0), is_changing(info)
        remark = describe_unsettled(info)
        wanted, existing = count_replicas(info)
        is_lost = has_replicas and existing < wanted == int((step.after or {}).get("num_replicas") or 1)
        if is_lost and not changing and {change.key for change in step.changes} <= {"num_replicas"}:
            copies = wanted - existing
            remark = f"{pluralize(copies, 'replica')} of {wanted} lost"
            moves.append(Move(step, copies, copies * size, remark, makes_again=True))
        elif step.is_placed:
            copies = _count_copies(step, info, servers)
            moves.append(Move(step, copies, copies * size, remark if changing else ""))
        elif not step.changes and changing:
            copies = max(1, round(_count_behind(info)))
            moves.append(Move(step, copies, copies * size, remark, is_begun=True))
    return moves


def _count_copies(step: Step, info: Json, servers: Sequence[Json]) -> int:
    """Return how many servers get the stream that do not have it, as far as is known, or at most."""
    config, peers = step.after or {}, list_peers(info)
    wanted = int(config.get("num_replicas") or 1)
    if servers:
        fitting = {str(server["name"]) for server in servers if fits_placement(server, config)}
        kept = sum(peer in fitting for peer in peers)
    else:
        is_moved = (step.before or {}).get("placement") != config.get("placement")
        kept = 0 if is_moved else len(peers)
    return max(0, wanted - kept)


def _count_behind(info: Json) -> float:
    """Return how many replicas of a stream are missing, of those that copy the part that is left."""
    replicas = (info.get("cluster") or {}).get("replicas") or ()
    wanted, existing = count_replicas(info)
    messages = max(1, int(info["state"].get("messages") or 0))
    lags = (min(1.0, int(peer.get("lag") or messages) / messages) for peer in replicas if not peer["current"])
    return max(0, wanted - existing) + sum(lags)


async def carry_out(
    api: Api, moves: Sequence[Move], rules: Rules, most: int, limit: int, advance: Callable[[int], None]
) -> Outcome:
    """Make the moves, at most `most` at a time; each ends when all replicas are current. After a failure no
    further one is begun, and those that run are waited for.

    limit: ns for all; 0 for none. advance: called with the bytes copied since the last call. Raises
    RequestTimeout at the limit; what was begun continues on the servers.
    """
    end = time.monotonic() + limit / SECOND if limit else float("inf")
    # What was begun goes on in any case, and counts.
    left = sorted(moves, key=lambda move: not move.is_begun)
    running: dict[str, Move] = {}
    copied: dict[str, int] = {}
    done: list[Step] = []
    failed: list[tuple[Step, JsctlError]] = []
    remarks: dict[Key, str] = {}
    while running or (left and not failed):
        while left and not failed and len(running) < most:
            move = left.pop(0)
            running[move.step.stream] = move
        for name, move in [*running.items()]:
            is_sending = False
            try:
                info = await streams.fetch_info(api, name)
                if not move.is_begun and not is_changing(info):
                    is_sending = True
                    remarks |= await _begin(api, move, info, rules)
                    running[name] = move._replace(is_begun=True)
                elif move.is_begun and not describe_unsettled(info):
                    del running[name]
                    done.append(move.step)
                    advance(move.size - copied.get(name, 0))
                elif move.is_begun:
                    share = max(0.0, 1 - _count_behind(info) / max(1, move.copies))
                    now = max(copied.get(name, 0), int(move.size * share))
                    advance(now - copied.get(name, 0))
                    copied[name] = now
            except JsctlError as error:
                # A server has no room (503) for longer than it has no leader.
                if not (isinstance(error, Unreachable) if is_sending else is_transient(error)):
                    del running[name]
                    failed.append((move.step, error))
        if running and time.monotonic() >= end:
            names = ", ".join(running)
            reasons = [f"; {step.format_name()}: {error.message}" for step, error in failed]
            raise RequestTimeout(
                f"{len(done)} of {len(moves)} streams are as asked for, not yet: {names}{''.join(reasons)}"
            )
        if running or (left and not failed):
            await asyncio.sleep(_PAUSE_SECONDS)
    return Outcome(done, failed, [move.step for move in left], remarks=remarks)


async def _begin(api: Api, move: Move, info: Json, rules: Rules) -> Mapping[Key, str]:
    """Send the change of a move. Returns the remarks of its outcome. Raises JsctlError."""
    if move.makes_again:
        await make_again(api, info)
        return {}
    outcome = await execute([move.step], rules, [], [], lambda _: None)
    if outcome.failure:
        raise outcome.failure
    return outcome.remarks

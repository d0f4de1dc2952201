"""Balance leaders, for streams and consumers alike."""

from collections.abc import Awaitable, Callable, Sequence

from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream import cluster as raft
from jsctl.jetstream.api import Json
from jsctl.views import raft as view
from jsctl.views.result import Result


async def balance(
    env: Env,
    noun: str,
    infos: Sequence[Json],
    ask: Callable[[str], Awaitable[Json]],
    step_down: Callable[[str, str], Awaitable[None]],
    *,
    stream: str = "",
    dry_run: bool,
) -> Result:
    """Move leaders one after the other until they are balanced; what fails is told at the end.

    noun: "stream" or "consumer", and then the `stream` that it is on. ask: a name's info. step_down: makes
    the leader of a name stand down for a server.
    """
    moves = raft.plan(infos)
    done: list[raft.Move] = []
    failed: list[tuple[raft.Move, str]] = []
    for move in [] if dry_run else moves:
        try:
            await step_down(move.name, move.preferred)
            after = await raft.new_leader(lambda name=move.name: ask(name), move.leader)  # type: ignore[misc]
        except JsctlError as error:
            failed.append((move, str(error)))
            continue
        done.append(move._replace(preferred=after))
        label = f"{stream} > {move.name}" if stream else move.name
        env.say(f"{noun.title()} {label}: {move.leader} stood down, {after} leads")
    return view.balanced(moves if dry_run else done, failed, noun, dry_run=dry_run)

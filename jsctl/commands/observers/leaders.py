"""Messages of `cluster balance` and `cluster step-down` while leaders change."""

from collections.abc import Callable

from jsctl.base.units import pluralize
from jsctl.env import Env
from jsctl.jetstream.cluster.balance import Move
from jsctl.jetstream.cluster.leaders import LeaderChange, RaftGroup, elect_leader
from jsctl.views.intent import Intent


def announce_move(env: Env) -> Callable[[RaftGroup, Move], None]:
    """Return a function that reports which leader moved."""

    def announce(group: RaftGroup, move: Move) -> None:
        label = group.label[:1].upper() + group.label[1:]
        env.inform(f"{label}: {move.leader} stepped down, {move.preferred} leads")

    return announce


async def step_down(env: Env, group: RaftGroup, preferred: str, force: bool) -> LeaderChange:
    """Have another leader elected, and report it. Raises what `elect_leader` raises."""

    def announce(leader: str, peers: int) -> None:
        request = f"leader {leader or '(unknown)'} of {group.label} ({pluralize(peers, 'peer')}) to step down"
        facts = {"leader": leader, "peers": peers, "preferred": preferred}
        env.announce(Intent(f"ask {request}{f', so that {preferred} leads' if preferred else ''}", facts))
        current, count = leader or "an unknown leader", pluralize(peers, "peer")
        env.inform(f"Requesting leader step down of {current} for {group.label}, {count}")

    change = await elect_leader(group, preferred, force=force, on_request=announce)
    if change.new_leader == change.old_leader:
        env.inform(f"{change.new_leader} leads again")
    else:
        env.inform(f"New leader elected: {change.new_leader}")
    return change

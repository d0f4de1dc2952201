"""The limit of a benchmark: the client, the server, or the requested rate."""

from typing import Literal, NamedTuple

from jsctl.base.units import MS
from jsctl.bench.meter import Outcome, compute_rate
from jsctl.bench.plan import Plan

By = Literal["client", "server", "rate", "pause", "round trips", "waiting", "unknown"]

BUSY = 0.85
"""The share of a core above which a process is the limit."""
_REACHED = 0.98
"""The share of the rate that counts as all of it."""
_SHORTEST = 50 * MS
"""The shortest benchmark (ns) whose processor times are meaningful."""

_IN_TURN = ("service request", "js pub sync", "js get sync", "kv put", "kv get")
"""Kinds whose clients run one operation after the other."""


class Limit(NamedTuple):
    """The limit of a benchmark. by: its cause. client_cpu, server_cpu: shares of a
    core; -1 when unknown."""

    by: By
    client_cpu: float
    server_cpu: float


def find_limit(plan: Plan, outcome: Outcome) -> Limit:
    """Return what limited the benchmark, judged by the processor time of both sides."""
    client, server = outcome.client_cpu, outcome.server_cpu
    return Limit(_find_cause(plan, outcome, client, server), client, server)


def _find_cause(plan: Plan, outcome: Outcome, client: float, server: float) -> By:
    if not outcome.messages or outcome.duration < _SHORTEST:
        return "unknown"
    if plan.rate and compute_rate(outcome.messages, outcome.duration) >= plan.rate * _REACHED:
        return "rate"
    if plan.sleep:
        return "pause"
    if client >= BUSY and client >= server:
        return "client"
    if server >= BUSY:
        return "server"
    return "round trips" if plan.kind in _IN_TURN else "waiting"

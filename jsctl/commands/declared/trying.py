"""A plan tried on a server of our own, before anything is changed."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import fetch_account_info
from jsctl.jetstream.declared.plan import TryOut
from jsctl.jetstream.declared.step import Step
from jsctl.jetstream.declared.trial import Trial, try_steps
from jsctl.localserver import binary
from jsctl.localserver.scratch import open_scratch_server
from jsctl.nats.connection import Connection

_LIMITS = {
    "max_consumers": "max_consumers",
    "max_ack_pending": "max_ack_pending",
    "memory_max_stream_bytes": "mem_max_stream_bytes",
    "storage_max_stream_bytes": "disk_max_stream_bytes",
    "max_bytes_required": "max_bytes_required",
}
"""Limits of an account as JetStream reports them, and the same in a server's configuration. Of streams and of
bytes there is no end on the server of a trial: they are counted (`declared.checks`)."""


def try_on_scratch_server(env: Env) -> TryOut:
    """Return what tries the steps of a plan on a server that is started for it."""

    async def try_out(steps: Sequence[Step], accounts: Mapping[int, Json]) -> Trial:
        if not any(step.after is not None and not step.refused for step in steps):
            return Trial({}, frozenset(), {})
        try:
            return await _try(env, steps, accounts)
        except JsctlError as error:
            env.say(f"warning: what the servers accept was not tried beforehand: {error.message}")
            return Trial({}, frozenset(), {})

    return try_out


async def _try(env: Env, steps: Sequence[Step], accounts: Mapping[int, Json]) -> Trial:
    """Try steps. Raises JsctlError if there is no server, or it does not start."""
    server = binary.find(env.environ)
    names = {
        (place, tier): f"P{place}{tier}"
        for place, account in accounts.items()
        for tier in account.get("tiers") or [""]
    }
    limits = {
        name: _build_limits(accounts[place].get("tiers", {}).get(tier, accounts[place]).get("limits") or {})
        for (place, tier), name in names.items()
    }
    async with open_scratch_server(server, limits, env.environ) as logins, AsyncExitStack() as stack:
        apis: dict[tuple[int, str], Api] = {}
        for key, name in names.items():
            connection = await Connection.open(logins[name], on_event=lambda _: None)
            stack.push_async_callback(connection.close)
            apis[key] = Api(connection)
        level = int(((await fetch_account_info(next(iter(apis.values())))).get("api") or {}).get("level", 0))
        trial = await try_steps(steps, accounts, apis, level)
    return _excuse(trial, steps, server.version)


def _build_limits(limits: Json) -> Json:
    return {option: limits[key] for key, option in _LIMITS.items() if int(limits.get(key) or 0) > 0}


def _excuse(trial: Trial, steps: Sequence[Step], version: str) -> Trial:
    """Return the trial without what a newer server than that of the trial may accept."""
    untried = dict(trial.untried)
    for step in steps:
        reason = "; ".join(trial.refused.get(step.key, {}).values())
        if not reason or step.target.is_missing:
            continue
        known = str(step.target.api.connection.server_info.get("version") or "")
        if _parse(known) > _parse(version):
            untried[step.key] = f"{reason}, says nats-server {version}; there it is {known}"
    refused = {key: reasons for key, reasons in trial.refused.items() if key not in untried}
    return trial._replace(refused=refused, untried=untried)


def _parse(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("-")[0])[:2]))

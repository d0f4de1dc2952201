"""The meta group of a JetStream domain, as its servers know it."""

from jsctl.base.command_lines import build_line
from jsctl.errors import JsctlError
from jsctl.monitor.server.requests import Json, fetch_jetstream
from jsctl.nats.connection import Connection


async def fetch_meta(connection: Connection, domain: str) -> Json:
    """Fetch {"name", "leader", "replicas"} of the meta group of a domain.

    Without a domain, that of the connected server. Raises JsctlError when its servers are not clustered.
    """
    replies = await fetch_jetstream(connection)
    if not domain:
        own_replies = [
            reply for reply in replies if reply["server"]["id"] == connection.server_info.get("server_id", "")
        ]
        domain = own_replies[0]["server"].get("domain", "") if own_replies else ""
    metas: list[Json] = [
        {**meta, "is_leader": meta.get("leader") == reply["server"]["name"]}
        for reply in replies
        if reply["server"].get("domain", "") == domain
        and (meta := (reply.get("data") or {}).get("meta_cluster"))
    ]
    if not metas:
        where = f" of domain {domain}" if domain else ""
        raise JsctlError(f"the servers{where} are not clustered", "there is no meta group")
    # The leader knows its followers; the others know who leads.
    return max(metas, key=lambda meta: bool(meta["is_leader"]))


async def fetch_led_meta(connection: Connection, domain: str) -> Json:
    """As `fetch_meta`; also raises JsctlError when the meta group has no leader, which nothing answers."""
    meta = await fetch_meta(connection, domain)
    if not meta.get("leader"):
        rescue = build_line("server cluster rescue")
        raise JsctlError(
            "the meta group has no leader",
            f"start servers that are away; {rescue} is for those that are lost",
        )
    return meta

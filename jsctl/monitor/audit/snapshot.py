"""What an archive shows of a network, for the rules of `jsctl doctor`."""

from collections.abc import Collection, Iterator, Mapping

from jsctl.base.units import to_datetime
from jsctl.errors import BadInput
from jsctl.monitor.audit.archive import METADATA, Archive, Json
from jsctl.monitor.audit.replay import read_if_present
from jsctl.monitor.doctor.diagnosis import diagnose
from jsctl.monitor.doctor.snapshot import (
    DomainView,
    Origin,
    ServerView,
    Snapshot,
    is_complete,
    take_from_leaders,
)
from jsctl.monitor.trouble import Trouble


def diagnose_archive(archive: Archive) -> list[Trouble]:
    """Return what `jsctl doctor` finds in an archive; what needs a connection cannot be found.

    Raises BadInput for an archive that is damaged, or has an unexpected shape.
    """
    try:
        return diagnose(build_snapshot(archive))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{archive.path} holds something unexpected: {type(error).__name__} {error}") from None


def build_snapshot(archive: Archive) -> Snapshot:
    """Return the servers, and the streams of each account by domain, as far as they were gathered."""
    servers = _build_server_views(archive)
    domains = {server.name: server.domain for server in servers}
    views: dict[tuple[str, str], tuple[dict[str, Json], list[Json]]] = {}
    for account, server, detail, found in _load_from_leaders(archive):
        streams, consumers = views.setdefault((account, domains.get(server, "")), ({}, []))
        streams[detail["name"]] = detail
        consumers += found
    streams_by_view = {key: streams for key, (streams, _) in views.items()}
    complete = {domain for _, domain in views if is_complete(servers, domain)}
    details = [(id, detail) for server in servers for id, detail in server.accounts.items()]
    names = {id: str(detail["name_tag"]) for id, detail in details if detail.get("name_tag")}
    gathered_at = str(archive.load_special(METADATA).get("capture_timestamp") or "")
    if not gathered_at:
        raise ValueError("the archive does not say when it was gathered")
    return Snapshot(
        at=to_datetime(gathered_at),
        domains=[
            DomainView(
                context="",
                account=account,
                account_name=names.get(account, account),
                domain=domain,
                prefix=f"$JS.{domain}.API" if domain else "$JS.API",
                streams=streams,
                consumers=consumers,
                origins=dict(_find_origins(account, domain, streams, streams_by_view, complete)),
            )
            for (account, domain), (streams, consumers) in sorted(views.items())
        ],
        servers=servers,
    )


def _build_server_views(archive: Archive) -> list[ServerView]:
    pages = {
        endpoint: {str(reply["server"]["id"]): reply for reply in read_if_present(archive, endpoint)}
        for endpoint in ("VARZ", "JSZ", "LEAFZ")
    }
    accounts: dict[str, dict[str, Json]] = {}
    for tags, document in archive.load(artifact_type="account_info"):
        id = str((document.get("server") or {}).get("id", ""))
        accounts.setdefault(id, {})[tags["account"]] = document.get("data") or {}
    return [
        ServerView(
            id=id,
            name=str(reply["server"].get("name", "")),
            cluster=str(reply["server"].get("cluster") or ""),
            domain=str(reply["server"].get("domain") or ""),
            jetstream=bool(reply["server"].get("jetstream")),
            varz=reply.get("data") or {},
            jsz=(pages["JSZ"].get(id) or {}).get("data") or {},
            leafz=(pages["LEAFZ"].get(id) or {}).get("data") or {},
            accounts=accounts.get(id, {}),
        )
        for id, reply in pages["VARZ"].items()
    ]


def _load_from_leaders(archive: Archive) -> Iterator[tuple[str, str, Json, list[Json]]]:
    """Yield account, server and info of each stream from its leader, or without one from any server that has
    it, with its consumers."""
    copies: dict[tuple[str, str, str], dict[str, Json]] = {}
    for tags, detail in archive.load(artifact_type="stream_info"):
        copies.setdefault((tags["account"], tags["stream"], tags["cluster"]), {})[tags["server"]] = detail
    for (account, _, _), found in copies.items():
        leaders = (
            name for name, detail in found.items() if name == (detail.get("cluster") or {}).get("leader")
        )
        server = next(leaders, next(iter(found)))
        consumers = take_from_leaders(found[server].get("consumer_detail") or (), found.items())
        yield account, server, found[server], consumers


def _find_origins(
    account: str,
    domain: str,
    streams: Mapping[str, Json],
    streams_by_view: Mapping[tuple[str, str], Mapping[str, Json]],
    complete: Collection[str],
) -> Iterator[tuple[tuple[str, str], Origin]]:
    """Yield what is known of the streams from which others copy, within an account. complete: domains of
    which all servers reported what they hold."""
    for info in streams.values():
        config = info.get("config") or {}
        for link in [config.get("mirror"), *(config.get("sources") or ())]:
            if not link:
                continue
            api = str((link.get("external") or {}).get("api") or "").rstrip(".")
            origin_domain = domain
            if api:
                if not (api.startswith("$JS.") and api.endswith(".API")):
                    continue  # an import, which leads to another account
                origin_domain = api.removeprefix("$JS.").removesuffix("API").rstrip(".")
            name = str(link.get("name", ""))
            origin = streams_by_view.get((account, origin_domain))
            if origin is not None and name in origin:
                yield (api, name), Origin(True, origin[name])
            elif origin is not None and origin_domain in complete:
                yield (api, name), Origin(True, missing=True)

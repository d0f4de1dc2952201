"""Whether a login may acknowledge the messages that it may request."""

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from jsctl.base.units import SECOND, join_some
from jsctl.errors import Denied, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.requests import is_pull
from jsctl.monitor.account import fetch_login, may_publish
from jsctl.monitor.trouble import Trouble
from jsctl.nats.connection import Connection

_MAX_TRIED = 10  #: consumers for each connection whose login may not ask for its permissions
_TIMEOUT = SECOND  #: ns that an answer to a trial may take

Name = tuple[str, str]
"""A stream and a consumer of it."""


class _Rights:
    """What is known of a login. permissions: as its server reports them; None if it may not ask. tried: by
    API prefix and consumer, whether it may request messages and not acknowledge them."""

    def __init__(self, permissions: Json | None) -> None:
        self.permissions = permissions
        self.tried: dict[tuple[str, Name], bool] = {}


_known: WeakKeyDictionary[Connection, _Rights] = WeakKeyDictionary()


async def find_ack_denials(api: Api, infos: Iterable[Json]) -> list[Name]:
    """Return the pull consumers of whose messages the login may request some and acknowledge none.

    A login that may not ask for its permissions tries: with a request that no consumer takes for valid, and
    with an acknowledgement of no message.
    """
    wanted = [
        (str(info["stream_name"]), str(info["name"]))
        for info in infos
        if is_pull(info["config"]) and info["config"].get("ack_policy") in ("explicit", "all")
    ]
    if not wanted:
        return []
    if api.connection not in _known:
        login = await fetch_login(api.connection)
        _known[api.connection] = _Rights(login.get("permissions") or {} if login else None)
    rights = _known[api.connection]
    if rights.permissions is not None:
        return [name for name in wanted if _is_denied(rights.permissions, api, name)]
    for name in wanted:
        if (api.prefix, name) not in rights.tried and len(rights.tried) < _MAX_TRIED:
            ack, request = _build_ack_subjects(name)[0], _build_request_subject(api, name)
            is_denied = not await _may_publish(api, ack, b"") and await _may_publish(api, request, b"{")
            rights.tried[api.prefix, name] = is_denied
    return [name for name in wanted if rights.tried.get((api.prefix, name))]


def describe_ack_denials(denied: Iterable[Name]) -> list[Trouble]:
    """Return that a login may not acknowledge the messages of some consumers."""
    names = [f"{stream} > {consumer}" for stream, consumer in sorted(set(denied))]
    if not names:
        return []
    says = f"it may request messages of {join_some(names, 1)}, and not acknowledge them"
    return [Trouble("it may not acknowledge", False, "ACK_DENIED", says)]


def _build_request_subject(api: Api, name: Name) -> str:
    return f"{api.prefix}.CONSUMER.MSG.NEXT.{name[0]}.{name[1]}"


def _build_ack_subjects(name: Name) -> list[str]:
    """Return subjects of an acknowledgement of no message, in the form of before 2.15 and in the newer one
    (nats-server: feature js_ack_fc_v2)."""
    consumer = f"{name[0]}.{name[1]}.0.0.0.0.0"
    return [f"$JS.ACK.{consumer}", f"$JS.ACK._.ACCOUNT.{consumer}"]


def _is_denied(permissions: Json, api: Api, name: Name) -> bool:
    rules = permissions.get("publish")
    if not rules or permissions.get("responses"):  # it may reply to what it receives
        return False
    return may_publish(rules, _build_request_subject(api, name)) and not any(
        may_publish(rules, subject) for subject in _build_ack_subjects(name)
    )


async def _may_publish(api: Api, subject: str, data: bytes) -> bool:
    try:
        await api.connection.request(subject, data, timeout=min(_TIMEOUT, api.timeout))
    except Denied:
        return False
    except JsctlError:
        pass
    return True

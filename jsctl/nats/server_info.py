"""The INFO of a server: the type of each field that jsctl reads."""

from collections.abc import Mapping
from typing import Any

from jsctl.nats.codec import ProtocolError

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("server_id", "server_name", "version", "domain", "cluster", "nonce", "client_ip"), str),
    **dict.fromkeys(("tls_required", "tls_available", "auth_required", "headers", "jetstream", "ldm"), bool),
    **dict.fromkeys(("max_payload", "client_id", "port", "proto"), int),
    "connect_urls": list,
}


def check_info(info: Any) -> None:
    """Raise ProtocolError for an INFO of the wrong shape."""
    if not isinstance(info, dict):
        raise ProtocolError("its INFO is not an object")
    for key, kind in _KINDS.items():
        value = info.get(key)
        if value is not None and type(value) is not kind:
            raise ProtocolError(f"{key!r} in its INFO is not valid")
    if info.get("max_payload", 1) is None or info.get("max_payload", 1) < 0:
        raise ProtocolError("'max_payload' in its INFO is not valid")
    if not all(isinstance(url, str) for url in info.get("connect_urls") or ()):
        raise ProtocolError("'connect_urls' in its INFO is not valid")

"""The shapes of servers' answers to the system account: one for each field that jsctl reads.

Unknown fields are kept as they are (nats-server: monitor.go, events.go).
"""

from collections.abc import Mapping
from typing import Any

from jsctl.jetstream.shape_check import NUMBER, TIME, Shape, check
from jsctl.jetstream.shapes import (
    API_USE,
    CLUSTER,
    CONSUMER_INFO,
    REPLICA,
    SOURCE_INFO,
    STATE,
    STREAM_CONFIG,
    check_error,
    fields,
)

_SERVER = Shape(
    {
        **fields(str, "name host id cluster domain ver"),
        "jetstream": bool,
        "flags": int,
        "seq": int,
        "time": TIME,
        "tags": [str],
    },
    ("name", "id"),
)
_TRAFFIC = fields(int, "in_msgs out_msgs in_bytes out_bytes subscriptions")
_COUNTED = fields(int, "msgs bytes")
_EXCHANGED = fields(Shape({**_COUNTED, **fields(Shape(_COUNTED), "gateways routes leafs")}), "sent received")
_META = Shape(
    {
        **fields(str, "name leader peer"),
        **fields(int, "cluster_size pending pending_requests pending_infos quorum_needed"),
        "replicas": [REPLICA],
        "snapshot": Shape({**fields(int, "pending_entries pending_size last_duration"), "last_time": TIME}),
    }
)
_USE = {
    **fields(int, "memory storage reserved_memory reserved_storage accounts ha_assets"),
    "api": API_USE,
}
_CONFIG = Shape(
    {
        **fields(int, "max_memory max_storage sync_interval"),
        **fields(str, "domain store_dir unique_tag"),
        **fields(bool, "sync_always compress_ok strict"),
    }
)
_LIMITS = Shape(
    {
        **fields(int, "max_ha_assets max_ack_pending max_request_batch max_duplicate_window max_batch_size"),
        **fields(int, "max_batch_timeout max_batch_inflight_per_stream max_batch_inflight_total"),
        **fields(int, "default_max_consumers"),
    }
)
_JETSTREAM = Shape({"config": _CONFIG, "stats": Shape(_USE), "meta": _META, "limits": _LIMITS})
_SLOW = Shape(fields(int, "clients routes gateways leafs"))
_PROCESS = {
    "start": TIME,
    "cpu": NUMBER,
    **fields(int, "mem cores connections total_connections subscriptions slow_consumers stale_connections"),
    **fields(int, "stalled_clients gomaxprocs gomemlimit"),
    "slow_consumer_stats": _SLOW,
    "jetstream": _JETSTREAM,
}
_STATSZ = Shape(
    {
        **_PROCESS,
        **_EXCHANGED,
        **fields(int, "active_accounts active_servers"),
        "routes": [Shape({**fields(int, "rid pending"), "name": str, **_EXCHANGED})],
        "gateways": [Shape({**fields(int, "gwid inbound_connections"), "name": str, **_EXCHANGED})],
    }
)
_REMOTE = Shape({"name": str, "local_account": str, "urls": [str]})
_LISTENER = Shape(
    {
        **fields(str, "name host addr advertise"),
        **fields(int, "port cluster_port"),
        "urls": [str],
        "gateways": [_REMOTE],
        "remotes": [_REMOTE],
        "tls_cert_not_after": TIME,
    }
)
_VARZ = Shape(
    {
        **_PROCESS,
        **_TRAFFIC,
        **fields(str, "server_id server_name version git_commit go host ip uptime config_digest"),
        **fields(str, "http_host http_base_path system_account"),
        **fields(int, "proto port http_port https_port max_connections max_subscriptions max_payload"),
        **fields(int, "max_control_line max_pending ping_interval ping_max write_deadline"),
        **fields(int, "routes remotes leafnodes"),
        "tls_timeout": NUMBER,
        **fields(bool, "auth_required tls_required tls_verify"),
        **fields(TIME, "now config_load_time tls_cert_not_after"),
        **fields([str], "connect_urls ws_connect_urls tags trusted_operators_jwt"),
        "metadata": {"*": str},
        **fields(_LISTENER, "cluster gateway leaf mqtt websocket"),
    },
    ("server_name", "start", "now", "config_load_time"),
)
_LINK = {
    **_TRAFFIC,
    **fields(int, "port pending_bytes pending_size"),
    **fields(str, "ip name account rtt uptime idle compression"),
    **fields(TIME, "start last_activity stop"),
    "subscriptions_list": [str],
}
_CONNECTION = Shape(
    {
        **_LINK,
        "cid": int,
        **fields(str, "kind type name_tag reason lang version tls_version authorized_user issuer_key jwt"),
    },
    ("cid",),
)
_PAGE = fields(int, "total offset limit num_connections")
_CONNZ = Shape({**_PAGE, "now": TIME, "connections": [_CONNECTION]})
_ROUTEZ = Shape(
    {
        "now": TIME,
        "num_routes": int,
        "routes": [Shape({**_LINK, "rid": int, **fields(str, "remote_id remote_name")})],
    }
)
_GATEWAY = Shape({"configured": bool, "connection": _CONNECTION, "accounts": [dict]})
_GATEWAYZ = Shape(
    {
        "now": TIME,
        **fields(str, "name host"),
        "port": int,
        "outbound_gateways": {"*": _GATEWAY},
        "inbound_gateways": {"*": [_GATEWAY]},
    }
)
_LEAFZ = Shape({"now": TIME, "leafnodes": int, "leafs": [Shape({**_LINK, "id": int, "is_spoke": bool})]})
_SUBSZ = Shape(
    {
        **_PAGE,
        "now": TIME,
        "subscriptions_list": [
            Shape({**fields(str, "account account_tag subject qgroup sid"), **fields(int, "msgs max cid")})
        ],
    }
)
_STREAM = Shape(
    {
        **fields(str, "name stream_raft_group"),
        "created": TIME,
        "cluster": CLUSTER,
        "config": STREAM_CONFIG,
        "state": STATE,
        "mirror": SOURCE_INFO,
        "sources": [SOURCE_INFO],
        # The configuration of consumers is left out unless it is requested.
        **fields([Shape(CONSUMER_INFO.fields, ("name",))], "consumer_detail direct_consumer_detail"),
        "consumer_raft_groups": [Shape(fields(str, "name raft_group"))],
    },
    ("name", "state"),
)
_JSZ = Shape(
    {
        **_USE,
        **fields(int, "streams consumers messages bytes total streams_leader consumers_leader"),
        "config": _CONFIG,
        "meta_cluster": _META,
        "now": TIME,
        "disabled": bool,
        "account_details": [Shape({**_USE, **fields(str, "name id"), "stream_detail": [_STREAM]}, ("name",))],
    }
)
_SHARED = Shape(
    {
        **fields(str, "name subject account local_subject to token response_type"),
        **fields(bool, "invalid share tracking token_req"),
        "approved_accounts": [str],
    }
)
_ACCOUNT = Shape(
    {
        **fields(str, "account_name issuer_key name_tag jwt"),
        **fields(bool, "is_system expired complete jetstream_enabled"),
        **fields(int, "leafnode_connections client_connections subscriptions"),
        "update_time": TIME,
        "mappings": {"*": [Shape({"subject": str, "weight": int, "cluster": str})]},
        **fields([_SHARED], "exports imports"),
        "tags": [str],
        "revoked_user": {"*": TIME},
        "responses": {"*": _SHARED},
        "decoded_jwt": Shape(
            {
                "name": str,
                "nats": Shape({"tags": [str], "limits": Shape(fields(int, "conn leaf subs"))}),
            }
        ),
    },
)
_ACCOUNTZ = Shape({"now": TIME, "system_account": str, "accounts": [str], "account_detail": _ACCOUNT})
_STATZ = Shape(
    {
        "account_statz": [
            Shape(
                {
                    **fields(str, "acc name"),
                    **fields(int, "conns leafnodes total_conns num_subscriptions slow_consumers"),
                    **_EXCHANGED,
                }
            )
        ]
    }
)
_HEALTHZ = Shape(
    {
        **fields(str, "status error"),
        "status_code": int,
        "errors": [Shape(fields(str, "type account stream consumer error"))],
    }
)
_PROFILEZ = Shape({"error": str})

DATA: Mapping[str, Shape] = {
    "VARZ": _VARZ,
    "CONNZ": _CONNZ,
    "ROUTEZ": _ROUTEZ,
    "GATEWAYZ": _GATEWAYZ,
    "LEAFZ": _LEAFZ,
    "SUBSZ": _SUBSZ,
    "JSZ": _JSZ,
    "ACCOUNTZ": _ACCOUNTZ,
    "INFO": _ACCOUNT,
    "STATZ": _STATZ,
    "STATSZ": _STATSZ,
    "HEALTHZ": _HEALTHZ,
    "PROFILEZ": _PROFILEZ,
}
"""The shape of `data` by the kind of request, the last word of its subject."""


def _build_reply_shape(data: Any) -> Shape:
    return Shape({"server": _SERVER, "data": data, "statsz": _STATSZ}, ("server",))


_REPLIES = {kind: _build_reply_shape(data) for kind, data in DATA.items()}
_OTHER = _build_reply_shape(None)


def check_reply(reply: Any, subject: str) -> None:
    """Raise Malformed, with the path of the wrong value, unless a reply on `subject` has the expected
    types."""
    check(reply, _REPLIES.get(subject.rpartition(".")[2], _OTHER))
    if (error := reply.get("error")) is not None:
        check_error(error)

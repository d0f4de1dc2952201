"""What the login of a write may publish to, as far as its server tells."""

from jsctl.errors import JsctlError
from jsctl.jetstream.shape_check import Shape, check
from jsctl.json_text import parse_json
from jsctl.nats.connection import Connection
from jsctl.nats.events import denied_error
from jsctl.nats.subjects import matches
from jsctl.units import SECOND

_RIGHTS = Shape({"allow": [str], "deny": [str]})
_USER = Shape({"data": Shape({"permissions": Shape({"publish": _RIGHTS})})})


async def check_may_publish(connection: Connection, subject: str) -> None:
    """Raise Denied when the server says that this login may not publish to a subject.

    Servers since 2.10 say so ($SYS.REQ.USER.INFO) to logins that may ask them.
    """
    timeout = min(connection.settings.timeout, SECOND)
    try:
        user = parse_json((await connection.request("$SYS.REQ.USER.INFO", timeout=timeout)).data)
        check(user, _USER)
    except (JsctlError, ValueError):
        return
    rights = ((user.get("data") or {}).get("permissions") or {}).get("publish") or {}
    allowed, denied = rights.get("allow"), rights.get("deny") or ()
    if allowed and not any(matches(pattern, subject) for pattern in allowed):
        raise denied_error("publish", subject)
    if any(matches(pattern, subject) for pattern in denied):
        raise denied_error("publish", subject)

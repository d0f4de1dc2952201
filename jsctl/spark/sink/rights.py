"""What the login of a write may publish to, as far as its server tells."""

from jsctl.jetstream.shape_check import Malformed, Shape, check
from jsctl.monitor.account import fetch_login, may_publish
from jsctl.nats.connection import Connection
from jsctl.nats.events import denied_error

_RIGHTS = Shape({"allow": [str], "deny": [str]})
_USER = Shape({"permissions": Shape({"publish": _RIGHTS})})


async def check_may_publish(connection: Connection, subject: str) -> None:
    """Raise Denied when the server says that this login may not publish to a subject.

    Servers since 2.10 say so to logins that may ask them.
    """
    user = await fetch_login(connection)
    try:
        check(user, _USER)
    except Malformed:
        return
    if not may_publish((user.get("permissions") or {}).get("publish") or {}, subject):
        raise denied_error("publish", subject)

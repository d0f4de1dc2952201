"""The rules of contexts: what their failure means; tokens and certificates that expire. No I/O."""

from jsctl.base.units import HOUR, format_duration, format_time, truncate_to_seconds
from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble
from jsctl.nats.error_codes import ErrorCode

SOON = 7 * 24 * HOUR
"""ns before the end of a token or certificate from which it is named."""

LOGIN_EXPIRES = Rule(
    "LOGIN_EXPIRES",
    "a login or a certificate has expired, or expires soon",
    "contexts",
    why="from then on the server refuses it",
    fix="use new credentials",
)


def choose_code(error: JsctlError | None) -> str:
    """Return the code of the rule that an error of a context or domain is about."""
    if isinstance(error, NoResponders):
        return "DOMAIN_MISSING"
    if isinstance(error, RequestTimeout):
        return "JETSTREAM_SILENT"
    if isinstance(error, ApiError) and error.err_code == ErrorCode.CLUSTER_NOT_AVAIL:
        return "META_NO_LEADER"
    return "CONTEXT_FAILED"


def check_expiry(what: str, expires: int, now: int) -> list[Trouble]:
    """Return whether something has expired, or expires soon. expires, now: ns since 1970; 0 for never."""
    remaining = expires - now
    if not expires or remaining > SOON:
        return []
    at = format_time(expires)
    if remaining <= 0:
        return [Trouble(f"{what} has expired", True, "LOGIN_EXPIRES", f"{what} expired at {at}")]
    span = format_duration(truncate_to_seconds(remaining))
    return [
        Trouble(f"{what} expires in {span}", False, "LOGIN_EXPIRES", f"{what} expires in {span}, at {at}")
    ]


RULES = (
    Rule("CONTEXT_FAILED", "a context cannot be used", "contexts"),
    LOGIN_EXPIRES,
    Rule("DOMAIN_MISSING", "nobody answers in a domain that a context names", "contexts"),
    Rule("META_NO_LEADER", "the servers of a domain have no majority", "servers"),
    Rule("JETSTREAM_SILENT", "a domain does not answer in time", "contexts", ("META_NO_LEADER",)),
)

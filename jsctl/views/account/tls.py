"""`account tls`: the certificates of the connected server."""

from collections.abc import Sequence
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.nats.certificates import Certificate
from jsctl.units import SECOND, format_duration, format_rfc3339, seconds_to_ns
from jsctl.views.result import Cell, Field, Part, Result, Section, Sheet, Text


def chain(certificates: Sequence[Certificate], now: float, warn: int, *, pem: bool, ocsp: bool) -> Result:
    """Show a certificate chain, the server's certificate first.

    The status is a failure when one has expired or expires within `warn` ns (0: only when one has expired).
    now: seconds since 1970. pem: with the certificates themselves. ocsp: with the responders that say whether
    they were revoked.
    """
    parts: list[Part] = []
    troubles = [_trouble(one, now, warn) for one in certificates]
    for number, (one, trouble) in enumerate(zip(certificates, troubles, strict=True), 1):
        fields = [
            Field("CA", one.is_ca, "bool"),
            Field("Issuer", one.issuer),
            Field("Expires", seconds_to_ns(one.not_after), "time"),
            *([Field("Warning", Cell(trouble, trouble, "bad"))] if trouble else []),
            *(Field(label, list(names)) for label, names in _names(one) if names),
            Field("Serial", one.serial),
            Field("Signed With", one.signature),
            *([Field("OCSP", list(one.ocsp) or "no responder")] if ocsp else []),
        ]
        parts.append(
            Sheet(f"Certificate {number} of {len(certificates)}: {one.subject}", [Section("", fields)])
        )
        if pem:
            parts.append(Text(one.pem.rstrip("\n"), whole=True))
    data = [
        {
            "subject": one.subject,
            "issuer": one.issuer,
            "serial": one.serial,
            "is_ca": one.is_ca,
            "signature": one.signature,
            "dns": one.dns,
            "addresses": one.addresses,
            "uris": one.uris,
            "emails": one.emails,
            "ocsp": one.ocsp,
            **({"pem": one.pem} if pem else {}),
            "not_after": format_rfc3339(seconds_to_ns(one.not_after)),
            "expired": one.not_after <= now,
            "expires_soon": bool(trouble) and one.not_after > now,
        }
        for one, trouble in zip(certificates, troubles, strict=True)
    ]
    return Result(parts, data=data, status=ExitStatus.FAILURE if any(troubles) else ExitStatus.OK)


def _names(one: Certificate) -> list[tuple[str, Sequence[Any]]]:
    return [
        ("DNS Names", one.dns),
        ("IP Addresses", one.addresses),
        ("URIs", one.uris),
        ("Email Addresses", one.emails),
    ]


def _trouble(one: Certificate, now: float, warn: int) -> str:
    left = one.not_after - now
    if left <= 0:
        return "expired"
    if warn and left * SECOND < warn:
        return f"expires in {format_duration(seconds_to_ns(left))}"
    return ""

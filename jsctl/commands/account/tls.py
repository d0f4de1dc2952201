"""`jsctl account tls`."""

from collections.abc import Sequence

from jsctl.base.units import DAY, SECOND, format_duration, format_rfc3339, seconds_to_ns
from jsctl.commands.cli import DURATION, command, option
from jsctl.env import Env
from jsctl.errors import ExitStatus, JsctlError
from jsctl.nats.certificates import Certificate, read_verified_chain
from jsctl.views.result import Cell, Field, InfoPage, Part, Result, Section, Text, recorder

_record = recorder(
    ("subject", "issuer", "serial", "is_ca", "signature", "dns", "addresses", "uris", "emails", "ocsp")
)


def _show_chain(
    certificates: Sequence[Certificate], now: float, warn: int, *, pem: bool, ocsp: bool
) -> Result:
    """Show a certificate chain, the server's certificate first.

    The status is a failure when one has expired or expires within `warn` ns (0: only when one has expired).
    now: seconds since 1970. pem: with the certificates themselves. ocsp: with the responders that say whether
    they were revoked.
    """
    parts: list[Part] = []
    problems = [_find_problem(certificate, now, warn) for certificate in certificates]
    for number, (certificate, problem) in enumerate(zip(certificates, problems, strict=True), 1):
        names = (
            ("DNS Names", certificate.dns),
            ("IP Addresses", certificate.addresses),
            ("URIs", certificate.uris),
            ("Email Addresses", certificate.emails),
        )
        fields = [
            Field("CA", certificate.is_ca, "bool"),
            Field("Issuer", certificate.issuer),
            Field("Expires", seconds_to_ns(certificate.not_after), "time"),
            *([Field("Warning", Cell(problem, problem, "bad"))] if problem else []),
            *(Field(label, list(texts)) for label, texts in names if texts),
            Field("Serial", certificate.serial),
            Field("Signed With", certificate.signature),
            *([Field("OCSP", list(certificate.ocsp) or "no responder")] if ocsp else []),
        ]
        parts.append(
            InfoPage(
                f"Certificate {number} of {len(certificates)}: {certificate.subject}", [Section("", fields)]
            )
        )
        if pem:
            parts.append(Text(certificate.pem.rstrip("\n"), whole=True))
    data = [
        {
            **_record(certificate),
            **({"pem": certificate.pem} if pem else {}),
            "not_after": format_rfc3339(seconds_to_ns(certificate.not_after)),
            "expired": certificate.not_after <= now,
            "expires_soon": bool(problem) and certificate.not_after > now,
        }
        for certificate, problem in zip(certificates, problems, strict=True)
    ]
    return Result(parts, data=data, status=ExitStatus.FAILURE if any(problems) else ExitStatus.OK)


def _find_problem(certificate: Certificate, now: float, warn: int) -> str:
    remaining = certificate.not_after - now
    if remaining <= 0:
        return "expired"
    if warn and remaining * SECOND < warn:
        return f"expires in {format_duration(seconds_to_ns(remaining))}"
    return ""


@command("tls", examples=["jsctl account tls", "jsctl account tls --no-pem --expire-warn 30d"])
@option(
    "--expire-warn",
    type=DURATION,
    default=7 * DAY,
    metavar="DURATION",
    help="Fail when a certificate expires within this time, 0 for none (1w)",
)
@option("--ocsp", is_flag=True, help="Show the responders that know whether a certificate was revoked")
@option("--pem/--no-pem", default=True, help="Show the certificates themselves")
async def tls(env: Env, expire_warn: int, ocsp: bool, pem: bool) -> Result:
    """Show the chain from the server's certificate to that of the CA which this machine trusts. Fail when one
    has expired, or will soon.
    """
    connection = await env.connection()
    ssl_object = connection.socket_info("ssl_object")
    if ssl_object is None:
        raise JsctlError(
            f"the connection to {connection.url} has no TLS", "use a URL that begins with tls://"
        )
    certificates = read_verified_chain(ssl_object)
    if not certificates:
        raise JsctlError("the server's certificate was not verified", "name its CA with --tlsca")
    if ocsp:
        env.say("jsctl: the server's OCSP responses are not checked; ask these responders")
    return _show_chain(certificates, env.clock(), expire_warn, pem=pem, ocsp=ocsp)

"""`jsctl account tls`."""

from jsctl.base.units import DAY
from jsctl.commands.cli import DURATION, command, option
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.nats.certificates import read_verified_chain
from jsctl.views.account import tls as view
from jsctl.views.result import Result


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
    return view.chain(certificates, env.clock(), expire_warn, pem=pem, ocsp=ocsp)

"""TLS options from the certificates that settings name."""

import contextlib
from typing import Any, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.setting_files import on_disk


class TlsOptions(NamedTuple):
    """How TLS is used. context: None when the server decides whether to use it. is_first: before INFO."""

    context: Any = None
    is_first: bool = False

    @property
    def is_wanted(self) -> bool:
        """Whether it must not be left out."""
        return self.context is not None

    def get_context(self) -> Any:
        """Return the context to use."""
        import ssl  # plain connections do not need it

        return self.context or ssl.create_default_context()


def build_tls_options(settings: Settings, server: ServerAddress) -> TlsOptions:
    """Return the options of settings for TLS with a server. Raises BadInput."""
    is_wanted = settings.tlscert or settings.tlskey or settings.tlsca or settings.tlsfirst
    if not is_wanted and not server.url.startswith(("tls:", "wss:")):
        return TlsOptions()
    if bool(settings.tlscert) != bool(settings.tlskey):
        raise BadInput("a client certificate needs both --tlscert and --tlskey")
    import ssl  # plain connections do not need it

    with contextlib.ExitStack() as stack:
        ca, certificate, key = (
            stack.enter_context(on_disk(settings, path, kind)) if path else None
            for path, kind in (
                (settings.tlsca, "CA certificate"),
                (settings.tlscert, "TLS certificate"),
                (settings.tlskey, "TLS key"),
            )
        )
        try:
            context = ssl.create_default_context(cafile=ca)
        except (ssl.SSLError, OSError):
            raise BadInput(f"{settings.tlsca} holds no CA certificate") from None
        if certificate:
            try:
                # An empty password, so that OpenSSL never asks on the terminal.
                context.load_cert_chain(certificate, key, password="")
            except (ssl.SSLError, OSError):
                raise BadInput(
                    f"{settings.tlscert} and {settings.tlskey} are not a certificate and its key",
                    "both must be PEM and belong together, and the key must not have a passphrase",
                ) from None
    return TlsOptions(context, settings.tlsfirst)

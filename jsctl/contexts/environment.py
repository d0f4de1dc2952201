"""Variables of the environment that hold secrets."""

from collections.abc import MutableMapping

_SECRETS = ("NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_JWT", "NATS_SEED")
"""A user without a password is a token."""

_URL = "NATS_URL"


def forget_secrets(environ: MutableMapping[str, str]) -> None:
    """Remove logins from variables that other processes are to inherit; the URL stays without its login."""
    for name in _SECRETS:
        environ.pop(name, None)
    if "@" in environ.get(_URL, ""):
        from jsctl.contexts.model import strip_login  # 8 ms, which help need not wait for

        environ[_URL] = strip_login(environ[_URL])

"""Variables of the environment that hold secrets."""

from collections.abc import MutableMapping

from jsctl.contexts.settings import FLAGS, SETTINGS

_SECRETS = tuple(
    setting.flag.variable
    for setting in SETTINGS.values()
    if setting.flag and setting.login and setting.kind != "path"
)
"""Variables with a login. NATS_USER is among them as a user without a password is a token."""

_URL = FLAGS["url"].variable


def forget_secrets(environ: MutableMapping[str, str]) -> None:
    """Remove logins from variables that other processes would inherit; the URL stays, without its login."""
    for name in _SECRETS:
        environ.pop(name, None)
    if "@" in environ.get(_URL, ""):
        from jsctl.contexts.model import drop_login  # takes 8 ms to import

        environ[_URL] = drop_login(environ[_URL])

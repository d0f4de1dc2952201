"""Passwords for server configurations, and their bcrypt hashes."""

import secrets
import string

from jsctl.errors import BadInput

MIN_LENGTH = 10  #: characters of a password
_GENERATED_LENGTH = 22
_MAX_BYTES = 72  #: bcrypt ignores what follows


def check_password(password: str) -> None:
    """Raise BadInput for a password that is too short or too long."""
    if len(password) < MIN_LENGTH:
        raise BadInput(f"the password cannot be used: it is too short; use {MIN_LENGTH} characters or more")
    if len(password.encode(errors="surrogateescape")) > _MAX_BYTES:
        raise BadInput(f"the password cannot be used: bcrypt accepts passwords of at most {_MAX_BYTES} bytes")


def hash_password(password: str, cost: int) -> str:
    """Return the bcrypt hash of a password in the form that nats-server reads ($2a$...). Raises BadInput."""
    import bcrypt  # takes 3 ms, and only this function needs it

    check_password(password)
    if "\0" in password:
        raise BadInput("the password cannot be used: it contains a NUL character")
    raw = password.encode(errors="surrogateescape")
    return bcrypt.hashpw(raw, bcrypt.gensalt(cost, prefix=b"2a")).decode()


def generate_password() -> str:
    """Return a random password of letters and digits, too long to guess."""
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(_GENERATED_LENGTH))

"""Values of a context that refer to the actual value, as in the `nats` tool since 0.5:

file:///run/secrets/token   the content of a file
env://NATS_TOKEN            an environment variable
data:;base64,...            the value itself, encoded
op://vault/item/field       a field in 1Password, read with its `op` tool
nsc://operator/account/user the credentials of a user that nsc knows
"""

from typing import NamedTuple

FILE, ENV, DATA, OP, NSC = "file://", "env://", "data:;base64,", "op://", "nsc://"
SCHEMES = (FILE, ENV, DATA, OP, NSC)


class Reference(NamedTuple):
    """A reference to a value. scheme: one of SCHEMES. rest: what follows it."""

    scheme: str
    rest: str


def parse(value: str) -> Reference | None:
    """Return the reference in a value; None for a literal value."""
    scheme = next((scheme for scheme in SCHEMES if value.startswith(scheme)), "")
    return Reference(scheme, value[len(scheme) :]) if scheme else None


def is_shown(value: str) -> bool:
    """Return whether a value only refers to a secret, so that it need not be hidden."""
    reference = parse(value)
    return reference is not None and reference.scheme != DATA

"""`server passwd`: the hash of a password."""

from jsctl.views.result import Field, Result, Section, Sheet, Text


def hashed(hash: str, password: str) -> Result:
    """Show a bcrypt hash. password: the generated one, to show it; empty when the user chose it."""
    if not password:
        return Result([Text(hash, whole=True)], data={"hash": hash})
    fields = [Field("Password", password), Field("bcrypt Hash", hash)]
    return Result(
        [Sheet("Generated Password", [Section("", fields)])], data={"password": password, "hash": hash}
    )

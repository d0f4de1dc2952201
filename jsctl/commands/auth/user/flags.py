"""The sections of help for the flags of users and of scoped signing keys."""

from jsctl.auth.fields import USER

_PERMISSIONS = [f"--{way}-{rule}" for way in ("pub", "sub") for rule in ("allow", "deny")]
_PERMISSIONS += ["--allow-pub-response", "--response-ttl"]
SECTIONS = {
    "Permissions": _PERMISSIONS,
    "Limits": [f"--{flag}" for flag in USER.by_flag if f"--{flag}" not in _PERMISSIONS],
}

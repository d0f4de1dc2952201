"""Checks of operators, accounts and users: functions that take an environment and return findings.

These modules send no requests and write no files. The rules are those of nats-io/jwt (v2/*.go: Validate),
nats-io/nsc (cmd/validate.go) and the server, and rules between accounts, which the first two do not have.
"""

from jsctl.auth.check.all import check, check_for_push
from jsctl.auth.check.model import Finding

__all__ = ["Finding", "check", "check_for_push"]

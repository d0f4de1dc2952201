"""What is wrong with operators, accounts and users: functions from an environment to findings.

These modules send no requests and write no files. The rules are those of nats-io/jwt (v2/*.go: Validate),
nats-io/nsc (cmd/validate.go) and of the server, and those across accounts, which neither of them has.
"""

from jsctl.auth.check.all import check, check_for_push
from jsctl.auth.check.model import Finding

__all__ = ["Finding", "check", "check_for_push"]

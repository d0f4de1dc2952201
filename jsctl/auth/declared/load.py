"""The operators in declared files, read and validated; their streams are read in `jetstream.declared`.

label: prod                       # marks what is created here, for --prune
vars: {team: red}
operators:
  - name: ACME
    system_account: SYS
    accounts:
      - name: SALES
        exports:
          - {name: orders, subject: "orders.>", type: stream}
        users:
          - {name: clerk, pub: {allow: ["orders.>"]}}
      - for: {shop: [north, south]}
        name: "SHOP_{{shop}}"
        imports:
          - {account: SALES, subject: "orders.>", type: stream, local_subject: "sales.orders.>"}
        signing_keys:
          - role: reader
            template: {sub: {allow: ["sales.>"]}, pub: {deny: [">"]}}
        users:
          - {name: till, role: reader}
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.auth.declared.fields import ACCOUNT, OPERATOR, USER
from jsctl.auth.declared.model import DeclaredAccount, DeclaredOperator, DeclaredUser
from jsctl.auth.keys import find_key_kind
from jsctl.auth.store import check_name
from jsctl.base.units import SECOND, parse_time_ns
from jsctl.errors import BadInput, collecting
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.declared.reader import DocumentReader, read_name, refuse_twice
from jsctl.jetstream.declared.variables import Variables, count_rounds, expand, iterate_loop

_NAMES = frozenset({"name", "for", "accounts", "users"})


class OperatorReader(DocumentReader):
    """The operators of documents, collected. Errors have file and line."""

    def __init__(self, variables: Variables) -> None:
        super().__init__(variables)
        self.operators: list[DeclaredOperator] = []
        self._by_name: dict[str, DeclaredOperator] = {}

    def read_document(self, document: Node) -> None:
        """Add the operators of a document. Raises BadInput."""
        keys = document.as_object("a file")
        node = keys.get("operators")
        if node is None or node.value is None:
            return
        variables = self._resolve_variables(keys)
        label = expand(keys["label"], variables).as_text("label") if "label" in keys else ""
        for item in node.as_list("operators"):
            with collecting(self.errors):
                operator = self._read_operator(item, variables, label)
                refuse_twice(self._by_name, operator.name, operator, f"operator {operator.name}")
                self.operators.append(operator)

    def _read_operator(self, node: Node, variables: Variables, label: str) -> DeclaredOperator:
        expanded = self._budget.expand(node, "an operator", variables, "accounts")
        name = read_name(expanded, "operator", _check_name)
        claims = self._read_keys(OPERATOR, expanded, "an operator", _NAMES)
        accounts: list[DeclaredAccount] = []
        by_name: dict[str, DeclaredAccount] = {}
        for item, loop_variables in self._iterate_rounds(node, "accounts", "an account", variables):
            with collecting(self.errors):
                account = self._read_account(item, loop_variables)
                refuse_twice(by_name, account.name, account, f"account {account.name}")
                _check_roles(account)
                accounts.append(account)
        system = str(claims.pop("system_account", None) or "")
        warnings = self._take_warnings()
        return DeclaredOperator(name, claims, system, accounts, label, node.position, warnings)

    def _read_account(self, node: Node, variables: Variables) -> DeclaredAccount:
        expanded = self._budget.expand(node, "an account", variables, "for", "users")
        name = read_name(expanded, "account", _check_name)
        claims = self._read_keys(ACCOUNT, expanded, "an account", _NAMES)
        lists = ("exports", "imports", "signing_keys")
        cleared = frozenset(key for key in lists if key in claims and not claims[key])
        exports, imports, roles = (claims.pop(key, None) or [] for key in lists)
        expires = _read_expiry(claims)
        _validate(ACCOUNT, claims, node)
        users: list[DeclaredUser] = []
        by_name: dict[str, DeclaredUser] = {}
        for item, loop_variables in self._iterate_rounds(node, "users", "a user", variables):
            with collecting(self.errors):
                user = self._read_user(item, loop_variables)
                refuse_twice(by_name, user.name, user, f"user {name}/{user.name}")
                users.append(user)
        return DeclaredAccount(name, claims, cleared, exports, imports, roles, expires, users, node.position)

    def _read_user(self, node: Node, variables: Variables) -> DeclaredUser:
        expanded = self._budget.expand(node, "a user", variables, "for")
        name = read_name(expanded, "user", _check_name)
        claims = self._read_keys(USER, expanded, "a user", _NAMES)
        role, expires = str(claims.pop("role", None) or ""), _read_expiry(claims)
        _validate(USER, claims, node)
        if role and (own_claims := sorted(claims.keys() - {"tags"})):
            raise node.error(
                f"user {name} has role {role}, which sets its permissions and limits, but also"
                f" {own_claims[0]}",
                "move it into the template of the role",
            )
        return DeclaredUser(name, claims, role, expires, node.position)

    def _iterate_rounds(
        self, node: Node, key: str, noun: str, variables: Variables
    ) -> Iterator[tuple[Node, Mapping[str, Node]]]:
        """Yield each item of a list with its variables, once for each round of its loop."""
        for item in node.list_below(key):
            loop = item.as_object(noun).get("for")
            self._budget.add_rounds(count_rounds(loop, variables), item)
            for loop_variables in iterate_loop(loop, variables):
                yield item, loop_variables


def _check_roles(account: DeclaredAccount) -> None:
    """Raise BadInput if two roles have the same name."""
    names = [str(role["role"]) for role in account.roles]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"{account.position}: account {account.name} declares role {repeated[0]} twice")


def _read_expiry(claims: dict[str, Any]) -> int | None:
    """Remove the expiry from the claims; return it in seconds since 1970: 0 for null, None if there is
    none."""
    if "expires" not in claims:
        return None
    text = claims.pop("expires")
    return parse_time_ns(text) // SECOND if text else 0


def _validate(schema: Schema, claims: dict[str, Any], node: Node) -> None:
    present = {key: value for key, value in claims.items() if value is not None}
    if problems := list(schema.check_value(present, "")):
        raise node.error(problems[0])


def _check_name(name: str, noun: str) -> None:
    check_name(name, noun)
    if find_key_kind(name):
        raise BadInput(f"{name} is a public key", f"choose a name for the {noun}")

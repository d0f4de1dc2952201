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

from collections.abc import Iterable, Mapping
from typing import Any

from jsctl.auth.declared.fields import ACCOUNT, OPERATOR, USER
from jsctl.auth.declared.model import DeclaredAccount, DeclaredOperator, DeclaredUser
from jsctl.auth.keys import find_key_kind
from jsctl.auth.store import check_name
from jsctl.errors import BadInput
from jsctl.jetstream.config.documents import parse_documents
from jsctl.jetstream.config.nodes import Node
from jsctl.jetstream.config.schema import Schema
from jsctl.jetstream.declared.variables import (
    Budget,
    Variables,
    count_rounds,
    expand,
    iterate_loop,
    resolve_variables,
)
from jsctl.units import SECOND, parse_time_ns

_NAMES = frozenset({"name", "for", "accounts", "users"})


def load_operators(files: Iterable[tuple[str, str]], variables: Variables) -> list[DeclaredOperator]:
    """Return the operators that files declare. files: name and text of each. variables: from the command
    line.

    Raises BadInput with file and line.
    """
    operators: list[DeclaredOperator] = []
    budget = Budget()
    for name, text in files:
        for document in parse_documents(text, name):
            operators += _read_document(document, variables, budget)
    by_name: dict[str, DeclaredOperator] = {}
    for operator in operators:
        _refuse_same(by_name, operator.name, operator, "operator")
    return operators


def _read_document(document: Node, given_variables: Variables, budget: Budget) -> list[DeclaredOperator]:
    keys = document.as_object("a file")
    node = keys.get("operators")
    if node is None or node.value is None:
        return []
    file_variables: dict[str, Node] = {}
    if "vars" in keys and keys["vars"].value is not None:
        file_variables = resolve_variables(keys["vars"], given_variables)
    label = expand(keys["label"], file_variables).as_text("label") if "label" in keys else ""
    return [_read_operator(item, file_variables, label, budget) for item in node.as_list("operators")]


def _read_operator(node: Node, variables: Variables, label: str, budget: Budget) -> DeclaredOperator:
    expanded = budget.expand(node, "an operator", variables, "accounts")
    name = _read_name(expanded, "operator")
    claims = OPERATOR.read(expanded, "an operator", ignored=_NAMES)
    accounts: list[DeclaredAccount] = []
    for item in node.list_below("accounts"):
        for loop_variables in _iterate_rounds(item, "an account", variables, budget):
            accounts.append(_read_account(item, loop_variables, budget))
    by_name: dict[str, DeclaredAccount] = {}
    for account in accounts:
        _refuse_same(by_name, account.name, account, f"account {account.name} of operator")
    system = str(claims.pop("system_account", None) or "")
    operator = DeclaredOperator(name, claims, system, accounts, label, _format_position(node))
    for account in accounts:
        _check_roles(account)
    return operator


def _read_account(node: Node, variables: Variables, budget: Budget) -> DeclaredAccount:
    expanded = budget.expand(node, "an account", variables, "for", "users")
    name = _read_name(expanded, "account")
    claims = ACCOUNT.read(expanded, "an account", ignored=_NAMES)
    lists = ("exports", "imports", "signing_keys")
    cleared = frozenset(key for key in lists if key in claims and not claims[key])
    exports, imports, roles = (claims.pop(key, None) or [] for key in lists)
    expires = _read_expiry(claims)
    _validate(ACCOUNT, claims, node)
    users: list[DeclaredUser] = []
    for item in node.list_below("users"):
        for loop_variables in _iterate_rounds(item, "a user", variables, budget):
            users.append(_read_user(item, loop_variables, budget))
    by_name: dict[str, DeclaredUser] = {}
    for user in users:
        _refuse_same(by_name, user.name, user, f"user {name}/{user.name} of operator")
    return DeclaredAccount(
        name, claims, cleared, exports, imports, roles, expires, users, _format_position(node)
    )


def _read_user(node: Node, variables: Variables, budget: Budget) -> DeclaredUser:
    expanded = budget.expand(node, "a user", variables, "for")
    name = _read_name(expanded, "user")
    claims = USER.read(expanded, "a user", ignored=_NAMES)
    role, expires = str(claims.pop("role", None) or ""), _read_expiry(claims)
    _validate(USER, claims, node)
    if role and (own_claims := sorted(claims.keys() - {"tags"})):
        raise node.error(
            f"user {name} has role {role}, which sets its permissions and limits, but also {own_claims[0]}",
            "move it into the template of the role",
        )
    return DeclaredUser(name, claims, role, expires, _format_position(node))


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


def _iterate_rounds(
    node: Node, noun: str, variables: Variables, budget: Budget
) -> Iterable[Mapping[str, Node]]:
    loop = node.as_object(noun).get("for")
    budget.add_rounds(count_rounds(loop, variables), node)
    return iterate_loop(loop, variables)


def _read_name(node: Node, noun: str) -> str:
    name = node.as_object(f"this {noun}").get("name")
    if name is None:
        raise node.error(f"this {noun} has no name")
    text = name.as_text("name")
    try:
        check_name(text, noun)
    except BadInput as error:
        raise name.error(error.message, error.hint) from None
    if find_key_kind(text):
        raise name.error(f"{text} is a public key", f"choose a name for the {noun}")
    return text


def _refuse_same(by_name: dict[str, Any], name: str, item: Any, noun: str) -> None:
    first = by_name.setdefault(name, item)
    if first is not item:
        raise BadInput(
            f"{item.position}: {noun.removesuffix(' of operator')} is declared twice",
            f"first in {first.position}",
        )


def _format_position(node: Node) -> str:
    return f"{node.file}:{node.line}"

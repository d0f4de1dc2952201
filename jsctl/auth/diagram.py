"""The exports and imports of accounts, as a graph."""

from typing import NamedTuple

from jsctl.auth.check.across import approve_import
from jsctl.auth.claims import as_number, as_text, find_local_pattern, find_remote_subject
from jsctl.auth.environment import Environment


class Export(NamedTuple):
    """An export of an account. kind: stream or service. token: what an import needs: "private", "account key"
    or nothing (empty)."""

    account: str
    subject: str
    kind: str
    name: str = ""
    token: str = ""


class Import(NamedTuple):
    """An import of an account.

    origin: the name of the exporting account, or its key when the store does not have it. export: the index
    of the export in `Graph.exports`; -1 when there is none. problem: why it does not work; empty when it
    does.
    """

    account: str
    origin: str
    kind: str
    remote: str
    local: str
    export: int = -1
    problem: str = ""


class Graph(NamedTuple):
    """Accounts, exports and imports. accounts: the names of all accounts, including those without either."""

    operator: str
    accounts: list[str]
    exports: list[Export]
    imports: list[Import]


def make_graph(environment: Environment) -> Graph:
    """Return all exports, and all imports with the exports that they use."""
    exports: list[Export] = []
    export_indexes: dict[tuple[str, int], int] = {}
    for account in environment.accounts:
        for index, export in enumerate(account.exports):
            token = "private" if export.get("token_req") else ""
            token = "account key" if as_number(export.get("account_token_position")) else token
            export_indexes[account.public, index] = len(exports)
            kind, name = as_text(export.get("type")), as_text(export.get("name"))
            exports.append(Export(account.name, as_text(export.get("subject")), kind, name, token))
    imports = []
    for account in environment.accounts:
        for imported in account.imports:
            approval = approve_import(environment, account, imported)
            key = approval.exporter.public if approval.exporter else ""
            imports.append(
                Import(
                    account.name,
                    environment.get_account_name(as_text(imported.get("account"))),
                    as_text(imported.get("type")),
                    find_remote_subject(imported),
                    find_local_pattern(imported),
                    export_indexes.get((key, approval.export_index), -1),
                    approval.message,
                )
            )
    return Graph(
        environment.operator.name, [account.name for account in environment.accounts], exports, imports
    )

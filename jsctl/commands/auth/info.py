"""`jsctl auth info`."""

from collections.abc import Sequence

from jsctl.auth.inspection import KEY, Inspected, inspect
from jsctl.auth.keys import find_key_kind
from jsctl.auth.records import Account, Json, User
from jsctl.base.units import SECOND, format_rfc3339
from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.views.auth import account as account_view
from jsctl.views.auth import user as user_view
from jsctl.views.auth.common import build_validity_fields
from jsctl.views.result import Cell, Column, Field, InfoPage, Lines, Part, Result, Section, Table

_COLUMNS = (
    Column("File", "file"),
    Column("Kind", "kind"),
    Column("Name", "name"),
    Column("Of", "of", hideable=1),
    Column("Expires", "expires", "time"),
    Column("Problem", "problem", "prose"),
    Column("Public Key", "public", hideable=2),
)


def _show_items(items: Sequence[Inspected]) -> Result:
    """Show what files hold: those that were named as pages, those of folders as a table. The status is a
    failure if something is wrong with one."""
    parts: list[Part] = []
    for item in items:
        if not item.is_listed:
            parts += _build_parts(item)
    table = Table("Files", _COLUMNS, [_build_row(item) for item in items])
    if listed := [_build_row(item) for item in items if item.is_listed]:
        parts.append(table._replace(rows=listed))
        notes = dict.fromkeys(note for item in items if item.is_listed for note in item.unchecked)
        parts.append(Lines([f"Not among the files: {note}" for note in notes], "dim"))
    status = ExitStatus.FAILURE if any(item.problems for item in items) else ExitStatus.OK
    return Result(parts, data=[_build_document(item) for item in items], status=status, table=table)


def _build_row(item: Inspected) -> Sequence[object]:
    problem = "; ".join(each.message for each in item.problems)
    name = item.record.name if item.record else ""
    expires = item.record.expires * SECOND if item.record and item.record.expires else None
    return (
        item.file,
        _name_kind(item),
        name,
        item.owner,
        expires,
        Cell(problem, problem, "bad"),
        item.public,
    )


def _name_kind(item: Inspected) -> str:
    """Return the kind, with that of a key: "account seed"."""
    if item.kind == KEY:
        return f"{find_key_kind(item.public)} {'seed' if item.has_seed else 'key'}"
    return item.kind or "unreadable"


def _build_parts(item: Inspected) -> list[Part]:
    """Return the page of a file: who, by whom, until when, what it may do, and what is wrong."""
    fields = [Field("File", item.file), Field("Kind", _name_kind(item)), Field("Public Key", item.public)]
    sections: list[Section] = []
    record = item.record
    heading = _name_kind(item)
    if record:
        heading = f"{item.kind.capitalize()} {record.name}"
        signer = f"{record.issuer} ({item.signer})" if item.signer else record.issuer
        fields.append(Field("Signed By", signer))
        fields += build_validity_fields(record)
        fields += [] if record.expires else [Field("Expiry", "never")]
        fields += [Field("Seed", "in the file")] if item.has_seed else []
    if isinstance(record, User):
        fields.append(Field("Account", item.account.name if item.account else record.issuer_account))
        page = user_view.info_page(record, item.account or _UNKNOWN).parts[0]
        sections = [each for each in _get_sections(page) if each.title != "Configuration"]
        if item.has_unknown_role:
            sections = [
                Section("Permissions", [Field("Allowed", "what the role of the key says that signed it")])
            ]
    elif isinstance(record, Account):
        fields += [Field("Operator", item.owner)] if item.owner else []
        page = account_view.info_page(record).parts[0]
        sections = [each for each in _get_sections(page) if each.title != "Configuration"]
    elif item.owner:
        fields.append(Field("Key Of", item.owner))
    problems = [Field("Problem", Cell(each.message, each.message, "bad")) for each in item.problems]
    notes = [Field("Not Read", note) for note in item.unchecked]
    state = problems or [Field("Problem", Cell(None, "none found", "good"))]
    return [InfoPage(heading, [Section("", fields), *sections, Section("Checks", [*state, *notes])])]


_UNKNOWN = Account("", "", {"nats": {}})
"""In place of an account that is not known: then no role is, either."""


def _get_sections(page: Part) -> Sequence[Section]:
    return page.sections if isinstance(page, InfoPage) else ()


def _build_document(item: Inspected) -> Json:
    record = item.record
    document: Json = {
        "file": item.file,
        "kind": item.kind or None,
        "key_kind": find_key_kind(item.public) or None,
        "name": record.name if record else None,
        "public": item.public or None,
        "has_seed": item.has_seed,
        "of": item.owner or None,
        "issuer": record.issuer if record else None,
        "signed_by": item.signer or None,
    }
    for key, claim in (("issued", "iat"), ("not_before", "nbf"), ("expires", "exp")):
        seconds = record.claims.get(claim) if record else None
        document[key] = format_rfc3339(seconds * SECOND) if isinstance(seconds, int) and seconds else None
    role, rules = None, None
    if isinstance(record, User) and not item.has_unknown_role:
        role, rules = user_view.find_effective_rules(record, item.account or _UNKNOWN)
    return {
        **document,
        "role": role,
        "permissions": rules,
        "claims": record.nats if record else None,
        "valid": not item.problems,
        "problems": [{"code": each.code, "message": each.message} for each in item.problems],
        "unchecked": list(item.unchecked),
    }


@command(
    "info",
    columns=_COLUMNS,
    examples=[
        "jsctl auth info alice.creds",
        "jsctl auth info ACME.jwt ORDERS.jwt alice.creds --json",
        "jsctl auth info ~/.local/share/nats/nsc",
    ],
)
@argument("file", nargs=-1, required=True, metavar="FILE...")
def info(env: Env, file: tuple[str, ...]) -> Result:
    """Read credentials, JWTs, seeds and public keys, and the folders of resolvers and of nsc; - is stdin. No
    store and no server is needed. A user is checked against its account, and an account against its operator,
    if these are among the files. Seeds are never shown. The exit status is 1 if something is wrong.
    """
    return _show_items(inspect(file, env.streams.stdin, env.clock()))

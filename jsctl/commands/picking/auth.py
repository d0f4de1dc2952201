"""The operator, account or user that a command line names; what it leaves out is picked from a list."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from jsctl.auth.changes import find_signing_key
from jsctl.auth.claims import find_local_subject
from jsctl.auth.folders import Choices, make_choices
from jsctl.auth.records import Account, Json, Record, SigningKey, User, list_signing_keys
from jsctl.auth.sharing import find_export, find_import, list_exports, list_imports
from jsctl.auth.store import AuthStore
from jsctl.base.command_lines import build_line
from jsctl.base.similar_names import find_nearest
from jsctl.commands.cli import argument, declare_all, option
from jsctl.commands.cli.declare import CheckedOption, Decorator, F
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.prompts.prompter import Choice, check_filled

R = TypeVar("R", bound=Record)


def read_choices(env: Env) -> Choices:
    """Return the store of --store or that of nsc, and the operator and account in use. Raises BadInput."""
    return make_choices(env.environ, str(env.flags.get("auth_store") or ""))


async def pick_operator(env: Env, name: str, *, flag: str = "--operator") -> AuthStore:
    """Return the store of an operator: the named one, the one of `read_choices`, or one that the user picks.

    Raises NotFound, BadInput.
    """
    choices, names = _read_operators(env)
    if name:
        _check_exists(
            name, names, f"there is no operator {name!r}", f"{build_line('auth operator ls')} lists them"
        )
    else:
        name = choices.operator.value or await _pick_name(env, names, "operator", "Operator", flag)
    return AuthStore(choices.folders, name, choices.get_account(name))


async def pick_account(
    env: Env,
    store: AuthStore,
    name: str = "",
    *,
    flag: str = "ACCOUNT",
    default: bool = True,
    doubted: bool = False,
) -> Account:
    """Return an account, by its name or public key; without a name the selected one, or one that the
    user picks.

    default: whether to take the selected one. doubted: also one whose JWT is not genuine. Raises NotFound,
    NotGenuine, BadInput.
    """
    names = store.list_account_names()
    if not name:
        if not names:
            raise NotFound(
                f"operator {store.operator} has no accounts", f"{build_line('auth account add')} creates one"
            )
        selected = store.selected_account if default else ""
        name = selected or await _pick_name(env, names, "account", "Account", flag)
    try:
        return store.load_named_account(name) if doubted else store.find_account(name)
    except NotFound as error:
        _check_exists(name, names, error.message, error.hint)
        raise


async def pick_operator_account(
    env: Env, operator: str, account: str, *, default: bool = True, doubted: bool = False
) -> tuple[AuthStore, Account]:
    """Return the store of an operator, and one of its accounts. Raises as `pick_account` does."""
    store = await pick_operator(env, operator)
    return store, await pick_account(env, store, account, default=default, doubted=doubted)


async def pick_operator_user(
    env: Env, operator: str, account: str, user: str
) -> tuple[AuthStore, Account, User]:
    """Return the store of an operator, one of its accounts and a user of that, also one whose JWT is not
    genuine. Raises as `pick_account` does."""
    store = await pick_operator(env, operator)
    owner = await pick_user_account(env, store, user, account, doubted=True)
    return store, owner, await pick_user(env, store, owner, user, doubted=True)


async def pick_user(env: Env, store: AuthStore, account: Record, name: str, *, doubted: bool = False) -> User:
    """Return a user of an account, by name; without a name one that the user picks.

    doubted: also one whose JWT is not genuine. Raises NotFound, NotGenuine, BadInput.
    """
    names = store.list_user_names(account.name)
    if not name:
        if not names:
            raise NotFound(
                f"account {account.name} has no users", f"{build_line('auth user add')} creates one"
            )
        name = await _pick_name(env, names, "user", "User", "NAME")
    try:
        return store.load_user(account.name, name) if doubted else store.read_user(account.name, name)
    except NotFound as error:
        _check_exists(name, names, error.message, error.hint)
        raise


async def pick_user_account(
    env: Env, store: AuthStore, user: str, account: str, *, doubted: bool = False
) -> Account:
    """Return the account of a user: the named one, the only one that has a user of this name, or one that is
    picked.

    doubted: also one whose JWT is not genuine. Raises NotFound, NotGenuine, BadInput.
    """
    if not account and user:
        candidates = [name for name in store.list_account_names() if user in store.list_user_names(name)]
        if len(candidates) == 1:
            return await pick_account(env, store, candidates[0], doubted=doubted)
        if len(candidates) > 1 and not env.can_ask:
            raise BadInput(f"accounts {', '.join(candidates)} have a user {user}", "specify ACCOUNT")
    return await pick_account(env, store, account, doubted=doubted)


async def pick_signing_key(
    env: Env, account: Record, name: str, flag: str, keys: Sequence[SigningKey] | None = None
) -> SigningKey:
    """Return a signing key of an account, by its public key or role; without a name one that the user picks.

    keys: those to pick from; None for all. Raises NotFound, BadInput.
    """
    if not name:
        keys = list_signing_keys(account.nats) if keys is None else keys
        if not keys:
            raise NotFound(
                f"account {account.name} has no signing keys",
                f"{build_line('auth account keys add', account.name)} adds one",
            )
        titles = [Choice(f"{key.role or '(no scope)'} {key.public}", key.public) for key in keys]
        if not env.can_ask:
            raise BadInput(
                "the signing key is missing", f"specify {flag}; without a terminal none can be picked"
            )
        name = str(await env.prompter.select("Select a Signing Key", titles, flag=flag))
    return find_signing_key(account, name)


async def pick_operator_key(
    env: Env, operator: str, account: str, name: str
) -> tuple[AuthStore, Account, SigningKey]:
    """Return the store of an operator, one of its accounts and a signing key of that. Raises as
    `pick_account` and `pick_signing_key` do."""
    store, owner = await pick_operator_account(env, operator, account)
    return store, owner, await pick_signing_key(env, owner, name, "ROLE")


def load_each(env: Env, names: Sequence[str], load: Callable[[str], R]) -> list[R]:
    """Return what `load` returns for each name; say which cannot be read."""
    records = []
    for name in names:
        try:
            records.append(load(name))
        except JsctlError as error:
            env.say(f"jsctl: {error}")
    return records


async def pick_text(env: Env, texts: Sequence[str], noun: str, label: str, flag: str) -> str:
    """Return one of several texts that the user picks. noun: "mapping"; label: "Mapping". Raises BadInput."""
    return await _pick_name(env, texts, noun, label, flag, take_single=False)


async def ask_name(env: Env, name: str, noun: str) -> str:
    """Return the name on the command line, or ask for one. noun: "operator". Raises BadInput without a
    terminal.
    """
    if name:
        return name
    if not env.can_ask:
        raise BadInput(
            f"the {noun}'s name is missing", "specify NAME" if noun != "account" else "specify ACCOUNT"
        )
    return (await env.prompter.text(f"{noun.capitalize()} name", flag="NAME", check=check_filled)).strip()


def _check_exists(name: str, names: Sequence[str], message: str, hint: str) -> None:
    if name not in names:
        nearest = find_nearest(name, names)
        raise NotFound(message, f"did you mean {nearest}? {hint}" if nearest else hint)


async def _pick_name(
    env: Env, names: Sequence[str], noun: str, label: str, flag: str, *, take_single: bool = True
) -> str:
    if len(names) == 1 and take_single:
        return names[0]
    if not env.can_ask:
        raise BadInput(
            f"the {noun} is missing",
            f"specify {flag}, one of {', '.join(names[:5])}{', ...' * (len(names) > 5)}",
        )
    return str(await env.prompter.select(f"Select a{'n' * (label[0] in 'AEIOU')} {label}", names, flag=flag))


# -- declarations -----------------------------------------------------------------------------------


def operator_argument(name: str = "name") -> Decorator:
    """Declare an argument that takes the name of an operator, which may be left out."""
    return argument(name, default="", completes="operator")


def operator_option() -> Decorator:
    """Declare --operator."""
    text = "The operator, if there are several and none is selected"
    return option(
        "--operator",
        cls=CheckedOption,
        check=_read_operators,
        metavar="NAME",
        default="",
        help=text,
        completes="operator",
    )


def of_account(verb: F) -> F:
    """Declare the argument that names an account, and --operator."""
    return account_argument()(operator_option()(verb))


def _read_operators(env: Env) -> tuple[Choices, list[str]]:
    """Return what `read_choices` does, and the names of all operators. Raises NotFound where none exists,
    BadInput."""
    choices = read_choices(env)
    names = choices.folders.list_operators()
    if not names:
        raise NotFound(
            f"there are no operators in {choices.folders.stores}",
            f"{build_line('auth operator add')} creates one",
        )
    return choices, names


async def pick_export(env: Env, account: Record, subject: str) -> Json:
    """Return the export of a subject, or one that the user picks. Raises NotFound, BadInput."""
    subjects = [str(export["subject"]) for export in list_exports(account.nats)]
    subject = subject or await _pick_subject(env, account, subjects, "export")
    return find_export(account.nats, subject, account.name)


async def pick_import(env: Env, account: Record, subject: str) -> Json:
    """Return the import at a local subject, or one that the user picks. Raises NotFound, BadInput."""
    subjects = [find_local_subject(claim) for claim in list_imports(account.nats)]
    subject = subject or await _pick_subject(env, account, subjects, "import")
    return find_import(account.nats, subject, account.name)


async def _pick_subject(env: Env, account: Record, subjects: Sequence[str], noun: str) -> str:
    if not subjects:
        raise NotFound(
            f"account {account.name} has no {noun}s", f"{build_line('auth account')} {noun}s add adds one"
        )
    return await pick_text(env, subjects, noun, noun.capitalize(), "SUBJECT")


def account_argument(name: str = "account", **attrs: Any) -> Decorator:
    """Declare an argument that takes the name of an account, which may be left out."""
    return argument(name, **{"default": "", "completes": "store account", **attrs})


def of_signing_key(verb: F) -> F:
    """Declare the arguments that name an account and one of its signing keys, --key, which names the same
    key, and --operator."""
    return declare_all(
        account_argument(),
        argument("role", default="", metavar="[ROLE|KEY]"),
        option(
            "--key", selects=True, metavar="ROLE|KEY", default="", help="The key, as the argument ROLE|KEY"
        ),
        operator_option(),
    )(verb)


def expiry_option(what: str, *, removable: bool = True) -> Decorator:
    """Declare --expiry. what: the thing that expires. removable: whether 0 removes an expiry."""
    forever = "; 0 is forever" if removable else ""
    text = f"How long, or until when, {what} is valid{forever}"
    return option("--expiry", metavar="DURATION|TIME", default="", help=text)


def user_argument(**attrs: Any) -> Decorator:
    """Declare an argument that takes the name of a user, which may be left out."""
    return argument("name", **{"default": "", "completes": "store user", **attrs})


def list_stores(ctx: click.Context) -> list[AuthStore]:
    """Return the stores of the operators that a command line may mean."""
    choices = read_choices(ctx.obj)
    name = str(ctx.params.get("operator") or choices.operator.value)
    names = choices.folders.list_operators()
    return [AuthStore(choices.folders, operator) for operator in ([name] if name in names else names)]

"""Credentials of a user in a file, and in a context."""

from jsctl.auth.records import Record
from jsctl.auth.store import AuthStore, format_creds
from jsctl.contexts.update import update
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.files import escape_path, write_atomically
from jsctl.user_folders import expand_home


def check_free(file: str, *, force: bool) -> None:
    """Raise BadInput for a file that exists, unless `force`, and for one whose folder does not exist."""
    path = expand_home(file)
    if file and not force and path.exists():
        raise BadInput(f"the file {escape_path(path)} exists", "--force overwrites it")
    if file and not path.parent.is_dir():
        raise BadInput(f"there is no folder {escape_path(path.parent)}", "create it, or give another file")


def write_creds(store: AuthStore, user: Record, file: str, token: str = "") -> None:
    """Write a user's credentials, readable by the owner alone.

    token: in place of the user's own JWT. Raises NotFound without the seed, OSError.
    """
    seed = store.read_key(user.public).seed
    write_atomically(expand_home(file), format_creds(token or user.token, seed))


def save_context(env: Env, store: AuthStore, account: Record, user: Record, name: str, file: str) -> None:
    """Save a context that logs in as a user.

    file: with the user's credentials; empty for those in the store. Without --server, the context has the
    operator's servers. Raises NotFound, BadInput.
    """
    creds = expand_home(file).absolute() if file else store.get_creds_path(account.name, user.name).absolute()
    if not creds.exists():
        write_creds(store, user, str(creds))
    urls = store.read_operator().nats.get("operator_service_urls") or []
    before = env.contexts.load(name) if env.contexts.exists(name) else None
    server = env.flags.get("server") or ("" if before else ",".join(str(url) for url in urls))
    values = {"creds": str(creds)} | ({"url": server} if server else {})
    env.contexts.save(name, update(before, values).raw)
    env.say(f"jsctl: context {name} logs in as {user.name} of account {account.name}")

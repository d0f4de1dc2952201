"""A user's credentials, saved in a file or a context."""

from jsctl.auth.records import Record
from jsctl.auth.store import AuthStore, format_creds
from jsctl.base.files import escape_path, is_replaced, write_atomically
from jsctl.base.user_folders import expand_home
from jsctl.contexts.update import update
from jsctl.env import Env
from jsctl.errors import BadInput


def check_free(file: str, *, force: bool) -> None:
    """Raise BadInput for a file that exists (unless `force`) or whose folder does not exist."""
    path = expand_home(file)
    if file and not force and is_replaced(path):
        raise BadInput(f"the file {escape_path(path)} exists", "overwrite it with --force")
    if file and not path.parent.is_dir():
        raise BadInput(f"there is no folder {escape_path(path.parent)}", "create it, or use another file")


def write_creds(store: AuthStore, user: Record, file: str, token: str = "") -> None:
    """Write a user's credentials to a file that only you can read.

    token: replaces the user's own JWT. Raises NotFound when the store does not have the seed, OSError.
    """
    seed = store.read_key(user.public).seed
    write_atomically(expand_home(file), format_creds(token or user.token, seed))


def save_context(env: Env, store: AuthStore, account: Record, user: Record, name: str, file: str) -> None:
    """Save a context that logs in as a user.

    file: contains the user's credentials; empty for those in the store. Without --server, the context gets
    the operator's servers. Raises NotFound, BadInput.
    """
    creds = expand_home(file).absolute() if file else store.get_creds_path(account.name, user.name).absolute()
    if not creds.exists():
        write_creds(store, user, str(creds))
    urls = store.read_operator().nats.get("operator_service_urls") or []
    before = env.contexts.load(name) if env.contexts.exists(name) else None
    server = env.flags.get("server") or ("" if before else ",".join(str(url) for url in urls))
    values = {"creds": str(creds)} | ({"url": server} if server else {})
    env.contexts.save(name, update(before, values).raw)
    env.inform(f"jsctl: context {name} logs in as {user.name} of account {account.name}")

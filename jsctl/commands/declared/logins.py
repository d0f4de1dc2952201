"""Logins to accounts of declared operators, signed when they are needed."""

import asyncio
from collections.abc import Sequence

from jsctl.auth.declared.model import DeclaredOperator
from jsctl.auth.folders import StoreFolders
from jsctl.auth.records import Record, has_jetstream
from jsctl.auth.store import AuthStore
from jsctl.base.units import SECOND
from jsctl.commands.operators.system import connect_to_account
from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import BadInput, Denied, JsctlError, NotFound
from jsctl.jetstream.api import Api
from jsctl.nats.connection import Connection

_PAUSE_SECONDS = 0.1


class AccountLogins:
    """Connections as users of accounts.

    may_lack: servers may lack an account. missing: accounts that they do not have.
    """

    def __init__(
        self, folders: StoreFolders, operators: Sequence[DeclaredOperator], *, may_lack: bool
    ) -> None:
        self._folders = folders
        self._operators = operators
        self._may_lack = may_lack
        self._with_jetstream: set[str] = set()  #: those of the accounts that were connected to
        self.missing: frozenset[str] = frozenset()

    def expect_all(self) -> None:
        """From now on, expect that servers have all accounts."""
        self._may_lack, self.missing = False, frozenset()

    async def connect(self, env: Env, settings: Settings, name: str) -> tuple[Connection, bool]:
        """Return a connection, and whether servers lack the account: the connection is not open then.

        Raises NotFound, BadInput, Denied, Unreachable.
        """
        stored_account = self._find_account(name)
        if stored_account is None or name in self.missing:
            return Connection(settings, None), True
        store, account = stored_account
        if has_jetstream(account.nats):
            self._with_jetstream.add(name)
        try:
            return await connect_to_account(env, settings, store, account), False
        except Denied as error:
            hint = "apply --push sends it to them"
            if not self._may_lack:
                raise Denied(f"servers refuse account {name}: {error.message}", hint) from None
            env.say(f"servers refuse account {name}, so its streams are unknown; {hint}")
            return Connection(settings, None), True

    async def wait(self, api: Api, name: str) -> None:
        """Wait until JetStream knows an account that was connected to, if it has storage; servers may have
        received it just now."""
        if name not in self._with_jetstream:
            return
        try:
            async with asyncio.timeout(api.connection.settings.timeout / SECOND):
                while True:
                    try:
                        await api.call("INFO")
                        return
                    except JsctlError:
                        await asyncio.sleep(_PAUSE_SECONDS)
        except TimeoutError:
            return  # the next request fails, and says why

    def _find_account(self, name: str) -> tuple[AuthStore, Record] | None:
        """Return the account and the store that it is in; None for one that apply is about to create.

        Raises BadInput for an account of several operators, NotFound.
        """
        declaring_operators = [declared.name for declared in self._operators if declared.find_account(name)]
        stores = [AuthStore(self._folders, operator) for operator in self._folders.list_operators()]
        matches = {store.operator: store for store in stores if name in store.list_account_names()}
        names = declaring_operators or list(matches)
        if len(names) > 1:
            raise BadInput(
                f"operators {', '.join(names)} have an account {name}", "declare just one of them in the file"
            )
        if store := next((matches[operator] for operator in names if operator in matches), None):
            return store, store.read_account(name)
        if declaring_operators and self._may_lack:
            return None
        raise NotFound(f"there is no account {name!r}", "declare it below operators, or create it")

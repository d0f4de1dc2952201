"""The verbs of `jsctl auth`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "operator": group("Manage operators, who sign accounts", aliases=("o", "op")),
    "operator add": verb("Create an operator with a system account", "auth.operator.add:add"),
    "operator info": verb("Show an operator", "auth.operator.info:info", "i", "show", "view"),
    "operator list": verb("List the operators", "auth.operator.list_:list_", "ls"),
    "account": group("Manage accounts, which sign users", aliases=("a", "acct", "act")),
    "account add": verb("Create an account", "auth.account.add:add", "create", "new"),
    "account info": verb("Show an account", "auth.account.info:info", "i", "show", "view"),
    "account edit": verb("Change the settings of an account", "auth.account.edit:edit", "update"),
    "account ls": verb("List the accounts of an operator", "auth.account.ls:ls", "list"),
    "user": group("Manage the users of accounts", aliases=("u", "usr", "users")),
    "user add": verb("Create a user", "auth.user.add:add", "create", "new"),
    "user info": verb("Show a user", "auth.user.info:info", "i", "show", "view"),
    "user edit": verb("Change the settings of a user", "auth.user.edit:edit", "update"),
    "user ls": verb("List the users of an account", "auth.user.ls:ls", "list"),
    "validate": verb(
        "Find what is wrong with operators, accounts and users", "auth.validate:validate", "check"
    ),
    "why": verb("Show what a user may do, and which rule decides", "auth.why:why"),
    "expirations": verb("List what expires, the next first", "auth.expirations:expirations"),
    "diagram": verb("Draw the exports and imports of accounts", "auth.diagram:diagram"),
}

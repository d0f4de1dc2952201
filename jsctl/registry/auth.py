"""The verbs of `jsctl auth`, in the order in which help shows them."""

from jsctl.registry.model import Entry, group, verb

VERBS: dict[str, Entry] = {
    "operator": group("Manage operators, who sign accounts", aliases=("o", "op")),
    "operator add": verb("Create an operator with a system account", "auth.operator.add:add"),
    "operator info": verb("Show an operator", "auth.operator.info:info", "i", "show", "view"),
    "operator list": verb("List the operators", "auth.operator.list_:list_", "ls"),
    "operator edit": verb("Change the settings of an operator", "auth.operator.edit:edit", "update"),
    "operator import": verb("Add an operator from its JWT and seeds", "auth.operator.import_:import_"),
    "operator select": verb("Select the default operator", "auth.operator.select:select"),
    "operator backup": verb("Write an operator with all its seeds to a file", "auth.operator.backup:backup"),
    "operator restore": verb("Restore an operator from a file", "auth.operator.restore:restore"),
    "operator keys": group("Manage the signing keys of an operator", aliases=("sk", "s")),
    "operator keys list": verb("List the signing keys", "auth.operator.keys.list_:list_", "ls"),
    "operator keys add": verb("Create a signing key", "auth.operator.keys.add:add", "new", "create"),
    "operator keys rm": verb("Remove a signing key", "auth.operator.keys.rm:rm", "delete"),
    "account": group("Manage accounts, which sign users", aliases=("a", "acct", "act")),
    "account add": verb("Create an account", "auth.account.add:add", "create", "new"),
    "account info": verb("Show an account", "auth.account.info:info", "i", "show", "view"),
    "account edit": verb("Change the settings of an account", "auth.account.edit:edit", "update"),
    "account ls": verb("List the accounts of an operator", "auth.account.ls:ls", "list"),
    "account rm": verb("Remove an account with its users from the store", "auth.account.rm:rm"),
    "account callout": verb("Let a service say who users are", "auth.account.callout:callout"),
    "account exports": group("Manage what an account offers to others", aliases=("e", "exp", "export")),
    "account exports add": verb("Add an export", "auth.account.exports.add:add", "new", "a", "n"),
    "account exports info": verb("Show an export", "auth.account.exports.info:info", "i", "show", "view"),
    "account exports edit": verb("Change an export", "auth.account.exports.edit:edit", "update"),
    "account exports ls": verb("List the exports", "auth.account.exports.ls:ls", "list"),
    "account exports rm": verb("Remove an export", "auth.account.exports.rm:rm"),
    "account exports token": verb(
        "Sign an activation token for a private export", "auth.account.exports.token:token"
    ),
    "account imports": group("Manage what an account takes from others", aliases=("i", "imp", "import")),
    "account imports add": verb("Add an import", "auth.account.imports.add:add", "new", "a", "n"),
    "account imports info": verb("Show an import", "auth.account.imports.info:info", "i", "show", "view"),
    "account imports edit": verb("Change an import", "auth.account.imports.edit:edit", "update"),
    "account imports ls": verb("List the imports", "auth.account.imports.ls:ls", "list"),
    "account imports rm": verb("Remove an import", "auth.account.imports.rm:rm"),
    "account keys": group("Manage the signing keys of an account", aliases=("sk", "s")),
    "account keys add": verb("Create a signing key for a role", "auth.account.keys.add:add", "new", "a", "n"),
    "account keys info": verb("Show a signing key", "auth.account.keys.info:info", "i", "show", "view"),
    "account keys edit": verb(
        "Change what the users of a signing key may do", "auth.account.keys.edit:edit", "update"
    ),
    "account keys ls": verb("List the signing keys", "auth.account.keys.ls:ls", "list"),
    "account keys rm": verb("Remove a signing key", "auth.account.keys.rm:rm"),
    "account mappings": group("Manage subject mappings of an account", aliases=("m", "mapping", "map")),
    "account mappings add": verb("Map a subject to others", "auth.account.mappings.add:add", "new", "a"),
    "account mappings ls": verb("List the mappings", "auth.account.mappings.ls:ls", "list"),
    "account mappings rm": verb("Remove a mapping", "auth.account.mappings.rm:rm"),
    "account mappings info": verb("Show a mapping", "auth.account.mappings.info:info", "i", "show", "view"),
    "account revocations": group("Manage revocations of users and activation tokens", aliases=("r", "rev")),
    "account revocations add": verb(
        "Revoke a user, all users, or activation tokens", "auth.account.revocations.add:add", "new"
    ),
    "account revocations ls": verb("List the revocations", "auth.account.revocations.ls:ls", "list"),
    "account revocations rm": verb("Remove a revocation", "auth.account.revocations.rm:rm"),
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
    "user rm": verb("Remove a user", "auth.user.rm:rm"),
    "user credential": verb(
        "Write the credentials of a user to a file", "auth.user.credential:credential", "cred", "creds"
    ),
    "nkey": group("Create and use keys: sign, verify, encrypt and decrypt", aliases=("nk",)),
    "nkey gen": verb("Create a key", "auth.nkey.gen:gen"),
    "nkey show": verb("Show the public key of a seed", "auth.nkey.show:show"),
    "nkey sign": verb("Sign a file", "auth.nkey.sign:sign"),
    "nkey verify": verb("Verify the signature of a file", "auth.nkey.verify:verify"),
    "nkey seal": verb("Encrypt a file for the owner of a curve key", "auth.nkey.seal:seal", "encrypt", "enc"),
    "nkey unseal": verb(
        "Decrypt a file with a curve key", "auth.nkey.unseal:unseal", "open", "decrypt", "dec"
    ),
}

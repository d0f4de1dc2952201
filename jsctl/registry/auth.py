"""The verbs of `jsctl auth`, in the order in which help shows them."""

from jsctl.registry.model import USER, Entry, changes, destroys, group, reads

VERBS: dict[str, Entry] = {
    "operator": group("Manage operators, who sign accounts", "auth.operator.group:", ("o", "op")),
    "operator add": changes("Create an operator with a system account"),
    "operator info": reads("Show an operator", "i", "show", "view"),
    "operator list": reads("List the operators", "ls", target="auth.operator.group:list_"),
    "operator edit": changes("Change the settings of an operator", "update", target="auth.operator.edit:"),
    "operator import": changes(
        "Add an operator from its JWT and seeds", target="auth.operator.group:import_"
    ),
    "operator select": changes("Select the default operator"),
    "operator backup": reads("Write an operator with all its seeds to a file"),
    "operator restore": changes("Restore an operator from a file"),
    "operator config": reads("Print the configuration of servers", own=True, target="auth.operator.config:"),
    "operator keys": group("Manage the signing keys of an operator", "auth.operator.keys:", ("sk", "s")),
    "operator keys list": reads("List the signing keys", "ls", target="auth.operator.keys:list_"),
    "operator keys add": changes("Create a signing key", "new", "create"),
    "operator keys rm": destroys("Remove a signing key", "delete"),
    "account": group("Manage accounts, which sign users", "auth.account.group:", ("a", "acct", "act")),
    "account add": changes("Create an account", "create", "new"),
    "account info": reads("Show an account", "show", "view"),
    "account edit": changes("Change the settings of an account", "update"),
    "account ls": reads("List the accounts of an operator", "list"),
    "account push": changes("Send accounts to the servers", target="auth.account.push:"),
    "account query": changes("Fetch an account from the servers", "pull", target="auth.account.query:"),
    "account rm": destroys("Remove an account with its users from the store", own=True),
    "account callout": changes("Let a service authenticate users", own=True, target="auth.account.callout:"),
    "account exports": group(
        "Manage what an account offers to others", "auth.account.exports:", ("e", "exp", "export")
    ),
    "account exports add": changes("Add an export", "new", "a", "n"),
    "account exports info": reads("Show an export", "i", "show", "view"),
    "account exports edit": changes("Change an export", "update"),
    "account exports ls": reads("List the exports", "list"),
    "account exports rm": destroys("Remove an export"),
    "account imports": group(
        "Manage what an account imports from others", "auth.account.imports:", ("i", "imp", "import")
    ),
    "account imports add": changes("Add an import", "new", "a", "n"),
    "account imports info": reads("Show an import", "i", "show", "view"),
    "account imports edit": changes("Change an import", "update"),
    "account imports ls": reads("List the imports", "list"),
    "account imports rm": destroys("Remove an import"),
    "account activations": group("Let accounts import private exports", own=True),
    "account activations add": changes("Sign an activation token"),
    "account keys": group("Manage the signing keys of an account", "auth.account.keys:", ("sk", "s")),
    "account keys add": changes("Create a signing key for a role", "new", "a", "n"),
    "account keys info": reads("Show a signing key", "i", "show", "view"),
    "account keys edit": changes("Change what the users of a signing key may do", "update", own=True),
    "account keys ls": reads("List the signing keys", "list"),
    "account keys rm": destroys("Remove a signing key"),
    "account mappings": group(
        "Manage subject mappings of an account", "auth.account.mappings:", ("m", "mapping", "map")
    ),
    "account mappings add": changes("Map a subject to others", "new", "a"),
    "account mappings ls": reads("List the mappings", "list"),
    "account mappings rm": destroys("Remove a mapping"),
    "account mappings info": reads("Show a mapping", "i", "show", "view"),
    "account revocations": group(
        "Manage revocations of users and activation tokens",
        "auth.account.revocations:",
        ("r", "rev"),
        own=True,
    ),
    "account revocations add": changes("Revoke a user, all users, or activation tokens", "new"),
    "account revocations ls": reads("List the revocations", "list"),
    "account revocations rm": changes("Remove a revocation"),
    "user": group("Manage the users of accounts", "auth.user.group:", ("u", "usr", "users")),
    "user add": changes("Create a user", "create", "new", target="auth.user.add:"),
    "user info": reads("Show a user", "i", "show", "view"),
    "user edit": changes("Change the settings of a user", "update", target="auth.user.edit:"),
    "user ls": reads("List the users of an account", "list"),
    "info": reads("Show what credentials, JWTs and keys in files say", scope=USER, own=True),
    "import": changes(
        "Add users to the store from their credentials", target="auth.import_:import_", own=True
    ),
    "validate": reads("Find what is wrong with operators, accounts and users", "check", own=True),
    "why": reads("Show what a user may do, and which rule decides", own=True),
    "expirations": reads("List what expires, soonest first", own=True),
    "diagram": reads("Draw the exports and imports of accounts", own=True),
    "user rm": destroys("Remove a user"),
    "user credential": changes("Write the credentials of a user to a file", "cred", "creds"),
    "env": reads(
        "Show which store, operator and account are used, and why", target="auth.env:show_env", own=True
    ),
    "nkey": group("Create and use keys: sign, verify, encrypt and decrypt", "auth.nkey:", ("nk",)),
    "nkey gen": reads("Create a key", scope=USER),
    "nkey show": reads("Show the public key of a seed", scope=USER),
    "nkey sign": reads("Sign a file", scope=USER),
    "nkey verify": reads("Verify the signature of a file", scope=USER),
    "nkey seal": reads("Encrypt a file for the owner of a curve key", "encrypt", "enc", scope=USER),
    "nkey unseal": reads("Decrypt a file with a curve key", "open", "decrypt", "dec", scope=USER),
    "nuid": group("Create unique identifiers"),
    "nuid gen": reads("Create a unique identifier, a NUID", scope=USER),
}

"""What arguments and flags name, by the word that help shows for them, where their declaration has no
completer. Completion asks here, so that a command that runs pays nothing for it."""

import click

from jsctl.commands.cli.declare import Asked

FILE, FOLDER = "file", "folder"

_THINGS = {
    "SERVER": "server",
    "PEER": "peer",
    "CLUSTER": "cluster",
    "SERVER|CLUSTER": "network node",
    "SERVER_ID": "server id",
    "HOST": "host",
    "GATEWAY": "cluster",
    "TAG": "server tag",
    "DOMAIN": "domain",
    "ACCOUNT": "account",
    "STREAM": "stream",
    "STREAM|PATTERN": "stream",
    "CONSUMER": "consumer",
    "BUCKET": "bucket",
    "SUBJECT": "subject",
    "FILTER": "subject",
    "ENDPOINT": "endpoint",
    "CODE": "check",
    "CONTEXT|DIR": "context",
    "OPERATOR": "operator",
    "PART|N": "part",
    "SOURCE": "template",
    "NAME|FILE": "topology",
    "TOPOLOGY": "topology",
    "[TOPOLOGY] [-- NATS-SERVER ARGUMENTS]": "topology",
    "FILE": FILE,
    "JWT": FILE,
    "PATH": FILE,
    "ARCHIVE": FILE,
    "A.json": FILE,
    "B.json": FILE,
    "FILE|DIR": FILE,
    "DIR": FOLDER,
    "FOLDER": FOLDER,
    "DIRECTORY": FOLDER,
}
"""What a word of help stands for."""

OR_FILE = {"NAME|FILE", "CONTEXT|DIR", "SOURCE"}
"""Words of what may be a file, too."""

_OF_STORE = {
    "ACCOUNT": "store account",
    "ACCOUNT|KEY": "store account",
    "USER": "store user",
    "NAME|FILE": "store user",
    "NAME|KEY|*": "store user",
    "ROLE|KEY": "role",
    "TAG": "",
    "SUBJECT": "",
}
"""The same for the verbs of `jsctl auth`."""

_OTHERS = {
    "stream find --leader": "peer",
    "stream cluster step-down --preferred": "peer",
    "stream cluster balance --leader": "peer",
    "consumer find --leader": "peer",
    "consumer cluster step-down --preferred": "peer",
    "consumer cluster balance --leader": "peer",
    "consumer next --group": "group",
    "consumer unpin group": "group",
    "stream add --subjects": "",
    "stream copy --subjects": "",
    "stream restore file": FILE,
    "stream backup target": FILE,
    "account backup target": FOLDER,
    "backup target": FOLDER,
    "service info id": "instance",
    "service stats id": "instance",
    "exporter --stream": "stream",
    "trace words": "subject",
    "object link links": "object bucket",
    "export kv --key": "key",
    "server check kv --key": "key",
    "server run --domain": "",
    "server network add cluster": "network cluster",
    "server network scale cluster": "network cluster",
    "server network link links": "network link",
    "server network topology name": "topology",
    "server generate target": FOLDER,
    "server request gateways gateway": "cluster",
    "server report gateways --filter-name": "cluster",
    "auth operator import key_files": FILE,
    "auth operator backup output": FILE,
    "auth operator restore input": FILE,
    "auth operator keys rm public": "operator key",
    "auth account query output": FILE,
    "auth account exports info subject": "export",
    "auth account exports edit subject": "export",
    "auth account exports rm subject": "export",
    "auth account imports info subject": "import",
    "auth account imports edit subject": "import",
    "auth account imports rm subject": "import",
    "auth account imports add subject": "export",
    "auth account activations add subject": "export",
    "auth account revocations add --export": "export",
    "auth account revocations rm --export": "export",
    "auth account mappings rm source": "mapping",
    "auth account mappings info source": "mapping",
    "auth account add --key": "operator key",
    "auth account edit --key": "operator key",
    "auth user edit --key": "role",
    "auth nkey show key_file": FILE,
    "auth nkey sign key_file": FILE,
    "auth nkey verify key_file": FILE,
    "auth nkey verify signature": FILE,
    "auth nkey seal key_file": FILE,
    "auth nkey unseal key_file": FILE,
}
"""What single parameters name, by verb and flag or argument; empty for a new name."""

_BY_FLAG = {"--cluster": "cluster", "--host NAME": "server", "--name NAME": "server"}
"""Flags that mean the same wherever their help says no more; --name in `server request` alone."""


def find_path(ctx: click.Context) -> str:
    """Return the path of a verb in the registry: "stream ls"."""
    parent = getattr(ctx.parent.command, "path", "") if ctx.parent else ""
    return f"{parent} {ctx.command.name}".strip()


def get_metavar(param: click.Parameter) -> str:
    """Return what help shows for a value, without the brackets: "STREAM"."""
    word = param.metavar or (str(param.name).upper() if isinstance(param, click.Argument) else "")
    return word.removesuffix("...").removeprefix("[").removesuffix("]") if word.count("[") < 2 else word


def find_thing(path: str, param: click.Parameter) -> str:
    """Return what a parameter of a verb names; empty for a new name, and for what cannot be listed."""
    if isinstance(param, Asked) and param.noun:
        return param.noun
    name = param.opts[0]
    other = _OTHERS.get(f"{path} {name}")
    if other is not None:
        return other
    word = get_metavar(param)
    if path.startswith("auth ") and word in _OF_STORE:
        return _OF_STORE[word]
    if name == "--name" and not path.startswith("server request "):
        return ""
    return _BY_FLAG.get(name) or _BY_FLAG.get(f"{name} {word}") or _THINGS.get(word, "")

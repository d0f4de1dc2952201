"""Templates of server configurations: their questions, and the files made from the answers. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from jsctl.base.units import parse_bytes
from jsctl.errors import BadInput
from jsctl.localserver.server_config import format_config

Json = dict[str, Any]
Answers = Mapping[str, Any]


class Question(NamedTuple):
    """A value of a template. kind: of the answer; "any" is a text that may be empty. when: the key of a bool
    that must be true."""

    key: str
    message: str
    default: str
    kind: Literal["text", "any", "number", "bool", "size"] = "text"
    when: str = ""

    def parse(self, text: str) -> Any:
        """Return an answer as a value. Raises ValueError."""
        text = text.strip()
        match self.kind:
            case "bool":
                if text.lower() not in ("true", "false", "yes", "no"):
                    raise ValueError("it must be yes or no")
                return text.lower() in ("true", "yes")
            case "number":
                if not text.isdecimal():
                    raise ValueError("it must be a whole number")
                return int(text)
            case "size":
                return parse_bytes(text)
        if not text and self.kind == "text":
            raise ValueError("it must not be empty")
        return text


class Operator(NamedTuple):
    """The parts of an operator that servers need. system: the system account's JWT."""

    name: str
    token: str
    system_key: str
    system: str

    def build_options(self) -> Json:
        """Return the options of a server whose accounts this operator signs."""
        return {
            "operator": self.token,
            "system_account": self.system_key,
            "resolver_preload": {self.system_key: self.system},
        }


class Template(NamedTuple):
    """A template. make: returns files by path from answers (and the operator, if it needs one). message:
    returns, from the same, what a bundle shows at the end."""

    name: str
    about: str
    questions: Sequence[Question]
    make: Callable[[Answers, Operator | None], Mapping[str, str]]
    needs_operator: bool = False
    next_steps: str = ""
    message: Callable[[Answers, Operator | None], str] | None = None


def parse_answers(template: Template, values: Mapping[str, str]) -> Json:
    """Parse values in text into answers, with defaults for the others. Raises BadInput."""
    keys = {question.key for question in template.questions}
    if unknown := sorted(set(values) - keys):
        raise BadInput(
            f"template {template.name} has no value {unknown[0]!r}", f"it has {', '.join(sorted(keys))}"
        )
    answers: Json = {}
    for question in template.questions:
        if question.when and not answers.get(question.when):
            continue
        text = values.get(question.key, question.default)
        try:
            answers[question.key] = question.parse(text)
        except ValueError as error:
            raise BadInput(f"{question.key} cannot be {text!r}: {error}") from None
    return answers


def _make_operator_server(answers: Answers, operator: Operator | None) -> Mapping[str, str]:
    options: Json = {
        "server_name": answers["server_name"],
        "listen": f"{answers['address']}:{answers['port']}",
    }
    if answers["monitor_port"]:
        options["http"] = f"{answers['address']}:{answers['monitor_port']}"
    options |= _build_jetstream(answers)
    if operator is not None:
        options |= operator.build_options()
    options["resolver"] = {
        "type": "full",
        "dir": answers["resolver_dir"],
        "allow_delete": answers["allow_delete"],
        "interval": "2m",
        "limit": answers["account_limit"],
    }
    return {"server.conf": format_config(options)}


def _make_leaf(answers: Answers, operator: Operator | None) -> Mapping[str, str]:
    options: Json = {"server_name": answers["server_name"], "listen": f"0.0.0.0:{answers['port']}"}
    if answers["monitor_port"]:
        options["http"] = f"127.0.0.1:{answers['monitor_port']}"
    options |= _build_jetstream(answers)
    options["leafnodes"] = {"remotes": [{"url": answers["url"], "credentials": answers["credentials"]}]}
    return {"leafnode.conf": format_config(options)}


def _build_jetstream(answers: Answers) -> Json:
    if not answers["jetstream"]:
        return {}
    block = {"store_dir": answers["store_dir"]}
    if answers.get("domain"):
        block["domain"] = answers["domain"]
    for key, name in (("max_memory", "max_mem"), ("max_file", "max_file")):
        if answers.get(key, -1) >= 0:
            block[name] = answers[key]
    return {"jetstream": block}


def _make_compose(answers: Answers, operator: Operator | None) -> Mapping[str, str]:
    import json

    import yaml

    clusters = [f"c{number}" for number in range(1, answers["clusters"] + 1)]
    members = [f"n{number}" for number in range(1, answers["members"] + 1)]
    files, services = {}, {}
    for at, cluster in enumerate(clusters):
        for number, member in enumerate(members):
            node, port = f"{member}.{cluster}", answers["port"] + at * 100 + number
            files[f"{node}.conf"] = format_config(
                _build_node(answers, clusters, members, cluster, member, port)
            )
            services[node] = {
                "image": answers["image"],
                "command": ["--config", "/nats-server.conf"],
                "hostname": f"{node}.{answers['domain']}",
                "networks": {"shared": {"aliases": [f"{node}.{answers['domain']}"]}},
                "ports": [f"{port}:4222"],
                "volumes": [f"./{node}.conf:/nats-server.conf", f"{answers['data']}/{node}:/data"],
            }
        urls = ",".join(
            f"nats://127.0.0.1:{answers['port'] + at * 100 + number}" for number in range(len(members))
        )
        for user, about in (("user", "user account"), ("system", "system account")):
            context = {
                "description": f"Cluster {cluster}, {about}",
                "url": urls,
                "user": user,
                "password": answers["password"],
            }
            files[f"contexts/{cluster}-{user}.json"] = json.dumps(context, indent=2) + "\n"
    compose = {"services": services, "networks": {"shared": {}}}
    files["docker-compose.yaml"] = yaml.safe_dump(compose, sort_keys=False)
    return files


def _build_node(
    answers: Answers, clusters: Sequence[str], members: Sequence[str], cluster: str, member: str, port: int
) -> Json:
    domain, password = answers["domain"], answers["password"]
    options: Json = {
        "server_name": f"{member}.{cluster}",
        "listen": "0.0.0.0:4222",
        "http": "0.0.0.0:8222",
        "client_advertise": f"127.0.0.1:{port}",
    }
    if answers["jetstream"]:
        options["jetstream"] = {"store_dir": "/data"}
    options["cluster"] = {
        "name": cluster,
        "listen": "0.0.0.0:6222",
        "routes": [f"nats-route://{member}.{cluster}.{domain}:6222" for member in members],
    }
    if len(clusters) > 1:
        options["gateway"] = {
            "name": cluster,
            "listen": "0.0.0.0:7222",
            "gateways": [
                {"name": other, "urls": [f"nats://{member}.{other}.{domain}:7222" for member in members]}
                for other in clusters
            ],
        }
    users: Json = {"users": [{"user": "user", "password": password}]}
    if answers["jetstream"]:
        users["jetstream"] = "enabled"
    options["accounts"] = {"USERS": users, "SYSTEM": {"users": [{"user": "system", "password": password}]}}
    options["system_account"] = "SYSTEM"
    return options


def _make_kubernetes(answers: Answers, operator: Operator | None) -> Mapping[str, str]:
    import yaml

    config: Json = {
        "cluster": {"enabled": True, "replicas": answers["replicas"]},
        "resolver": {
            "enabled": True,
            "merge": {
                "type": "full",
                "interval": "2m",
                "allow_delete": answers["allow_delete"],
                "limit": answers["account_limit"],
            },
        },
    }
    if answers["jetstream"]:
        config["jetstream"] = {"enabled": True, "fileStore": {"pvc": {"size": answers["storage"]}}}
    if operator is not None:
        config["merge"] = operator.build_options()
    values = {"natsBox": {"enabled": False}, "config": config}
    return {"values.yaml": yaml.safe_dump(values, sort_keys=False, width=1_000_000)}


_PORT = Question("port", "Port for clients", "4222", "number")
_MONITOR = Question("monitor_port", "Port for monitoring, 0 for none", "8222", "number")
_JETSTREAM = Question("jetstream", "Enable JetStream", "yes", "bool")
_ACCOUNTS = (
    Question("allow_delete", "Allow accounts to be deleted", "yes", "bool"),
    Question("account_limit", "Maximum number of accounts", "1000", "number"),
)

TEMPLATES = (
    Template(
        "operator",
        "A server whose accounts an operator signs (jsctl auth)",
        (
            Question("server_name", "Name of the server, unique in its network", "nats.example.net"),
            Question("address", "Address to listen on", "0.0.0.0"),
            _PORT,
            _MONITOR,
            _JETSTREAM,
            Question("store_dir", "Folder for streams", "/var/lib/nats/jetstream", when="jetstream"),
            Question(
                "max_memory",
                "Maximum memory for streams, -1 lets the server choose",
                "-1",
                "size",
                "jetstream",
            ),
            Question(
                "max_file",
                "Maximum disk space for streams, -1 lets the server choose",
                "-1",
                "size",
                "jetstream",
            ),
            Question("resolver_dir", "Folder for the JWTs of accounts", "/var/lib/nats/resolver"),
            *_ACCOUNTS,
        ),
        _make_operator_server,
        needs_operator=True,
        next_steps="nats-server --config server.conf",
    ),
    Template(
        "leaf",
        "A leaf node of Synadia Cloud or another network",
        (
            Question("server_name", "Name of the server", "leaf"),
            Question("url", "Address of the network", "tls://connect.ngs.global"),
            Question("credentials", "Credentials file", "ngs.creds"),
            _PORT,
            _MONITOR._replace(default="0"),
            _JETSTREAM._replace(default="no"),
            Question("store_dir", "Folder for streams", "data", when="jetstream"),
            Question("domain", "JetStream domain", "leaf", when="jetstream"),
        ),
        _make_leaf,
        next_steps="nats-server --config leafnode.conf",
    ),
    Template(
        "compose",
        "Clusters with gateways for Docker Compose, to develop with",
        (
            Question("clusters", "Number of clusters", "3", "number"),
            Question("members", "Servers of each cluster", "3", "number"),
            Question("port", "Port of the first server", "10000", "number"),
            Question("domain", "DNS domain", "nats.internal"),
            Question("image", "Docker image", "nats:latest"),
            Question("data", "Folder for data", "./data"),
            Question("password", "Password of the users user and system", "s3cret"),
            _JETSTREAM,
        ),
        _make_compose,
        next_steps="docker compose up; contexts are in contexts/: jsctl context add --help",
    ),
    Template(
        "kubernetes",
        "Values of the NATS Helm chart, for an operator (jsctl auth)",
        (
            Question("replicas", "Number of servers", "3", "number"),
            _JETSTREAM,
            Question("storage", "Disk of each server", "10Gi", when="jetstream"),
            *_ACCOUNTS,
        ),
        _make_kubernetes,
        needs_operator=True,
        next_steps="helm upgrade --install nats nats/nats -f values.yaml",
    ),
)

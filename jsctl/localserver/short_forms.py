"""The networks of `jsctl server run`, named as its flags require."""

from dataclasses import replace

from jsctl.contexts.store import is_name
from jsctl.errors import BadInput
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.spec_reader import load_spec


def build_single_server(name: str, domain: str) -> NetworkSpec:
    """Return one server with JetStream. Contexts NAME and NAME-system."""
    spec = load_spec("single")
    cluster = spec.clusters[0]
    server = replace(cluster.servers[0], server_name=name)
    return replace(
        spec,
        name=name,
        clusters=(replace(cluster, domain=domain, servers=(server,)),),
        contexts=tuple(
            replace(context, name=context.name.replace(spec.name, name, 1)) for context in spec.contexts
        ),
    )


def check_name(name: str) -> None:
    """Raise BadInput for a name that cannot be that of a folder and of contexts."""
    if not is_name(name):
        raise BadInput(f"{name!r} is not a valid name", "use one without slashes, '..' or a leading dot")


def load_named(source: str, name: str = "") -> NetworkSpec:
    """Return a network that comes with jsctl, or that of a file. name: its name, and the prefix of its
    contexts.

    Raises BadInput, NotFound.
    """
    spec = load_spec(source)
    if not name:
        return spec
    check_name(name)
    contexts = tuple(replace(context, name=f"{name}-{context.name}") for context in spec.contexts)
    return replace(spec, name=name, contexts=contexts)

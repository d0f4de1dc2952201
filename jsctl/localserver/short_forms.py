"""The networks of `jsctl server run`, named as its flags require."""

from dataclasses import replace

from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.spec_reader import load_spec


def build_single_server(name: str = "local", domain: str = "") -> NetworkSpec:
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


def load_named(source: str, name: str = "") -> NetworkSpec:
    """Return a network that comes with jsctl, or that of a file. name: its name, and the prefix of its
    contexts.

    Raises BadInput, NotFound.
    """
    spec = load_spec(source)
    if not name:
        return spec
    contexts = tuple(replace(context, name=f"{name}-{context.name}") for context in spec.contexts)
    return replace(spec, name=name, contexts=contexts)

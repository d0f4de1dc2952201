"""Schemas of a registry as one text each: what they refer to is part of it."""

import base64
import binascii
import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, MissingDependency
from jsctl.schema.remote.registry import RegistrySchema

_GOOGLE = "google/protobuf/"
INSTALL_HINT = "run: pip install 'jsctl[decode]', on executors too"


def join_avro(schema: RegistrySchema) -> str:
    """Return an Avro schema as JSON in which each type that it refers to is defined where it is first used.

    Raises BadInput.
    """
    types: dict[str, Any] = {}
    try:
        _collect_types(schema.references, types)
        return json.dumps(_define_types(parse_json(schema.text), "", types, set()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"the Avro schema of the registry is not valid: {error}") from None


def _collect_types(references: Mapping[str, RegistrySchema], types: dict[str, Any]) -> None:
    for name, schema in references.items():
        _collect_types(schema.references, types)
        types[name] = parse_json(schema.text)


def _define_types(schema: Any, namespace: str, types: Mapping[str, Any], defined: set[str]) -> Any:
    """Return a schema with the types that it names, and does not define, in their places."""
    if isinstance(schema, str):
        name = schema if "." in schema or not namespace else f"{namespace}.{schema}"
        if name in types and name not in defined:
            return _define_types(types[name], "", types, defined)
        return schema
    if isinstance(schema, list):
        return [_define_types(each, namespace, types, defined) for each in schema]
    if schema.get("type") in ("record", "error", "enum", "fixed"):
        name, own_namespace = schema["name"], schema.get("namespace", namespace)
        if "." in name:
            own_namespace = name.rpartition(".")[0]
        else:
            name = f"{own_namespace}.{name}" if own_namespace else name
        defined.add(name)
        fields = [
            {**field, "type": _define_types(field["type"], own_namespace, types, defined)}
            for field in schema.get("fields", [])
        ]
        # Without its namespace, it would be in that of the schema around it.
        return {**schema, "namespace": own_namespace, **({"fields": fields} if fields else {})}
    changed = {
        key: _define_types(schema[key], namespace, types, defined)
        for key in ("type", "items", "values")
        if key in schema
    }
    return {**schema, **changed}


def join_protobuf(schema: RegistrySchema) -> bytes:
    """Return a Protobuf schema as `protoc --include_imports --descriptor_set_out` writes it; its own file is
    the last.

    Raises BadInput when the registry has only its source, MissingDependency.
    """
    try:
        from google.protobuf import descriptor_pb2
    except ImportError:
        raise MissingDependency("protobuf is not installed", INSTALL_HINT) from None
    files: dict[str, Any] = {}
    _add_file("", schema, files)
    return bytes(descriptor_pb2.FileDescriptorSet(file=files.values()).SerializeToString())


def _add_file(name: str, schema: RegistrySchema, files: dict[str, Any]) -> None:
    """Add a file after those that it imports. name: as others import it; empty for the file itself."""
    from google.protobuf import descriptor_pb2
    from google.protobuf.message import DecodeError

    try:
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(schema.text, validate=True))
    except (DecodeError, binascii.Error, ValueError):
        raise BadInput(
            "the schema registry has the Protobuf schema only as source",
            "compile it with protoc --include_imports --descriptor_set_out, and give that file as the schema",
        ) from None
    for imported in file.dependency:
        if imported in files:
            continue
        if imported in schema.references:
            _add_file(imported, schema.references[imported], files)
        elif imported.startswith(_GOOGLE):
            _add_google_file(imported, files)
        else:
            raise BadInput(
                f"the Protobuf schema of the registry imports {imported}, which it does not refer to"
            )
    file.name = name or file.name or "registry.proto"
    files[name] = file


def _add_google_file(name: str, files: dict[str, Any]) -> None:
    from google.protobuf import descriptor_pb2

    try:
        module = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except ImportError:
        raise BadInput(f"the Protobuf schema of the registry imports {name}, which is unknown") from None
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    for imported in file.dependency:
        if imported not in files:
            _add_google_file(imported, files)
    files[name] = file


def find_message_name(descriptors: bytes, place: Sequence[int]) -> str:
    """Return the full name of the message at a place in the last file. Raises ValueError."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file[-1]
    names, types = [file.package] if file.package else [], file.message_type
    for index in place:
        if not 0 <= index < len(types):
            raise ValueError("its schema has no message at its place")
        names.append(types[index].name)
        types = types[index].nested_type
    return ".".join(names)

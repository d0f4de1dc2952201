"""An order as Avro and as Protobuf: schemas, and payloads of them."""

import datetime
import io
import json
from decimal import Decimal
from typing import Any

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
            {
                "name": "price",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            },
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {
                "name": "to",
                "type": {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]},
            },
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "counts", "type": {"type": "map", "values": "int"}},
            {"name": "any", "type": ["null", "string", "long"]},
            {"name": "note", "type": ["null", "string"]},
        ],
    }
)

_AT = datetime.datetime(2026, 11, 21, 6, 57, 5, tzinfo=datetime.UTC)


def avro_payload(id: int, *, city: str) -> bytes:
    """Return a record of AVRO."""
    import fastavro

    out = io.BytesIO()
    record = {
        "id": id,
        "state": "NEW",
        "price": Decimal("1.50"),
        "at": _AT,
        "day": _AT.date(),
        "to": {"city": city},
        "tags": ["a", "b"],
        "counts": {"x": 1},
        "any": "text",
        "note": None,
    }
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(AVRO)), record)
    return out.getvalue()


def descriptors() -> bytes:
    """Return what `protoc --include_imports --descriptor_set_out` writes for shop.Order."""
    from google.protobuf import descriptor_pb2, timestamp_pb2

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="shop.proto", package="shop", syntax="proto3", dependency=["google/protobuf/timestamp.proto"]
    )
    order = file.message_type.add(name="Order")
    fields: list[tuple[str, Any, Any, str]] = [
        ("id", kinds.TYPE_INT64, kinds.LABEL_OPTIONAL, ""),
        ("big", kinds.TYPE_UINT64, kinds.LABEL_OPTIONAL, ""),
        ("state", kinds.TYPE_ENUM, kinds.LABEL_OPTIONAL, ".shop.State"),
        ("at", kinds.TYPE_MESSAGE, kinds.LABEL_OPTIONAL, ".google.protobuf.Timestamp"),
        ("to", kinds.TYPE_MESSAGE, kinds.LABEL_OPTIONAL, ".shop.Address"),
        ("tags", kinds.TYPE_STRING, kinds.LABEL_REPEATED, ""),
        ("counts", kinds.TYPE_MESSAGE, kinds.LABEL_REPEATED, ".shop.Order.CountsEntry"),
    ]
    for number, (name, kind, label, type_name) in enumerate(fields, 1):
        order.field.add(name=name, number=number, type=kind, label=label, type_name=type_name or None)
    order.oneof_decl.add(name="_note")
    order.field.add(
        name="note",
        number=8,
        type=kinds.TYPE_STRING,
        label=kinds.LABEL_OPTIONAL,
        proto3_optional=True,
        oneof_index=0,
    )
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    for number, (name, kind) in enumerate((("key", kinds.TYPE_STRING), ("value", kinds.TYPE_INT32)), 1):
        entry.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    address = file.message_type.add(name="Address")
    address.field.add(name="city", number=1, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    states = file.enum_type.add(name="State")
    states.value.add(name="NEW", number=0)
    states.value.add(name="PAID", number=1)
    timestamps = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(timestamps)
    return bytes(descriptor_pb2.FileDescriptorSet(file=[timestamps, file]).SerializeToString())


def protobuf_payload(id: int, *, city: str) -> bytes:
    """Return a message shop.Order."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors()).file:
        pool.Add(file)
    order: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))()
    order.id, order.big, order.state = id, 2**64 - 1, 1
    order.at.FromDatetime(_AT)
    order.to.city = city
    order.tags.extend(["a", "b"])
    order.counts["x"] = 1
    return bytes(order.SerializeToString())

"""Variants as values."""

from decimal import Context, localcontext
from typing import Any


def decode_variant(parts: dict[str, bytes]) -> Any:
    """Return the value of a variant. Raises what PySpark raises for damaged bytes."""
    from pyspark.sql.types import VariantVal

    with localcontext(Context(38)):  # PySpark multiplies, and would round to 28 digits
        return VariantVal(parts["value"], parts["metadata"]).toPython()

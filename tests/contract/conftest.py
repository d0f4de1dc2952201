"""Every output of the contract tests has the form that its schema describes."""

import pytest


@pytest.fixture(autouse=True)
def each_output_is_valid(outputs_are_valid: None) -> None:
    """Compare all outputs."""

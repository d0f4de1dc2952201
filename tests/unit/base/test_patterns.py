import warnings

import pytest

from jsctl.base.patterns import compile_pattern


@pytest.mark.parametrize("text", ["[[a]", "[a&&b]", "[a||b]", "[a~~b]"])
def test_what_a_later_python_may_read_differently_is_no_warning(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_pattern(text)

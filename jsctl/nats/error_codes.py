"""`ErrorCode`, loaded when first used: its 227 names take some milliseconds, and most commands need none."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsctl.nats.error_code_enum import ErrorCode as ErrorCode
else:

    class _ErrorCode:
        def __getattr__(self, name: str) -> Any:
            from jsctl.nats.error_code_enum import ErrorCode

            return getattr(ErrorCode, name)

    ErrorCode = _ErrorCode()

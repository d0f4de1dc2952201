"""Which rule a place that cannot be asked breaks. No I/O."""

from jsctl.errors import ApiError, JsctlError, NoResponders, RequestTimeout
from jsctl.nats.error_codes import ErrorCode


def choose_code(error: JsctlError | None) -> str:
    """Return the code of the rule that an error of a context or domain is about."""
    if isinstance(error, NoResponders):
        return "DOMAIN_MISSING"
    if isinstance(error, RequestTimeout):
        return "JETSTREAM_SILENT"
    if isinstance(error, ApiError) and error.err_code == ErrorCode.CLUSTER_NOT_AVAIL:
        return "META_NO_LEADER"
    return "CONTEXT_FAILED"

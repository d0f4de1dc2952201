"""The certificates of a TLS connection."""

import ssl
from typing import Any, NamedTuple

_ALGORITHMS = {
    "1.2.840.113549.1.1.5": "SHA1-RSA",
    "1.2.840.113549.1.1.10": "RSA-PSS",
    "1.2.840.113549.1.1.11": "SHA256-RSA",
    "1.2.840.113549.1.1.12": "SHA384-RSA",
    "1.2.840.113549.1.1.13": "SHA512-RSA",
    "1.2.840.10045.4.3.2": "ECDSA-SHA256",
    "1.2.840.10045.4.3.3": "ECDSA-SHA384",
    "1.2.840.10045.4.3.4": "ECDSA-SHA512",
    "1.3.101.112": "Ed25519",
}
"""Signature algorithms by their object identifier (RFC 8017, 5758, 8410)."""

_BASIC_CONSTRAINTS = bytes.fromhex("0603551d13")
_TRUE = bytes.fromhex("0101ff")
_SHORT_NAMES = {
    "countryName": "C",
    "stateOrProvinceName": "ST",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "commonName": "CN",
}


class Certificate(NamedTuple):
    """One certificate of a chain. not_after: seconds since 1970. ocsp: addresses that say whether it was
    revoked."""

    subject: str
    issuer: str
    serial: str
    not_after: float
    is_ca: bool
    signature: str
    dns: tuple[str, ...]
    addresses: tuple[str, ...]
    uris: tuple[str, ...]
    emails: tuple[str, ...]
    ocsp: tuple[str, ...]
    pem: str


def read_verified_chain(ssl_object: Any) -> list[Certificate]:
    """Return the certificates from the server's to the CA's that this machine trusts; empty if the server
    was not verified.

    ssl_object: `ssl.SSLObject` of a connection. Its public method exists only since Python 3.13, and returns
    the chain undecoded; the private object below it has had one since 3.10.
    """
    if ssl_object.context.verify_mode == ssl.CERT_NONE:
        return []
    chain = ssl_object._sslobj.get_verified_chain() or []
    return [
        _build_certificate(certificate.get_info(), ssl.PEM_cert_to_DER_cert(certificate.public_bytes()))
        for certificate in chain
    ]


def _build_certificate(info: dict[str, Any], der: bytes) -> Certificate:
    names = info.get("subjectAltName") or ()

    def list_alternative_names(kind: str) -> tuple[str, ...]:
        return tuple(str(value) for key, value in names if key == kind)

    return Certificate(
        subject=_format_name(info.get("subject")),
        issuer=_format_name(info.get("issuer")),
        serial=str(int(info.get("serialNumber") or "0", 16)),
        not_after=ssl.cert_time_to_seconds(info["notAfter"]),
        is_ca=_is_ca(der),
        signature=_find_signature_algorithm(der),
        dns=list_alternative_names("DNS"),
        addresses=list_alternative_names("IP Address"),
        uris=list_alternative_names("URI"),
        emails=list_alternative_names("email"),
        ocsp=tuple(info.get("OCSP") or ()),
        pem=ssl.DER_cert_to_PEM_cert(der),
    )


def _format_name(parts: Any) -> str:
    """Return a distinguished name as RFC 2253 writes it: the most specific part first."""
    return ",".join(
        f"{_SHORT_NAMES.get(key, key)}={value}" for part in reversed(parts or ()) for key, value in part
    )


def _find_content(der: bytes, at: int) -> tuple[int, int]:
    """Return where the content of the DER element at `at` begins and ends (X.690, 8.1.3)."""
    length = der[at + 1]
    begin = at + 2
    if length & 0x80:
        begin += length & 0x7F
        length = int.from_bytes(der[at + 2 : begin])
    return begin, begin + length


def _find_signature_algorithm(der: bytes) -> str:
    """Return the name of the algorithm that a certificate is signed with (RFC 5280, 4.1.1.2)."""
    begin, _ = _find_content(der, 0)
    _, end = _find_content(der, begin)  # of what is signed; its algorithm follows
    identifier, _ = _find_content(der, end)
    first, last = _find_content(der, identifier)
    numbers, value = [der[first] // 40, der[first] % 40], 0
    for byte in der[first + 1 : last]:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    text = ".".join(map(str, numbers))
    return _ALGORITHMS.get(text, text)


def _is_ca(der: bytes) -> bool:
    """Return whether a certificate may sign others (RFC 5280, 4.2.1.9)."""
    at = der.find(_BASIC_CONSTRAINTS)
    if at < 0:
        return False
    at += len(_BASIC_CONSTRAINTS)
    at += len(_TRUE) * der.startswith(_TRUE, at)  # the extension is critical
    begin, _ = _find_content(der, at)
    begin, end = _find_content(der, begin)
    return end > begin and der.startswith(_TRUE, begin)

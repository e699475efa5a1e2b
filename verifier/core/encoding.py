"""Base64 in its one accepted spelling (ARCHITECTURE, law 10)."""

import binascii
from base64 import b64decode, b64encode

from verifier.core.table import Table


def strict_base64(text: str) -> bytes:
    """Decode standard base64 with padding, in the one spelling of its bytes; raises `ValueError`.

    RFC 4648 §3.5 and §4: no other alphabet, no white space, no missing padding, and no bits
    beyond the last byte.
    """
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not standard base64") from None
    if b64encode(data).decode() != text:
        raise ValueError("is base64 that does not print back to itself")
    return data


def base64_in(table: Table, key: str) -> bytes:
    """Take bytes in base64 from a table; what is none is noted as a mistake."""
    text = table.text(key)
    try:
        return strict_base64(text)
    except ValueError as error:
        table.mistake(key, str(error))
        return b""

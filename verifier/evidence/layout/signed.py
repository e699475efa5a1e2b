"""A file of in-toto metadata in either form, and who has signed it.

* *Traditional* (in-toto 1.0 §4.2): `{"signed": …, "signatures": [{"keyid", "sig"}]}`; signatures
  are in hex, over the canonical JSON of `signed`.
* *DSSE* (ITE-5): an envelope whose payload is the same object.

JSON is read strictly first: with a key given twice two readers see two documents under one
signature (in-toto/specification issue 74). Key ids are hints and decide nothing.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, Self

from verifier.core.limits import CHAIN_DOCUMENT_BYTES, SIGNATURES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.evidence.dsse import IN_TOTO, Envelope
from verifier.evidence.keys import PublicKey

_HEX: Final = re.compile("(?:[0-9a-f]{2})+")
_REMEDY: Final = "get the file again from whoever signed it"


@frozen
class Signed:
    """Metadata as it was signed: `body` is what every signature is over, `payload` its object."""

    what: str
    body: bytes
    signatures: tuple[bytes, ...]
    payload: dict[str, Any]

    @property
    def kind(self) -> str:
        """What it says it is: `layout` or `link`, or something that is neither."""
        kind = self.payload.get("_type")
        return kind if isinstance(kind, str) else ""

    @property
    def table(self) -> Table:
        """Its object, to be read strictly."""
        return Table(self.payload, what=self.what, remedy=_REMEDY)

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read a file. Raises `MalformedError` naming every mistake by its path."""
        table = Table(_json(data, what), what=what, remedy=_REMEDY)
        if table.has("signed") == table.has("payload"):
            table.mistake("", "expected either signed or payload: in-toto metadata or an envelope")
            table.done()
        return cls._traditional(table, what) if table.has("signed") else cls._envelope(table, what)

    @classmethod
    def _traditional(cls, table: Table, what: str) -> Self:
        signatures = tuple(map(_hex_signature, table.tables("signatures")))
        if len(signatures) > SIGNATURES:
            table.mistake("signatures", f"expected at most {SIGNATURES} of them")
        inner = table.table("signed")
        payload = inner.raw()
        table.done()
        return cls(what=what, body=canonical(payload), signatures=signatures, payload=payload)

    @classmethod
    def _envelope(cls, table: Table, what: str) -> Self:
        unsigned = not table.tables("signatures")
        if unsigned and table.raw().get("signatures") == []:
            return cls(what=what, body=b"", signatures=(), payload={})
        envelope = Envelope.of(table)
        if envelope.payload_type != IN_TOTO:
            mistake = f"payloadType: expected {IN_TOTO}"
            raise MalformedError(what, [mistake], remedy=_REMEDY)
        payload = _json(envelope.payload, what)
        if not isinstance(payload, dict):
            raise MalformedError(what, ["payload: is no table"], remedy=_REMEDY)
        return cls(what=what, body=envelope.signed, signatures=envelope.signatures, payload=payload)

    def signers(self, keys: Iterable[PublicKey]) -> frozenset[PublicKey]:
        """Return those of `keys` that have signed; thresholds count these."""
        return frozenset(
            key for key in keys if any(key.verifies(each, self.body) for each in self.signatures)
        )


def canonical(value: Any) -> bytes:
    """Print canonical JSON as in-toto signs it (OLPC): keys sorted, only quotes escaped."""
    return "".join(_pieces(value)).encode()


def _pieces(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        yield f'"{escaped}"'
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, list):
        yield f"[{','.join(''.join(_pieces(each)) for each in value)}]"
    else:
        items = (f"{''.join(_pieces(k))}:{''.join(_pieces(v))}" for k, v in sorted(value.items()))
        yield f"{{{','.join(items)}}}"


def _json(data: bytes, what: str) -> Any:
    try:
        return read_json(data, limit=CHAIN_DOCUMENT_BYTES)
    except ValueError as error:
        raise MalformedError(what, [str(error)], remedy=_REMEDY) from None


def _hex_signature(table: Table) -> bytes:
    """Read a signature; one by a GPG key has other fields too and never counts here."""
    text = table.string("sig") if table.has("sig") else ""
    of_gpg = table.has("signature") or table.has("other_headers")
    table.keys()  # in-toto has added fields over time; nothing is read from them
    if of_gpg:
        return b""
    if not _HEX.fullmatch(text):
        table.mistake("sig", "is not lower-case hex")
        return b""
    return bytes.fromhex(text)

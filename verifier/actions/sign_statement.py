"""Signing a statement: an envelope of its very bytes, by one key or several.

Only what reads as a statement is signed. Several people sign one after the other, each into a
new file: what was signed before is kept as it is, and nothing is written over. The envelope is
read again and its signatures verified before it is written.
"""

from collections.abc import Sequence

from verifier.actions import output
from verifier.core.errors import WrongCallError
from verifier.core.limits import METADATA_BYTES, SIGNATURES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.evidence.dsse import IN_TOTO, Envelope, pae, print_envelope
from verifier.evidence.keys import PublicKey, strict_base64
from verifier.evidence.private_key import PrivateKey
from verifier.evidence.statement import Statement
from verifier.sources import file

Signature = tuple[str, bytes]


@frozen
class SignedStatement:
    """What was signed, the keys that signed it now, and how many signatures there are."""

    statement: Statement
    by: tuple[PublicKey, ...]
    signatures: int


def sign_statement(
    path: str | None, *, keys: Sequence[PrivateKey], to: str, add_to: str | None = None
) -> SignedStatement:
    """Sign the statement in the file `path`, and write the envelope to the new file `to`.

    With `add_to`, the envelope there gets more signatures, in a copy; `path`, if given, has to
    hold the very bytes that it carries. Raises `WrongCallError` for what is no statement, one key
    given twice, and a key that has signed already.
    """
    output.refuse_existing(to)
    distinct = {key.public.spki: key for key in keys}
    if len(distinct) != len(keys) or not keys:
        raise WrongCallError(
            f"--key: expected different keys, got {len(keys)} of which {len(distinct)} differ",
            code="wrong-call",
            remedy="give each key once: one key counts once",
        )
    given = None if path is None else file.read(path, limit=METADATA_BYTES).data
    payload, before = _before(add_to, given, path)
    statement = _read(payload, path or f"the payload of {add_to}")
    if add_to is not None:
        _refuse_again(add_to, payload, before, [key.public for key in keys])
    signed = pae(IN_TOTO, payload)
    signatures = [*before, *((key.public.id, key.sign(signed)) for key in keys)]
    if len(signatures) > SIGNATURES:
        raise WrongCallError(
            f"{add_to}: expected at most {SIGNATURES} signatures, got {len(signatures)}",
            code="wrong-call",
            remedy="start a new envelope with the signatures that are needed",
        )
    made = print_envelope(IN_TOTO, payload, signatures)
    _check(made, payload, [key.public for key in keys])
    output.write(to, made, new=True)
    return SignedStatement(
        statement=statement, by=tuple(key.public for key in keys), signatures=len(signatures)
    )


def _read(payload: bytes, what: str) -> Statement:
    """Read what is to be signed; whoever signs may well be whoever made it."""
    try:
        return Statement.parse(payload, what=what)
    except MalformedError as error:
        remedy = "correct it, or have it corrected, and read it once more before you sign"
        raise MalformedError(what, error.mistakes, remedy=remedy) from None


def _check(made: bytes, payload: bytes, keys: Sequence[PublicKey]) -> None:
    """Read what was made as whoever verifies it would; a fault of ours is better found here."""
    envelope = Envelope.parse(made, what="the envelope")
    if envelope.payload != payload or envelope.signers(keys) != frozenset(keys):
        raise RuntimeError("the envelope that was made does not verify")


def _before(
    add_to: str | None, given: bytes | None, path: str | None
) -> tuple[bytes, list[Signature]]:
    """Return what is to be signed, and the signatures that it has, each with its hint."""
    if add_to is None:
        if given is None:
            raise WrongCallError(
                "expected a statement, or an envelope to add to, got neither",
                code="wrong-call",
                remedy="name the file of the statement, or --add-to ENVELOPE",
            )
        return given, []
    data = file.read(add_to, limit=METADATA_BYTES).data
    envelope = Envelope.parse(data, what=add_to)
    if envelope.payload_type != IN_TOTO or given not in (None, envelope.payload):
        got = "other bytes" if envelope.payload_type == IN_TOTO else "something else"
        raise WrongCallError(
            f"{add_to}: expected an envelope of {path or 'a statement'}, got {got}",
            code="wrong-call",
            remedy="sign what you have read: leave the file out, or have it signed anew",
        )
    # The hints are kept with their signatures; the strict reader above has checked their form.
    rows = read_json(data)["signatures"]
    return envelope.payload, [(row.get("keyid", ""), strict_base64(row["sig"])) for row in rows]


def _refuse_again(
    add_to: str, payload: bytes, before: Sequence[Signature], keys: Sequence[PublicKey]
) -> None:
    envelope = Envelope(
        payload_type=IN_TOTO, payload=payload, signatures=tuple(each for _, each in before)
    )
    for key in envelope.signers(keys):
        raise WrongCallError(
            f"{add_to}: key {key.id} has signed it already",
            code="wrong-call",
            remedy="have another person sign: one key counts once",
        )

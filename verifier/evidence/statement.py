"""in-toto Statements: what is said, about which bytes (in-toto/attestation, spec/v1).

The bytes that were signed are kept and never printed anew; what is read from them is exact:
duplicate keys are refused, integers stay integers, and a fraction stays what was written
(dependencies.md §4: the published library makes doubles of all numbers).

Subjects are matched by digest alone (statement.md, "subject"), and by every digest of the subject
that counts: digest_set.md lets one agreeing digest suffice, and leaves open what to think of
another that does not.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.printable import quoted
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.evidence import predicates
from verifier.evidence.dsse import IN_TOTO
from verifier.evidence.resource import digest_set, uri

TYPE: Final = "https://in-toto.io/Statement/v1"
#: Algorithms that make two files the same file, as hashlib calls them.
COUNTING: Final = ("sha256", "sha384", "sha512")
_REMEDY: Final = "get the statement again from whoever made it"


@frozen
class Fraction:
    """A number that is no integer: what was written, and nothing made of it.

    It has no type that a `Table` returns, so whoever wants an integer or a text refuses it.
    """

    written: str

    @classmethod
    def of(cls, written: str) -> Self:
        """Keep the number as it is written."""
        return cls(written=written)


#: What statements call the digests that pinproof types; all other kinds are a SHA-256 of bytes.
#: The digest of a tree is of our own making (`pinproof list tree`), so it has a name of its own.
TREE: Final = "pinproofTree1"
_ALGORITHMS: Final = {
    "git-commit": "gitCommit",
    "git-tree": "gitTree",
    "git-blob": "gitBlob",
    "tree": TREE,
}


def algorithm_of(digest: Digest) -> str:
    """Return the name under which a digest set holds a typed digest."""
    return _ALGORITHMS.get(digest.kind or "", "sha256")


@frozen
class Subject:
    """What a statement is about: its digests by algorithm. `name` is a label, "" where absent."""

    name: str
    digests: Mapping[str, str]


@frozen
class Statement:
    """A parsed statement. `payload` holds the very bytes, `predicate` what is read of them.

    `predicate` is a value of `evidence.predicates` for the types known there, the plain document
    for every other type.
    """

    subjects: tuple[Subject, ...]
    predicate_type: str
    predicate: Any
    payload: bytes

    @classmethod
    def parse(cls, payload: bytes, *, what: str, judged: bool = True) -> Self:
        """Read a statement. Raises `MalformedError` naming every mistake by its path.

        Its predicate is read as its type asks for. Where what it says is not `judged`, because
        the question is who signed which file, it stays the plain document, unless it is of a type
        that can say no.

        Unknown fields beside the four that there are refuse it; within a subject and within
        a foreign predicate they are ignored, as the parsing rules of spec/v1 ask for.
        """
        document = _read(payload, what)
        table = Table(document, what=what, remedy=_REMEDY)
        table.text("_type", choices=[TYPE])
        predicate_type = uri(table, "predicateType")
        subjects = tuple(_subject(each) for each in table.tables("subject"))
        if not subjects:
            table.mistake("subject", "missing: a statement is about something")
        if judged or predicate_type in predicates.NAYSAYERS:
            predicate = predicates.read(predicate_type, table, document)
        else:
            table.optional_table("predicate")
            predicate = document.get("predicate", {}) if isinstance(document, dict) else {}
        table.done()
        return cls(
            subjects=subjects,
            predicate_type=predicate_type,
            predicate=predicate,
            payload=payload,
        )

    @classmethod
    def of(
        cls, payload_type: str | None, payload: bytes, *, what: str, judged: bool = True
    ) -> "Statement | Finding":
        """Read what an envelope carries; what is no statement is a finding, not an error."""
        if payload_type != IN_TOTO:
            return Finding(
                code="statement-payload-type",
                expected=IN_TOTO,
                got=quoted((payload_type or "")[:200]),
                remedy=_REMEDY,
            )
        try:
            return cls.parse(payload, what=what, judged=judged)
        except MalformedError as error:
            return Finding(code="statement-malformed", got="; ".join(error.listed), remedy=_REMEDY)


def _read(payload: bytes, what: str) -> Any:
    """Read the document; of a statement that is our own without fractions, as of all our files."""
    try:
        document = read_json(payload, fraction=Fraction.of)
        if isinstance(document, dict) and document.get("predicateType") in predicates.OURS:
            document = read_json(payload)
    except ValueError as error:
        raise MalformedError(what, [str(error)], remedy=_REMEDY) from None
    return document


def _subject(table: Table) -> Subject:
    return Subject(
        name=table.string("name") if table.has("name") else "",
        digests=digest_set(table, "digest"),
    )

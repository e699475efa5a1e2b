"""in-toto Statements v1: which files a signed payload is about (in-toto/attestation, spec/v1).

The signed bytes are kept. Subjects name digests by algorithm, in lower-case hex.
"""

import re
from typing import Any, Final, Self

from verifier.core.table import Table
from verifier.core.value import frozen

TYPE: Final = "https://in-toto.io/Statement/v1"
_REMEDY: Final = "get the statement again from whoever signed it"


@frozen
class Subject:
    """One thing that a statement is about: its name there, and its digests by algorithm."""

    name: str
    digests: dict[str, str]


@frozen
class Statement:
    """A parsed statement."""

    subjects: tuple[Subject, ...]
    predicate_type: str
    predicate: Any
    payload: bytes

    @classmethod
    def parse(cls, payload: bytes, *, what: str) -> Self:
        """Read a statement. Raises `MalformedError` naming every mistake by its path."""
        table = Table.json(payload, what=what, remedy=_REMEDY)
        table.text("_type", choices=[TYPE])
        subjects = tuple(map(_subject, table.tables("subject")))
        if not subjects:
            table.mistake("subject", "is empty")
        predicate = table.optional_table("predicate")
        statement = cls(
            subjects=subjects,
            predicate_type=table.text("predicateType"),
            predicate=predicate,
            payload=payload,
        )
        table.done()
        return statement


def _subject(table: Table) -> Subject:
    digests = table.table("digest")
    found = digests.strings()
    if not found:
        digests.mistake("", "is empty")
    for kind, value in found.items():
        if not re.fullmatch("[0-9a-f]+", value):
            digests.mistake(kind, "is not lower-case hex")
    subject = Subject(name=table.string("name") if table.has("name") else "", digests=found)
    for key in ("uri", "downloadLocation", "mediaType"):
        if table.has(key):
            table.string(key)
    table.has("content"), table.has("annotations")
    table.close()
    return subject

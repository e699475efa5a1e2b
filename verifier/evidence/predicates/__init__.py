"""What statements say, by the type of their predicate: one module a type.

Each module has `TYPE` and `read(table)`. Fields that a foreign type has beyond those read here
are ignored, as its parsing rules ask; nothing of them is believed. A type that is not known is
carried: its statement can be signed and matched with its subjects, and what it says is not read.

A value tells `said`, a line for people; `words`, which may be demanded of it; and, where its type
can say no, `says_no`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from verifier.core.table import Table
from verifier.evidence.predicates import provenance, svr, test_result, vsa

#: Our own types (ARCHITECTURE §6): recognised and carried; what they say is read by `receipt`.
GATES: Final = "urn:pinproof:measurement-gates:v1"
RECEIPT: Final = "urn:pinproof:measurement-receipt:v1"
OURS: Final = (GATES, RECEIPT)

_READERS: Final[Mapping[str, Callable[[Table], Any]]] = {
    svr.TYPE: svr.read,
    vsa.TYPE: vsa.read,
    test_result.TYPE: test_result.read,
    provenance.TYPE: provenance.read,
}
KNOWN: Final = (*_READERS, *OURS)
#: Types that can say no: whoever accepts a statement of one has to have read what it says.
NAYSAYERS: Final = (vsa.TYPE, test_result.TYPE)


def read(predicate_type: str, table: Table, document: Any) -> Any:
    """Read the predicate of the statement `table`, whose plain document is `document`.

    A predicate that is absent is an empty one (statement.md, "predicate").
    """
    below = table.optional_table("predicate")
    if predicate_type in _READERS:
        return _READERS[predicate_type](below or table.table("predicate"))
    found = document.get("predicate", {}) if isinstance(document, dict) else {}
    if predicate_type in OURS and not found:
        table.mistake("predicate", "missing: a statement of this type says something")
    return found

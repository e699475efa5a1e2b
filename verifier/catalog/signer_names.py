"""Finding the one row that a name means, over all entries of kind signers.

`NAME` is a row anywhere in the registry; `ENTRY/NAME` one of this entry. A name that two rows
have means neither: otherwise a project could take over the name of another's signer by adding
one of its own. What any row calls compromised is so in every row: it is the key that somebody else
has, or the account, whatever it is called elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from verifier.catalog.entries.signers import Signer, SignersEntry
from verifier.catalog.refused import Refused
from verifier.catalog.tuf.problems import problem
from verifier.core.finding import Finding
from verifier.core.printable import quoted
from verifier.core.table import nearest

Read = Callable[[str], SignersEntry | Refused]


def find(name: str, entries: Iterable[str], read: Read) -> Signer | Refused:
    """Return the row called `name`, `entries` being the names of all entries of signers.

    An entry of a newer format cannot be looked into; it stands in the way only of a name that is
    found nowhere else (FORMATS, top). Any other entry that is refused stands in the way of every
    name: what it says cannot be left out of the comparison.
    """
    within, slash, row = name.rpartition("/")
    entries = tuple(entries)
    rows, unread = _rows([each for each in entries if not slash or each == within], read)
    newer = [f for f in unread if f.code == "entry-newer"]
    if other := [f for f in unread if f.code != "entry-newer"]:
        return Refused(findings=tuple(other))
    found = [(entry, signer) for entry, signer in rows if signer.name == row]
    if len(found) > 1:
        return Refused(findings=(_repeated(row, [entry for entry, _ in found]),))
    if found:
        return _with_thefts(found[0][1], _rows(entries, read)[0])
    if newer:
        return Refused(findings=tuple(newer))
    near = nearest(row, {signer.name for _, signer in rows})
    remedy = f"did you mean {near}?" if near else "see pinproof list"
    got = "no such signer"
    unknown = problem("entry-unknown", f"signer {quoted(name)}", got, remedy=remedy)
    return Refused(findings=(unknown,))


def names(entries: Iterable[str], read: Read) -> tuple[str, ...]:
    """Return the names of all rows that can be read, each once."""
    return tuple(sorted({signer.name for _, signer in _rows(entries, read)[0]}))


def repeated(entries: Iterable[str], read: Read) -> Iterator[Finding]:
    """Name the rows that share their name with another."""
    where: dict[str, list[str]] = {}
    for entry, signer in _rows(entries, read)[0]:
        where.setdefault(signer.name, []).append(entry)
    for name, named in sorted(where.items()):
        if len(named) > 1:
            yield _repeated(name, named)


def _with_thefts(signer: Signer, rows: Iterable[tuple[str, Signer]]) -> Signer:
    """Return a row as it counts: compromised if any row of the same key or identity is.

    It is told when somebody asks for the signer, and keeps no registry from being signed: who
    learns of a theft must be able to publish it before everybody else has agreed.
    """
    if signer.revoked is not None and signer.revoked.compromised:
        return signer
    for entry, row in rows:
        if row.who == signer.who and row.revoked is not None and row.revoked.compromised:
            reason = f"{row.revoked.reason} (says {entry}/{row.name})"
            return replace(signer, revoked=replace(row.revoked, reason=reason))
    return signer


def _rows(
    entries: Iterable[str], read: Read
) -> tuple[list[tuple[str, Signer]], tuple[Finding, ...]]:
    """Return the rows of all entries with the names of these, and what kept others from it."""
    answers = [(name, read(name)) for name in entries]
    rows = [
        (name, signer)
        for name, entry in answers
        if isinstance(entry, SignersEntry)
        for signer in entry.signers
    ]
    return rows, tuple(f for _, e in answers if isinstance(e, Refused) for f in e.findings)


def _repeated(name: str, entries: Iterable[str]) -> Finding:
    listed = sorted(entries)
    return problem(
        "signer-ambiguous",
        f"signer {name}",
        f"a row of {', '.join(listed)}",
        expected="one row of that name",
        cause="two entries give one name to their signers",
        remedy=f"say which one is meant: {listed[0]}/{name}",
    )

"""Whether the producers that a lineage names published what it pins."""

from collections.abc import Callable, Iterator
from typing import Final

from verifier.catalog.entries.helper import Lineage, Producer, Published, Version
from verifier.checks import python_source
from verifier.checks.helper.pinning import literals, text
from verifier.checks.helper.pinning.literals import Source
from verifier.checks.helper.pinning.recipe import Origin
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.outcome import ProducerFacts

#: Reads a file of a repository's commit: its bytes, or why it cannot be read.
Read = Callable[[str, str, str], bytes | Finding]

CONFIRMED: Final = "confirmed"
CONTRADICTED: Final = "contradicted"
UNVERIFIABLE: Final = "unverifiable"
#: Findings about reading that say no, where others only say nothing.
_SAYS_NO: Final = (
    "pin-path-absent",
    "pin-symbol-absent",
    "pin-symbol-ambiguous",
    "pin-text-absent",
)
_COMPUTED: Final = "computed at run time: there is no text to compare with"
_CUT: Final = "an abbreviated commit is recorded and never matches"


def audited(lineage: Lineage, read: Read) -> tuple[ProducerFacts, ...]:
    """Look at every producer of every version that has a body."""
    return tuple(
        fact
        for version, body in lineage.published
        for producer in body.producers
        for fact in _looked_at(lineage, version, body, producer, read)
    )


def findings(entry: str, facts: tuple[ProducerFacts, ...]) -> Iterator[Finding]:
    """Return what is wrong with producers, or open, as findings about an entry."""
    for fact in facts:
        if fact.state == CONFIRMED:
            continue
        named = f"{fact.path}:{fact.symbol}" if fact.symbol else fact.path
        yield Finding(
            code="audit-contradicted" if fact.state == CONTRADICTED else "audit-unverifiable",
            expected=f"{fact.row} of {entry} in {fact.repository} at {fact.commit or 'a commit'}"
            + (f", {named}" if named else ""),
            got=fact.detail,
            remedy="correct the entry, or withdraw what it vouches for"
            if fact.state == CONTRADICTED
            else "give the clone that holds it (--clone URL=PATH), or name a producer that can be "
            "looked at",
        )


def _looked_at(
    lineage: Lineage, version: Version, body: Published, producer: Producer, read: Read
) -> Iterator[ProducerFacts]:
    state, detail = _state(lineage, version, body, producer, read)
    yield ProducerFacts(
        row=version.id,
        repository=producer.repository,
        commit=producer.commit or producer.commit_prefix or "",
        path=producer.path,
        symbol=producer.symbol,
        state=state,
        detail=detail,
    )


def _state(
    lineage: Lineage, version: Version, body: Published, producer: Producer, read: Read
) -> tuple[str, str]:
    if producer.commit is None:
        return UNVERIFIABLE, _CUT
    if producer.method == "computed":
        return UNVERIFIABLE, _COMPUTED
    data = read(producer.repository, producer.commit, producer.path)
    if isinstance(data, Finding):
        says_no = data.code in _SAYS_NO or data.row.outcome == "rejected"
        return CONTRADICTED if says_no else UNVERIFIABLE, _words(data)
    if producer.slice is not None:
        return _of_slice(lineage, version, body, producer, data)
    return _of_literal(lineage, version, body, producer, data)


def _of_slice(
    lineage: Lineage, version: Version, body: Published, producer: Producer, data: bytes
) -> tuple[str, str]:
    cut = producer.slice
    if cut is None or cut.end > len(data):
        return CONTRADICTED, f"the file has {len(data):,} bytes, and none behind them"
    found = cut.of(data)
    how = f"slice {cut.start:,} to {cut.end:,}"
    if cut.substitute:
        pairs = ", ".join(f"{a.decode()} by {b.decode()}" for a, b in cut.substitute)
        how += f", {pairs}"
    if (fits := _fits(found, body)) is None:
        return CONTRADICTED, _instead(lineage, version, found)
    named = _symbol_holds(data, producer)
    if named is not None:
        return CONTRADICTED, named
    return CONFIRMED, f"{how}{fits}"


def _symbol_holds(data: bytes, producer: Producer) -> str | None:
    """Say what is wrong with the name that a slice is recorded under; None if nothing is."""
    cut = producer.slice
    if cut is None or producer.symbol == f"bytes {cut.start}-{cut.end}":
        return None
    source = literals.read(data)
    if not isinstance(source, Source):
        return None
    found = source.defined(producer.symbol)
    if any(each.start <= cut.start and cut.end <= each.end + 1 for each in found):
        return None
    return f"the bytes are there, and not in {producer.symbol}"


def _of_literal(
    lineage: Lineage, version: Version, body: Published, producer: Producer, data: bytes
) -> tuple[str, str]:
    source = literals.read(data)
    if isinstance(source, python_source.Unparsable):
        return CONTRADICTED, f"the file is no Python source: {source.reason}"
    same = [each for each in source.literals if _fits(each.text, body) is not None]
    here = [e for e in same if producer.symbol in (e.symbol, f"line {e.line}")]
    if len(here) == 1:
        return CONFIRMED, f"literal, line {here[0].line}{_fits(here[0].text, body)}"
    if len(here) > 1:
        return CONTRADICTED, f"{len(here)} literals of that name hold it"
    if same:
        found = ", ".join(each.symbol or f"line {each.line}" for each in same)
        return CONTRADICTED, f"the text is there, under another name: {found}"
    origin = Origin(
        repository=producer.repository,
        commit=producer.commit or "",
        path=producer.path,
        symbol=producer.symbol,
    )
    one = text.find(data, origin, ())
    if not isinstance(one, Finding):
        return CONTRADICTED, _instead(lineage, version, one.text)
    state = CONTRADICTED if one.code in _SAYS_NO else UNVERIFIABLE
    return state, _words(one)


def _fits(found: bytes, body: Published) -> str | None:
    """Say how a text is the body: as it is, or but for blank lines around it; None if it is not."""
    if body.pin.matches(found):
        return f", {len(found):,} bytes"
    stripped = found.strip()
    if any(pin.matches(stripped) for _, pin in body.other_spans):
        return f", {len(found):,} bytes, the same but for white space around it"
    return None


def _instead(lineage: Lineage, version: Version, found: bytes) -> str:
    """Say what is there instead of a version: another one, if it is registered."""
    for other, body in lineage.published:
        if other is not version and _fits(found, body) is not None:
            return f"{other.id} is there: {Pin.of(found)}"
    return f"another text is there: {Pin.of(found)}"


def _words(finding: Finding) -> str:
    where = f" (line {finding.where.line})" if finding.where.line else ""
    said = finding.got or finding.row.title
    return f"{finding.row.title}{where}" + (f": {said}" if finding.got else "")


def no_producer(entry: str, version: Version) -> Finding:
    """Return the finding for a version that does not say where it was published."""
    return Finding(
        code="audit-no-producer",
        where=Where(),
        expected=f"a producer of {entry} {version.id}",
        got="none",
        remedy="pin it from its commit (pinproof pin helper), which records where it was found",
    )

"""A signed statement: who signed it, whether they may, and whether it is about what was given.

1. *Signature*: as many distinct keys as are asked for have signed. Nothing is read of what is
   signed before that.
2. *Statement*: the payload is one, by its type and its content.
3. *Signer*: each signer that is counted has signed, and `evidence.signers` lets it count.
4. *Subject*: all that was given is a subject, by every digest that counts.
5. *Words*: it says what is demanded. One that says no, such as a failed verification, is refused
   unless that is what is demanded: a signature under a "no" must not end in success.

An envelope of keys proves no time and stands in no log: those two facets do not apply to it, and
what depends on the time is judged at the effective one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from verifier.catalog.entries.signers import Signer
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Identified, Outcome
from verifier.core.printable import printable, quoted
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.evidence import threshold
from verifier.evidence.claim import Claim
from verifier.evidence.dsse import Envelope
from verifier.evidence.keys import PublicKey
from verifier.evidence.predicates.vsa import FAILED
from verifier.evidence.resource import GIT
from verifier.evidence.signers import decide
from verifier.evidence.statement import COUNTING, TREE, Statement
from verifier.evidence.statement import Subject as Named

_NO_TIME: Final = "an envelope proves none; windows are judged at the effective time"
_NO_LOG: Final = "an envelope stands in none"
_MOST_NAMED: Final = 8
#: Algorithms whose digests are known for something that can be given.
_COMPARED: Final = frozenset({*COUNTING, *GIT, TREE})


@frozen
class Given:
    """What the statement has to be about: digests by the algorithms of statements.

    Of a file all are known, of a typed digest only the one.
    """

    name: str
    digests: Mapping[str, str]


@frozen
class Asked:
    """Who has to have signed: signers of the registry and their keys, or keys alone.

    Keys are distinct; `signers` pairs each signer with its key. `threshold` is None where all have
    to have signed, and every signer has to count.
    """

    keys: tuple[PublicKey, ...]
    threshold: int | None = None
    signers: tuple[tuple[Signer, PublicKey], ...] = ()
    given: tuple[Given, ...] = ()
    says: tuple[str, ...] = ()


def check(data: bytes, asked: Asked, *, now: datetime) -> Outcome:
    """Check the envelope in `data`; `now` is the effective time."""
    try:
        envelope = Envelope.parse(data, what="the envelope")
    except MalformedError as error:
        return _outcome([_broken(error)], {})
    signed = threshold.check(envelope, asked.keys, asked.threshold or len(asked.keys))
    if signed.finding is not None:
        return _outcome([signed.finding], {})
    states = {"signature": f"by {threshold.listed(signed.by)}"}
    statement = Statement.of(envelope.payload_type, envelope.payload, what="the statement")
    if isinstance(statement, Finding):
        return _outcome([statement], states)
    who = counted(asked, signed.by, statement.predicate_type, now=now)
    findings, names = list(who.findings), who.names
    if not findings:
        states["signer"] = f"{who.told} · {printable(statement.predicate_type)}"
    wrong = [*_subjects(statement, asked.given), *words(statement, asked.says)]
    if not wrong:
        states["subject"] = _matched(statement, asked.given)
    named = names if asked.signers else tuple(f"key {key.id}" for key in _ordered(signed.by))
    identified = [
        Identified(entry=name, version=statement.predicate_type, status="signed") for name in named
    ]
    outcome = _outcome([*findings, *wrong], states, identified if not findings else [])
    return replace(outcome, claims=(said(statement),))


def said(statement: Statement) -> str:
    """Say in a line what a statement says; of a type that is not read, only which it is."""
    told = getattr(statement.predicate, "said", None) or f"something of {statement.predicate_type}"
    return printable(told)[:200]


def _broken(error: MalformedError) -> Finding:
    return Finding(
        code="statement-envelope",
        got="; ".join(error.listed),
        remedy="get the envelope again from whoever signed it",
    )


@frozen
class Counted:
    """Which signers count, who does not and need not, and what keeps the others from counting."""

    findings: tuple[Finding, ...]
    names: tuple[str, ...]
    passed: tuple[str, ...]

    @property
    def told(self) -> str:
        """Say in a line who counts."""
        left = f"; not counted: {', '.join(self.passed)}" if self.passed else ""
        return f"{', '.join(self.names) or 'the keys that were given'}{left}"


def counted(asked: Asked, by: frozenset[PublicKey], predicate: str, *, now: datetime) -> Counted:
    """Say which of the signers asked for may sign this predicate; `by` are keys that have signed.

    With a threshold, whoever does not count is no obstacle as long as enough others do, by
    distinct keys.
    """
    findings: list[Finding] = []
    found: list[tuple[str, PublicKey]] = []
    passed: list[str] = []
    for signer, key in asked.signers:
        if key not in by:
            passed.append(f"{signer.name} (has not signed)")
            continue
        wrong = decide(signer, Claim(keys=frozenset([key])), predicate=predicate, now=now)
        findings += wrong
        if wrong:
            passed.append(f"{signer.name} ({wrong[0].code})")
        else:
            found.append((signer.name, key))
    enough = bool(asked.threshold and len({key for _, key in found}) >= asked.threshold)
    return Counted(
        findings=() if enough else tuple(findings),
        names=tuple(name for name, _ in found),
        passed=tuple(passed),
    )


def words(statement: Statement, demanded: Sequence[str]) -> Iterator[Finding]:
    """Say what the statement does not say and should, or says and should not."""
    known: frozenset[str] = getattr(statement.predicate, "words", frozenset())
    for word in dict.fromkeys(demanded):
        if word not in known:
            yield Finding(
                code="statement-says-otherwise",
                expected=printable(word),
                got=said(statement),
                remedy="get a statement that says so; its signer decides, not its reader",
            )
    if FAILED not in demanded:
        yield from says_no(statement, ask="add --says FAILED")


def says_no(statement: Statement, *, ask: str) -> Iterator[Finding]:
    """Say that a statement says no, if it does; `ask` tells how to ask for that."""
    if getattr(statement.predicate, "says_no", False):
        yield Finding(
            code="statement-says-no",
            expected="a statement that says yes",
            got=said(statement),
            remedy=f"do not use what it is about; to ask for the no itself, {ask}",
        )


def _subjects(statement: Statement, given: Sequence[Given]) -> Iterator[Finding]:
    """Say what is not a subject of the statement; without anything given, that too."""
    if not given:
        yield Finding(
            code="statement-subject-not-given",
            expected="what the statement has to be about",
            got=f"it is about {about(statement.subjects)}",
            remedy="name it: --subject FILE, or a typed digest",
        )
    for one in given:
        yield from compared(one, statement.subjects)


def compared(given: Given, subjects: Sequence[Named]) -> Iterator[Finding]:
    """Say why what was given is no subject; no finding means that it is one."""
    agreeing = False
    for subject in subjects:
        common = [name for name in subject.digests if name in given.digests]
        wrong = [name for name in common if subject.digests[name] != given.digests[name]]
        if wrong and len(wrong) < len(common):
            yield Finding(
                code="statement-subject-digests",
                where=Where(path=printable(given.name)),
                expected=f"{wrong[0]} {given.digests[wrong[0]]}",
                got=f"{wrong[0]} {subject.digests[wrong[0]]}",
                cause="another digest of the same subject agrees",
                remedy="use the statement for neither; have it made again",
            )
            return
        agreeing = agreeing or bool(common and not wrong)
    if agreeing:
        return
    weak = [each for each in subjects if not set(each.digests) & _COMPARED]
    shown = next((f"{name} {value}" for name, value in given.digests.items()), "")
    if weak:
        yield Finding(
            code="statement-subject-weak",
            where=Where(path=printable(given.name)),
            expected=shown,
            got=f"{_label(weak[0])}: {', '.join(sorted(weak[0].digests))}"[:200],
            remedy="have the statement made with the SHA-256 of every subject",
        )
    else:
        yield Finding(
            code="statement-subject",
            where=Where(path=printable(given.name)),
            expected=shown,
            got=f"about {about(subjects)}",
            remedy="get the statement that belongs to it, or what belongs to the statement",
        )


def _matched(statement: Statement, given: Sequence[Given]) -> str:
    names = ", ".join(printable(one.name) for one in given[:_MOST_NAMED])
    more = f" and {len(given) - _MOST_NAMED} more" if len(given) > _MOST_NAMED else ""
    count = len(statement.subjects)
    return f"{names}{more} · the statement has {count} {'subject' if count == 1 else 'subjects'}"


def about(subjects: Sequence[Named]) -> str:
    """Say in a line what a statement is about."""
    shown = [_label(subject) for subject in subjects[:_MOST_NAMED]]
    more = len(subjects) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _label(subject: Named) -> str:
    digests = {name: value for name, value in subject.digests.items() if name in _COMPARED}
    name = quoted(subject.name[:80]) if subject.name else "a subject without a name"
    first = next((f" {key} {value}" for key, value in digests.items()), "")
    return name + first


def _ordered(keys: Iterable[PublicKey]) -> list[PublicKey]:
    return sorted(keys, key=lambda key: key.id)


def _outcome(
    findings: list[Finding], states: Mapping[str, str], identified: Iterable[Identified] = ()
) -> Outcome:
    """Put an outcome together; `states` has a detail for each facet that holds."""
    failed = {finding.row.facet for finding in findings}
    coverage = []
    for facet in FACETS["bundle"]:
        if facet in states:
            coverage.append(Covered(facet=facet, state=State.HELD, detail=states[facet]))
        elif facet in ("time", "log"):
            detail = _NO_TIME if facet == "time" else _NO_LOG
            coverage.append(Covered(facet=facet, state=State.NOT_APPLICABLE, detail=detail))
        else:
            state = State.NOT_HELD if facet in failed else State.NOT_CHECKED
            coverage.append(Covered(facet=facet, state=state))
    return Outcome(
        kind="statement",
        identified=tuple(identified),
        findings=tuple(findings),
        coverage=tuple(coverage),
        not_proven=("that what the statement says is true", "when it was signed"),
    )

"""Whether the numbers of a measurement follow from its samples, and whose they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from verifier.ask.receipt_signed import GatesBundle, Wanted, gates_time, known_tools, signed
from verifier.ask.receipt_workloads import normal_forms
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.checks.receipt.check import check
from verifier.checks.receipt.document import gates_file
from verifier.checks.receipt.document.gates_file import GatesFile
from verifier.checks.receipt.document.reading import PREDICATE, REMEDY
from verifier.checks.receipt.numbers.samples import SideFile
from verifier.checks.receipt.open import study
from verifier.checks.receipt.study import Companions, Other
from verifier.checks.statement import Asked
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest, Pin
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import DOCUMENT_BYTES, RECEIPT_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.core.printable import quoted
from verifier.core.strict import read_large_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.evidence.dsse import IN_TOTO, Envelope
from verifier.policy import judge
from verifier.sources import file
from verifier.sources.evidence_folder import EvidenceFolder

_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_OTHER_HEAD: Final = ("receipt-b1-exact-head", "receipt-b2-refreshed-head")
_SIDE_FILE: Final = "samplesFile"


@frozen
class Document:
    """One receipt as it was read: its bytes' pin, the statement in it, its envelope if any."""

    name: str
    pin: Pin
    predicate: Mapping[str, Any]
    subjects: Mapping[str, Mapping[str, str]]
    envelope: Envelope | None


@frozen
class Beside:
    """What was given beside the receipts of one call."""

    head: str | None
    folder: EvidenceFolder | None
    gates: Pin | None
    declared: GatesFile | None
    claims: tuple[str, ...]
    others: tuple[Other, ...]
    asked: Asked | tuple[Finding, ...] | None
    gates_time: datetime | None
    gates_finding: Finding | None
    published: frozenset[str]
    staging: frozenset[str]

    def companions(self, document: Document) -> Companions:
        """Return it as the rules of one receipt are told of it. Raises `UnavailableError`."""
        forms = normal_forms(document.predicate.get("workloads"), self.folder)
        return Companions(
            head=self.head,
            files=self.folder.pins if self.folder else None,
            problems=self.folder.problems if self.folder else None,
            gates=self.gates,
            gate_names=frozenset(gate.gate for gate in self.declared.gates)
            if self.declared
            else None,
            others=tuple(each for each in self.others if each.sha256 != document.pin.sha256),
            published=self.published,
            staging=self.staging,
            gates_signed_at=print_time(self.gates_time) if self.gates_time else None,
            normalised=forms.found,
            formless=forms.lacking,
        )


def verify_receipt(
    files: Sequence[str],
    *,
    head: str | None = None,
    evidence: str | None = None,
    gates: str | None = None,
    gates_bundle: GatesBundle | None = None,
    claims: Sequence[str] = (),
    wanted: Wanted | None = None,
    trust: Trust | None = None,
) -> Report:
    """Judge receipts, one result for each file.

    `head` is the full commit that the claims are about now. `evidence` is a folder that holds the
    files that receipts name; without it, what has to be read there is uncheckable. `gates` is the
    gate file; what it declares is compared, beside its digest; `gates_bundle` proves when it was
    signed. `claims` must all be left. `wanted` says who has to have signed a receipt.

    Raises `WrongCallError` if no file is given, the policy demands nothing of receipts, or `head`
    is no full commit.
    """
    trust = trust or open_trust()
    demand = trust.policy.receipt
    if demand is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of receipts",
            code="wrong-call",
            remedy="judge with a policy that has a [receipt] table, such as strict",
        )
    _refuse(files, head)
    documents = {name: _read(name) for name in files}
    declared = None if gates is None else file.read(gates, limit=DOCUMENT_BYTES).data
    time, unproven = gates_time(gates, gates_bundle, trust)
    published, staging = known_tools(trust)
    beside = Beside(
        head=head,
        folder=EvidenceFolder(Path(evidence), name=evidence) if evidence is not None else None,
        gates=None if declared is None else Pin.of(declared),
        declared=None if declared is None else gates_file.read(declared, what=gates or ""),
        claims=tuple(claims),
        others=tuple(_other(each) for each in documents.values() if isinstance(each, Document)),
        asked=(wanted or Wanted()).asked(trust),
        gates_time=time,
        gates_finding=unproven,
        published=published,
        staging=staging,
    )
    demanded = demand.facets | (frozenset() if demand.unsigned else {"signed"})
    results = [
        each if isinstance(each, Failed) else _judged(each, beside, demanded, trust)
        for each in documents.values()
    ]
    return trust.report(tuple(results))


def judge_document(
    document: Document,
    *,
    head: str,
    evidence: EvidenceFolder,
    demanded: frozenset[str],
    wanted: Wanted,
    trust: Trust,
) -> Result | Failed:
    """Judge one receipt that was read, as being about the commit `head`; no gate file is given."""
    published, staging = known_tools(trust)
    beside = Beside(
        head=head,
        folder=evidence,
        gates=None,
        declared=None,
        claims=(),
        others=(),
        asked=wanted.asked(trust),
        gates_time=None,
        gates_finding=None,
        published=published,
        staging=staging,
    )
    return _judged(document, beside, demanded, trust)


def _refuse(files: Sequence[str], head: str | None) -> None:
    if not files:
        raise WrongCallError(
            "no receipt to verify", code="wrong-call", remedy="name at least one receipt"
        )
    if head is not None and Digest.parse(f"git-commit:{head}") is None:
        raise WrongCallError(
            f"--head: expected 40 or 64 lower-case hex digits, got {head[:80]}",
            code="wrong-call",
            remedy="give the full id: git rev-parse HEAD",
        )


def _read(name: str) -> Document | Failed:
    try:
        return parsed(name, [file.read(name, limit=RECEIPT_BYTES).data])
    except PinproofError as error:
        return Failed.of(name, error)


def parsed(name: str, held: list[bytes]) -> Document:
    """Read a statement, bare or in an envelope, and let its bytes go. Raises `MalformedError`."""
    pin, envelope = Pin.of(held[0]), None
    document = _json(held, name)
    if isinstance(document, dict) and "payloadType" in document:
        envelope = Envelope.of(Table(document, what=name, remedy=REMEDY))
        if envelope.payload_type != IN_TOTO:
            raise MalformedError(name, [f"payloadType: expected {IN_TOTO}"], remedy=REMEDY)
        document = _json([envelope.payload], name)
    if not isinstance(document, dict):
        raise MalformedError(name, ["is no statement"], remedy=REMEDY)
    predicate = document.pop("predicate", None)
    table = Table(document, what=name, remedy=REMEDY)
    table.text("_type", choices=[_STATEMENT])
    table.text("predicateType", choices=[PREDICATE])
    subjects: dict[str, dict[str, str]] = {}
    for each in table.tables("subject"):
        name_of, digests = each.text("name"), each.table("digest").strings()
        if subjects.setdefault(name_of, digests) != digests:
            table.mistake("subject", f"{quoted(name_of)} is given twice, as two things")
        each.close()
    if not isinstance(predicate, dict):
        table.mistake("predicate", "missing, expected a table")
    table.done()
    return Document(
        name=name,
        pin=pin,
        predicate=predicate or {},
        subjects=subjects,
        envelope=envelope,
    )


def _json(held: list[bytes], name: str) -> Any:
    try:
        return read_large_json(held, limit=RECEIPT_BYTES)
    except ValueError as error:
        raise MalformedError(name, [str(error)], remedy=REMEDY) from None


def _other(document: Document) -> Other:
    """Tell the other receipts of a call what this one is; what is malformed tells little."""

    def text(value: Any) -> str:
        return value if isinstance(value, str) else ""

    supersedes, derived = document.predicate.get("supersedes"), document.predicate.get("derived")
    figures = derived if isinstance(derived, list) else []
    return Other(
        id=text(document.predicate.get("receiptId")),
        sha256=document.pin.sha256,
        supersedes=text(supersedes.get("sha256")) if isinstance(supersedes, dict) else None,
        figures={
            text(each.get("id")): text(each.get("value"))
            for each in figures
            if isinstance(each, dict)
        },
    )


def _judged(
    document: Document, beside: Beside, demanded: frozenset[str], trust: Trust
) -> Result | Failed:
    try:
        outcome = _outcome(document, beside, trust.now)
    except PinproofError as error:
        return Failed.of(document.name, error)
    digest = Digest(kind="file", hex=document.pin.sha256)
    # Whoever names the commit that the claims are about wants to know if it is another one.
    if beside.head is not None and any(f.code in _OTHER_HEAD for f in outcome.findings):
        demanded |= {"exact-head"}
    return judge(
        outcome,
        subject=Subject(name=document.name, digests=(digest,), length=document.pin.length),
        demanded=demanded,
        waivers=trust.policy.waivers,
        now=trust.now,
    )


def _outcome(document: Document, beside: Beside, now: datetime) -> Outcome:
    predicate = dict(document.predicate)
    rows: SideFile | Finding | None = None
    if _SIDE_FILE in predicate:
        if "samples" in predicate:
            both = f"samples and {_SIDE_FILE}: expected one of them"
            raise MalformedError(document.name, [both], remedy=REMEDY)
        rows = _side_file(predicate.pop(_SIDE_FILE), document, beside.folder)
    if isinstance(rows, Finding):
        return _unread(rows)
    opened = study(
        predicate,
        document.subjects,
        what=document.name,
        sha256=document.pin.sha256,
        companions=beside.companions(document),
        rows=rows,
    )
    covered, signatures = signed(document.envelope, beside.asked, now=now)
    outcome = check(opened, wanted=beside.claims, signed=covered)
    found = [*outcome.findings, *signatures]
    if beside.gates_finding:
        found.append(beside.gates_finding)
    gates = () if beside.declared is None else gates_file.compared(beside.declared, opened.receipt)
    return _with_gates(replace(outcome, findings=tuple(found)), tuple(gates))


def _with_gates(outcome: Outcome, found: tuple[Finding, ...]) -> Outcome:
    """Add how the receipt differs from the gate file; then its gates are not held."""
    if not found:
        return outcome
    apart = Covered(facet="gates", state=State.NOT_HELD, detail="not as the gate file declares")
    return replace(
        outcome,
        findings=(*outcome.findings, *found),
        coverage=tuple(apart if each.facet == "gates" else each for each in outcome.coverage),
    )


def _side_file(
    stated: Any, document: Document, folder: EvidenceFolder | None
) -> SideFile | Finding:
    """Return the samples of the file that holds them, if it is the one that is pinned.

    It lies in the evidence folder, or else beside the receipt; its bytes are hashed on every pass.
    """
    table = Table(stated, what=f"{document.name}: {_SIDE_FILE}", remedy=REMEDY)
    name = table.text("name")
    pinned = Pin(sha256=table.sha256("sha256"), length=table.integer("bytes"))
    table.done()
    beside = EvidenceFolder(Path(document.name).parent, name=str(Path(document.name).parent))
    place = folder or beside
    found = place.pin(name)
    if found != pinned:
        return Finding(
            code="receipt-samples-file",
            where=Where(path=name),
            expected=str(pinned),
            got=str(found),
            remedy="get the file again that was published with the receipt",
        )
    return SideFile(lambda: place.pieces(name, pinned=pinned))


def _unread(finding: Finding) -> Outcome:
    return Outcome(
        kind="receipt",
        identified=(),
        findings=(finding,),
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_CHECKED) for facet in FACETS["receipt"]
        ),
    )

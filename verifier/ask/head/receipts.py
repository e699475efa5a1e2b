"""The receipts that were given for heads: which commit each measured, and how that stands to one.

They come from a folder that the caller names, or from the folder of head's own tree that the
policy names. A receipt in head's tree cannot name that head; it counts because what has changed
since the measured commit is documentation alone, and the policy says that receipts are.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from verifier.ask import receipt
from verifier.ask.head.clone import Clone
from verifier.ask.receipt_signed import Wanted
from verifier.ask.trusted import Trust
from verifier.checks.head.documentation import Difference, difference
from verifier.checks.head.receipts import Bound
from verifier.core.demand import HeadDemand
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import RECEIPT_BYTES, RECEIPT_FOLDER_BYTES
from verifier.core.outcome import Failed, Result
from verifier.core.printable import printable
from verifier.sources import file
from verifier.sources.evidence_folder import EvidenceFolder
from verifier.sources.folder import Folder, Kind
from verifier.sources.git.faults import of_fault
from verifier.sources.git.history import History
from verifier.sources.git.objects import FULL_ID, Commit, Fault, shown
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE

_SUFFIX: Final = ".json"
_SAME: Final = Difference(documentation=(), unfit=(), others=())
#: Names that every file system takes, in every locale; other files of the folder are not laid out.
_FLAT: Final = re.compile(rb"[ -.0-~]{1,200}")


class Receipts:
    """The receipts of a call, and their relation to heads."""

    def __init__(
        self,
        clone: Clone,
        trust: Trust,
        demand: HeadDemand,
        *,
        folder: str | None,
        in_scope: Callable[[bytes], bool],
    ) -> None:
        """Read those in `folder`; of head's own tree they are read for each head."""
        self._clone, self._trust, self._demand = clone, trust, demand
        self._in_scope = in_scope
        self._folder = folder
        self._given = [] if folder is None else _read_folder(folder)

    def bound(self, head: Commit, scratch: Path) -> list[Bound]:
        """Bind every receipt to a head, and judge those that count."""
        documents, evidence = self._given, self._folder
        if evidence is None:
            documents, evidence = self._of_head(head, scratch), str(scratch)
        beside = EvidenceFolder(Path(evidence), name=evidence)
        return [self._bind(each, head, beside) for each in documents]

    def _of_head(self, head: Commit, scratch: Path) -> "list[receipt.Document | Failed]":
        """Lay the receipts of head's tree into a folder of ours; links are no receipts."""
        folder = self._demand.receipts
        scratch.mkdir()
        documents: list[receipt.Document | Failed] = []
        left = RECEIPT_FOLDER_BYTES
        for path, item in self._clone.below(head, folder) if folder else ():
            if item.mode not in (FILE_MODE, PROGRAM_MODE) or not _FLAT.fullmatch(path):
                continue
            data = self._clone.blob(item.oid, RECEIPT_BYTES)
            name = f"{folder}{printable(shown(path))}"
            left -= len(data or b"")
            if data is None or left < 0:
                continue
            (scratch / shown(path)).write_bytes(data)
            if path.endswith(_SUFFIX.encode()):
                documents.append(_parsed(name, data))
        return documents

    def _bind(
        self, document: "receipt.Document | Failed", head: Commit, evidence: EvidenceFolder
    ) -> Bound:
        if isinstance(document, Failed):
            return Bound(
                name=document.subject.name,
                measured=None,
                base=None,
                measured_files=frozenset(),
                unread=_broken(document),
                difference=_SAME,
                result=document,
            )
        measured = measured_commit(document)
        unread, apart = self._apart(measured, head)
        counts = measured is not None and unread is None and apart.harmless
        return Bound(
            name=document.name,
            measured=measured,
            base=_commit_of(document.predicate.get("baseCommit")),
            measured_files=frozenset(_loaded(document.predicate)),
            unread=unread,
            difference=apart,
            result=judged_as_measured(document, measured, evidence, self._trust)
            if counts and measured
            else None,
        )

    def _apart(self, measured: str | None, head: Commit) -> tuple[Finding | None, Difference]:
        """Say what differs between the measured commit and a head, or why that is unknown."""
        if measured is None or measured == head.oid:
            return None, _SAME
        history: History = self._clone.history
        known = len(measured) == self._clone.repo.hex_length
        commit = history.commit(measured) if known else Fault("git-object-missing", measured)
        if isinstance(commit, Fault):
            return of_fault(commit), _SAME
        trees, reader = self._clone.known.trees, self._clone.repo.reader
        for _, fault in trees.read_below(reader, commit.tree):
            return of_fault(fault), _SAME
        try:
            changes = trees.changes(reader, commit.tree, head.tree)
        except OverflowError:
            return of_fault(Fault("git-tree-large", "more paths differ than are read")), _SAME
        return None, difference(changes, self._demand, self._in_scope)


def measured_commit(document: "receipt.Document") -> str | None:
    """Return the commit that a receipt says it measured, if it says so in full."""
    return _commit_of(document.subjects.get("source", {}))


def judged_as_measured(
    document: "receipt.Document", measured: str, evidence: EvidenceFolder, trust: Trust
) -> Result | Failed:
    """Judge a receipt as one of the commit that it measured, by the run's policy.

    Whether that commit is the head is not asked here, but whether its claims are of it. Raises
    `WrongCallError` if the policy demands nothing of receipts.
    """
    demand = trust.policy.receipt
    if demand is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of receipts",
            code="wrong-call",
            remedy="judge with a policy that has a [receipt] table",
        )
    signers = trust.policy.head.receipt_signers if trust.policy.head else ()
    signed: frozenset[str] = frozenset() if demand.unsigned else frozenset({"signed"})
    return receipt.judge_document(
        document,
        head=measured,
        evidence=evidence,
        demanded=demand.facets | signed,
        wanted=Wanted(signers=signers, threshold=1 if signers else None),
        trust=trust,
    )


def _read_folder(folder: str) -> "list[receipt.Document | Failed]":
    """Read the receipts of a folder, in the order of their names; an empty one has none."""
    if not Path(folder).is_dir():
        raise WrongCallError(
            f"--receipts: {printable(folder)} is no folder",
            code="wrong-call",
            remedy="name the folder that holds receipts, files that end in .json",
        )
    entries = Folder(Path(folder), what="receipts").entries()
    found: list[receipt.Document | Failed] = []
    for name, kind in entries:
        if kind is not Kind.FILE or not name.endswith(_SUFFIX):
            continue
        path = str(Path(folder) / name)
        try:
            found.append(_parsed(path, file.read(path, limit=RECEIPT_BYTES).data))
        except PinproofError as error:
            found.append(Failed.of(path, error))
    return found


def _parsed(name: str, data: bytes) -> "receipt.Document | Failed":
    try:
        return receipt.parsed(name, [data])
    except PinproofError as error:
        return Failed.of(name, error)


def _broken(failed: Failed) -> Finding:
    return Finding(
        code="head-receipt",
        where=Where(path=failed.subject.name),
        expected="a receipt that can be read",
        got=f"{failed.code}: {failed.message}",
        remedy=failed.remedy,
    )


def _commit_of(digests: Any) -> str | None:
    found = digests.get("gitCommit") if isinstance(digests, Mapping) else None
    return found if isinstance(found, str) and FULL_ID.fullmatch(found) else None


def _loaded(predicate: Mapping[str, Any]) -> list[str]:
    """Name the files that were loaded when it was measured, as far as it lists them."""
    runtime = predicate.get("runtime")
    files = runtime.get("loadedFiles") if isinstance(runtime, Mapping) else None
    listed = files if isinstance(files, list) else []
    named = [each.get("path") for each in listed if isinstance(each, Mapping)]
    return [path for path in named if isinstance(path, str)]

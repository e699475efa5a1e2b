"""Bundles that were given, as voices for the approvals that a policy asks for."""

from collections.abc import Sequence

from verifier.ask.bundle import Work, of_registry
from verifier.ask.sigstore_root import sigstore_root
from verifier.ask.trusted import Trust
from verifier.checks.bundle import Asked, malformed, unknown_version, wrong_kind
from verifier.checks.head.approvals import Voice
from verifier.checks.statement import words
from verifier.core.demand import Approval
from verifier.core.finding import Finding
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.table import MalformedError
from verifier.evidence.artifact import Artifact
from verifier.evidence.bundle import Bundle, Message, UnknownVersionError
from verifier.evidence.statement import Statement
from verifier.sources import file

#: A statement that says no of the head; told from one that nobody has signed.
_NO = "statement-says-no"


class Voices:
    """The bundles of a call, read once."""

    def __init__(
        self,
        paths: Sequence[str],
        approvals: Sequence[Approval],
        trust: Trust,
        trusted_root: str | None,
    ) -> None:
        """Read them, and look up who is asked for.

        Raises `UnavailableError` for a bundle that cannot be read, `WrongCallError` for a signer
        that is not registered.
        """
        self._read = [(path, _bundle(path)) for path in paths]
        names = dict.fromkeys(name for each in approvals for name in each.signers)
        self._asked = {name: of_registry(name, trust.catalog) for name in names}
        root = sigstore_root(trusted_root)
        self._works = {name: Work(asked, root, trust) for name, asked in self._asked.items()}

    def of(self, approval: Approval, head: str) -> tuple[Voice, ...]:
        """Say what each bundle comes to for one approval of one head."""
        return tuple(self._voice(path, found, approval, head) for path, found in self._read)

    def _voice(self, path: str, found: Bundle | Finding, approval: Approval, head: str) -> Voice:
        if isinstance(found, Finding):
            return Voice(bundle=path, commits=(head,), by=(), refused=(found,))
        statement = _statement(found)
        if isinstance(statement, Finding):
            return Voice(bundle=path, commits=(head,), by=(), refused=(statement,))
        if statement is None or approval.predicate not in ("", statement.predicate_type):
            return Voice(bundle=path, commits=(), by=(), refused=())
        commits = tuple(
            dict.fromkeys(
                each.digests["gitCommit"]
                for each in statement.subjects
                if "gitCommit" in each.digests
            )
        )
        if head not in commits:
            return Voice(bundle=path, commits=commits, by=(), refused=())
        by: list[tuple[str, str]] = []
        refused: list[Finding] = []
        for name in approval.signers:
            asked = self._asked[name]
            wrong = self._wrong(name, found, statement, approval, head)
            if wrong or not isinstance(asked, Asked):
                refused += wrong
            else:
                by.append((name, _mark(asked)))
        # That somebody else has signed is the least that can be said of it.
        refused.sort(key=lambda finding: finding.row.facet == "signature")
        return Voice(bundle=path, commits=commits, by=tuple(by), refused=tuple(refused))

    def _wrong(
        self,
        name: str,
        bundle: Bundle,
        statement: Statement,
        approval: Approval,
        head: str,
    ) -> tuple[Finding, ...]:
        """Say why a bundle does not speak for a signer, nothing if it does."""
        asked = self._asked[name]
        if not isinstance(asked, Asked):
            return asked
        kind = wrong_kind(bundle, asked)
        if kind is not None:
            return (kind,)
        work = self._works[name]
        about = Artifact(name=f"commit {head}", digests={"gitCommit": head})
        unproven = [f for f in work.outcome(bundle, about).findings if f.code != _NO]
        # What it says counts only once it is known who says it.
        return tuple(unproven or words(statement, approval.says))


def _mark(asked: Asked) -> str:
    if asked.key is not None:
        return asked.key.spki.hex()
    return f"{asked.identity.issuer} {asked.identity.subject}" if asked.identity else ""


def _bundle(path: str) -> Bundle | Finding:
    data = file.read(path, limit=DOCUMENT_BYTES).data
    try:
        return Bundle.parse(data, what=path)
    except MalformedError as error:
        return malformed(error)
    except UnknownVersionError as error:
        return unknown_version(str(error))


def _statement(bundle: Bundle) -> Statement | Finding | None:
    """Read what a bundle says, if it says something; not believed before it is found signed."""
    content = bundle.content
    if isinstance(content, Message):
        return None
    return Statement.of(content.payload_type, content.payload, what="the statement")

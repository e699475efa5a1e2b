"""What a check returns, and the report that judging makes of it (FORMATS §4)."""

from dataclasses import field

from verifier.core.coverage import Covered
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.core.verdict import Exit, Verdict, exit_of


@frozen
class Identified:
    """What a subject was recognised as: an entry of the registry and one row of it."""

    entry: str
    version: str
    status: str
    current: bool = False
    end_anchor: str | None = None
    detail: str = ""


@frozen
class GraphNode:
    """One node of an identity graph, as it is drawn: its kind, digest, and what is said of it.

    `mark` is True where it is what was asked for, False where it is not what something says of
    it, None where there is nothing to compare.
    """

    kind: str
    digest: Digest | None = None
    length: int | None = None
    detail: str = ""
    mark: bool | None = None
    below: "tuple[GraphNode, ...]" = ()


@frozen
class FigureFacts:
    """A published number and what it comes to when it is computed again."""

    id: str
    formula: str
    unit: str
    value: str | None
    state: str
    recomputed: str | None
    difference: str | None
    missing: str | None


@frozen
class ClaimFacts:
    """What a study is cited for, and the rules that take it away; none of them: it is left."""

    id: str
    kind: str
    text: str
    lost: tuple[str, ...]


@frozen
class RuleFacts:
    """One rule of measurement and its answer: holds, broken, uncheckable, or does not apply."""

    id: str
    answer: str
    consequence: str | None
    detail: str


@frozen
class ProducerFacts:
    """Where an entry says that something was published, and what was found there.

    `row` names what of the entry. `state` is confirmed, contradicted or unverifiable; `detail`
    says how, what is there instead, or what is missing.
    """

    row: str
    repository: str
    commit: str
    path: str
    symbol: str
    state: str
    detail: str


@frozen
class StudyFacts:
    """What a report says of a measurement, beside its findings. `state` is the worst one."""

    state: str
    figures: tuple[FigureFacts, ...]
    claims: tuple[ClaimFacts, ...]
    rules: tuple[RuleFacts, ...]


@frozen
class Outcome:
    """The result of one check of one kind. Nothing in it has been judged yet."""

    kind: str
    identified: tuple[Identified, ...]
    findings: tuple[Finding, ...]
    coverage: tuple[Covered, ...]
    not_proven: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    """What the subject's own markers say it is; never believed, only named."""
    graph: tuple[GraphNode, ...] = ()
    study: StudyFacts | None = None
    producers: tuple[ProducerFacts, ...] = ()


@frozen
class Subject:
    """What was looked at: the name it was given by, its typed digests, its length in bytes."""

    name: str
    digests: tuple[Digest, ...] = ()
    length: int | None = None
    link: str | None = None
    """Where a link that was given as the argument leads, as it is written there."""


@frozen
class Waived:
    """A waiver that took a code out of a verdict: who gave it, why, and until when it counts."""

    code: str
    reason: str
    by: str
    until: str


@frozen
class Result:
    """One judged subject. `waived` names the codes that a waiver took out of the verdict."""

    kind: str
    subject: Subject
    verdict: Verdict
    identified: tuple[Identified, ...]
    findings: tuple[Finding, ...]
    coverage: tuple[Covered, ...]
    not_proven: tuple[str, ...]
    demanded: frozenset[str]
    claims: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    waivers: tuple[Waived, ...] = ()
    graph: tuple[GraphNode, ...] = ()
    study: StudyFacts | None = None
    producers: tuple[ProducerFacts, ...] = ()

    @property
    def deciding(self) -> Finding | None:
        """The finding that decided, None if the subject is verified."""
        if self.verdict is Verdict.VERIFIED:
            return None
        outcome = str(self.verdict)
        found = [f for f in self.findings if f.row.outcome == outcome and f.code not in self.waived]
        demanded = [f for f in found if f.row.facet in self.demanded | {"input", "registry"}]
        return next(iter(demanded or found), None)


@frozen
class Failed:
    """A subject that could not be judged at all. `fault` is the exception of a fault of ours."""

    subject: Subject
    exit: Exit
    code: str
    message: str
    remedy: str
    fault: Exception | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, name: str, error: PinproofError) -> "Failed":
        """Return what an error about the subject called `name` says.

        A subject that breaks its format could not be read; no call was wrong.
        """
        return cls(
            subject=Subject(name=name),
            exit=Exit.ENVIRONMENT if error.exit is Exit.USAGE else error.exit,
            code=error.code,
            message=error.message,
            remedy=error.remedy,
        )


@frozen
class RegistryFacts:
    """What a report says of the registry that judged: versions, digests, expiry, signers.

    `floor` is None where rollback was not checked. `sealed` is the release that an embedded
    registry came with: its keys are gone, so it has no freshness of its own.
    """

    origin: str
    root_sha256: str
    root_version: int
    snapshot_version: int
    snapshot_sha256: str
    expires: str
    signed_by: tuple[str, ...]
    floor: str | None
    sealed: str | None = None


@frozen
class PolicyFacts:
    """Name and digest of the policy that was applied."""

    name: str
    sha256: str


@frozen
class Report:
    """Everything that one run says. `registry` is None if none authenticated."""

    effective_time: str
    past_time: bool
    registry: RegistryFacts | None
    policy: PolicyFacts | None
    results: tuple[Result | Failed, ...]
    not_proven: tuple[str, ...] = field(default=())

    @classmethod
    def alone(cls, result: Result, effective_time: str) -> "Report":
        """Return the report on one subject that no registry and no policy has judged."""
        return cls(
            effective_time=effective_time,
            past_time=False,
            registry=None,
            policy=None,
            results=(result,),
        )

    @property
    def exit(self) -> Exit:
        """The exit code of the run."""
        return exit_of(r.verdict if isinstance(r, Result) else r.exit for r in self.results)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict over all subjects; None when no judgement was reached for some."""
        return {
            Exit.OK: Verdict.VERIFIED,
            Exit.REJECTED: Verdict.REJECTED,
            Exit.UNDECIDED: Verdict.UNDECIDED,
        }.get(self.exit)
